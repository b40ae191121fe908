"""Figures for facet labels, worked by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evaluation.facets import (
    agreed,
    confusion,
    describe,
    measure,
    measure_agreement,
    merge,
    read_labelled,
    score,
)
from search.errors import InputError
from search.types import FACETS, Facet

BG, OBJ, MET, RES, OTH = FACETS
TRUTH = [BG, BG, OBJ, MET, MET, MET, RES, RES, OTH, OTH]
GUESS = [BG, OBJ, BG, MET, MET, RES, RES, RES, OTH, MET]


def test_confusion_by_hand() -> None:
    expected = np.zeros((5, 5), np.int64)
    expected[0, :2] = 1  # background: one right, one called objective
    expected[1, 0] = 1
    expected[2, 2:4] = (2, 1)
    expected[3, 3] = 2
    expected[4, [2, 4]] = 1
    np.testing.assert_array_equal(confusion(TRUTH, GUESS), expected)


def test_five_facets_by_hand() -> None:
    scores = score(confusion(TRUTH, GUESS), FACETS, FACETS)
    # tp: b 1, o 0, m 2, r 2, x 1; guessed: 2, 1, 3, 3, 1; true: 2, 1, 3, 2, 2
    assert scores.micro_f1 == pytest.approx(60.0)
    assert scores.classes[BG].f1 == pytest.approx(50.0)
    assert scores.classes[MET].f1 == pytest.approx(200 / 3)
    assert scores.classes[RES].precision == pytest.approx(200 / 3)
    assert scores.classes[RES].recall == pytest.approx(100.0)
    assert scores.macro_f1 == pytest.approx((50 + 0 + 200 / 3 + 80 + 200 / 3) / 5)


def test_three_panels_by_hand() -> None:
    figures = measure(TRUTH, GUESS)
    # tp: background 3, method 2, result 2; guessed: 3, 3, 3; true: 3, 3, 2
    assert figures["micro_f1_3"] == pytest.approx(100 * 14 / 17, abs=0.01)
    assert figures["macro_f1_3"] == pytest.approx((100 + 200 / 3 + 80) / 3, abs=0.01)
    assert set(figures["per_class_3"]) == {BG, MET, RES}


def test_micro_f1_is_the_share_of_right_labels() -> None:
    random = np.random.default_rng(3)
    truth, guess = ([FACETS[i] for i in random.integers(0, 5, 200)] for _ in range(2))
    right = np.mean([a is b for a, b in zip(truth, guess, strict=True)])
    assert measure(truth, guess)["micro_f1"] == pytest.approx(100 * right, abs=0.01)


def test_a_class_nobody_mentions_is_left_out_of_the_mean() -> None:
    assert measure([BG, MET], [BG, MET])["macro_f1"] == 100.0


def test_merging() -> None:
    assert merge([BG, OBJ, MET, RES, OTH]) == [BG, BG, MET, RES, OTH]


def test_report_names_every_class() -> None:
    text = describe(measure(TRUTH, GUESS))
    assert "micro-F1 60.00" in text
    assert all(facet in text for facet in FACETS)


def test_reading_with_and_without_titles(tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    lines = [
        {"sentences": ["We knit.", "It held."], "labels": ["method", "result"]},
        {"title": "On wool", "sentences": ["Wool is warm."], "labels": [None]},
    ]
    file.write_text("\n".join(map(json.dumps, lines)) + "\n")
    first, second = read_labelled(file)
    assert (first.document.title, first.facets) == ("", (Facet.METHOD, Facet.RESULT))
    assert (second.document.title, second.facets) == ("On wool", (None,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "nothing in"),
        ("not json", "line 1"),
        ('{"sentences": ["a"], "labels": ["poem"]}', "poem"),
        ('{"sentences": ["a"], "labels": []}', "1 sentences but 0 labels"),
        ('{"sentences": ["a"]}', "line 1"),
    ],
)
def test_unusable_files_are_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_labelled(file)
    with pytest.raises(InputError, match="no file"):
        read_labelled(tmp_path / "missing.jsonl")


class TestAgreement:
    """What is met, by how many annotators agreed."""

    @pytest.mark.parametrize(
        ("confidence", "count"), [(0.02, 1), (0.4167, 2), (0.59, 3), (0.82, 4), (1.0, 5)]
    )
    def test_confidences_are_shares_of_five(self, confidence: float, count: int) -> None:
        assert agreed(confidence) == count

    def test_the_report_has_what_was_met_by_agreement(self) -> None:
        figures = measure(TRUTH, GUESS)
        figures["agreement"] = measure_agreement(
            TRUTH, GUESS, [1.0, 0.4, 0.4, 1.0, 1.0, 0.4, 1.0, 0.6, 0.6, 0.4]
        )
        rows = {row["agreed"]: row for row in figures["agreement"]}
        assert (rows[5]["sentences"], rows[5]["met"]) == (4, 100.0)
        assert (rows[2]["sentences"], rows[2]["met"]) == (4, 0.0)
        assert "5 of 5               4     100.0" in describe(figures)
        assert "5 of 5" not in describe(measure(TRUTH, GUESS))

    def test_confidences_must_be_as_many_as_labels(self, tmp_path: Path) -> None:
        record = {"sentences": ["a", "b"], "labels": ["method", "result"], "confs": [0.4]}
        (tmp_path / "a.jsonl").write_text(json.dumps(record))
        with pytest.raises(InputError, match="2 labels but 1 `confs`"):
            read_labelled(tmp_path / "a.jsonl")
