"""The words beside a score, held against judgements."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.collections import PoolQuery
from evaluation.levels import LEAST, Judged, begins_at, count_levels, describe_levels, read_levels
from search.types import Paper


def made(grades: list[int], totals: list[float], *fields: str) -> list[Judged]:
    return [Judged(total, grade, fields) for total, grade in zip(totals, grades, strict=True)]


def test_papers_are_counted_by_the_word_they_are_shown_with() -> None:
    judged = made([3, 2, 1, 1, 0, 0, 1], [1.5, 1.0, 1.0, 0.7, 0.7, 0.2, 0.1])
    assert [tuple(level.values()) for level in count_levels(judged)] == [
        ("near identical", 1, 100, 100),
        ("similar", 2, 100, 50),
        ("related", 2, 50, 0),
        ("unrelated", 2, 50, 0),
    ]
    assert describe_levels(judged).splitlines()[3].split() == ["similar", "2", "100", "%", "50", "%"]


def test_a_level_without_papers_has_no_shares() -> None:
    said = describe_levels(made([1, 0], [0.7, 0.1])).splitlines()
    assert said[2].split() == ["near", "identical", "0", "-", "-"]
    assert not any("half are similar" in line for line in said)
    assert "a third are related near a total of" in said[-1]


def test_what_related_is_worth_is_told_by_field() -> None:
    judged = made([1, 0] * 6, [0.8, 0.7] * 6, "Physics") + made([1, 0] * 6, [0.8, 0.7] * 6, "Mathematics")
    judged += made([1, 0, 0, 0] * 5, [0.7] * 20, "Statistics", "Physics") + made([1], [0.8], "Biology")
    said = [line.split() for line in describe_levels(judged).splitlines()[-2:]]
    assert said == [
        ["Statistics", "20", "20", "25", "%", said[0][-1]],
        ["Physics", "and", "Mathematics", "24", "12", "100", "%", said[1][-1]],
    ]


def test_a_level_begins_where_the_share_is_reached() -> None:
    random = np.random.default_rng(3)
    totals = random.uniform(0, 1.6, 20_000)
    similar = random.uniform(size=len(totals)) < 1 / (1 + np.exp(-8 * (totals - 0.9)))
    judged = made(np.where(similar, 2, 1).tolist(), totals.tolist())
    assert begins_at(judged, LEAST["similar"], 0.5) == pytest.approx(0.9, abs=0.02)
    assert begins_at(judged, LEAST["similar"], 0.25) == pytest.approx(0.76, abs=0.02)
    assert begins_at(judged, LEAST["related"], 0.5) is None


def test_candidates_that_were_not_ranked_are_left_out() -> None:
    query = PoolQuery("q_method", "q", None, {"p0": 2, "p1": 0})
    papers = {id: Paper(id, id, fields=("Physics",)) for id in ("p0", "p1")}
    assert read_levels([query], {query.id: {"p0": 1.0}}, papers) == [Judged(1.0, 2, ("Physics",))]
