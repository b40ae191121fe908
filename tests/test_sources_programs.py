# ruff: noqa: E501  records are long lines
"""Records as programs write them today, each with what a person would read in it."""

from __future__ import annotations

import pytest

from index_build.sources import Reject, detect, read_bytes
from search.types import Kind, Paper
from tests.formats.files import workbook


def read_one(text: str, name: str = "file") -> Paper:
    (item,) = read_bytes(text.encode(), name)
    assert isinstance(item, Paper), item
    return item


def tagged(*lines: str) -> Paper:
    return read_one("\n".join(lines) + "\n")


def authors(names: str) -> tuple[str, ...]:
    return read_one(f"@article{{k, title = {{Rain}}, author = {{{names}}}}}").authors


def names_in_a_table(names: str) -> tuple[str, ...]:
    return read_one(f'title,authors\nRain,"{names}"\n', "x.csv").authors


# -- RIS


def test_ris_of_scopus() -> None:
    paper = tagged(
        "TY  - CONF", "TI  - Rain", "PY  - 2019", "T2  - 32nd Conference on Rain", "C3  - Proceedings of Rain",
        "C2  - 33127094", "DB  - Scopus", "ER  - ",
    )  # fmt: skip
    assert (paper.venue, paper.reference.event) == ("Proceedings of Rain", "32nd Conference on Rain")
    assert paper.pmid == "33127094"


def test_ris_of_web_of_science_has_affiliations_where_others_have_proceedings() -> None:
    paper = tagged(
        "TY  - CPAPER", "TI  - Rain", "T2  - RAIN 2020", "C3  - University of Oslo", "PU  - IEEE", "PI  - NEW YORK",
        "JI  - Rain", "DA  - MAR", "PY  - 2020", "AN  - WOS:000636301000012", "ER  - ",
    )  # fmt: skip
    reference = paper.reference
    assert (paper.venue, reference.event, reference.date) == ("RAIN 2020", "", "2020-03")
    assert (reference.publisher, reference.place, reference.short_venue) == ("IEEE", "NEW YORK", "Rain")


def test_ris_of_ieee_has_a_date_beside_the_year_and_the_venue_three_times() -> None:
    paper = tagged(
        "TY  - CONF", "TI  - Rain", "T2  - Rain 2019", "JO  - Rain 2019", "JA  - Rain 2019", "PY  - 2019",
        "Y1  - 15-20 June 2019", "ER  - ",
    )  # fmt: skip
    assert (paper.reference.date, paper.reference.short_venue) == ("2019-06", "")


def test_ris_of_embase_has_the_date_where_others_say_when_they_looked() -> None:
    paper = tagged("TY  - JOUR", "T1  - Rain", "Y1  - 2021//", "Y2  - 2021/02/01/", "DB  - Embase", "ER  - ")
    assert (paper.reference.date, paper.reference.accessed) == ("2021-02-01", "")


def test_ris_of_ebsco_and_cochrane() -> None:
    paper = tagged("TY  - JOUR", "TI  - Rain.", "DP  - EBSCOhost", "DB  - mdc", "AN  - 33127094", "ER  - ")
    assert (paper.title, paper.pmid) == ("Rain", "33127094")
    assert tagged("TY  -  JOUR", "TI  -  Rain", "YR  -  2017", "ER  -  ").year == 2017


def test_a_strange_line_behind_the_type_does_not_hide_it() -> None:
    assert tagged("TY  - JOUR", "DESCRIPTORS  - Rain", "TI  - Rain", "ER  - ").reference.kind is Kind.ARTICLE


# -- other tags


@pytest.mark.parametrize(
    "text",
    [
        "PT J\nTI Rain after COVID-\n   19 in short-\n   and long-term care\nER\n",
        "PMID- 1\nTI  - Rain after COVID-\n      19 in short-\n      and long-term care\n",
    ],
)
def test_a_word_that_was_broken_behind_its_hyphen_is_whole(text: str) -> None:
    assert read_one(text).title == "Rain after COVID-19 in short- and long-term care"


def test_refworks_names_its_database_and_kinds() -> None:
    article = tagged("RT Journal Article", "A1 Author,Ada", "T1 Rain", "AN 33127094", "DS PubMed")
    assert article.pmid == "33127094"
    chapter = tagged("RT Book, Section", "T1 Rain", "T2 Weather", "A2 Author,Ada", "A1 Bee,B.")
    assert (chapter.reference.kind, chapter.reference.editors) == (Kind.CHAPTER, ("Author, Ada",))


