"""How far two judges agree: Spearman's rho, Krippendorff's ordinal alpha, Cohen's weighted kappa."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

LEVELS = (0, 1, 2, 3)
"""The grades, from unrelated to near identical, as in CSFCube."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Between -1 and 1 each, 1 is full agreement; not a number where a judge gave one grade only."""

    papers: int
    same: float
    """Share of papers with the same grade."""
    spearman: float
    alpha: float
    kappa: float


def measure_agreement(first: Sequence[int], second: Sequence[int]) -> Agreement:
    """Grades of the same papers by two judges."""
    ours, theirs = np.asarray(first), np.asarray(second)
    constant = len(set(first)) < 2 or len(set(second)) < 2
    return Agreement(
        papers=len(ours),
        same=float(np.mean(ours == theirs)),
        spearman=float("nan") if constant else float(spearmanr(ours, theirs).statistic),
        alpha=ordinal_alpha(first, second),
        kappa=weighted_kappa(first, second),
    )


def weighted_kappa(first: Sequence[int], second: Sequence[int]) -> float:
    """Cohen's kappa with quadratic weights: a step of two counts four times a step of one (Cohen 1968)."""
    if len(set(first) | set(second)) < 2:
        return float("nan")
    return float(cohen_kappa_score(first, second, labels=list(LEVELS), weights="quadratic"))


def ordinal_alpha(first: Sequence[int], second: Sequence[int]) -> float:
    """Krippendorff's alpha = 1 - D_o / D_e for ordinal data, two judges, none missing.

    With o[c, k] how often a paper got grades c and k (both ways round), n_c the row sums and n their sum,
    D_o = sum o[c, k] d(c, k) / n, D_e = sum n_c n_k d(c, k) / (n (n - 1)), and
    d(c, k) = (sum_{g = c..k} n_g - (n_c + n_k) / 2)^2 (Krippendorff 2011).
    """
    pairs = np.zeros((len(LEVELS), len(LEVELS)))
    for one, other in zip(first, second, strict=True):
        pairs[one, other] += 1
        pairs[other, one] += 1
    totals = pairs.sum(axis=1)
    count = totals.sum()
    below = np.cumsum(totals) - totals / 2
    distance = (below[:, None] - below[None, :]) ** 2
    expected = totals @ distance @ totals / (count * (count - 1))
    return 1 - float((pairs * distance).sum() / count / expected) if expected else float("nan")
