"""Papers from CSV and TSV with the column names people have."""

from __future__ import annotations

import pytest

from index_build.sources import Reason, Reject, detect, read_bytes
from search.types import Paper


def only(text: str, name: str = "table.csv") -> Paper:
    (paper,) = read_bytes(text.encode(), name)
    assert isinstance(paper, Paper)
    return paper


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (  # Scopus
            "Authors,Title,Year,Source title,DOI,Abstract,EID\n"
            '"Author A.; Bee B.","Rain, again",2020,Journal,10.1000/R,"One.\nTwo.",2-s2.0-1\n',
            ("2-s2.0-1", "Rain, again", "One. Two.", ("Author, A.", "Bee, B."), 2020, "Journal", "10.1000/r"),
        ),
        (  # PubMed
            "PMID,Title,Authors,Citation,First Author,Journal/Book,Publication Year,DOI\n"
            '17,Rain.,"Author AB, Bee C.",J. 2020,Author AB,Journal,2020,\n',
            ("pmid:17", "Rain", "", ("Author, AB", "Bee, C"), 2020, "Journal", ""),
        ),
        (  # Zotero
            '"Key","Item Type","Publication Year","Author","Title","Publication Title","Abstract Note"\n'
            '"AB12CD34","journalArticle","2020","Author, Ada; Bee, B.","Rain","Journal","It rains."\n',
            ("AB12CD34", "Rain", "It rains.", ("Author, Ada", "Bee, B."), 2020, "Journal", ""),
        ),
        (  # IEEE Xplore
            '"Document Title",Authors,"Publication Title","Publication Year","Abstract","DOI"\n'
            '"Rain","A. Author; B. Bee","Journal","2020","It rains.","10.1000/R"\n',
            ("doi:10.1000/r", "Rain", "It rains.", ("A. Author", "B. Bee"), 2020, "Journal", "10.1000/r"),
        ),
        (  # Web of Science, tabs
            "PT\tAU\tTI\tSO\tAB\tPY\tDI\tUT\n"
            'J\tAuthor, A; Bee, B\t"Rain" again\tJOURNAL\tIt "rains.\t2020\t10.1000/R\tWOS:1\n',
            ("wos:1", '"Rain" again', 'It "rains.', ("Author, A", "Bee, B"), 2020, "JOURNAL", "10.1000/r"),
        ),
        (  # semicolons, as spreadsheets write them in much of Europe
            "sep=;\nid;title;abstract;year;venue;authors\n"
            "x-1;Rain;It rains.;2020;Journal;Ada Author and B. Bee\n",
            ("x-1", "Rain", "It rains.", ("Ada Author", "B. Bee"), 2020, "Journal", ""),
        ),
        (  # lines before the header
            "About the data: exported today\n\n"
            "Publication ID,DOI,Title,Abstract,Source title,PubYear,Authors\n"
            'pub.1,,Rain,It rains.,Journal,2020,"Author, Ada"\n',
            ("pub.1", "Rain", "It rains.", ("Author, Ada",), 2020, "Journal", ""),
        ),
    ],
    ids=["scopus", "pubmed", "zotero", "ieee", "wos", "semicolons", "preamble"],
)
def test_tables_of_the_usual_databases(table: str, expected: tuple[object, ...]) -> None:
    paper = only(table)
    assert (
        paper.id,
        paper.title,
        paper.abstract,
        paper.authors,
        paper.year,
        paper.venue,
        paper.doi,
    ) == expected
    assert paper.source == "csv"


def test_row_numbers_are_no_ids() -> None:
    first = only("id,title,year\n1,Rain,2020\n")
    second = only("id,title,year\n1,Snow,2020\n")
    assert first.id.startswith("csv:")
    assert first.id != second.id


def test_a_single_column_is_a_table_only_by_its_name() -> None:
    assert only("title\nRain\n").title == "Rain"
    assert detect(b"title\nRain\n", "notes.md") == "unknown"


def test_the_apostrophe_before_a_formula_is_not_part_of_the_text() -> None:
    assert only("title,year\n'=1+1 is two,2020\n").title == "=1+1 is two"
    assert only("title,year\n'Tis the season,2020\n").title == "'Tis the season"


