"""The words beside a score, held against judgements."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.collections import PoolQuery
from evaluation.levels import LEAST, begins_at, count_levels, describe_levels, judged_totals
from evaluation.metrics import Found


def made(grades: list[int], totals: list[float]) -> tuple[list[PoolQuery], Found]:
    papers = [f"p{place}" for place in range(len(grades))]
    query = PoolQuery("q_method", "q", None, dict(zip(papers, grades, strict=True)))
    return [query], {query.id: dict(zip(papers, totals, strict=True))}


def test_papers_are_counted_by_the_word_they_are_shown_with() -> None:
    judged = made([3, 2, 1, 1, 0, 0, 1], [1.5, 1.0, 1.0, 0.7, 0.7, 0.2, 0.1])
    assert [tuple(level.values()) for level in count_levels(*judged)] == [
        ("near identical", 1, 100, 100),
        ("similar", 2, 100, 50),
        ("related", 2, 50, 0),
        ("unrelated", 2, 50, 0),
    ]
    assert describe_levels(*judged).splitlines()[3].split() == ["similar", "2", "100", "%", "50", "%"]


def test_a_level_without_papers_has_no_shares() -> None:
    said = describe_levels(*made([1, 0], [0.7, 0.1])).splitlines()
    assert said[2].split() == ["near", "identical", "0", "-", "-"]
    assert not any("half are similar" in line for line in said)
    assert "a third are related near a total of" in said[-1]


def test_a_level_begins_where_the_share_is_reached() -> None:
    random = np.random.default_rng(3)
    totals = random.uniform(0, 1.6, 20_000)
    similar = random.uniform(size=len(totals)) < 1 / (1 + np.exp(-8 * (totals - 0.9)))
    assert begins_at(totals, np.where(similar, 2, 1), LEAST["similar"], 0.5) == pytest.approx(0.9, abs=0.02)
    assert begins_at(totals, np.where(similar, 2, 1), LEAST["similar"], 0.25) < 0.85


def test_candidates_that_were_not_ranked_are_left_out() -> None:
    queries, scores = made([2, 0], [1.0, 0.3])
    del scores["q_method"]["p1"]
    totals, grades = judged_totals(queries, scores)
    assert (totals.tolist(), grades.tolist()) == ([1.0], [2])
