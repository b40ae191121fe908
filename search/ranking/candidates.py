"""Which papers are worth scoring in full: near by a sentence, near as a whole, near in words.

ASPIRE's single match at scale: one Faiss search per chosen sentence finds every paper that has a sentence
near it, whatever the rest of that paper is about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Rows = NDArray[np.integer]
Search = Callable[[Floats, int, Rows | None], tuple[Floats, Rows]]
"""Query vectors [q, d], k, allowed rows (None: all) -> scores [q, k] and rows [q, k], -1 where fewer."""

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
    """What is looked up: chosen sentences [m, d], whole papers [k, d], and words with their weights."""

    sentences: Floats
    papers: Floats
    terms: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Indices:
    """The three indices of a corpus; paper p has the sentence rows offsets[p]:offsets[p + 1]."""

    sentences: Search
    papers: Search
    words: Callable[[Mapping[str, float]], Floats]
    """Terms with weights -> the score of every paper [P]."""
    offsets: NDArray[np.int64]

    def papers_of(self, sentences: Rows) -> Rows:
        return np.searchsorted(self.offsets, sentences, side="right") - 1

    def sentences_of(self, papers: Rows) -> Rows:
        """All sentence rows of these papers, one paper after another."""
        lengths = np.diff(self.offsets)[papers]
        ends = np.cumsum(lengths)
        return np.arange(lengths.sum()) + np.repeat(self.offsets[papers] - ends + lengths, lengths)


@dataclass(frozen=True, slots=True)
class Candidates:
    rows: Rows
    """Paper rows, ascending."""
    words: Floats
    """Their lexical scores."""


def find_candidates(
    indices: Indices, probe: Probe, allowed: Rows | None = None, depth: int = DEPTH
) -> Candidates:
    """The union of what each kind of evidence finds among the allowed papers."""
    words = indices.words(probe.terms)
    if allowed is not None and len(allowed) <= depth:
        rows = allowed
    else:
        rows = np.concatenate(
            [
                _near_by_sentence(indices, probe.sentences, allowed, depth),
                _near(indices.papers, probe.papers, allowed, depth),
                _near_in_words(words, allowed, depth),
            ]
        )
    rows = np.unique(rows).astype(np.int64)
    return Candidates(rows, words[rows])


def _near_by_sentence(indices: Indices, vectors: Floats, allowed: Rows | None, depth: int) -> Rows:
    sentences = None if allowed is None else indices.sentences_of(allowed)
    return indices.papers_of(_near(indices.sentences, vectors, sentences, depth))


def _near(search: Search, vectors: Floats, allowed: Rows | None, depth: int) -> Rows:
    """Rows near any of the vectors, about `depth` in all."""
    vectors = _grouped(vectors)
    _, rows = search(vectors, max(depth // len(vectors), FEWEST_PER_VECTOR), allowed)
    return np.unique(rows[rows >= 0])


def _grouped(vectors: Floats) -> Floats:
    if len(vectors) <= MOST_VECTORS:
        return vectors
    means = np.stack([group.mean(axis=0) for group in np.array_split(vectors, MOST_VECTORS)])
    return means / np.linalg.norm(means, axis=1, keepdims=True)


def _near_in_words(scores: Floats, allowed: Rows | None, depth: int) -> Rows:
    rows = np.flatnonzero(scores > 0) if allowed is None else allowed[scores[allowed] > 0]
    if len(rows) <= depth:
        return rows
    return rows[np.argpartition(-scores[rows], depth)[:depth]]
