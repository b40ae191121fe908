"""Which records are shown as one paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from search.corpus.duplicates import group
from search.types import Paper

TITLE = "Learning to search the literature"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Paper("a", TITLE, year=2019), Paper("b", TITLE.upper() + ".", year=2020)),
        (Paper("a", TITLE), Paper("b", TITLE, year=1999)),
        (
            Paper("a", "Before the rain came in", doi="10.1/x"),
            Paper("b", "After the rain came in", doi="10.1/x"),
        ),
        (
            Paper("a", "Before the rain came in", doi="10.48550/arxiv.1701.00001"),
            Paper("b", "After the rain came in", arxiv_id="1701.00001"),
        ),
    ],
)
def test_records_of_one_paper_are_one(one, other):
    assert group([one, other]) == [[0, 1]]
    assert group([other], own=[one]) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Paper("a", TITLE, year=1990), Paper("b", TITLE, year=2020)),
        (Paper("a", "Introduction", year=2020), Paper("b", "Introduction", year=2020)),
        (Paper("a", TITLE, doi="10.1/x"), Paper("b", TITLE + " again", doi="10.1/y")),
        (Paper("", "Short"), Paper("", "Words")),
    ],
)
def test_other_papers_stay_apart(one, other):
    assert group([one, other]) == [[0], [1]]
    assert group([other], own=[one]) == [[0]]


def test_order_is_kept():
    papers = [
        Paper("a", "First paper of them all"),
        Paper("b", TITLE),
        Paper("c", "Some other matter entirely"),
    ]
    again = Paper("d", TITLE)
    assert group([*papers, again]) == [[0], [1, 3], [2]]


@pytest.mark.parametrize(
    ("changes", "groups"),
    [
        ({}, 1),
        ({"authors": ("Ana Lima",), "abstract": ""}, 2),
        ({"abstract": "Seventy patients were followed for a year after surgery."}, 2),
        ({"abstract": "We grow lentils in clay. The yield doubles, and the roots go deeper than before."}, 1),
    ],
)
def test_a_title_alone_joins_no_papers_of_other_authors_or_texts(
    changes: dict[str, Any], groups: int
) -> None:
    text = "We grow lentils in clay. The yield doubles."
    one = Paper("a", "Annual report of the society", text, authors=("Bo Chen", "Di Olsen"), year=2020)
    assert len(group([one, replace(one, id="b", **changes)])) == groups


def test_papers_of_one_volume_share_its_doi_and_stay_apart() -> None:
    one = Paper("a", "Lentils grown in heavy clay", authors=("Bo Chen",), doi="10.1/volume")
    other = Paper("b", "Outcome of knee surgery at one year", authors=("Ana Lima",), doi="10.1/volume")
    assert len(group([one, other])) == 2