def test_empty_rows_are_passed_over_and_empty_papers_rejected() -> None:
    rain, reject, snow = read_bytes(b"title,year\nRain,2020\n,\n ,2021\nSnow,2022\n", "t.csv")
    assert isinstance(rain, Paper)
    assert isinstance(snow, Paper)
    assert isinstance(reject, Reject)
    assert (reject.place, reject.reason) == ("line 4", "no title and no abstract")


def test_doubled_line_ends_do_not_matter() -> None:
    rain, snow = read_bytes(b"title,year\r\r\nRain,2020\r\r\nSnow,2021\r\r\n", "t.csv")
    assert isinstance(rain, Paper)
    assert isinstance(snow, Paper)
    assert (rain.year, snow.year) == (2020, 2021)


def test_text_that_is_no_table_is_not_taken_for_one() -> None:
    assert detect(b"The title, the abstract, and the year.\nMore text.", "letter.txt") == "unknown"


OTHERS = {
    "openalex": (
        "id,doi,title,display_name,publication_year,publication_date,ids.pmid,"
        "primary_location.source.display_name,authorships.author.display_name,abstract,primary_topic.display_name,primary_location.landing_page_url\n"
        "https://openalex.org/W1,https://doi.org/10.1000/R,Rain,Rain,2020,2020-01-02,"
        "https://pubmed.ncbi.nlm.nih.gov/17,Journal,Ada Author|Bob Bee,It rains.,Weather,"
        "https://example.org/r\n",
        ("openalex:W1", ("Ada Author", "Bob Bee"), "10.1000/r"),
    ),
    "refworks": (
        '"Reference Type","Authors, Primary","Title Primary","Periodical Full","Periodical Abbrev",'
        '"Pub Year",'
        '"Keywords","Abstract","Authors, Secondary","Title Secondary","DOI","Links"\n'
        '"Journal Article","Author,Ada; Bee,Bob","Rain","Journal","J","2020","wet","It rains.","","",'
        '"10.1000/R","https://example.org/r"\n',
        ("doi:10.1000/r", ("Author, Ada", "Bee, Bob"), "10.1000/r"),
    ),
    "covidence": (
        "Title,Authors,Abstract,Published Year,Published Month,Journal,Volume,Issue,Pages,Accession Number,"
        "DOI,Ref,Covidence #,Study,Notes,Tags\n"
        'Rain,"Author, A.; Bee, B.",It rains.,2020,1,Journal,1,2,3,,10.1000/R,7,#7,Author 2020,,later\n',
        ("doi:10.1000/r", ("Author, A.", "Bee, B."), "10.1000/r"),
    ),
    "publish or perish": (
        "Cites,Authors,Title,Year,Source,Publisher,ArticleURL,CitesURL,GSRank,QueryDate,Type,DOI,Abstract\n"
        '3,"A Author, B Bee",Rain,2020,Journal,Press,https://example.org/r,,1,2024-01-02,,10.1000/R,'
        "It rains.\n",
        ("doi:10.1000/r", ("A Author", "B Bee"), "10.1000/r"),
    ),
    "springer": (
        "Item Title,Publication Title,Book Series Title,Journal Volume,Journal Issue,Item DOI,Authors,"
        "Publication Year,URL,Content Type\n"
        "Rain,Journal,,1,2,10.1000/R,Ada AuthorBob McBee,2020,https://example.org/r,Article\n",
        ("doi:10.1000/r", ("Ada Author", "Bob McBee"), "10.1000/r"),
    ),
    "endnote": (
        "Reference Type\tRecord Number\tAuthor\tYear\tTitle\tSecondary Title\tAbstract\tURL\t"
        "Electronic Resource Number\n"
        "Journal Article\t12\tAuthor, A.; Bee, B.\t2020\tRain\tJournal\tIt rains.\t"
        "https://example.org/r\t10.1000/R\n",
        ("doi:10.1000/r", ("Author, A.", "Bee, B."), "10.1000/r"),
    ),
    "lens": (
        "Lens ID,Title,Date Published,Publication Year,Publication Type,Source Title,Author/s,Abstract,"
        "Fields of Study,Source URLs,External URL,PMID,DOI\n"
        "001-002-003,Rain,2020-01-02,2020,journal article,Journal,Ada Author; Bob Bee,It rains.,"
        "Weather; Water,"
        "https://example.org/s,https://example.org/r,17,10.1000/R\n",
        ("001-002-003", ("Ada Author", "Bob Bee"), "10.1000/r"),
    ),
    "rayyan": (
        "key,title,year,month,day,journal,issn,volume,issue,pages,authors,url,language,publisher,location,"
        "abstract,notes,pubmed_id,pmc_id,doi,keywords\n"
        'rayyan-7,Rain,2020,1,2,Journal,,,,,"Author, A. and Bee, B.",https://example.org/r,,,,It rains.,'
        "mine,17,,10.1000/R,wet\n",
        ("rayyan-7", ("Author, A.", "Bee, B."), "10.1000/r"),
    ),
    "dimensions": (
        "About the data: exported\n"
        "Rank,Publication ID,DOI,PMID,Title,Abstract,Source title,PubYear,Authors,Authors (Raw Affiliation),"
        "Dimensions URL,Fields of Research (ANZSRC 2020)\n"
        '1,pub.1,10.1000/R,17,Rain,It rains.,Journal,2020,"Author, Ada; Bee, Bob","Author, Ada (Univ)",'
        "https://example.org/r,37 Earth Sciences\n",
        ("pub.1", ("Author, Ada", "Bee, Bob"), "10.1000/r"),
    ),
}


