"""What the words beside a score are worth: how papers of each level were judged, where levels would begin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from evaluation.collections import PoolQuery
from evaluation.metrics import Found
from evaluation.tables import table
from search.ranking.calibration import LEVELS, in_words, readable
from search.types import Likeness

LEAST = {"related": 1, "similar": 2}
"""The grade from which a paper counts as such."""
BEGINS = (("related", 1 / 3, "a third are related"), ("similar", 1 / 2, "half are similar"))
"""Where a level should begin: `search.ranking.calibration.LEVELS` says why."""
UNREGULARISED = 1e6
"""scikit-learn's C, the inverse of regularisation: so large that the fit is that of the data alone."""


def judged_totals(
    queries: Sequence[PoolQuery], scores: Found
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The product's totals of all judged candidates, and their grades."""
    pairs = [
        (scores[query.id][paper], grade)
        for query in queries
        for paper, grade in query.grades.items()
        if paper in scores.get(query.id, {})
    ]
    totals, grades = zip(*pairs, strict=True)
    return np.array(totals), np.array(grades)


def begins_at(totals: NDArray[np.float64], grades: NDArray[np.int64], least: int, share: float) -> float:
    """The total near which that share of the papers has at least this grade, by logistic regression."""
    fitted = LogisticRegression(C=UNREGULARISED).fit(totals[:, None], grades >= least)
    return float((np.log(share / (1 - share)) - fitted.intercept_[0]) / fitted.coef_[0, 0])


def count_levels(queries: Sequence[PoolQuery], scores: Found) -> list[dict[str, Any]]:
    """For each word, the best first: how many papers are shown with it, and what share was judged how."""
    totals, grades = judged_totals(queries, scores)
    words = np.array([in_words(readable(total)) for total in totals])
    counted = []
    for word in (*(word for _, _, word in LEVELS), Likeness.UNRELATED):
        mine = grades[words == word]
        level: dict[str, Any] = {"word": str(word), "papers": len(mine)}
        if len(mine):
            level |= {name: 100 * float((mine >= least).mean()) for name, least in LEAST.items()}
        counted.append(level)
    return counted


def describe_levels(queries: Sequence[PoolQuery], scores: Found) -> str:
    rows = [
        [
            level["word"],
            str(level["papers"]),
            *(f"{level[name]:.0f} %" if name in level else "-" for name in LEAST),
        ]
        for level in count_levels(queries, scores)
    ]
    lines = [table(rows, ["shown as", "papers", *LEAST])]
    totals, grades = judged_totals(queries, scores)
    for name, share, meaning in BEGINS:
        if len(set(grades >= LEAST[name])) == 2:
            lines.append(f"{meaning} near a total of {begins_at(totals, grades, LEAST[name], share):.2f}")
    return "\n".join(lines)
