"""Which papers are worth scoring in full: near by a sentence, near as a whole, near in words.

ASPIRE's single match at scale: one Faiss search per chosen sentence finds every paper that has a sentence
near it, whatever the rest of that paper is about.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from search.types import Filters

Floats = NDArray[np.float32]
Rows = NDArray[np.integer]

DEPTH = 400
"""About how many papers each kind of evidence brings in; chosen by hand. `python -m evaluation speed --only
search` measures the effect: how many of the true best 20, from scoring every paper, are among them."""
PER_RESULT = 3
"""Candidates for each result that is asked for, where that is more than DEPTH; chosen by hand."""
FEWEST_PER_VECTOR = 50
"""Rows looked up for each query vector, even when there are many vectors; chosen by hand."""
MOST_VECTORS = 32
"""Query vectors that are looked up one by one. With more, neighbours are put into this many groups and the
mean of each group is looked up, so that a long query stays fast. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What is looked up beside the words: chosen sentences [m, d] and whole papers [k, d]."""

    sentences: Floats
    papers: Floats


class Build(Protocol):
    """What is asked of a corpus: scores and paper rows, row -1 where there are fewer."""

    def near_sentences(self, vectors: Floats, k: int, filters: Filters) -> tuple[Floats, Rows]: ...

    def near_papers(self, vectors: Floats, k: int, filters: Filters) -> tuple[Floats, Rows]: ...

    def passing(self, filters: Filters, most: int) -> Rows | None: ...


class Words(Protocol):
    """The words of the query, looked up in the corpus."""

    def best(self, k: int, filters: Filters) -> tuple[Floats, Rows]: ...

    def of(self, rows: Rows) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Either:
    """The higher score of two questions in words."""

    one: Words
    other: Words

    def best(self, k: int, filters: Filters) -> tuple[Floats, Rows]:
        rows = np.union1d(self.one.best(k, filters)[1], self.other.best(k, filters)[1])
        scores = self.of(rows)
        order = np.argsort(-scores, kind="stable")[:k]
        return scores[order], rows[order]

    def of(self, rows: Rows) -> Floats:
        return np.maximum(self.one.of(rows), self.other.of(rows))


@dataclass(frozen=True, slots=True)
class Candidates:
    rows: Rows
    """Paper rows, ascending."""
    words: Floats
    """Their lexical scores."""


def find_candidates(
    build: Build, words: Words, probe: Probe, filters: Filters, depth: int = DEPTH
) -> Candidates:
    """The union of what each kind of evidence finds among the papers that pass; all where they are few."""
    rows = build.passing(filters, depth)
    if rows is None:
        rows = np.concatenate(
            [
                _near(build.near_sentences, probe.sentences, filters, depth),
                _near(build.near_papers, probe.papers, filters, depth),
                words.best(depth, filters)[1],
            ]
        )
    rows = np.unique(rows).astype(np.int64)
    return Candidates(rows, words.of(rows))


def _near(
    search: Callable[[Floats, int, Filters], tuple[Floats, Rows]],
    vectors: Floats,
    filters: Filters,
    depth: int,
) -> Rows:
    """Papers near any of the vectors, about `depth` in all."""
    vectors = _grouped(vectors)
    _, rows = search(vectors, max(depth // len(vectors), FEWEST_PER_VECTOR), filters)
    return np.unique(rows[rows >= 0])


def _grouped(vectors: Floats) -> Floats:
    if len(vectors) <= MOST_VECTORS:
        return vectors
    means = np.stack([group.mean(axis=0) for group in np.array_split(vectors, MOST_VECTORS)])
    return means / np.linalg.norm(means, axis=1, keepdims=True)
