"""Weights of a score's parts: chosen crosswise on some pools, confirmed on others."""

from __future__ import annotations

import numpy as np
import pytest

from tests.training.made import DOCUMENTS, random_vectors
from training.fusion import choose, describe
from training.judgements import Graded
from training.score_parts import FOLDS, GRID, TODAY, Parts, read_parts


def some_parts(count: int, facet: str, telling: str, seed: int = 0) -> list[Parts]:
    """Pools of six in which only one of the parts tells the grades."""
    random = np.random.default_rng(seed)
    grades = (3, 2, 1, 0, 0, 0)
    made = []
    for number in range(count):
        parts = {name: random.uniform(0, 1, 6) for name in ("match", "whole", "words")}
        parts[telling] = np.array(grades) / 3
        match = {weights[0]: parts["match"] for weights in GRID}
        made.append(
            Parts(f"{facet}{seed}{number}", facet, False, match, parts["whole"], parts["words"], grades)
        )
    return made


def values_of(pools: list[Parts]) -> np.ndarray:
    return np.array([[one.values(weights) for weights in GRID] for one in pools])


def test_todays_weights_are_those_of_search() -> None:
    graded = Graded("p00", "method", (0, 1), {"p03": 3, "p04": 2, "p05": 0, "p06": 0, "p07": 1})
    only = [Graded("p01", "method", (0,), {"p02": 1, "p03": 1}), Graded("gone", "method", (0,), {"p02": 1})]
    (parts,) = read_parts([graded, *only], DOCUMENTS, random_vectors)
    vectors = random_vectors(list(DOCUMENTS.values()))
    scores = []
    for place, paper in enumerate((3, 4, 5, 6, 7)):
        cosines = vectors.of(0)[:2] @ vectors.of(paper).T + 0.05 * vectors.in_panel(paper, "method")
        scores.append(cosines.max(1).mean() + parts.words[place])
    grades = [parts.grades[place] for place in np.argsort(scores)[::-1]]
    places = 1 + np.flatnonzero(np.array(grades) >= 2)
    precision, best = parts.values(GRID[TODAY])
    assert precision == pytest.approx(100 * np.mean([1 / places[0], 2 / places[1]]))
    assert best == pytest.approx(100 * grades[0] / 3)


@pytest.mark.parametrize("alone", [False, True])
def test_each_facet_has_its_own_choice_if_asked(alone: bool) -> None:
    pools = some_parts(30, "method", "words") + some_parts(30, "result", "whole")
    choice = choose("", pools, pools, values_of(pools), alone)
    method, result = GRID[choice.others[0]], GRID[choice.others[-1]]
    assert (method != result) is alone
    if alone:
        assert method[2] > result[2]
        assert method[1] < result[1]


def test_a_pool_is_never_chosen_on() -> None:
    pools = some_parts(40, "method", "words")
    values = np.zeros((len(pools), len(GRID), 2))
    for place, one in enumerate(pools):
        values[place, one.fold, 1] = 100.0  # good for the pools of this fold alone
    picked = choose("", pools, pools, values, alone=False).pools
    assert {one.fold for one in pools} == set(range(FOLDS))
    assert all(weights != one.fold for one, weights in zip(pools, picked, strict=True))


def test_the_choice_is_confirmed_on_other_pools() -> None:
    said = describe(some_parts(40, "method", "words"), some_parts(30, "method", "words", seed=1)).splitlines()
    today, chosen = ([float(value) for value in line.split()[-5:-3]] for line in said[2:4])
    assert said[2].split()[:3] == ["all", "today", "40"]
    assert chosen[1] > today[1]
    (other,) = (line for line in said if line.startswith("others: method"))
    assert other.split()[:4] == ["others:", "method", "today", "30"]
    assert said[-2].startswith("one choice: method (")
