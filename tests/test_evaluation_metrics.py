"""Measures against lists worked by hand, and CSFCube's published SPECTER ranking."""

from __future__ import annotations

from math import log2
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.collections import ranked_files, read_csfcube, read_ranked, summarise
from evaluation.metrics import (
    BEIR_MEASURES,
    mean_of_folds,
    ndcg,
    pool_values,
    r_precision,
    ranked,
    trec_values,
)
from evaluation.significance import compare


def test_ties_are_broken_by_id() -> None:
    assert ranked({"b": 1.0, "c": 2.0, "a": 1.0}) == ["c", "a", "b"]


def test_r_precision_as_published_ends_at_the_last_relevant() -> None:
    assert r_precision([True, False, True, False]) == 2 / 3
    assert r_precision([False, False, False, True]) == 1 / 4
    assert r_precision([False, False]) == 0


def test_ndcg_weighs_the_first_two_ranks_alike() -> None:
    # Grades 1 3 0 2: 1 + 3/log2(2) + 0 + 2/log2(4) = 5; the best order 3 2 1 0: 3 + 2 + 1/log2(3).
    assert ndcg([1, 3, 0, 2], 4) == pytest.approx(5 / (5 + 1 / log2(3)))
    assert ndcg([1, 3, 0, 2], 1) == pytest.approx(1 / 3)
    assert ndcg([0, 0], 2) == 0
    assert ndcg([3, 1], 0) == 0


def test_pool_values_worked_by_hand() -> None:
    grades = {"q": {"a": 3, "b": 0, "c": 2, "d": 1, "e": 0, "f": 0, "g": 0, "h": 0, "i": 0, "j": 0}}
    order = ["b", "a", "d", "c", "e", "f", "g", "h", "i", "j"]
    scores = {"q": {paper: -float(rank) for rank, paper in enumerate(order)}}
    values = pool_values(scores, grades, relevant_from=2)["q"]
    # Relevant are a (rank 2) and c (rank 4): AP = (1/2 + 2/4) / 2.
    assert values["map"] == pytest.approx(50)
    assert values["r_precision"] == pytest.approx(50)
    assert values["precision_20"] == pytest.approx(100 * 2 / 20)
    assert values["recall_20"] == pytest.approx(100)
    # A fifth of ten is two: grades 0, 3 against the best two, 3 and 2.
    assert values["ndcg_pct20"] == pytest.approx(100 * 3 / 5)


def test_trec_measures_worked_by_hand() -> None:
    scores = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "none": {"a": 1.0}}
    grades = {"q": {"b": 1, "x": 1}, "none": {"a": 0}}
    values = trec_values(scores, grades, BEIR_MEASURES)
    assert values["q"]["map"] == pytest.approx(100 * (1 / 2) / 2)
    assert values["q"]["mrr"] == pytest.approx(50)
    assert values["q"]["recall_30"] == pytest.approx(50)
    assert values["q"]["ndcg_10"] == pytest.approx(100 * (1 / log2(3)) / (1 + 1 / log2(3)))
    assert values["none"] == dict.fromkeys(BEIR_MEASURES, 0.0)


def test_folds_count_alike_whatever_their_size() -> None:
    values = {"a": {"map": 10.0}, "b": {"map": 20.0}, "c": {"map": 60.0}}
    assert mean_of_folds(values, [["a", "b"], ["c"]])["map"] == pytest.approx((15 + 60) / 2)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_ndcg_is_a_share_and_the_best_order_reaches_one(gains: list[int]) -> None:
    for depth in (1, len(gains) // 5, len(gains)):
        assert 0 <= ndcg(gains, depth) <= 1 + 1e-9
    if any(gains):
        assert ndcg(sorted(gains, reverse=True), len(gains)) == pytest.approx(1)


@pytest.mark.data
def test_the_official_specter_ranking_scores_as_published(shared_data: Path) -> None:
    collection = read_csfcube(shared_data / "csfcube")
    assert "specter" in ranked_files(collection)
    groups, values = summarise(collection, "dev", read_ranked(collection, "specter"))
    assert round(groups["all"]["map"], 2) == 35.43
    assert round(groups["all"]["ndcg_pct20"], 2) == 53.02
    assert len(values) == 24


def test_randomisation_test_agrees_with_counting_all_signs() -> None:
    # d = 4, 3, 2: of the eight sign patterns only +++ and --- reach the observed mean.
    found = compare([5, 4, 3], [1, 1, 1], rounds=40_000)
    assert found.difference == pytest.approx(3)
    assert found.p_value == pytest.approx(2 / 8, abs=0.02)
    assert compare([1, 2, 3], [1, 2, 3], rounds=100).p_value == 1
    assert compare(range(20), [0] * 20, rounds=10_000).p_value < 0.001
