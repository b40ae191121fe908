"""What is exported and read again is the same record: BibTeX, RIS, CSL-JSON and CSV."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from index_build.markup import to_text
from index_build.sources import detect, read_bytes
from index_build.sources.records import complete, doi_of, url_of
from search.exports import Reference, write
from search.types import Paper

SPECIAL = "\\{}$^_~&%#<>\"'`-@=+;:,.()[]|/*!?"


def _settle(text: str) -> str:
    """The text as a reader gives it: cleaning it again changes nothing."""
    for _ in range(5):
        clean = to_text(text)
        if clean == text:
            return text
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
    """What a file can carry: all but the id, the source and what is found in the abstract afterwards."""
    return replace(paper, id="", source="", sections=(), sentences=())


@pytest.mark.parametrize("format", ["bibtex", "ris", "csl-json"])
@given(exported=st.lists(papers, min_size=1, max_size=3), note=texts)
def test_records_come_back_as_they_went_out(format: str, exported: list[Paper], note: str) -> None:
    file = write([Reference(paper, note) for paper in exported], format).encode()
    assert detect(file, "export") == format
    read = [_record(item) if isinstance(item, Paper) else item for item in read_bytes(file, "export")]
    assert read == [_record(paper) for paper in exported]


@given(paper=papers, note=texts)
def test_a_table_comes_back_too_and_keeps_the_id(paper: Paper, note: str) -> None:
    assume(len(paper.authors) != 1)  # one cell cannot tell "Family, Given" from two names
    assume(len(paper.fields) != 1 or "," not in paper.fields[0])
    assume(not any(text.startswith("'") for text in (paper.title, paper.abstract, paper.venue, paper.id)))
    named = replace(paper, id="acl:P17-1169")
    (read,) = read_bytes(write([Reference(named, note)], "csv").encode(), "export.csv")
    assert isinstance(read, Paper)
    assert read.id == named.id
    assert _record(read) == _record(named)


@pytest.mark.parametrize("format", ["bibtex", "ris", "csl-json"])
@given(paper=papers)
def test_reading_twice_gives_the_same_ids(format: str, paper: Paper) -> None:
    file = write([Reference(paper, "some reason")], format).encode()
    once, again = list(read_bytes(file, "a")), list(read_bytes(file, "b"))
    assert once == again
