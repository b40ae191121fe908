"""The batched matchers against slow, plain ones: loops, `ot.emd`, and what must hold of any plan."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from search.ranking import matching
from search.types import Matcher


def unit(rng: np.random.Generator, *shape: int) -> np.ndarray:
    vectors = rng.normal(size=shape)
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def corpus(seed: int, papers: int, sentences: int = 3, dimension: int = 24) -> tuple:
    """Query vectors, candidate vectors that lean on them to a varying degree, and the offsets."""
    rng = np.random.default_rng(seed)
    query = unit(rng, sentences, dimension)
    lengths = rng.integers(1, 15, papers)
    vectors = unit(rng, int(lengths.sum()), dimension)
    lean = np.repeat(rng.uniform(0, 2, papers), lengths)[:, None]
    vectors = vectors + lean * query[rng.integers(0, sentences, len(vectors))]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return query, vectors.astype(np.float32), np.concatenate([[0], np.cumsum(lengths)])


def emd_distances(similarity: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """ASPIRE's Wasserstein distance, one candidate at a time, masses included."""
    found = []
    for start, end in pairwise(offsets):
        cost = np.sqrt(np.maximum(2 - 2 * similarity[:, start:end].astype(np.float64), 0))
        a = np.exp(-cost.min(axis=1) / matching.TEMPERATURE)
        b = np.exp(-cost.min(axis=0) / matching.TEMPERATURE)
        found.append(ot.emd2(a / a.sum(), b / b.sum(), cost))
    return np.array(found)


@pytest.mark.parametrize("sentences", [1, 3, 10])
def test_transport_ranks_as_the_exact_distance(sentences):
    query, vectors, offsets = corpus(sentences, papers=1000, sentences=sentences)
    similarity = matching.similarities(query, vectors)
    fast = matching.score(Matcher.TRANSPORT, similarity, offsets)
    assert spearmanr(fast, -emd_distances(similarity, offsets))[0] >= 0.99


def test_transport_score_is_close_to_the_exact_one():
    query, vectors, offsets = corpus(4, papers=300)
    similarity = matching.similarities(query, vectors)
    fast = matching.score(Matcher.TRANSPORT, similarity, offsets)
    np.testing.assert_allclose(fast, 1 - emd_distances(similarity, offsets) ** 2 / 2, atol=0.02)


def test_sinkhorn_plans_have_the_given_marginals():
    query, vectors, offsets = corpus(5, papers=600, sentences=5)
    similarity = matching.similarities(query, vectors)
    weights = np.array([0.1, 0.2, 0.3, 0.2, 0.2], dtype=np.float32)
    for _, tile, present in matching._tiles(similarity, offsets):
        distance = matching.distances(tile)
        a, b = matching.masses(distance, present, weights)
        plan = matching.sinkhorn(distance, a, b, present)
        np.testing.assert_allclose(plan.sum(axis=0), b, atol=1e-5)
        np.testing.assert_allclose(plan.sum(axis=1), a, atol=1e-5)
        assert not plan[:, ~present].any(), "nothing may move to a sentence that is not there"


def test_exact_plan_has_the_given_marginals_and_few_pairs():
    query, vectors, _ = corpus(6, papers=1, sentences=6)
    similarity = matching.similarities(query, vectors)
    weights = np.full(6, 1 / 6, dtype=np.float32)
    plan = matching.shares(Matcher.TRANSPORT, similarity, weights)
    a, b = matching.masses(
        matching.distances(similarity)[:, :, None], np.ones((similarity.shape[1], 1), dtype=bool), weights
    )
    np.testing.assert_allclose(plan.sum(axis=1), a[:, 0], atol=1e-6)
    np.testing.assert_allclose(plan.sum(axis=0), b[:, 0], atol=1e-6)
    assert (plan > 0).sum() < sum(similarity.shape)


