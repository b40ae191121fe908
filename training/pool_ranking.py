"""Learning to rank graded pools: the score that is trained, and the measures of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from evaluation.metrics import pool_values
from search.ranking.scoring import SAME_PANEL, WORDS
from training import losses
from training.corpus import Corpus
from training.fine_tuning import Recipe, Step, option
from training.pools import Pool, PoolSet
from training.upper_layers import PaperBatch, PaperVectors, UpperLayers, encode_papers, read_papers

WHOLE_WEIGHT = 0.25
"""Weight of the whole papers' cosine in the score that is trained, where the match counts 1: its weight in
search before any training. Without it whole papers would learn nothing."""
WORD_WEIGHT = 0.75
"""Weight of BM25 in the score that is trained: its weight in search when 800 pools had been graded."""
RELEVANT_FROM = 2
"""The lowest grade that counts as relevant in MAP, as in CSFCube."""


@dataclass(frozen=True, slots=True)
class PoolRecipe(Recipe):
    zeros: int = option(6, "unrelated candidates of a pool to learn from, at most")
    words: float = option(WORDS, "weight of words beside the match when pools are scored")
    share: float = option(
        0.6, "how far the result lies from the untrained to the trained weights, 0 to 1", most=1
    )


@dataclass(frozen=True, slots=True)
class PoolRanking:
    """The task of ranking each pool as it was graded."""

    pools: Sequence[tuple[Corpus, Pool]]
    checks: Mapping[str, PoolSet]
    """Pools to score, by name."""
    words: float = WORDS
    batch_size: int = 1

    @property
    def examples(self) -> int:
        return len(self.pools)

    def losses(self, model: UpperLayers, step: Step) -> dict[str, Tensor]:
        corpus, pool = self.pools[step.examples[0]]
        scores = pool_scores(read_papers(model, corpus, [pool.query, *pool.candidates]), pool)
        return {"graded": losses.rank_by_grades(scores, torch.tensor(pool.grades, device=model.device))}

    def score(self, model: UpperLayers) -> dict[str, Any]:
        return {name: score_pools(model, some, self.words) for name, some in self.checks.items()}


def pool_scores(papers: PaperBatch, pool: Pool) -> Tensor:
    """[c]: match, whole paper and words added up; the first of the papers is the query."""
    asked = papers.sentences[:1, list(pool.sentences)]
    similarity = losses.pairwise(asked, papers.sentences[1:], papers.present[1:])
    in_panel = torch.zeros_like(papers.present[1:], dtype=similarity.dtype)
    for row, belongs in zip(in_panel, pool.in_panel, strict=True):
        row[: len(belongs)] = torch.from_numpy(belongs)
    similarity = similarity + SAME_PANEL * in_panel[None, :, None, :]
    match = losses.mean_of_best(similarity, torch.ones_like(asked[..., 0]))[0]
    words = torch.from_numpy(pool.words).to(match.device)
    return match + WHOLE_WEIGHT * (papers.wholes[1:] @ papers.wholes[0]) + WORD_WEIGHT * words


def score_pools(model: UpperLayers, some: PoolSet, words: float = WORDS) -> dict[str, Any]:
    """MAP and NDCG%20 in percent, over all pools and by facet; over all also without words."""
    papers = [paper for pool in some.pools for paper in (pool.query, *pool.candidates)]
    vectors = encode_papers(model, some.corpus, papers)
    result: dict[str, Any] = {}
    for title, weight in (("", words), (" without words", 0.0)):
        scores = {pool.id: _search_scores(vectors, pool, weight) for pool in some.pools}
        grades = {
            pool.id: dict(zip(map(str, pool.candidates), pool.grades, strict=True)) for pool in some.pools
        }
        values = pool_values(scores, grades, RELEVANT_FROM)
        for facet in ("all", *sorted({pool.facet for pool in some.pools})) if not title else ("all",):
            mine = [values[pool.id] for pool in some.pools if facet in ("all", pool.facet)]
            result[facet + title] = [
                round(float(np.mean([one[measure] for one in mine])), 2) for measure in ("map", "ndcg_pct20")
            ]
    return result


def _search_scores(vectors: Mapping[int, PaperVectors], pool: Pool, words: float) -> dict[str, float]:
    """The candidates as search scores them."""
    asked = vectors[pool.query].sentences[list(pool.sentences)]
    candidates = zip(pool.candidates, pool.words, pool.in_panel, strict=True)
    return {
        str(paper): float(
            (asked @ vectors[paper].sentences.T + SAME_PANEL * belongs).max(1).mean() + words * lexical
        )
        for paper, lexical, belongs in candidates
    }
