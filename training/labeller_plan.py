"""The recipe of the labeller, and all batches of a run in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from search.encoder.labeller import Shape
from training.hidden_states import States, by_length

SHUFFLED_TOGETHER = 512
"""Abstracts that are sorted by length at once: a batch has similar lengths, and other company each epoch."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Some passes over a mix of corpora; the learning rate rises, then falls to zero."""

    name: str
    epochs: int
    rate: float
    """Highest learning rate of the uppermost copied layer; each layer below gets `fade` times that."""
    head_rate: float
    """Highest learning rate of the new layers."""
    shares: dict[str, float]
    """Corpus -> the part of it that one epoch takes; `taught` is there only with a teacher."""


FIRST, LATER = {"medline": 1.0, "taught": 1.0}, {"csabstruct": 1.0, "medline": 0.06, "taught": 0.1}


def two_stages(rate: float, head_rate: float) -> tuple[Stage, Stage]:
    """Many labels that are roughly right first, then those of computer science."""
    return (
        Stage("medline and what a teacher says", 1, rate, head_rate, FIRST),
        Stage("csabstruct", 3, rate, head_rate, LATER),
    )


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings of a run; docs/studies/labeller.md says what was tried."""

    stages: tuple[Stage, ...] = two_stages(2e-4, 5e-4)
    seed: int = 7
    own: int | None = None
    """Layers above the shared half that the labeller has its own copy of; None for all."""
    sentence_layers: int = 1
    """Layers over the sentences' vectors, after the words."""
    weigh_words: bool = False
    """A sentence's vector is a mean of its words with learned weights, instead of the plain mean."""
    tokens: int = 3072
    """Tokens in a batch, counting pads."""
    doubt: float = 1.0
    """1: a label is believed as much as its annotators' confidence says; 0: fully."""
    fade: float = 0.8
    """Learning rate of a copied layer as a part of that of the layer above it."""
    warmup: float = 0.1
    """Part of a stage in which the learning rate rises."""
    decay: float = 0.01
    """Weight decay of AdamW."""
    average: float = 0.99
    """Part of the averaged weights that remains after each step."""
    dropout: float = 0.1
    """Part of the activations that is dropped in training."""
    medline_words: int = 300
    """Longer abstracts of MEDLINE are left out: they cost most and look least like those of other fields."""
    shape: Shape = field(default_factory=Shape)


RECIPES = {
    "shipped": Recipe(stages=two_stages(2e-4, 1e-3), own=0, sentence_layers=2, weigh_words=True),
    "thorough": Recipe(),
}
"""The labeller that ships, and the one with layers of its own that teaches it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One batch of the plan."""

    stage: int
    epoch: int
    corpus: str
    numbers: NDArray[np.int64]
    """The windows of the batch."""
    progress: float
    """Part of the stage that is done, from 0 to 1."""


def make_plan(recipe: Recipe, corpora: dict[str, list[States]]) -> list[Step]:
    """All batches in order; they depend on the seed and the sizes alone, so that a run can go on.

    A corpus may come in several variants (with and without titles): epochs take them in turn. A corpus that
    is not there is left out.
    """
    plan: list[Step] = []
    for number, stage in enumerate(recipe.stages):
        batches = []
        for epoch in range(stage.epochs):
            random = np.random.default_rng([recipe.seed, number, epoch])
            mixed = [
                (epoch, corpus, batch)
                for corpus, share in stage.shares.items()
                if corpus in corpora
                for batch in _epoch(variant(corpora[corpus], number + epoch), share, recipe.tokens, random)
            ]
            batches += [mixed[place] for place in random.permutation(len(mixed))]
        plan += [
            Step(number, epoch, corpus, batch, done / len(batches))
            for done, (epoch, corpus, batch) in enumerate(batches)
        ]
    return plan


def variant(variants: list[States], turn: int) -> States:
    """The variant of a corpus whose turn it is."""
    return variants[turn % len(variants)]


def _epoch(
    states: States, share: float, tokens: int, random: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    lengths = np.diff(states.offsets)
    chosen = random.permutation(len(states))[: max(1, round(share * len(states)))]
    for start in range(0, len(chosen), SHUFFLED_TOGETHER):
        yield from by_length(lengths, chosen[start : start + SHUFFLED_TOGETHER], tokens)
