"""Which records are shown as one paper."""

from __future__ import annotations

import pytest

from search.corpus.duplicates import group
from search.types import Paper

TITLE = "Learning to search the literature"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Paper("a", TITLE, year=2019), Paper("b", TITLE.upper() + ".", year=2020)),
        (Paper("a", TITLE), Paper("b", TITLE, year=1999)),
        (Paper("a", "Before", doi="10.1/x"), Paper("b", "After", doi="10.1/x")),
        (Paper("a", "Before", doi="10.48550/arxiv.1701.00001"), Paper("b", "After", arxiv_id="1701.00001")),
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
