"""Which records are the same paper, and which only look like it."""

from dataclasses import replace

import pytest

from search.store.identity import Record, group, is_same, keys, normalise_title, title_key
from search.types import Paper

PAPER = Paper(
    "a",
    "Sharp saws cut wood in no time",
    abstract="Saws are old tools. We sharpen them. They cut wood in half the time.",
    authors=("Noether, Emmy", "Gauss, Carl"),
    year=2020,
    doi="10.1/a",
)


def test_titles_are_compared_by_their_words():
    assert normalise_title("  Naïve  Bayes: “a re-view”! ") == "naive bayes a re view"
    assert normalise_title("Über Größe") == "uber grosse"
    assert normalise_title("論文の題名：例") == "論文の題名 例"
    assert title_key("Sharp Saws cut—wood", 2020) == title_key("sharp saws cut wood", 2020) != 0
    assert title_key("Sharp saws cut wood", 2020) != title_key("Sharp saws cut wood", 2021)


@pytest.mark.parametrize("title", ["", "Introduction", "Book review", "Preface"])
def test_short_titles_tell_nothing(title):
    assert title_key(title, 2020) == 0
    assert keys(Paper("a", title, year=2020)) == []


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"title": "Sharp saws cut wood", "year": 2019}, True),
        ({"doi": ""}, True),
        ({"doi": "", "abstract": "", "authors": ()}, True),
        ({"doi": "", "authors": ("E. Noether", "C. F. Gauss")}, True),
        ({"doi": "10.1/b"}, False),
        ({"doi": "", "year": 2021}, False),
        ({"title": "Hammers and nails through the ages"}, False),
        (
            {"doi": "", "abstract": "News of the society, with a calendar of meetings to come this year."},
            False,
        ),
        ({"doi": "", "authors": ("Turing, Alan",)}, False),
        ({"doi": "", "title": "Quite another title of a paper"}, False),
    ],
    ids=str,
)
def test_same_or_not(changes, same):
    other = replace(PAPER, id="b", **changes)
    assert is_same(PAPER, other) is same
    assert is_same(other, PAPER) is same


def test_an_arxiv_doi_is_an_arxiv_id():
    preprint = replace(PAPER, id="b", doi="10.48550/arxiv.2001.00001")
    record = replace(PAPER, id="c", doi="", arxiv_id="2001.00001", year=2018)
    assert is_same(preprint, record)
    assert is_same(PAPER, preprint)


def ids(records):
    return [[record.paper.id for record in members] for members in group(records)]


def test_grouping_does_not_depend_on_the_order_given():
    papers = [
        PAPER,
        replace(PAPER, id="b", doi="", arxiv_id="2001.00001"),
        replace(PAPER, id="c", doi="10.1/c"),
        replace(PAPER, id="d", doi="", title="Hammers and nails through the ages"),
    ]
    records = [Record(order, paper) for order, paper in enumerate(papers)]
    assert ids(records) == [["a", "b"], ["c"], ["d"]]
    assert ids(records[::-1]) == ids(records)


def test_a_title_cannot_join_papers_whose_dois_differ():
    bare = replace(PAPER, id="bare", doi="")
    papers = [bare, PAPER, replace(PAPER, id="c", doi="10.1/c")]
    found = ids([Record(order, paper) for order, paper in enumerate(papers)])
    assert sorted(map(len, found)) == [1, 2]


def test_a_record_with_both_identifiers_joins_two_papers():
    one, two = replace(PAPER, id="one"), replace(PAPER, id="two", doi="", pmid="7", year=2018)
    both = replace(PAPER, id="both", pmid="7", year=2016)
    assert ids([Record(0, one), Record(1, two)]) == [["one"], ["two"]]
    assert ids([Record(0, one), Record(1, two), Record(2, both)]) == [["one", "two", "both"]]