def test_cnki() -> None:
    paper = tagged("RT Journal Article", "SR 1", "A1 王小明;李雷", "T1 降雨", "vo 78", "IS 02", "LA 中文;")
    assert (paper.authors, paper.reference.volume) == (("王小明", "李雷"), "78")
    assert (paper.reference.issue, paper.reference.language) == ("02", "zh")


def test_a_line_that_is_utf8_by_chance_in_a_chinese_file() -> None:
    text = "%0 Thesis\n%A 张三\n%T 论雨的形成与预测\n%9 硕士\n%I 清华大学\n%X 本文研究了降雨的形成。\n"
    (paper,) = read_bytes(text.encode("gbk"), "x")
    assert isinstance(paper, Paper)
    assert (paper.title, paper.reference.genre) == ("论雨的形成与预测", "硕士")


def test_acm_puts_all_keywords_in_one_line() -> None:
    assert tagged("%0 Conference Paper", "%T Rain", "%K rain, cloud computing").fields == (
        "rain",
        "cloud computing",
    )


def test_kinds_of_eric() -> None:
    paper = tagged("OWN - ERIC", "TI  - Rain", "OID - ED600000", "PT  - Reports - Descriptive")
    assert paper.reference.kind is Kind.REPORT


def test_pages_in_brackets_in_ovids_source() -> None:
    paper = tagged("<1>", "Title", "  Rain.", "Source", "  Journal of Rain. 12(SUPPL 1) (pp S10-S12), 2020.")
    assert (paper.venue, paper.reference.issue, paper.reference.pages) == (
        "Journal of Rain",
        "SUPPL 1",
        "S10-S12",
    )


def test_patents_of_derwent() -> None:
    paper = tagged(
        "PT P", "PN US2020123456-A1", "TI Rain maker", "AU AUTHOR A", "AE RAIN INC (RAIN-C)",
        "PD US2020123456-A1   01 Apr 2020   G01W-001/00", "UT DIIDW:2020A12345", "ER",
    )  # fmt: skip
    assert (paper.year, paper.reference.publisher) == (2020, "RAIN INC (RAIN-C)")


# -- BibTeX


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("Bee, B. and Author, A., Jr.", ("Bee, B.", "Author, A., Jr.")),
        ("A. Author, B. Bee, and C. Cee", ("Author, A.", "Bee, B.", "Cee, C.")),
        ("Author RB, Bee AK", ("Author, RB", "Bee, AK")),
        ("Author, Ada and", ("Author, Ada",)),
        (r"Nguy{\~{\^{e}}}n, V{\u{a}}n", ("Nguyễn, Văn",)),
        (r"{\relax Ch}ristos Author", ("Author, Christos",)),
        ("family=Author, given=Ada, prefix=van der and Bee, B.", ("van der Author, Ada", "Bee, B.")),
    ],
)
def test_names_in_bibtex(names: str, expected: tuple[str, ...]) -> None:
    assert authors(names) == expected


def test_what_mendeley_says_above_its_entries_needs_no_mention() -> None:
    said = (
        "Automatically generated by Mendeley Desktop 1.19.8\nAny changes to this file will be lost if it is "
        "regenerated by Mendeley.\n\nBibTeX export options can be customized via Options -> BibTeX in Mendeley\n\n"
    )
    assert read_one(said + "@misc{a, title = {Rain}}").title == "Rain"


def test_an_entry_in_parentheses_may_hold_some_between_quotes() -> None:
    paper = read_one('@article(a, title = "Rain (and hail) here", year = "2016")')
    assert (paper.title, paper.year) == ("Rain (and hail) here", 2016)


def test_a_part_inherits_all_that_is_printed_of_its_book() -> None:
    text = "@inproceedings{a, title={Rain}, crossref={p}}\n@proceedings{p, title={Weather}, address={Oslo}, month=may, year=2020}"
    part = list(read_bytes(text.encode(), "x"))[1]
    assert isinstance(part, Paper)
    assert (part.venue, part.reference.place, part.reference.date) == ("Weather", "Oslo", "2020-05")


@pytest.mark.parametrize(
    ("fields", "venue", "doi", "arxiv"),
    [
        (r"journal = {\apj}, doi = {10.3847/1}", "The Astrophysical Journal", "10.3847/1", ""),
        (r"journal = {\mine}", "mine", "10.2307/1234567", ""),
        ("journal = {Rain}, arxivId = {2101.00001}, doi = {}", "Rain", "10.2307/1234567", "2101.00001"),
    ],
)
def test_what_ads_jstor_and_mendeley_have(fields: str, venue: str, doi: str, arxiv: str) -> None:
    paper = read_one(f"@article{{10.2307/1234567, title = {{Rain}}, {fields}}}")
    assert (paper.venue, paper.doi, paper.arxiv_id) == (venue, doi, arxiv)


