"""One segment of a build: the answers about its own papers, whose rows begin at `base`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from search.corpus.bm25 import best
from search.corpus.faiss_index import Selection
from search.corpus.parts import Parts
from search.corpus.served import EVERYTHING, Floats, Found, Rows, Sentences
from search.types import Filters

REMEMBERED = 16
"""Filters whose papers are kept: of visitors who search at the same time. A set of a million papers takes
some megabytes. Chosen by hand."""


class OpenSegment:
    """Takes and gives rows of the whole build."""

    def __init__(self, parts: Parts, base: int) -> None:
        self.parts, self.base = parts, base
        self.store = parts.store
        self.count = len(parts.offsets) - 1
        """Rows, those of removed papers included."""
        self.allowed = lru_cache(maxsize=REMEMBERED)(self._allow)

    def _allow(self, filters: Filters) -> Allowed | None:
        """The papers that pass and are still there; None where all are."""
        rows = self.store.paper_rows(filters)
        return None if rows is None else Allowed(rows, self.parts.offsets)

    def passing(self, filters: Filters) -> int:
        allowed = self.allowed(filters)
        return self.count if allowed is None else len(allowed.rows)

    def near_sentences(self, vectors: Floats, k: int, filters: Filters) -> Found:
        allowed = self.allowed(filters)
        scores, rows = self.parts.sentence_index.search(vectors, k, allowed.sentences if allowed else None)
        papers = np.searchsorted(self.parts.offsets, rows, side="right") - 1 + self.base
        return scores, np.where(rows < 0, -1, papers)

    def near_papers(self, vectors: Floats, k: int, filters: Filters) -> Found:
        allowed = self.allowed(filters)
        scores, rows = self.parts.paper_index.search(vectors, k, allowed.papers if allowed else None)
        return scores, np.where(rows < 0, -1, rows + self.base)

    def having(self, term: str) -> int:
        """How many papers have a term."""
        return self.parts.lexical.count_with(term) - self.parts.removed.having(term)

    def words(self, terms: Mapping[str, float]) -> SegmentWords:
        return SegmentWords(self, terms)

    def sentences(self, rows: Rows) -> Sentences:
        offsets = self.parts.offsets
        first = offsets[rows - self.base]
        lengths = offsets[rows - self.base + 1] - first
        ends = np.concatenate([[0], np.cumsum(lengths)])
        mine = np.arange(ends[-1]) + np.repeat(first - ends[:-1], lengths)
        return Sentences(self.parts.sentence_vectors[mine], self.parts.panels[mine], ends)

    def whole_vectors(self, rows: Rows) -> NDArray[np.float16]:
        return self.parts.paper_vectors[rows - self.base]


class Allowed:
    """The papers that pass a filter, as each part of a segment wants them."""

    def __init__(self, rows: NDArray[np.int32], offsets: NDArray[np.int64]) -> None:
        self.rows = rows
        self._offsets = offsets

    @cached_property
    def _mask(self) -> NDArray[np.bool_]:
        mask = np.zeros(len(self._offsets) - 1, bool)
        mask[self.rows] = True
        return mask

    @cached_property
    def papers(self) -> Selection:
        return Selection(self._mask)

    @cached_property
    def sentences(self) -> Selection:
        return Selection(np.repeat(self._mask, np.diff(self._offsets)))


class SegmentWords:
    """The scores of one question in words."""

    def __init__(self, segment: OpenSegment, terms: Mapping[str, float]) -> None:
        self._segment, self._scores = segment, segment.parts.lexical.scores(terms)

    def best(self, k: int, filters: Filters = EVERYTHING) -> Found:
        allowed = self._segment.allowed(filters)
        scores, rows = best(self._scores, k, None if allowed is None else allowed.rows)
        return scores, rows + self._segment.base

    def of(self, rows: Rows) -> NDArray[np.float32]:
        return self._scores[rows - self._segment.base]
