"""Judging: blind pools, checked grades, adjudication, and agreement against worked figures."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path

import pytest

from evaluation.agreement import measure_agreement, ordinal_alpha, weighted_kappa
from evaluation.annotation_store import (
    ADJUDICATOR,
    Pool,
    Project,
    adjudicate,
    disputed,
    export,
    make_pool,
    waiting,
)
from search.errors import InputError
from search.types import Facet, Paper, Sentence

PAPERS = [
    Paper(paper, f"Title {paper}", f"Text of {paper}.", sentences=(Sentence(f"Text of {paper}.", 0, 10),))
    for paper in "qabcd"
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path / "judging")
    pool, key = make_pool("q", Facet.METHOD, {"one": ["a", "b", "c"], "two": ["c", "q", "d"]}, depth=2)
    project.add(pool, key, PAPERS)
    return project


def test_a_pool_joins_the_first_of_each_method_and_hides_their_names(project: Project) -> None:
    (pool,) = project.pools()
    assert sorted(pool.candidates) == ["a", "b", "c", "d"]
    assert "one" not in (project.folder / "pools" / "q_method.json").read_text()
    key = json.loads((project.folder / "keys" / "q_method.json").read_text())
    assert key == {"a": ["one"], "b": ["one"], "c": ["two"], "d": ["two"]}


def test_the_order_is_shuffled_but_the_same_for_every_judge() -> None:
    rankings = {"one": [f"p{number:02}" for number in range(30)]}
    first, _ = make_pool("q", Facet.METHOD, rankings, depth=30)
    again, _ = make_pool("q", Facet.METHOD, rankings, depth=30)
    other, _ = make_pool("q", Facet.RESULT, rankings, depth=30)
    assert first.candidates == again.candidates
    assert first.candidates != tuple(rankings["one"])
    assert other.candidates != first.candidates


def test_grades_are_kept_checked_and_taken_back(project: Project) -> None:
    (pool,) = project.pools()
    project.grade("ada", pool, "a", 2)
    project.grade("ada", pool, "b", 1)
    project.take_back("ada", pool, "b")
    assert project.grades("ada") == {"q_method": {"a": 2}}
    assert set(waiting(pool, project.grades("ada"))) == {"b", "c", "d"}
    with pytest.raises(InputError, match="give 0, 1, 2 or 3"):
        project.grade("ada", pool, "a", 4)
    with pytest.raises(InputError, match="is not in a pool"):
        project.grade("ada", pool, "z", 1)
    with pytest.raises(InputError, match="must be one word"):
        project.grade("../ada", pool, "a", 1)


def test_the_adjudicator_decides_what_is_disputed() -> None:
    pool = Pool("q", Facet.METHOD, ("a", "b", "c"))
    first, second = {"q_method": {"a": 3, "b": 1, "c": 0}}, {"q_method": {"a": 3, "b": 2}}
    assert disputed(pool, first, second) == ("b",)
    assert adjudicate(pool, first, second, {}) == {"a": 3}
    assert adjudicate(pool, first, second, {"q_method": {"b": 2, "c": 1}}) == {"a": 3, "b": 2, "c": 1}


def test_export_waits_for_the_last_grade(project: Project, tmp_path: Path) -> None:
    (pool,) = project.pools()
    for judge, grades in (("ada", [3, 2, 1, 0]), ("ben", [3, 2, 0, 0])):
        project.take(judge, {pool.id: dict(zip(pool.candidates, grades, strict=True))})
    with pytest.raises(InputError, match="1 papers of 'q_method' have no agreed grade"):
        export(project, tmp_path / "out", "ada", "ben")
    project.grade(ADJUDICATOR, pool, pool.candidates[2], 1)
    assert export(project, tmp_path / "out", "ada", "ben") == 1
    written = json.loads((tmp_path / "out" / "test-pid2anns-csfcube-method.json").read_text())["q"]
    assert written["relevance_adju"] == [3, 2, 1, 0]
    assert written["relevance_min"] == [3, 2, 0, 0]


def test_agreement_worked_by_hand() -> None:
    # Grades 0 0 1 1 against 0 1 1 1. Pairs both ways: o00 = 2, o01 = o10 = 1, o11 = 4; n = 3, 5, 8 in all.
    # d(0, 1) = (3 + 5 - 4)^2 = 16: D_o = 2 * 16 / 8 = 4, D_e = 2 * 15 * 16 / 56, alpha = 1 - 4 * 56 / 480.
    first, second = [0, 0, 1, 1], [0, 1, 1, 1]
    assert ordinal_alpha(first, second) == pytest.approx(1 - 4 * 56 / 480)
    # Kappa: 1 disagreement seen, expected 4 * (1/2 * 3/4 + 1/2 * 1/4) = 2.
    assert weighted_kappa(first, second) == pytest.approx(1 - 1 / 2)
    found = measure_agreement(first, second)
    assert found.same == 0.75
    assert found.spearman == pytest.approx(3**-0.5)


def test_full_agreement_and_none_to_measure() -> None:
    found = measure_agreement([0, 1, 2, 3], [0, 1, 2, 3])
    assert (found.spearman, found.alpha, found.kappa) == pytest.approx((1, 1, 1))
    constant = measure_agreement([1, 1], [1, 1])
    assert all(map(isnan, (constant.spearman, constant.alpha, constant.kappa)))
