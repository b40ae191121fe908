"""Which records are the same paper, and which only look like it."""

from dataclasses import replace

import pytest

from search.corpus.store.identity import (
    Record,
    completes,
    contradict,
    group,
    is_same,
    keys,
    normalise_title,
    other_id,
    title_key,
    why_same,
)
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


def test_plain_letters_are_normalised_as_all_others() -> None:
    for text in ("a_b", " 3.5 kV (AC/DC)\t", "\x1c\x00odd\x7f~", "__", ""):
        assert normalise_title(text) == normalise_title(f"{text} é").removesuffix("e").strip()
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


POSTER = Paper(
    "doi:10.1/volume",
    "Effect of sharp saws on the cutting of oak in small workshops",
    abstract="We let thirty joiners cut oak. With sharp saws they needed half the time.",
    authors=("Noether, E.",),
    doi="10.1/volume",
)


@pytest.mark.parametrize(
    ("changes", "apart"),
    [
        ({}, False),
        ({"abstract": ""}, False),
        ({"title": "Effect of sharp saws", "authors": (), "abstract": ""}, False),
        ({"title": "Effects of a sharp saw on the cutting of oak in workshops"}, False),
        ({"abstract": "We let thirty joiners cut oak."}, False),
        (  # another poster of the same volume
            {
                "title": "Effect of heavy hammers on the driving of nails in small workshops",
                "abstract": "Heavy hammers tire the arm. Twenty smiths were asked, and agreed.",
                "authors": ("Gauss, C.",),
            },
            True,
        ),
        (  # of the same people
            {
                "title": "Effect of sharp saws on the cutting of pine in large workshops",
                "abstract": "Pine splits. Nobody knows why, so the fibres of forty boards were drawn.",
            },
            True,
        ),
        ({"title": "Effect of planes on the thickness of oak in small workshops", "abstract": ""}, False),
        (
            {
                "title": "Effect of planes on the thickness of oak in small workshops",
                "abstract": "",
                "authors": ("Gauss, C.",),
            },
            True,
        ),
        ({"title": "A calendar of fairs"}, True),
    ],
    ids=str,
)
def test_records_of_one_id_may_be_different_papers(changes, apart):
    other = replace(POSTER, **changes)
    assert contradict(POSTER, other) is contradict(other, POSTER) is apart


def test_a_short_title_says_little():
    one = replace(POSTER, title="Editorial", authors=("Noether, E.",), abstract="")
    other = replace(one, authors=("Gauss, C.",))
    assert contradict(one, other)
    assert other_id(one) != other_id(other)


def test_the_other_id_goes_by_the_title():
    assert other_id(POSTER) == other_id(replace(POSTER, abstract="", authors=()))
    assert other_id(POSTER) != other_id(replace(POSTER, title="Effect of heavy hammers on nails"))
    assert other_id(POSTER).startswith("doi:10.1/volume#")


def test_records_complete_each_other_where_one_has_no_text():
    assert completes(POSTER, replace(POSTER, abstract=""))
    assert completes(replace(POSTER, title=""), POSTER)
    assert not completes(POSTER, replace(POSTER, abstract="Another text."))


LONG = replace(
    PAPER, doi="", abstract=" ".join(f"We sharpen saw {number} and cut oak." for number in range(20))
)


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"title": "Sharp saws cut wod in no time"}, True),
        ({"title": "Sharp saws cut wood in no time: a study in two forests"}, True),
        ({"year": 2019, "arxiv_id": "1901.00001"}, True),
        ({"year": None, "authors": ("Noether, E.",)}, True),
        ({"year": 2010, "title": "Sharp saws cut wod in no time"}, False),
        ({"authors": ("Euler, Leonhard",), "title": "Sharp saws cut wod in no time"}, False),
        ({"title": "Erratum"}, False),
        ({"abstract": LONG.abstract[:200], "title": "Sharp saws cut wod in no time"}, False),
    ],
)
def test_one_abstract_joins_what_title_and_year_do_not(changes, same):
    other = replace(LONG, id="b", **changes)
    assert is_same(LONG, other) == is_same(other, LONG) == same
    assert len(list(group([Record(0, LONG), Record(1, other)]))) == (1 if same else 2)


def test_one_abstract_does_not_join_papers_whose_dois_differ():
    one, other = replace(LONG, doi="10.1000/a"), replace(LONG, id="b", doi="10.1000/b", year=2021)
    assert not is_same(one, other)


def test_the_reason_names_the_abstract():
    other = replace(LONG, id="b", year=2019)
    assert why_same(LONG, other) == "same abstract, title and authors alike"