# -- tables


def test_workbooks_of_web_of_science() -> None:
    columns = {
        "Publication Type": "J", "Authors": "Author, A; Bee, BC", "Book Authors": "", "Book Editors": "",
        "Book Group Authors": "", "Author Full Names": "Author, Ada; Bee, Benjamin C.", "Group Authors": "Rain Grp",
        "Article Title": "Rain", "Source Title": "J RAIN", "Book Series Title": "", "Language": "English",
        "Document Type": "Article", "Conference Title": "", "Author Keywords": "rain; hail", "Keywords Plus": "SNOW",
        "Abstract": "It rains.", "Addresses": "x", "Affiliations": "y", "Cited References": "z", "Publisher": "IEEE",
        "Publisher City": "NEW YORK", "ISSN": "0196-0644", "eISSN": "1097-6760", "Journal Abbreviation": "J RAIN",
        "Journal ISO Abbreviation": "J. Rain", "Publication Date": "FEB", "Publication Year": "2021",
        "Volume": "7", "Issue": "2", "Start Page": "10", "End Page": "19", "Article Number": "", "DOI": "10.1000/rain",
        "DOI Link": "http://dx.doi.org/10.1000/rain", "WoS Categories": "Weather", "Pubmed Id": "33127094",
        "UT (Unique WOS ID)": "WOS:000636301000012", "Web of Science Record": "View Full Record in Web of Science",
    }  # fmt: skip
    (paper,) = read_bytes(workbook([list(columns), list(columns.values())]), "savedrecs.xlsx")
    assert isinstance(paper, Paper)
    assert (paper.id, paper.title, paper.venue) == ("wos:000636301000012", "Rain", "J RAIN")
    assert paper.authors == ("Author, Ada", "Bee, Benjamin C.", "Rain Grp")
    assert (paper.doi, paper.pmid, paper.year) == ("10.1000/rain", "33127094", 2021)
    reference = paper.reference
    assert (reference.kind, reference.date, reference.pages) == (Kind.ARTICLE, "2021-02", "10-19")
    assert (reference.number, reference.issn) == ("", ("0196-0644", "1097-6760"))
    assert set(paper.fields) | set(reference.keywords) == {"rain", "hail", "SNOW", "Weather"}


def test_numbers_of_rows_and_labels_of_screening_are_no_keys() -> None:
    paper = read_one("openalex_id,title,label\nhttps://openalex.org/W1,Rain,0\n", "x.csv")
    assert (paper.id, paper.reference.key) == ("openalex:W1", "")


def test_the_parent_title_of_reviews_is_the_venue() -> None:
    assert read_one("Title,Parent Title,Authors\nRain,J Rain,Author A\n", "x.csv").venue == "J Rain"


def test_tables_of_embase() -> None:
    upright = (
        "TITLE,AUTHORS,SOURCE TITLE,MEDLINE PMID,DATE OF PUBLICATION,LANGUAGE OF ARTICLE,EMTREE MEDICAL INDEX TERMS\n"
        'Rain,"Author A.B., Bee B.",J Rain,33127094,1 February 2021,English,"adult, rain"\n'
    )
    on_its_side = (
        '"TITLE","Rain"\n"AUTHOR NAMES","Author A.B.","Bee B."\n"SOURCE TITLE","J Rain"\n"MEDLINE PMID","33127094"\n'
        '"DATE OF PUBLICATION","1 February 2021"\n"LANGUAGE OF ARTICLE","English"\n'
        '"EMTREE MEDICAL INDEX TERMS","adult","rain"\n'
    )
    for table in (upright, on_its_side):
        paper = read_one(table, "x.csv")
        assert (paper.title, paper.authors, paper.venue) == ("Rain", ("Author, A.B.", "Bee, B."), "J Rain")
        assert (paper.pmid, paper.fields) == ("33127094", ("adult", "rain"))
        assert (paper.reference.date, paper.reference.language) == ("2021-02-01", "en")


