"""Learning from co-cited papers: single match, multi match, both; and how held-out partners are ranked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.training.made import CPU, say_nothing, upper
from training import losses
from training.cocited_pairs import CocitedPair, CocitedPairs, CocitedTest
from training.corpus import Corpus
from training.fine_tuning import Step, Trainer, train
from training.pair_matching import PairMatching, PairRecipe, score_cocited, single_match
from training.pool_ranking import WHOLE_WEIGHT
from training.upper_layers import encode_papers

PAIRS = [
    CocitedPair(1, 4, 0, 1),
    CocitedPair(2, 6, 1, 0),
    CocitedPair(12, 13, 0, 0),
    CocitedPair(10, 1, 1, 1),
]
NEGATIVES = [[3, 7], [8], [], [14, 15]]
RECIPE = PairRecipe(epochs=10, rate=3e-3, average=0.5, dropout=0.0, pairs=4)


@pytest.fixture
def task(corpus: Corpus) -> PairMatching:
    test = CocitedTest(corpus, [(1, 4), (2, 6)], [4, 6, 8, 9], {1: frozenset({4}), 2: frozenset({6})})
    return PairMatching(CocitedPairs(corpus, PAIRS, NEGATIVES), test, RECIPE)


@pytest.mark.parametrize("contrast", ["infonce", "triplet"])
@pytest.mark.parametrize(
    ("match", "names"), [("single", {"single"}), ("multi", {"multi"}), ("both", {"single", "multi"})]
)
def test_each_way_of_matching_is_learned(
    bert: Path, task: PairMatching, tmp_path: Path, match: str, names: set[str], contrast: str
) -> None:
    recipe = replace(RECIPE, match=match, contrast=contrast)
    trainer = Trainer(recipe, upper(bert), CPU)
    train(trainer, replace(task, recipe=recipe), tmp_path, say_nothing)
    lost = [entry["losses"] for entry in trainer.history[1:]]
    assert set(lost[0]) == names
    assert all(lost[-1][name] < 0.9 * lost[0][name] for name in names)
    assert 0 < trainer.history[-1]["scores"]["cocited_mrr"] <= 100


def test_one_hard_negative_of_each_pair_that_has_some(bert: Path, task: PairMatching) -> None:
    step = Step(3, 0, (0, 1, 2, 3), 0.5)
    chosen = task._hard_negatives(step)
    assert chosen == task._hard_negatives(step)
    assert chosen[0] in NEGATIVES[0]
    assert chosen[1] == 8
    assert chosen[2] in NEGATIVES[3]
    assert len(chosen) == 3


def test_a_paper_of_the_pair_is_no_negative(
    bert: Path, task: PairMatching, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paper 1 asks in the first pair and is the partner in the last."""
    seen = []

    def noting(scores: torch.Tensor, right: torch.Tensor, allowed: torch.Tensor, kind: str) -> torch.Tensor:
        seen.append(allowed)
        return scores.sum()

    monkeypatch.setattr(losses, "contrast", noting)
    task.losses(upper(bert), Step(0, 0, (0, 1, 2, 3), 0.0))
    assert len(seen) == 2
    # Columns are the partners 4, 6, 13 and 1, then three hard negatives.
    forbidden = [(row, column) for row, column in (~seen[0]).nonzero().tolist()]
    assert forbidden == [(0, 3)]


def test_single_match_by_hand() -> None:
    similarity = torch.arange(24.0).reshape(2, 3, 2, 2) / 24
    pairs = [CocitedPair(0, 1, 1, 0), CocitedPair(2, 3, 0, 1)]
    # Row 0 asks by its sentence 1: its partner's sentence 0, then the better of two sentences.
    expected = torch.tensor([[2, 7, 11], [13, 17, 21]]) / 24
    torch.testing.assert_close(single_match(similarity, pairs), expected)


def test_partners_are_ranked_among_papers_that_are_not_co_cited(bert: Path, corpus: Corpus) -> None:
    """Neither the query itself nor another paper it is co-cited with is a mistake before the partner."""
    model, pool = upper(bert).eval(), [3, 0, 8, 5, 2, 11]
    queries = [(0, 8), (5, 3), (7, 11)]
    vectors = encode_papers(model, corpus, range(16))
    orders = {}
    for query, _ in queries:
        own = vectors[query]
        total = {
            paper: (own.sentences @ vectors[paper].sentences.T).max(axis=1).mean()
            + WHOLE_WEIGHT * (own.whole @ vectors[paper].whole)
            for paper in pool
            if paper != query
        }
        orders[query] = sorted(total, key=lambda paper: -total[paper])
    alone = {query: {right} for query, right in queries}
    before = {query: {right, *orders[query][: orders[query].index(right)]} for query, right in queries}
    assert before != alone
    for partners in (alone, before):
        ranks = [
            [paper for paper in orders[query] if paper == right or paper not in partners[query]].index(right)
            + 1
            for query, right in queries
        ]
        known = {query: frozenset(some) for query, some in partners.items()}
        found = score_cocited(model, CocitedTest(corpus, queries, pool, known))
        assert found == pytest.approx(100 * np.mean(1 / np.array(ranks)), abs=0.006)
        assert (found == 100) == (partners is before)
