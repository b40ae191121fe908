"""Learning from co-cited papers as ASPIRE does, and how well a model finds held-out partners.

Mysore, Cohan, Hope 2022, "Multi-Vector Models with Textual Guidance for Fine-Grained Scientific Document
Similarity": single match (section 3.2.2) and multi match (3.2.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from training import losses
from training.cocited_pairs import MINED, CocitedPair, CocitedPairs, CocitedTest
from training.fine_tuning import Recipe, Step, option
from training.pool_ranking import WHOLE_WEIGHT
from training.upper_layers import UpperLayers, encode_papers, read_papers


@dataclass(frozen=True, slots=True)
class PairRecipe(Recipe):
    """The rate is that of our own run from trained weights (docs/studies/encoder.md)."""

    rate: float = option(3e-5, "highest learning rate")
    match: str = option(
        "both",
        "single: the two sentences nearest to the citing sentence are alike; "
        "multi: all sentences are, by optimal transport; both: the mean of these two losses",
        ("single", "multi", "both"),
    )
    pairs: int = option(10, "pairs in one step", least=1)
    mined: int = option(
        MINED,
        "hard negatives of a pair found by vectors, and as many by words; 0: only other papers of the step",
    )
    contrast: str = option(
        "infonce",
        "infonce: softmax over the papers of the step; triplet: a margin to the hardest, as in ASPIRE",
        ("infonce", "triplet"),
    )


@dataclass(frozen=True, slots=True)
class PairMatching:
    """The task of telling a paper's co-cited partner from other papers."""

    pairs: CocitedPairs
    test: CocitedTest
    recipe: PairRecipe

    @property
    def examples(self) -> int:
        return len(self.pairs.pairs)

    @property
    def batch_size(self) -> int:
        return self.recipe.pairs

    def losses(self, model: UpperLayers, step: Step) -> dict[str, Tensor]:
        """The first paper of each pair asks; the second papers and one hard negative each are candidates."""
        pairs = [self.pairs.pairs[number] for number in step.examples]
        candidates = [*(pair.second for pair in pairs), *self._hard_negatives(step)]
        count = len(pairs)
        papers = read_papers(model, self.pairs.corpus, [*(pair.first for pair in pairs), *candidates])
        present = papers.present[count:]
        similarity = losses.pairwise(papers.sentences[:count], papers.sentences[count:], present)
        scores = {}
        if self.recipe.match in ("single", "both"):
            scores["single"] = single_match(similarity, pairs)
        if self.recipe.match in ("multi", "both"):
            scores["multi"] = losses.transport(similarity, papers.present[:count], present)
        right = torch.arange(count, device=model.device)
        allowed = _allowed(pairs, candidates).to(model.device)
        return {
            name: losses.contrast(found, right, allowed, self.recipe.contrast)
            for name, found in scores.items()
        }

    def _hard_negatives(self, step: Step) -> list[int]:
        random = np.random.default_rng([self.recipe.seed, 5, step.number])
        mined = (self.pairs.negatives[number] for number in step.examples)
        return [int(random.choice(some)) for some in mined if some]

    def score(self, model: UpperLayers) -> dict[str, Any]:
        return {"cocited_mrr": score_cocited(model, self.test)}


def single_match(similarity: Tensor, pairs: Sequence[CocitedPair]) -> Tensor:
    """[q, b] from similarity [q, b, m, n]: how alike two papers are in what the citing sentence names.

    The sentence of the first paper that is nearest to the citing sentence is compared with the one of its
    partner (column = row) that is, and with the nearest sentence of every other paper.
    """
    right = torch.arange(len(pairs), device=similarity.device)
    ours, theirs = (
        torch.tensor(places, device=similarity.device)
        for places in zip(*((pair.ours, pair.theirs) for pair in pairs), strict=True)
    )
    nearest = similarity[right, :, ours].amax(-1)
    return nearest.scatter(1, right[:, None], similarity[right, right, ours, theirs][:, None])


def _allowed(pairs: Sequence[CocitedPair], candidates: Sequence[int]) -> Tensor:
    """[q, b]: False where a candidate is one of the pair's own papers in another place."""
    return torch.tensor(
        [
            [place == row or other not in (pair.first, pair.second) for place, other in enumerate(candidates)]
            for row, pair in enumerate(pairs)
        ]
    )


def score_cocited(model: UpperLayers, test: CocitedTest) -> float:
    """Mean reciprocal rank of the partner, in percent: mean of best matches plus whole papers."""
    vectors = encode_papers(model, test.corpus, [*test.pool, *(query for query, _ in test.queries)])
    sentences = np.concatenate([vectors[paper].sentences for paper in test.pool])
    starts = np.cumsum([0, *(len(vectors[paper].sentences) for paper in test.pool)])[:-1]
    wholes = np.stack([vectors[paper].whole for paper in test.pool])
    ranks = []
    for query, partner in test.queries:
        own = vectors[query]
        match = np.maximum.reduceat(own.sentences @ sentences.T, starts, axis=1).mean(0)
        total = match + WHOLE_WEIGHT * (wholes @ own.whole)
        wrong = [paper != query and paper not in test.partners[query] for paper in test.pool]
        ranks.append(1 + int((total > total[test.pool.index(partner)])[wrong].sum()))
    return round(100 * float(np.mean(1 / np.array(ranks))), 2)