def test_records_of_a_table_on_its_side_end_at_blank_lines_or_the_next_title() -> None:
    for between in ("\n", ""):
        record = '"TITLE","Rain {}"\n"AUTHOR NAMES","Author A."\n"PUBLICATION YEAR","2020"\n'
        items = list(read_bytes(between.join(map(record.format, range(3))).encode(), "x.csv"))
        assert [item.title for item in items if isinstance(item, Paper)] == ["Rain 0", "Rain 1", "Rain 2"]
        assert len(items) == 3


def test_a_quote_without_end_in_a_table_on_its_side_is_told() -> None:
    record = '"TITLE","Rain {}"\n"AUTHOR NAMES","Author A."\n"PUBLICATION YEAR","2020"\n\n'
    text = record.format(1) + record.format(2).replace('A."', "A.") + record.format(3)
    items = list(read_bytes(text.encode(), "x.csv"))
    assert [item.reason for item in items if isinstance(item, Reject)] == ["entry cannot be parsed"]


def test_google_scholar_calls_the_journal_publication() -> None:
    table = 'Authors,Title,Publication,Volume,Year\n"Author, Ada; Bee, B.; ",Rain,Journal of Rain,7,2020\n'
    paper = read_one(table, "x.csv")
    assert (paper.venue, paper.authors) == ("Journal of Rain", ("Author, Ada", "Bee, B."))


def test_springer_names_two_kinds_at_once() -> None:
    table = "Item Title,Publication Title,Item DOI,Authors,Content Type\nRain,Weather,10.1007/1,Ada Author,Chapter {}\n"
    assert read_one(table.format("ConferencePaper"), "x.csv").reference.kind is Kind.PROCEEDINGS_PAPER
    assert read_one(table.format("ReferenceWorkEntry"), "x.csv").reference.kind is Kind.ENTRY


def test_groups_among_the_authors_of_web_of_science() -> None:
    paper = read_one("PT\tAU\tAF\tCA\tTI\tSO\nJ\tAuthor, A\tAuthor, Ada\tRain Grp\tRain\tJ RAIN\n")
    assert paper.authors == ("Author, Ada", "Rain Grp")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("AUTHOR A, BEE B", ("AUTHOR, A", "BEE, B")),
        ("A Author, B Bee...", ("A Author", "B Bee")),
        ("['Ada Author', 'Bea O''Bee']".replace("''", "’"), ("Ada Author", "Bea O’Bee")),
        ("[''Ada Author'', ''B. Bee'']".replace("''", '""'), ("Ada Author", "B. Bee")),
    ],
)
def test_names_in_tables(names: str, expected: tuple[str, ...]) -> None:
    assert names_in_a_table(names) == expected


# -- XML and JSON


def test_jats_within_oai_has_a_prefix() -> None:
    text = (
        "<OAI-PMH><ListRecords><record><header><identifier>x</identifier></header><metadata><j:article "
        'xmlns:j="https://jats.nlm.nih.gov/"><j:front><j:article-meta><j:title-group><j:article-title>Rain'
        "</j:article-title></j:title-group></j:article-meta></j:front></j:article></metadata></record>"
        "</ListRecords></OAI-PMH>"
    )
    assert read_one(text).title == "Rain"


def test_jats_knows_the_day_where_the_first_date_has_only_the_year() -> None:
    text = (
        "<article><front><article-meta><title-group><article-title>Rain</article-title></title-group>"
        '<pub-date pub-type="collection"><year>2020</year></pub-date><pub-date pub-type="epub"><day>5</day>'
        "<month>11</month><year>2020</year></pub-date></article-meta></front></article>"
    )
    assert read_one(text).reference.date == "2020-11-05"


def test_crossref_has_the_series_before_the_book() -> None:
    text = (
        '{"DOI": "10.1007/1", "type": "book-chapter", "title": ["Rain"], "is-referenced-by-count": 1, '
        '"container-title": ["Lecture Notes in Rain", "Weather 2020"]}'
    )
    paper = read_one(text)
    assert (paper.venue, paper.reference.series) == ("Weather 2020", "Lecture Notes in Rain")


def test_preprints_in_zoteros_rdf() -> None:
    text = (
        '<rdf:RDF><rdf:Description rdf:about="#1"><z:itemType>preprint</z:itemType><dc:publisher><foaf:Organization>'
        "<foaf:name>arXiv</foaf:name></foaf:Organization></dc:publisher><dc:title>Rain</dc:title>"
        "<prism:number>arXiv:2101.00001</prism:number></rdf:Description></rdf:RDF>"
    )
    paper = read_one(text)
    assert (paper.venue, paper.arxiv_id) == ("arXiv", "2101.00001")


