"""Papers from CSV and TSV with the column names people have."""

from __future__ import annotations

import pytest

from index_build.sources import Reject, detect, read_bytes
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
            ("2-s2.0-1", "Rain, again", "One. Two.", ("Author A.", "Bee B."), 2020, "Journal", "10.1000/r"),
        ),
        (  # PubMed
            "PMID,Title,Authors,Citation,First Author,Journal/Book,Publication Year,DOI\n"
            '17,Rain.,"Author AB, Bee C.",J. 2020,Author AB,Journal,2020,\n',
            ("pmid:17", "Rain.", "", ("Author AB", "Bee C"), 2020, "Journal", ""),
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
            ("WOS:1", '"Rain" again', 'It "rains.', ("Author, A", "Bee, B"), 2020, "JOURNAL", "10.1000/r"),
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
