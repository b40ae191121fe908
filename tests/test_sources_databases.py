# ruff: noqa: E501  records are long lines
"""Exports in the shape each database gives them: numbers, keywords, names and notes where it puts them."""

from __future__ import annotations

import json

import pytest

from index_build.sources import Reject, read_bytes
from search import exports
from search.exports import Citation
from search.names import Name, divide_for_print
from search.types import Kind, Paper


def papers(text: str, name: str = "upload") -> list[Paper]:
    items = list(read_bytes(text.encode(), name))
    assert not [item for item in items if isinstance(item, Reject)]
    return [item for item in items if isinstance(item, Paper)]


def only(text: str, name: str = "upload") -> Paper:
    (paper,) = papers(text, name)
    return paper


def ris(*lines: str) -> str:
    return "\n".join(["TY  - JOUR", "TI  - Rain again", *lines, "ER  - ", ""])


@pytest.mark.parametrize(
    ("lines", "pmid"),
    [
        (("AN  - CN-01", "XR  - EMBASE 77", "XR  - PUBMED 31"), "31"),
        (("AN  - CN-01", "N1  - PUBMED 31"), "31"),
        (("AN  - CN-01", "C3  - PUBMED 31"), "31"),
        (("DB  - Ovid MEDLINE(R) ALL", "AN  - 31"), "31"),
        (("DP  - NLM", "AN  - 31"), "31"),
        (("DB  - Embase Medline", "C5  - 31", "AN  - 2004"), "31"),
        (("DB  - Embase", "AN  - 2004"), ""),
        (("DB  - CINAHL Complete", "AN  - 2004"), ""),
        (("N1  - seen in PUBMED 31 times",), ""),
        (("UR  - https://www.ncbi.nlm.nih.gov/pubmed/31",), "31"),
    ],
)
def test_the_number_of_pubmed_in_ris(lines: tuple[str, ...], pmid: str) -> None:
    assert only(ris(*lines)).pmid == pmid


def test_ovids_ris() -> None:
    paper = only(
        ris(
            "DB  - Ovid MEDLINE(R)", "ID  - 10.1000/ABC.1 [doi]", "VO  - 28", "IP  - 4", "IS  - 1553-2712",
            "KW  - *Rain/th [Therapy]", "KW  - Snow [prevention & control]",
        ).replace("Rain again", "Rain again.")
    )  # fmt: skip
    assert (paper.title, paper.doi, paper.fields) == ("Rain again", "10.1000/abc.1", ("Rain", "Snow"))
    reference = paper.reference
    assert (reference.volume, reference.issue, reference.issn) == ("28", "4", ("1553-2712",))
    assert reference.key == ""


def test_cochranes_and_embases_ris() -> None:
    paper = only(
        "Record #1 of 1\n" + ris("NO  - 2", "PG  - 12-15", "M3  - Journal: Article", "KW  - *Rain; Snow")
    )
    assert (paper.reference.issue, paper.reference.pages, paper.reference.genre) == ("2", "12-15", "")
    assert paper.fields == ("Rain", "Snow")
    embase = only(ris("DB  - Embase", "CY  - A. Author, Institute of Weather"))
    assert embase.reference.place == ""


def test_cochranes_bibtex() -> None:
    first, second = papers(
        "Record #1 of 2\n@article{A25,\nauthor = {Author, A, Bee, BC, and Dee, D},\ntitle = {Rain},\n"
        "keywords = {*Rain [therapy, trends]; Child, Preschool; Humans}\n}\n\n"
        "Record #2 of 2\n@article{B25, title = {Snow}, note = {PUBMED 31}, accession_number = {PUBMED 31}}\n"
    )
    assert first.authors == ("Author, A", "Bee, BC", "Dee, D")
    assert first.fields == ("Rain", "Child, Preschool", "Humans")
    assert (second.pmid, second.reference.note) == ("31", "")