def test_ebsco() -> None:
    text = (
        '<records><rec><header shortDbName="mdc" uiTerm="33127094"><controlInfo><pubinfo><dt year="2021" month="02" '
        'day="00"/></pubinfo><artinfo><ppf>A10</ppf><ppct>3</ppct><tig><atl>Rain.</atl></tig></artinfo>'
        "</controlInfo></header></rec></records>"
    )
    paper = read_one(text)
    assert (paper.title, paper.pmid, paper.year) == ("Rain", "33127094", 2021)
    assert (paper.reference.date, paper.reference.pages) == ("2021-02", "A10")


@pytest.mark.parametrize("text", ['[{"title": "Rain"},', '{"results": [{"title": "Rain"}], "x": 1'])
def test_an_answer_that_ends_between_two_records_says_so(text: str) -> None:
    paper, reject = read_bytes(text.encode(), "x")
    assert isinstance(paper, Paper)
    assert isinstance(reject, Reject)
    assert reject.reason in ("record is not finished", "not valid JSON")


def test_words_between_the_records_of_an_array_cost_none_of_them() -> None:
    text = '[\nfound by hand\n {"key": 1, "title": "Rain", "tags": [{"a": 1}, {"a": 2}]},\n {"key": 2, "title": "Snow"}]'
    items = list(read_bytes(text.encode(), "x"))
    assert [item.title for item in items if isinstance(item, Paper)] == ["Rain", "Snow"]
    assert [item.raw[:13] for item in items if isinstance(item, Reject)] == ["found by hand"]


@pytest.mark.parametrize("angles", [("&#60;", "&#62;"), ("&#x3C;", "&#x3e;")])
def test_angles_of_dois_as_numbers(angles: tuple[str, str]) -> None:
    doi = "10.1002/(SICI)1521-3951(199911)216:1<391::AID-PSSB391>3.0.CO;2-K"
    written = doi.replace("<", angles[0]).replace(">", angles[1])
    assert tagged("TY  - JOUR", "TI  - Rain", f"DO  - {written}", "ER  - ").doi == doi.lower()


def test_an_archive_is_no_workbook() -> None:
    assert detect(b"PK\x03\x04 papers.bib with the letters xl/ in it", "x.zip") == "zip"


def test_a_link_to_openalex_does_not_make_a_list_of_references_one_of_openalex() -> None:
    text = (
        '[{"id": "a", "type": "article-journal", "title": "Rain", "author": [{"family": "Author", "given": "Ada"}], '
        '"issued": {"date-parts": [[2020]]}, "URL": "https://openalex.org/W1"}]'
    )
    assert detect(text.encode(), "x.json") == "csl-json"
    assert read_one(text).authors == ("Author, Ada",)


def test_a_key_that_looks_like_a_doi_is_none() -> None:
    assert read_one("id,title\nbibtex:10.1145/3290605-419cd4c5,Rain\n", "x.csv").doi == ""
    assert read_one('{"id": "10.1145/3290605", "title": "Rain"}').doi == "10.1145/3290605"


def test_names_and_dois_in_lists_of_ads() -> None:
    paper = read_one(
        '{"title": ["Rain"], "pub": "Journal of Rain", "doi": ["10.3847/1"], "author": ["Author, Ada"]}'
    )
    assert (paper.title, paper.venue, paper.doi) == ("Rain", "Journal of Rain", "10.3847/1")


def test_a_work_of_crossref_with_one_text_for_its_journal() -> None:
    text = '{"DOI": "10.1000/1", "title": "Rain", "container-title": "Rain, Hail; Snow", "is-referenced-by-count": 1}'
    assert read_one(text).venue == "Rain, Hail; Snow"


def test_inventors_in_tables_of_lens() -> None:
    table = "Display Key,Title,Applicants,Inventors\nUS 1 B2,Rain maker,RAIN CO,AUTHOR ADA B;;BEE BEA\n"
    assert read_one(table, "x.csv").authors == ("AUTHOR, ADA B", "BEE, BEA")


@pytest.mark.parametrize(
    ("cell", "authors"), [("X", ("X",)), ("['Bee', \"O'Neil\"]", ("Bee", "O'Neil"))], ids=["letter", "list"]
)
def test_a_letter_is_no_list_and_a_quote_within_a_list_no_end(cell: str, authors: tuple[str, ...]) -> None:
    quoted = cell.replace('"', '""')
    assert read_one(f'title,authors,abstract\nRain,"{quoted}",It rains.\n').authors == authors
