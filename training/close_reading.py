"""Learning what a reader of query and candidate adds to the product's score, and measuring it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from search.encoder.windows import Packer
from training.close_reader import CloseReader, pair_up
from training.fine_tuning import Recipe, Step, option
from training.losses import rank_by_grades
from training.score_parts import GRID, TODAY, Floats, Parts

WEIGHTS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
"""How much of what the reader says may be added; one is chosen on the held-out tenth."""
READ_AT_ONCE = 16
"""Candidates that are read together in scoring; they are of similar length."""


@dataclass(frozen=True, slots=True)
class ReaderRecipe(Recipe):
    related: int = option(
        5, "related candidates of a pool to learn from, at most; the best graded come first"
    )
    zeros: int = option(4, "unrelated ones, the highest that search has among eight")
    noise: float = option(
        0.06,
        "deviation of what is added to search's score in training; it knows the pools, as it learned them",
    )
    looks: int = option(60, "held-out pools to score after each epoch")


@dataclass(frozen=True, slots=True)
class Reading:
    """The task of ranking pools by the product's score and what is added to it."""

    pools: Sequence[Parts]
    held_out: Sequence[Parts]
    packer: Packer
    recipe: ReaderRecipe
    batch_size: int = 2

    @property
    def examples(self) -> int:
        return len(self.pools)

    def losses(self, model: CloseReader, step: Step) -> dict[str, Tensor]:
        """Beside the loss what it would be without the reader; that has no gradient."""
        random = np.random.default_rng([self.recipe.seed, step.number])
        lost, without = [], []
        for pool in (self.pools[place] for place in step.examples):
            chosen = self.choose(pool, random)
            grades = torch.tensor([pool.grades[place] for place in chosen])
            noise = random.normal(0, self.recipe.noise, len(chosen))
            known = torch.from_numpy(pool.scores(GRID[TODAY])[chosen] + noise).float()
            lost.append(rank_by_grades(known + model(pair_up(pool, chosen, self.packer)), grades))
            without.append(rank_by_grades(known, grades))
        return {"graded": torch.stack(lost).mean(), "without": torch.stack(without).mean()}

    def choose(self, pool: Parts, random: np.random.Generator) -> list[int]:
        """The candidates to learn from: the best graded, and unrelated ones that search puts first."""
        grades, scores = np.array(pool.grades), pool.scores(GRID[TODAY])
        mixed = random.permutation(len(grades))
        related = sorted((place for place in mixed if grades[place]), key=lambda place: -grades[place])
        zeros = sorted((place for place in mixed if not grades[place]), key=lambda place: -scores[place])
        hard = random.permutation(zeros[: 2 * self.recipe.zeros])[: self.recipe.zeros]
        return [int(place) for place in (*related[: self.recipe.related], *hard)]

    def score(self, model: CloseReader) -> dict[str, Any]:
        some = sorted(self.held_out, key=lambda one: one.fold)[: self.recipe.looks]
        added = read_all(model, some, self.packer)
        return {str(weight): round(values(some, added, weight)[:, 1].mean(), 2) for weight in (0.0, *WEIGHTS)}


@torch.inference_mode()
def read_all(model: CloseReader, pools: Sequence[Parts], packer: Packer) -> list[Floats]:
    """For each pool what is added to its candidates' scores."""
    model.eval()
    found = []
    for pool in pools:
        lengths = [sum(map(len, paper.sentences)) for paper in pool.papers]
        order, added = np.argsort(lengths), np.zeros(len(lengths), np.float32)
        for start in range(0, len(order), READ_AT_ONCE):
            some = order[start : start + READ_AT_ONCE]
            added[some] = model(pair_up(pool, some.tolist(), packer)).cpu().numpy()
        found.append(added)
    return found


def values(pools: Sequence[Parts], added: Sequence[Floats], weight: float) -> NDArray[np.float64]:
    """MAP and NDCG%20 of each pool [pools, 2], with so much of what is added."""
    pairs = zip(pools, added, strict=True)
    return np.array([pool.values(pool.scores(GRID[TODAY]) + weight * more) for pool, more in pairs])