def test_bibtex_of_scopus_and_web_of_science() -> None:
    scopus, wos = papers(
        "@ARTICLE{A2020, title = {Rain}, author_keywords = {rain; drops}, keywords = {Adult; Child, preschool; Rain},"
        " abbrev_source_title = {J. Rain}, art_number = {e12}, note = {Cited by: 12; All Open Access}}\n"
        "@article{ WOS:1,\nTitle = {{Snow}},\nISSN = {{0736-4679}},\nEISSN = {{1090-1280}},\n"
        "Keywords = {{Snow; Ice}},\nKeywords-Plus = {{COLD; WIND}},\nArticle-Number = {{77}}\n}\n"
    )
    assert (scopus.fields, scopus.reference.keywords) == (("rain", "drops"), ("Adult", "Child, preschool"))
    assert (scopus.reference.short_venue, scopus.reference.number) == ("J. Rain", "e12")
    assert scopus.reference.note == ""
    assert (wos.fields, wos.reference.keywords) == (("Snow", "Ice"), ("COLD", "WIND"))
    assert (wos.reference.issn, wos.reference.number) == (("0736-4679", "1090-1280"), "77")


def test_one_keyword_with_a_semicolon_is_one_after_an_export() -> None:
    paper = Paper("x", "Rain", fields=("rain; heavy",))
    assert only(exports.write([Citation(paper)], "bibtex")).fields == ("rain; heavy",)


def test_addresses_and_arxiv_numbers_where_people_write_them_in_bibtex() -> None:
    site, cited, numbered, comment = papers(
        """@misc{a, title={A tool}, howpublished={Available at \\url{https://example.org/tool\\_1}}}
        @misc{b, title={A text}, howpublished={\\url{https://doi.org/10.1000/xyz}}}
        @misc{c, title={A draft}, howpublished={Talk}, note={arXiv:2101.00001}}
        @misc{d, title={A reply}, note={Comment on arXiv:2101.00001}}"""
    )
    assert (site.url, site.venue) == ("https://example.org/tool_1", "")
    assert (cited.doi, cited.venue) == ("10.1000/xyz", "")
    assert (numbered.arxiv_id, numbered.venue) == ("2101.00001", "Talk")
    assert comment.arxiv_id == ""


def test_names_and_keys_in_bibtex_as_programs_write_them() -> None:
    paper = only(
        "@misc{key with spaces, title={Rain}, author={Wei Wang 0001 and Ludwig van Bee, Jr. and Dee, D,}}"
    )
    assert paper.authors == ("Wang, Wei", "van Bee, Ludwig, Jr.", "Dee, D")
    assert paper.reference.key == "key with spaces"


def test_tabs_of_web_of_science_call_keywords_id() -> None:
    head = "PT\tAU\tTI\tSO\tDT\tDE\tID\tAB\tSN\tEI\tPD\tPY\tUT"
    rows = ("J\tAuthor, A\tRain\tJOURNAL\tReview\train\tCOLD; WIND\tIt rains.\t1234-5678\t2345-6789\tMAY 3\t2020\tWOS:1",
            "J\tBee, B\tSnow\tJOURNAL\tArticle\tsnow\tCOLD; WIND\tIt snows.\t\t\tMAR-APR\t2020\tWOS:2")  # fmt: skip
    first, second = papers("\n".join([head, *rows, ""]))
    assert (first.id, second.id) == ("wos:1", "wos:2")
    assert (first.fields, first.reference.keywords) == (("rain",), ("COLD", "WIND"))
    assert (first.reference.kind, first.reference.date) == (Kind.ARTICLE, "2020-05-03")
    assert first.reference.issn == ("1234-5678", "2345-6789")
    assert second.reference.date == "2020-03"


def test_the_number_of_endnotes_tables_is_the_issue_unless_it_is_a_reports() -> None:
    head = "Reference Type\tAuthor\tYear\tTitle\tSecondary Title\tVolume\tNumber\tPages\tISBN/ISSN\tDate\n"
    row = "{}\tAuthor, A.\t2021\tRain\tJournal\t28\t4\t1-9\t1069-6563\tApr\n"
    article, report = papers(head + row.format("Journal Article") + row.format("Report"))
    assert (article.reference.issue, article.reference.number) == ("4", "")
    assert (report.reference.issue, report.reference.number) == ("", "4")
    assert (article.reference.issn, article.reference.date) == (("1069-6563",), "2021-04")


@pytest.mark.parametrize(
    "table",
    [
        "id,title,assignee,inventor/author,publication date,result link\n"
        "US-12-B2,Umbrella,Acme Inc,Ada Author,2020-01-01,https://example.org/12\n",
        "Jurisdiction,Display Key,Title,Abstract,Applicants,Inventors,Publication Date\n"
        "US,US-12-B2,Umbrella,It opens.,Acme Inc,Ada Author,2020-01-01\n",
    ],
)
def test_patents_have_a_kind_a_number_and_a_holder(table: str) -> None:
    paper = only(table)
    assert (paper.title, paper.authors, paper.year) == ("Umbrella", ("Ada Author",), 2020)
    reference = paper.reference
    assert (reference.kind, reference.number, reference.publisher) == (Kind.PATENT, "US-12-B2", "Acme Inc")


