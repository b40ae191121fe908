"""The score of a pool that is trained, the measures, and a model that learns to rank."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from search.ranking.scoring import WORDS as WORDS_OF_SEARCH
from tests.training.made import CPU, say_nothing, some_pools, upper
from training.corpus import Corpus, Words
from training.fine_tuning import Trainer, train
from training.pool_ranking import (
    WHOLE_WEIGHT,
    WORD_WEIGHT,
    PoolRanking,
    PoolRecipe,
    pool_scores,
    score_pools,
)
from training.pools import PoolSet
from training.upper_layers import encode_papers, read_papers


def test_pools_are_scored_by_match_whole_and_words(bert: Path, corpus: Corpus, words: Words) -> None:
    model = upper(bert).eval()
    pool = some_pools(corpus, words)[0]
    vectors = encode_papers(model, corpus, [pool.query, *pool.candidates])
    asked, whole = vectors[pool.query].sentences[:2], vectors[pool.query].whole
    match = np.array(
        [
            (asked @ vectors[paper].sentences.T + 0.05 * belongs).max(axis=1).mean()
            for paper, belongs in zip(pool.candidates, pool.in_panel, strict=True)
        ]
    )
    assert any(belongs.any() for belongs in pool.in_panel)
    wholes = np.array([whole @ vectors[paper].whole for paper in pool.candidates])
    expected = match + WHOLE_WEIGHT * wholes + WORD_WEIGHT * pool.words
    with torch.inference_mode():
        papers = read_papers(model, corpus, [pool.query, *pool.candidates])
    np.testing.assert_allclose(pool_scores(papers, pool).numpy(), expected, atol=1e-5)
    assert pool.words.max() > 0
    # Graded in the very order of what search would give, a pool is ranked without a mistake.
    found = match + WORDS_OF_SEARCH * pool.words
    best = replace(pool, grades=tuple((found.argsort().argsort() // 2).tolist()))
    assert score_pools(model, PoolSet(corpus, [best]))["all"] == [100, 100]
    worst = replace(pool, grades=tuple(((-found).argsort().argsort() // 2).tolist()))
    assert max(score_pools(model, PoolSet(corpus, [worst]))["background"]) < 90


@pytest.mark.parametrize("rank", [0, 2])
def test_it_learns_to_rank_the_pools(
    bert: Path, corpus: Corpus, words: Words, tmp_path: Path, rank: int
) -> None:
    pools = some_pools(corpus, words)
    recipe = PoolRecipe(epochs=8, rate=3e-3 if not rank else 3e-2, average=0.5, share=1.0, dropout=0.0)
    trainer = Trainer(recipe, upper(bert, rank=rank), CPU)
    task = PoolRanking([(corpus, pool) for pool in pools], {"dev": PoolSet(corpus, pools)})
    train(trainer, task, tmp_path, say_nothing)
    lost = [entry["losses"]["graded"] for entry in trainer.history[1:]]
    assert lost[-1] < lost[0] / 2
    first, last = (trainer.history[place]["scores"]["dev"] for place in (0, -1))
    assert set(first) == {"all", "background", "method", "result", "all without words"}
    assert last["all"][0] > first["all"][0]
