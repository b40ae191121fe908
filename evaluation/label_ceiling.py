"""How often any labeller can be right where annotators disagree.

A sentence's label is what most of its annotators chose, its confidence how large a part of them did.
Annotators who judge alone draw from the opinions one can have of the sentence, a distribution over the
labels; the best that a labeller can do is to know it and to name the most common opinion, which often is not
what five people happened to choose. Which opinions there are is unknown, but they must make as many
annotators agree as did, give or take what chance does to the shares. Of all mixtures of opinions that do,
linear programming finds the kindest: an upper limit, not a likely value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from search.types import FACETS

ANNOTATORS = 5
"""A guess: CSAbstruct's confidences lie around fifths, as shares of five about equally trusted people do."""
GRAIN = 30
"""Opinions are looked at in steps of one over this."""
ERRORS = 2
"""Shares may be off by so many of their standard errors; taken as exact they gave limits that were passed."""

Floats = NDArray[np.float64]


def agreed(confidence: float) -> int:
    """How many annotators chose the label."""
    return min(max(round(confidence * ANNOTATORS), 1), ANNOTATORS)


def find_ceiling(confidences: Sequence[float]) -> float:
    """Most of w · right over mixtures w of opinions with w @ agreement near the shares, sum w = 1, w >= 0."""
    counts = np.bincount([agreed(each) for each in confidences], minlength=ANNOTATORS + 1)[1:]
    shares = counts / counts.sum()
    off = ERRORS * np.sqrt(shares * (1 - shares) / counts.sum())
    agreement, right = vote(np.array(list(opinions())) / GRAIN)
    found = linprog(
        -right.sum(1),
        A_ub=np.vstack([agreement.T, -agreement.T]),
        b_ub=np.concatenate([shares + off, off - shares]),
        A_eq=np.ones((1, len(right))),
        b_eq=[1],
    )
    # No opinions make people agree in such a way, so they say nothing of a limit.
    return -float(found.fun) if found.success else 1.0


def opinions(left: int = GRAIN, labels: int = len(FACETS), most: int = GRAIN) -> Iterator[tuple[int, ...]]:
    """All ways to spread the grains over the labels, the most common label first."""
    if labels == 1:
        yield (left,)
        return
    for first in range(min(left, most), -(-left // labels) - 1, -1):
        for rest in opinions(left - first, labels - 1, first):
            yield (first, *rest)


def vote(opinions: Floats) -> tuple[Floats, Floats]:
    """For opinions [m, labels]: the chance that so many of five agree on the label that wins, [m, 5], and
    that they do and it is the first label; a tie is drawn by lot.
    """
    ballots = [
        one for one in product(range(ANNOTATORS + 1), repeat=opinions.shape[1]) if sum(one) == ANNOTATORS
    ]
    agreement, right = np.zeros((2, len(opinions), ANNOTATORS))
    for ballot in ballots:
        ways = math.factorial(ANNOTATORS) // math.prod(map(math.factorial, ballot))
        chance = ways * np.prod(opinions ** np.array(ballot), axis=1)
        top = max(ballot)
        agreement[:, top - 1] += chance
        if ballot[0] == top:
            right[:, top - 1] += chance / ballot.count(top)
    return agreement, right