def test_columns_of_several_programs() -> None:
    zotero = only(
        "Key,Item Type,Title,Extra,Manual Tags,Automatic Tags\nK,journalArticle,Rain,PMID: 31,a; b,c\n"
    )
    assert (zotero.pmid, zotero.fields + zotero.reference.keywords) == ("31", ("a", "b", "c"))
    old = only(
        "id,display_name,host_venue_display_name,concept_names\nhttps://openalex.org/W1,Rain,PeerJ,A|B\n"
    )
    assert (old.venue, old.fields) == ("PeerJ", ("A", "B"))
    cited = only("Cites,Authors,Title,Year,Source,Volume,Issue,Type\n1,A Author,Rain,2020,Journal,0,0,HTML\n")
    assert (cited.reference.volume, cited.reference.issue) == ("", "")
    ieee = only("Document Title,Authors,Document Identifier\nRain,A. Author,IEEE Conferences\n")
    assert ieee.reference.kind is Kind.PROCEEDINGS_PAPER
    month = only('Title,Authors,Published Year,Published Month,Study\nRain,"Author, A",2021,April,A 2021\n')
    assert month.reference.date == "2021-04"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("A. B. Author", ("Author", "A. B.")),
        ("K. -R. Author", ("Author", "K. -R.")),
        ("J.-P. de la Author", ("de la Author", "J.-P.")),
        ("Ł. O’Author-Bee", ("O’Author-Bee", "Ł.")),
        ("A. Author Bee", ("A. Author Bee", "")),
        ("Ada Author", ("Ada Author", "")),
        ("A. Rain Group", ("A. Rain Group", "")),
        ("U.S. Army", ("U.S. Army", "")),
    ],
)
def test_initials_before_the_family_name_are_told_apart_for_print(name: str, parts: tuple[str, str]) -> None:
    assert divide_for_print(name) == Name(*parts)


def test_exports_part_names_with_initials_first() -> None:
    paper = Paper("x", "Rain", authors=("A. B. Author", "The Rain Group"))
    (item,) = json.loads(exports.write([Citation(paper)], "csl-json"))
    assert item["author"] == [{"family": "Author", "given": "A. B."}, {"literal": "The Rain Group"}]
    assert "AU  - Author, A. B.\nAU  - The Rain Group\n" in exports.write([Citation(paper)], "ris")


def test_a_suffix_behind_the_given_name() -> None:
    paper = only("PMID- 31\nTI  - Rain\nFAU - Author, Ada J 3rd\nFAU - Bee, Bob\n")
    assert paper.authors == ("Author, Ada J, 3rd", "Bee, Bob")


def test_particles_of_csl() -> None:
    people = [{"family": "Author", "given": "Ada", "dropping-particle": "von"}]
    paper = only(json.dumps([{"type": "article-journal", "title": "Rain", "author": people, "issued": {}}]))
    assert paper.authors == ("Author, Ada von",)


def test_endnotes_xml_keeps_scripts_and_dates() -> None:
    paper = only(
        "<xml><records><record><rec-number>1</rec-number><ref-type name='Journal Article'>17</ref-type><titles>"
        "<title><style face='normal'>Rain and CO</style><style face='subscript'>2</style></title></titles>"
        "<edition>2021/01/05</edition><dates><year>2021</year><pub-dates><date>Apr</date></pub-dates></dates>"
        "<accession-num>31</accession-num><urls><related-urls><url>https://www.ncbi.nlm.nih.gov/pubmed/31</url>"
        "</related-urls></urls></record></records></xml>"
    )
    assert (paper.title, paper.pmid) == ("Rain and CO₂", "31")
    assert (paper.reference.date, paper.reference.edition) == ("2021-04", "")


def test_marks_and_members_of_a_group_in_jats() -> None:
    paper = only(
        "<article><front><article-meta><title-group><article-title>Rain<xref ref-type='fn'>*</xref></article-title>"
        "</title-group><contrib-group><contrib contrib-type='author'><collab>The Rain Group<contrib-group>"
        "<contrib contrib-type='author'><name><surname>Author</surname></name></contrib></contrib-group></collab>"
        "</contrib></contrib-group><abstract><p>It rains <xref ref-type='bibr'>[1]</xref>.</p></abstract>"
        "</article-meta></front></article>"
    )
    assert (paper.title, paper.authors, paper.abstract) == ("Rain", ("The Rain Group",), "It rains [1].")