@pytest.mark.parametrize("origin", OTHERS)
def test_tables_of_other_tools(origin: str) -> None:
    table, (own_id, authors, doi) = OTHERS[origin]
    paper = only(table)
    assert (paper.id, paper.authors, paper.doi) == (own_id, authors, doi)
    assert (paper.title, paper.year, paper.venue) == ("Rain", 2020, "Journal")
    if origin != "covidence":
        assert paper.url == "https://example.org/r"
    if origin != "springer":
        assert paper.abstract == "It rains."


def test_patents() -> None:
    lens = only(
        "#,Jurisdiction,Publication Number,Lens ID,Publication Date,Publication Year,Title,Abstract,"
        "Applicants,Inventors,URL,CPC Classifications\n"
        "1,US,US 1 A,009-1,2020-01-02,2020,Rain gauge,A gauge.,Gauges Ltd;;Rain Inc,AUTHOR ADA;;BEE BOB,"
        "https://example.org/p,G01W;;G01F\n"
    )
    assert (lens.title, lens.abstract) == ("Rain gauge", "A gauge.")
    assert lens.authors == ("AUTHOR, ADA", "BEE, BOB")
    assert (lens.year, lens.fields) == (2020, ("G01W", "G01F"))
    other = only(
        "search URL:,https://example.org\n"
        "id,title,assignee,inventor/author,priority date,publication date,result link,claims\n"
        "US-1-A,Snow gauge,Gauges Ltd,,2018-01-02,2020-01-02,https://example.org/q,1. A gauge for snow.\n"
    )
    assert (other.id, other.authors, other.year) == ("US-1-A", ("Gauges Ltd",), 2020)
    assert other.abstract == "1. A gauge for snow."


def test_an_empty_column_gives_way_to_the_next_for_its_field() -> None:
    paper = only("title,year,date,journal,source\nRain,nan,2020-05-01,,Scopus\n")
    assert (paper.year, paper.venue) == (2020, "")
    assert only("title,year,source\nRain,2020,Journal\n").venue == "Journal"


def test_tabs_with_quotes_only_where_a_spreadsheet_needs_them() -> None:
    table = 'title\tabstract\tyear\nRain\t"It ""rains"".\nStill."\t2020\n"Snow, too"\tIt snows.\t2021\n'
    rain, snow = read_bytes(table.encode(), "t.tsv")
    assert isinstance(rain, Paper)
    assert isinstance(snow, Paper)
    assert (rain.abstract, rain.year) == ('It "rains". Still.', 2020)
    assert (snow.title, snow.year) == ("Snow, too", 2021)


