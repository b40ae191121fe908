"""What the words beside a score are worth: how papers of each level were judged, where levels would begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from evaluation.collections import PoolQuery
from evaluation.metrics import Found
from evaluation.tables import table
from search.ranking.calibration import LEVELS, RELATED_FROM, in_words, readable
from search.types import Likeness, Paper

LEAST = {"related": 1, "similar": 2}
"""The grade from which a paper counts as such."""
BEGINS = (("related", 1 / 3, "a third are related"), ("similar", 1 / 2, "half are similar"))
"""Where a level should begin: `search.ranking.calibration.LEVELS` says why."""
FEWEST = 20
"""Judged papers of a field below which its shares say nothing. Chosen by hand."""
UNREGULARISED = 1e6
"""scikit-learn's C, the inverse of regularisation: so large that the fit is that of the data alone."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate of a pool: the product's total, its grade, and the fields of its paper."""

    total: float
    grade: int
    fields: tuple[str, ...] = ()

    @property
    def word(self) -> Likeness:
        return in_words(readable(self.total), self.fields)


def read_levels(queries: Sequence[PoolQuery], scores: Found, papers: Mapping[str, Paper]) -> list[Judged]:
    """All judged candidates that were ranked."""
    return [
        Judged(scores[query.id][paper], grade, papers[paper].fields)
        for query in queries
        for paper, grade in query.grades.items()
        if paper in scores.get(query.id, {})
    ]


def begins_at(judged: Sequence[Judged], least: int, share: float) -> float | None:
    """The total near which that share of the papers has at least this grade, by logistic regression.

    None where all of them have it, or none has.
    """
    totals, reached = np.array([[one.total] for one in judged]), [one.grade >= least for one in judged]
    if len(set(reached)) < 2:
        return None
    fitted = LogisticRegression(C=UNREGULARISED).fit(totals, reached)
    return float((np.log(share / (1 - share)) - fitted.intercept_[0]) / fitted.coef_[0, 0])


def count_levels(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """For each word, the best first: how many papers are shown with it, and what share was judged how."""
    counted = []
    for word in (*(word for _, _, word in LEVELS), Likeness.UNRELATED):
        mine = [one.grade for one in judged if one.word is word]
        level: dict[str, Any] = {"word": str(word), "papers": len(mine)}
        if mine:
            level |= {name: 100 * float(np.mean(np.array(mine) >= least)) for name, least in LEAST.items()}
        counted.append(level)
    return counted


def describe_levels(judged: Sequence[Judged]) -> str:
    rows = [
        [
            level["word"],
            str(level["papers"]),
            *(f"{level[name]:.0f} %" if name in level else "-" for name in LEAST),
        ]
        for level in count_levels(judged)
    ]
    lines = [table(rows, ["shown as", "papers", *LEAST])]
    for name, share, meaning in BEGINS:
        if (total := begins_at(judged, LEAST[name], share)) is not None:
            lines.append(f"{meaning} near a total of {total:.2f}")
    if by_field := _describe_fields(judged):
        heads = ["papers of", "judged", "shown as related", "judged so", "a third are near"]
        lines += ["", table(by_field, heads)]
    return "\n".join(lines)


def _describe_fields(judged: Sequence[Judged]) -> list[list[str]]:
    """What "related" is worth by the first field of the papers; last, those where it begins later."""
    known = sorted({one.fields[0] for one in judged if one.fields})
    groups = {field: {field} for field in known} | {" and ".join(RELATED_FROM): set(RELATED_FROM)}
    rows = []
    for name, fields in groups.items():
        mine = [one for one in judged if fields.intersection(one.fields[:1])]
        if len(mine) >= FEWEST:
            shown = [one.grade >= LEAST["related"] for one in mine if one.word is Likeness.RELATED]
            total = begins_at(mine, LEAST["related"], BEGINS[0][1])
            near = "-" if total is None else f"{total:.2f}"
            rows.append([name, str(len(mine)), str(len(shown)), _percent(shown), near])
    return rows


def _percent(some: Sequence[bool]) -> str:
    return f"{100 * np.mean(some):.0f} %" if some else "-"