def test_single_and_best_equal_a_loop():
    query, vectors, offsets = corpus(7, papers=700, sentences=4)
    similarity = matching.similarities(query, vectors)
    weights = np.array([1, 2, 0.5, 1], dtype=np.float32)
    nearest = np.array([similarity[:, a:b].max(axis=1) for a, b in pairwise(offsets)])
    np.testing.assert_allclose(
        matching.score(Matcher.SINGLE, similarity, offsets, weights),
        (nearest * weights / 2).max(axis=1),
        atol=1e-6,
    )
    np.testing.assert_allclose(
        matching.score(Matcher.BEST, similarity, offsets, weights),
        nearest @ weights / weights.sum(),
        atol=1e-6,
    )


def test_single_is_the_smallest_distance():
    query, vectors, offsets = corpus(8, papers=200)
    similarity = matching.similarities(query, vectors)
    smallest = [
        np.linalg.norm(query[:, None] - vectors[None, a:b], axis=2).min() for a, b in pairwise(offsets)
    ]
    ours = matching.distances(matching.score(Matcher.SINGLE, similarity, offsets))
    np.testing.assert_allclose(ours, smallest, atol=1e-3)


@pytest.mark.parametrize("matcher", list(Matcher))
@given(seed=st.integers(0, 10_000))
def test_order_does_not_matter(matcher, seed):
    query, vectors, offsets = corpus(seed, papers=9)
    rng = np.random.default_rng(seed)
    plain = matching.score(matcher, matching.similarities(query, vectors), offsets)

    papers = rng.permutation(9)
    rows = np.concatenate([rng.permutation(np.arange(offsets[p], offsets[p + 1])) for p in papers])
    lengths = np.diff(offsets)[papers]
    moved = matching.similarities(query[rng.permutation(3)], vectors[rows])
    again = matching.score(matcher, moved, np.concatenate([[0], np.cumsum(lengths)]))
    np.testing.assert_allclose(again, plain[papers], atol=1e-4)


@pytest.mark.parametrize("matcher", list(Matcher))
def test_a_score_does_not_depend_on_the_other_candidates(matcher):
    query, vectors, offsets = corpus(9, papers=500)
    together = matching.score(matcher, matching.similarities(query, vectors), offsets)
    for paper in (0, 100, 499):
        alone = vectors[offsets[paper] : offsets[paper + 1]]
        score = matching.score(matcher, matching.similarities(query, alone), np.array([0, len(alone)]))
        assert score[0] == pytest.approx(together[paper], abs=1e-4)


@pytest.mark.parametrize("matcher", list(Matcher))
def test_a_paper_matches_itself_best(matcher):
    query, vectors, offsets = corpus(10, papers=50)
    vectors = np.concatenate([query, vectors])
    offsets = np.concatenate([[0], offsets + len(query)])
    scores = matching.score(matcher, matching.similarities(query, vectors), offsets)
    assert scores.argmax() == 0
    assert scores[0] == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("matcher", list(Matcher))
def test_shares_sum_to_one_and_follow_the_weights(matcher):
    query, vectors, _ = corpus(11, papers=1)
    similarity = matching.similarities(query, vectors)
    even = matching.shares(matcher, similarity)
    assert even.sum() == pytest.approx(1, abs=1e-5)
    assert (even >= 0).all()
    heavy = matching.shares(matcher, similarity, np.array([1000, 1, 1], dtype=np.float32))
    assert heavy[0].sum() > 0.9


@pytest.mark.parametrize("matcher", list(Matcher))
def test_half_precision_vectors_rank_alike(matcher):
    query, vectors, offsets = corpus(12, papers=300)
    full = matching.score(matcher, matching.similarities(query, vectors), offsets)
    half = matching.score(matcher, matching.similarities(query, vectors.astype(np.float16)), offsets)
    np.testing.assert_allclose(half, full, atol=5e-3)


def test_half_precision_is_widened_exactly():
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)]
    np.testing.assert_array_equal(matching.widen(finite), finite.astype(np.float32))


def test_a_candidate_without_sentences_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="at least one sentence"):
        matching.score(Matcher.BEST, np.ones((1, 2), dtype=np.float32), np.array([0, 2, 2]))
