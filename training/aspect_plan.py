"""The settings of a run for aspects, and what each of its steps takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from search.fusion import WORDS, WORDS_WITH
from search.presets import MPNET


@dataclass(frozen=True, slots=True)
class AspectRecipe:
    upper: int = 3
    """How many of the encoder's layers are trained."""
    rank: int = 0
    """Of low-rank additions to those layers; 0 trains the layers themselves."""
    zeros: int = 6
    """Most unrelated candidates of a pool to learn from."""
    epochs: int = 1
    """Passes over the graded pools; every step takes one pool and one batch of co-cited pairs."""
    stop: int = 0
    """Break off after so many steps of the plan; 0 goes to its end."""
    seed: int = 7
    rate: float = 5e-5
    warmup: float = 0.1
    decay: float = 0.01
    average: float = 0.99
    dropout: float = 0.1
    pairs: int = 10
    """Co-cited pairs in a batch; each brings a hard negative along."""
    citing: int = 0
    """So many pairs of a paper and one that it cites stand among them; they carry no single match."""
    graded: float = 1.0
    ranked: float = 0.0
    """The teacher's ranking of the pools, and of as many again that nobody graded."""
    relations: float = 0.0
    directions: float = 0.0
    single: float = 0.0
    """Text-supervised single match of co-cited papers (ASPIRE 3.2.2)."""
    multi: float = 0.0
    """Multi-match by transport (ASPIRE 3.2.3)."""
    whole: float = 0.0
    """Whole-paper contrast."""
    contrast: str = "infonce"
    words: float = WORDS
    """What words count when pools are scored: as much as in search."""
    share: float = 0.6
    """How far from the untrained weights to the trained ones the result lies."""

    def needs_teacher(self) -> bool:
        return self.ranked > 0 or self.relations > 0 or self.directions > 0

    def needs_pairs(self) -> bool:
        return self.single > 0 or self.multi > 0 or self.whole > 0


RECIPES = {
    "default": AspectRecipe(),
    "quality": AspectRecipe(upper=4, rank=16, zeros=4, rate=3e-4, words=WORDS_WITH[MPNET], share=1.0),
}
"""By preset."""


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    epoch: int
    pool: int
    pairs: tuple[int, ...]
    progress: float


def make_plan(recipe: AspectRecipe, pools: int, pairs: int) -> list[Step]:
    """All steps in order; depends on the seed and the sizes alone, so that a run can be resumed."""
    order = [
        (epoch, int(pool))
        for epoch in range(recipe.epochs)
        for pool in np.random.default_rng([recipe.seed, epoch]).permutation(pools)
    ]
    drawn = np.random.default_rng([recipe.seed, 99])
    count = min(recipe.pairs, pairs) if recipe.needs_pairs() else 0
    return [
        Step(
            number,
            epoch,
            pool,
            tuple(map(int, drawn.choice(pairs, count, replace=False))),
            number / len(order),
        )
        for number, (epoch, pool) in enumerate(order)
    ]