def test_volumes_of_dblp_are_proceedings() -> None:
    items = read_bytes(
        b'<dblp><proceedings key="conf/r/20"><title>Rain 2020.</title></proceedings></dblp>', "x"
    )
    paper = next(item for item in items if isinstance(item, Paper))
    assert paper.reference.kind is Kind.PROCEEDINGS


def test_ovids_fields_and_erics_numbers() -> None:
    first, second = papers(
        "<1>\nUnique Identifier\n  31\nTitle\n  Rain.\nAuthors\n  Author AB; Bee C\n"
        "<2>\nAccession Number\n  2004\nTitle\n  Snow.\nAuthor\n  Author A.B.; Bee C.\n"
    )
    assert (first.pmid, second.pmid) == ("31", "")
    assert second.authors == ("Author, A.B.", "Bee, C.")
    eric = only(
        "OWN - ERIC\nTI  - Rain\nDP  - May 2021\nVI  - v12\nIP  - n3\nPG  - p1-9\nISSN- ISSN-1234-5678\nOID - EJ1\n"
    ).reference
    assert (eric.date, eric.volume, eric.issue, eric.pages) == ("2021-05", "12", "3", "1-9")
    assert eric.issn == ("1234-5678",)


def test_refworks_dates_and_languages() -> None:
    paper = only("RT Journal Article\nT1 Rain\nYR 2021\nFD Apr\nOL English (30)\n")
    assert (paper.reference.date, paper.reference.language) == ("2021-04", "en")


def test_a_range_of_months_in_pubmed() -> None:
    paper = only(
        "<PubmedArticle><MedlineCitation><PMID>31</PMID><Article><Journal><JournalIssue><PubDate><MedlineDate>"
        "2021 Mar-Apr</MedlineDate></PubDate></JournalIssue></Journal><ArticleTitle>Rain.</ArticleTitle></Article>"
        "</MedlineCitation></PubmedArticle>"
    )
    assert (paper.year, paper.reference.date) == (2021, "2021-03")


RECORDS = [{"title": f"Rain {number}", "abstract": "It rains."} for number in range(3)]


@pytest.mark.parametrize("more", [0, 300])
@pytest.mark.parametrize(
    "shape",
    ["list", "by id", "by column"],
)
def test_json_that_has_its_records_under_names_of_its_own(shape: str, more: int) -> None:
    records = RECORDS + [{"title": f"Snow {number}", "abstract": "It snows. " * 30} for number in range(more)]
    value: dict[str, object] = {"version": 1, "studies": records}
    if shape == "by id":
        value = {f"r{number}": record for number, record in enumerate(records)}
    elif shape == "by column":
        value = {
            name: {str(at): record[name] for at, record in enumerate(records)}
            for name in ("title", "abstract")
        }
    assert [paper.title for paper in papers(json.dumps(value))] == [record["title"] for record in records]


def test_a_record_whose_lists_come_before_its_title_is_one_paper() -> None:
    cited = [{"title": f"Snow {number}", "abstract": "It snows. " * 30} for number in range(300)]
    for record in ({"paperId": "x", "references": cited}, {"citations": cited}):
        assert [paper.title for paper in papers(json.dumps({**record, "title": "Rain"}))] == ["Rain"]


def test_a_single_work_of_europe_pmc_in_short() -> None:
    paper = only(
        json.dumps({"id": "31", "source": "MED", "title": "Rain", "authorString": "Author A, Bee B."})
    )
    assert (paper.pmid, paper.authors, paper.source) == ("31", ("Author, A", "Bee, B"), "europe-pmc")


@pytest.mark.parametrize(
    "angles",
    [r"\ensuremath{<} \ensuremath{>}", r"\ifmmode<\else\textless\fi{} \ifmmode>\else\textgreater\fi{}"],
)
def test_sici_dois_as_mendeley_and_jabref_write_them(angles: str) -> None:
    left, right = angles.split(" ")
    paper = only(
        f"@article{{a, title={{Rain}}, doi={{10.1002/1097-4636(200007)51:1{left}1::AID-JBM1{right}3.0.CO;2-Z}}}}"
    )
    assert paper.doi == "10.1002/1097-4636(200007)51:1<1::aid-jbm1>3.0.co;2-z"
