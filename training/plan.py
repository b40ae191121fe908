"""What a training run does, step by step: a recipe and the sizes of the corpora fix every batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from search.facets import Shape
from training.states import States, by_length


@dataclass(frozen=True, slots=True)
class Stage:
    """Some passes over a mix of corpora, with a learning rate that rises, then falls to zero."""

    name: str
    epochs: int
    rate: float
    """Peak learning rate of the uppermost copied layer; each layer below gets `fade` times that."""
    head_rate: float
    shares: dict[str, float]
    """How much of each corpus one epoch takes; `taught` is there only where a teacher is."""


FIRST, LATER = {"medline": 1.0, "taught": 1.0}, {"csabstruct": 1.0, "medline": 0.06, "taught": 0.1}


def two_stages(rate: float, head_rate: float) -> tuple[Stage, Stage]:
    """Much of what is half right first, then the field the labels are for."""
    return (
        Stage("medline and what a teacher says", 1, rate, head_rate, FIRST),
        Stage("csabstruct", 3, rate, head_rate, LATER),
    )


@dataclass(frozen=True, slots=True)
class Recipe:
    stages: tuple[Stage, ...] = two_stages(2e-4, 5e-4)
    seed: int = 7
    branch: int = 0
    """The hidden state of the encoder that the labeller reads; 0 for the one half way up."""
    own: int | None = None
    """How many of the encoder's layers above that it has its own copy of; None for all."""
    sentence_layers: int = 1
    """Layers over the sentences' vectors, after the words."""
    weigh_words: bool = False
    """Each part of a sentence's vector is a mean of its words by weights of its own, not the plain mean."""
    rank: int = 0
    """Of low-rank additions to those layers; 0 trains the layers themselves."""
    tokens: int = 3072
    """Tokens in a batch, counting pads."""
    doubt: float = 1.0
    """1: a label is believed as much as its annotators' confidence says; 0: fully."""
    fade: float = 0.8
    warmup: float = 0.1
    decay: float = 0.01
    average: float = 0.99
    """Each step the kept weights move by 1 - average towards the trained ones."""
    dropout: float = 0.1
    medline_words: int = 300
    """Longer ones are left out: they cost most and look least like abstracts of other fields."""
    shape: Shape = field(default_factory=Shape)


RECIPES = {
    "default": Recipe(stages=two_stages(2e-4, 1e-3), own=0, sentence_layers=2, weigh_words=True),
    "thorough": Recipe(),
    "quality": Recipe(
        stages=(Stage("csabstruct", 3, 3e-4, 4e-4, {"csabstruct": 1.0, "medline": 0.25}),), branch=8, rank=32
    ),
}
"""The labeller that ships; one with layers of its own, to teach it; one on the larger encoder."""


@dataclass(frozen=True, slots=True)
class Step:
    """One batch of the plan: where it comes from and how far its stage is."""

    stage: int
    epoch: int
    corpus: str
    numbers: NDArray[np.int64]
    progress: float


def make_plan(recipe: Recipe, corpora: dict[str, list[States]]) -> list[Step]:
    """All batches of a run in order; depends on the seed and the sizes alone, so a run can be resumed.

    A corpus may come in several variants (with and without titles): epochs take them in turn. What a stage
    would take of a corpus that is not there is left out.
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
    return variants[turn % len(variants)]


def _epoch(
    states: States, share: float, tokens: int, random: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Batches of like length out of random thousands, so that a batch is not always the same company."""
    lengths = np.diff(states.offsets)
    chosen = random.permutation(len(states))[: max(1, round(share * len(states)))]
    for start in range(0, len(chosen), 512):
        yield from by_length(lengths, chosen[start : start + 512], tokens)