def test_a_letter_with_a_line_that_says_abstract_is_no_table() -> None:
    letter = "Dear all,\n\nAbstract\n" + "".join(f"Line {n} of the text.\n" for n in range(215))
    for name in ("letter.txt", "letter.csv", "letter"):
        assert detect(letter.encode(), name) == "unknown"


@pytest.mark.parametrize("nothing", ["nan", "NA", "N/A", "[No abstract available]", "None", "-", "#N/A"])
def test_cells_that_say_that_they_are_empty(nothing: str) -> None:
    paper = only(
        f"id,title,abstract,authors,journal,doi\n{nothing},Rain,{nothing},{nothing},{nothing},{nothing}\n"
    )
    assert (paper.abstract, paper.authors, paper.venue, paper.doi) == ("", (), "", "")
    assert paper.id.startswith("csv:")
    (reject,) = read_bytes(f"title,abstract\n{nothing},{nothing}\n".encode(), "t.csv")
    assert isinstance(reject, Reject)
    assert reject.reason == "no title and no abstract"


def test_a_quote_without_end_costs_its_row() -> None:
    rows = 'Rain,It rains.,2020\n"Snow,It snows.,2021\nHail,It hails.,2022\nFog,"Dim.",2023\n'
    table = f"title,abstract,year\n{rows}"
    items = list(read_bytes(table.encode(), "t.csv"))
    assert [item.title for item in items if isinstance(item, Paper)] == ["Rain", "Hail", "Fog"]
    (reject,) = (item for item in items if isinstance(item, Reject))
    assert (reject.place, reject.reason) == ("line 3", "entry cannot be parsed")


def test_rows_of_any_width_are_read_where_no_quote_is_open() -> None:
    table = 'title,abstract,year\nRain,"It rains.\nStill."\nSnow,It snows.,2021,more\n'
    rain, snow, more = read_bytes(table.encode(), "t.csv")
    assert isinstance(rain, Paper)
    assert isinstance(snow, Paper)
    assert isinstance(more, Reject)
    assert (rain.abstract, snow.year) == ("It rains. Still.", 2021)
    assert (more.place, more.reason, more.raw) == ("line 4", Reason.OUTSIDE, "more")


def test_tables_that_were_put_together_carelessly() -> None:
    one, other = "title,abstract,year\nRain,It rains.,2020\n", "year,title,journal\n2021,Snow,Journal\n"
    rain, snow = read_bytes((one + other).encode(), "t.csv")
    assert isinstance(rain, Paper)
    assert isinstance(snow, Paper)
    assert (rain.year, snow.title, snow.year, snow.venue) == (2020, "Snow", 2021, "Journal")
    assert len(list(read_bytes((one + "\ufeff" + one).encode(), "t.csv"))) == 2
    glued, rest = read_bytes(b"title,abstract,year\nRain,It rains.,2020Snow,It snows.,2021\n", "t.csv")
    assert isinstance(glued, Paper)
    assert isinstance(rest, Reject)
    assert (glued.title, rest.place, rest.reason) == ("Rain", "line 2", "text outside of any record")
    early, paper = read_bytes(b"Rain,It rains.,2020\ntitle,abstract,year\nSnow,It snows.,2021\n", "t.csv")
    assert isinstance(early, Reject)
    assert isinstance(paper, Paper)
    assert (early.place, paper.title) == ("line 1", "Snow")


def test_rows_without_a_line_end_before_them_are_told() -> None:
    header, row = "id,title,abstract,year,authors", 'x-1,"Rain","{}",2020,"Author, A."'
    long = row.format("It rains for a long time, and nobody in the office knows why it does so.")
    for text, place in ((f"{header}{long}\n{long}\n", "line 1"), (f"{header}\n{long}{long}\n", "line 2")):
        found = list(read_bytes(text.encode(), "x.csv"))
        (reject,) = (item for item in found if isinstance(item, Reject))
        assert (reject.place, reject.reason) == (place, "text outside of any record")
        assert len(found) == 2
