"""What is exported and read again is the same record: BibTeX, RIS, CSL-JSON and CSV."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from index_build.markup import to_text
from index_build.sources import detect, read_bytes
from index_build.sources.records import complete, doi_of, is_nothing, url_of
from search.exports import Citation, write
from search.exports.references import kind_of
from search.types import Kind, Paper, Reference

SPECIAL = "\\{}$^_~&%#<>\"'`-@=+;:,.()[]|/*!?"


def _settle(text: str) -> str:
    """The text as a reader gives it: cleaning it again changes nothing."""
    for _ in range(5):
        clean = to_text(text)
        if clean == text:
            return "" if is_nothing(text) else text
        text = clean
    return ""


_letters = st.sampled_from("abcXYZ01 éßŁ漢α²" + SPECIAL) | st.characters(exclude_categories=["C"])
texts = st.text(_letters, max_size=40).map(_settle)
titles = texts.filter(bool)


def _is_name(name: str) -> bool:
    return name[:1].isalpha() and (name[-1].isalpha() or name[-1] == ".")


parts = st.text(st.sampled_from("abcdeABCDÉöß-'. "), min_size=1, max_size=12)
capitals = parts.map(lambda name: " ".join(name.split()).capitalize()).filter(_is_name)
divided = st.tuples(capitals, capitals).map(", ".join)
suffixed = st.tuples(capitals, capitals, st.sampled_from(["Jr.", "III"])).map(", ".join)
named = "The Rain Group|Society of Drops and Puddles|Mononym|van der Berg, A.|Author, A. B.|Rock and Roll, A."
names = divided | suffixed | st.sampled_from(named.split("|"))
fields = st.sampled_from("Computer Science|Mellitus, Type 2|Learning (cs.LG)|R&D 100%|a_b {c}".split("|"))
dois = st.from_regex(r"10\.[0-9]{4}/[a-z0-9()<>;_%&#.-]{1,12}", fullmatch=True).map(doi_of)
arxiv_ids = st.sampled_from(["2101.00001", "0704.0001", "cs/0101001", "math.CO/0101001"])
urls = st.from_regex(r"https://example\.org/[a-zA-Z0-9_%&=?#~;.,-]{0,15}", fullmatch=True).map(url_of)

papers = st.builds(
    Paper,
    id=st.just("x"),
    title=titles,
    abstract=texts,
    authors=st.lists(names, max_size=4, unique=True).map(tuple),
    year=st.none() | st.integers(1500, 2027),
    venue=texts,
    fields=st.lists(fields, max_size=3, unique=True).map(tuple),
    doi=st.just("") | dois,
    arxiv_id=st.just("") | arxiv_ids,
    pmid=st.just("") | st.integers(1, 99_999_999).map(str),
    url=st.just("") | urls,
).map(complete)


def _record(paper: Paper) -> Paper:
    """What a file can carry: all but the id, the source and what is found in the abstract afterwards.

    The kind is written as it is printed; the note of a list comes back as the note of the record.
    """
    reference = Reference(kind=kind_of(paper))
    return replace(paper, id="", source="", sections=(), sentences=(), reference=reference)


@pytest.mark.parametrize("format", ["bibtex", "ris", "csl-json"])
@given(exported=st.lists(papers, min_size=1, max_size=3), note=texts)
def test_records_come_back_as_they_went_out(format: str, exported: list[Paper], note: str) -> None:
    file = write([Citation(paper, note) for paper in exported], format).encode()
    assert detect(file, "export") == format
    read = [_record(item) if isinstance(item, Paper) else item for item in read_bytes(file, "export")]
    assert read == [_record(paper) for paper in exported]


@given(paper=papers, note=texts)
def test_a_table_comes_back_too_and_keeps_the_id(paper: Paper, note: str) -> None:
    assume(len(paper.authors) != 1)  # one cell cannot tell "Family, Given" from two names
    assume(len(paper.fields) != 1 or "," not in paper.fields[0])
    assume(not any(text.startswith("'") for text in (paper.title, paper.abstract, paper.venue, paper.id)))
    named = replace(paper, id="acl:P17-1169")
    (read,) = read_bytes(write([Citation(named, note)], "csv").encode(), "export.csv")
    assert isinstance(read, Paper)
    assert read.id == named.id
    assert _record(read) == _record(named)


@pytest.mark.parametrize("format", ["bibtex", "ris", "csl-json"])
@given(paper=papers)
def test_reading_twice_gives_the_same_ids(format: str, paper: Paper) -> None:
    file = write([Citation(paper, "some reason")], format).encode()
    once, again = list(read_bytes(file, "a")), list(read_bytes(file, "b"))
    assert once == again


@pytest.mark.parametrize("format", ["bibtex", "ris", "csl-json", "csv"])
def test_dois_with_angle_brackets_come_back(format: str) -> None:
    doi = "10.1002/(sici)1521-3951(199911)216:1<391::aid-pssb391>3.0.co;2-k"
    file = write([Citation(Paper("x", "Rain", doi=doi))], format).encode()
    (paper,) = read_bytes(file, f"export.{format}")
    assert isinstance(paper, Paper)
    assert paper.doi == doi


FULL = Reference(
    genre="Special & rare",
    date="2017-05-03",
    volume="12A",
    issue="3-4",
    pages="e123-e145",
    number="R-17/2 & 3",
    series="Lecture Notes in Rain & Snow",
    edition="Second",
    publisher="Rain & Sons",
    place="St. Gallen, Österreich",
    event="Rain Days 2017",
    editors=("van der Berg, Anna", "Regen, Émile, Jr.", "The Rain Group"),
    short_venue="J. Rain",
    issn=("1234-5678", "0000-006X"),
    isbn=("978-3-16-148410-0",),
    pmcid="PMC123456",
    language="de",
    licence="CC BY 4.0",
    note="In press",
    accessed="2018-01-02",
    key="regen:2017_a",
)
"""Every field that a file of references can have has a value."""
NUMBERED = (Kind.REPORT, Kind.PATENT, Kind.STANDARD)
PARTS = (Kind.ARTICLE, Kind.PROCEEDINGS_PAPER, Kind.CHAPTER, Kind.ENTRY, Kind.NEWS)


def _carried(format: str, kind: Kind) -> Reference:
    """What of FULL the format has a place for, in a work of this kind."""
    reference = replace(FULL, kind=kind)
    if format != "csl-json" and kind in NUMBERED:
        reference = replace(reference, issue="")
    if format != "bibtex" and kind is Kind.PROCEEDINGS:
        reference = replace(reference, genre="")
    if format == "ris":
        event = FULL.event if kind is Kind.PROCEEDINGS_PAPER else ""
        reference = replace(reference, licence="", note="", event=event)
    return reference


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("format", ["bibtex", "ris", "csl-json"])
def test_every_field_of_every_kind_comes_back(format: str, kind: Kind) -> None:
    authors = ("de la Cruz, María", "Author, A. B., III")
    paper = Paper("x", "Rain", "It rains.", authors, 2017, "Journal of Rain", ("Weather",), "10.1000/x",
                  reference=replace(FULL, kind=kind))  # fmt: skip
    citation = Citation(paper, "Matches your method sentence: “It pours.”.", tags=("to read",))
    (read,) = read_bytes(write([citation], format).encode(), "export")
    assert isinstance(read, Paper)
    assert read.reference == _carried(format, kind)
    assert (read.title, read.authors, read.year, read.doi) == ("Rain", authors, 2017, "10.1000/x")
    assert read.fields == ("Weather", "to read")
    if kind in PARTS:
        assert read.venue == "Journal of Rain"


@pytest.mark.parametrize("format", ["bibtex", "ris", "csl-json"])
def test_a_volume_with_editors_only_keeps_them_editors(format: str) -> None:
    editors = ("Berg, Anna", "Regen, Émile")
    paper = Paper("x", "Rain", authors=editors, reference=Reference(kind=Kind.BOOK, editors=editors))
    file = write([Citation(paper)], format)
    (read,) = read_bytes(file.encode(), "export")
    assert isinstance(read, Paper)
    assert (read.authors, read.reference.editors) == (editors, editors)
    assert "author" not in file.lower().replace("authors", "")
    assert "AU  -" not in file


@pytest.mark.parametrize(
    ("venue", "kind"),
    [
        ("Proceedings of the National Academy of Sciences", Kind.ARTICLE),
        ("PNAS", Kind.ARTICLE),
        ("Proceedings of the IEEE", Kind.ARTICLE),
        ("Proceedings of Machine Learning Research", Kind.ARTICLE),
        ("Mayo Clinic Proceedings", Kind.ARTICLE),
        ("NeurIPS", Kind.PROCEEDINGS_PAPER),
        ("ACL, WS", Kind.PROCEEDINGS_PAPER),
        ("Advances in Neural Information Processing Systems 30", Kind.PROCEEDINGS_PAPER),
        ("Proceedings of the 58th Annual Meeting of the ACL", Kind.PROCEEDINGS_PAPER),
        ("Advances in Physics", Kind.ARTICLE),
        ("arXiv", Kind.PREPRINT),
        ("", Kind.OTHER),
    ],
)
def test_a_venue_tells_the_kind_where_the_source_says_nothing(venue: str, kind: Kind) -> None:
    assert kind_of(Paper("x", "Rain", venue=venue)) is kind
    assert kind_of(Paper("x", "Rain", venue=venue, reference=Reference(kind=Kind.THESIS))) is Kind.THESIS


def test_names_in_a_title_are_protected():
    abstract = "We apply the method of Kalman to rain in Africa. Rain falls. The rain of Africa is warm."
    file = write([Citation(Paper("x", "Kalman Filters for Rain in Africa with LSTMs", abstract))], "bibtex")
    assert "title = {{Kalman} Filters for Rain in {Africa} with {LSTMs}}" in file


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_comes_back_from_a_table(kind: Kind) -> None:
    paper = Paper("acl:1", "Rain", "It rains.", ("Author, Ada",), 2017, reference=replace(FULL, kind=kind))
    (read,) = read_bytes(write([Citation(paper)], "csv").encode(), "export.csv")
    assert isinstance(read, Paper)
    assert read.reference.kind is kind
