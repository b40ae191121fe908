"""The sum of the evidence and the words for it."""

from __future__ import annotations

import numpy as np
import pytest

from search.encoder.pretrained import word_weight
from search.ranking import calibration
from search.ranking import scoring as fusion
from search.types import NO_PANEL, PANEL_CODES, Facet, Likeness


def row(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def test_the_total_is_the_documented_sum():
    scores = fusion.fuse(row(0.6)[None], row(0.4)[None], row(0.2), row(0.45))
    assert scores.total[0] == pytest.approx(0.6 + 1.0 * 0.2 - 1.0 * (0.45 - 0.4))
    evidence = scores.evidence(0)
    assert (evidence.sentences, evidence.whole_paper) == (pytest.approx(0.6), pytest.approx(0.4))
    assert (evidence.words, evidence.avoided) == (pytest.approx(0.2), pytest.approx(0.45))


def test_words_count_by_the_encoder_they_stand_beside():
    scores = fusion.fuse(row(0.6)[None], row(0.4)[None], row(0.2), row(0.0), weight=0.75)
    assert scores.total[0] == pytest.approx(0.6 + 0.75 * 0.2)
    assert word_weight("all-mpnet-base-v2-aspects-c10ad63f-r1") == 0.75
    assert word_weight("all-MiniLM-L6-v2-aspects-4c9908a2-r1") == fusion.WORDS == 1.0
    assert word_weight("my-own-encoder") == 1.0


def test_nearness_by_chance_is_not_held_against_a_paper():
    scores = fusion.fuse(row(0.5, 0.5)[None], row(0, 0)[None], row(0, 0), row(0.1, 0.4))
    assert scores.total.tolist() == [0.5, 0.5]


def test_several_query_papers_count_by_the_nearest_few():
    sentences = np.array([[0.9, 0.5], [0.8, 0.5], [0.7, 0.5], [0.0, 0.5]], dtype=np.float32)
    scores = fusion.fuse(sentences, np.zeros_like(sentences), row(0, 0), row(0, 0))
    assert scores.sentences.tolist() == pytest.approx([0.8, 0.5])
    assert scores.nearest[0] == 0


def test_a_candidate_scores_the_same_in_any_company():
    rng = np.random.default_rng(0)
    sentences, whole = rng.random((5, 40), np.float32), rng.random((5, 40), np.float32)
    words, avoided = rng.random(40, np.float32), rng.random(40, np.float32)
    together = fusion.fuse(sentences, whole, words, avoided).total
    few = [3, 17, 39]
    assert fusion.fuse(sentences[:, few], whole[:, few], words[few], avoided[few]).total == pytest.approx(
        together[few]
    )


def test_a_pair_of_the_same_panel_gains_and_one_of_no_panel_does_not():
    method, result = (PANEL_CODES[facet] for facet in (Facet.METHOD, Facet.RESULT))
    ours = np.array([method, NO_PANEL], np.uint8)
    theirs = np.array([result, method, NO_PANEL], np.uint8)
    found = fusion.favour_same_panel(np.full((2, 3), 0.5, np.float32), ours, theirs)
    np.testing.assert_allclose(found, [[0.5, 0.5 + fusion.SAME_PANEL, 0.5], [0.5, 0.5, 0.5]])


def test_an_objective_stands_with_the_background():
    assert PANEL_CODES[Facet.OBJECTIVE] == PANEL_CODES[Facet.BACKGROUND]
    assert PANEL_CODES[Facet.OTHER] == PANEL_CODES[None] == NO_PANEL


def test_readable_scores_keep_the_order_and_stay_within_bounds():
    totals = np.linspace(-1, 3, 200)
    shown = [calibration.readable(total) for total in totals]
    assert shown == sorted(shown)
    assert (shown[0], shown[-1]) == (0, 1)


@pytest.mark.parametrize(
    ("total", "word"),
    [
        (0.59, Likeness.UNRELATED),
        (0.62, Likeness.RELATED),
        (0.9, Likeness.RELATED),
        (0.91, Likeness.SIMILAR),
        (1.15, Likeness.NEAR_IDENTICAL),
        (1.6, Likeness.NEAR_IDENTICAL),
    ],
)
def test_words_begin_where_the_levels_say(total, word):
    assert calibration.in_words(calibration.readable(total)) is word


@pytest.mark.parametrize(
    ("fields", "total", "word"),
    [
        (("Physics",), 0.7, Likeness.UNRELATED),
        (("Mathematics", "Computer Science"), 0.7, Likeness.UNRELATED),
        (("Computer Science", "Mathematics"), 0.7, Likeness.RELATED),
        (("Physics",), 0.76, Likeness.RELATED),
        (("Physics",), 0.91, Likeness.SIMILAR),
        (("Medicine",), 0.62, Likeness.RELATED),
    ],
)
def test_related_begins_later_in_physics_and_mathematics(fields, total, word):
    assert calibration.in_words(calibration.readable(total), fields) is word


def test_half_of_the_match_is_the_whole_paper_where_all_of_it_is_asked_for():
    sentences, whole = row(0.6, 0.5)[None], row(0.2, 0.8)[None]
    scores = fusion.fuse(sentences, whole, row(0.1, 0.1), row(0, 0), entire=[True])
    assert scores.total.tolist() == pytest.approx([0.4 + 0.1, 0.65 + 0.1])
    assert scores.sentences.tolist() == pytest.approx([0.6, 0.5])
    assert scores.evidence(1).whole_counts
    without = fusion.fuse(sentences, whole, row(0.1, 0.1), row(0, 0), entire=[False])
    assert without.total.tolist() == pytest.approx([0.6 + 0.1, 0.5 + 0.1])
    assert not without.evidence(1).whole_counts


def test_of_several_papers_those_asked_for_as_wholes_count_so():
    sentences = np.array([[0.8, 0.3], [0.6, 0.5], [0.25, 0.0], [0.2, 0.1]], dtype=np.float32)
    whole = np.array([[0.0, 0.0], [0.0, 0.9], [0.0, 0.0], [1.0, 0.0]], dtype=np.float32)
    scores = fusion.fuse(sentences, whole, row(0, 0), row(0, 0), entire=[False, True, False, True])
    assert scores.total.tolist() == pytest.approx([(0.8 + 0.6 + 0.3) / 3, (0.7 + 0.3 + 0.05) / 3])
    assert scores.nearest.tolist() == [0, 1]
    assert [scores.evidence(place).whole_counts for place in (0, 1)] == [True, True]
