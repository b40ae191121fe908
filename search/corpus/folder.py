"""A corpus in a folder: DuckDB, Faiss and BM25 files, the embedded kind of `Served`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.corpus import layout
from search.corpus.bm25 import LexicalIndex, best
from search.corpus.checksums import DamagedError
from search.corpus.faiss_index import Selection
from search.corpus.health import Health, builds_to_serve, notice_of
from search.corpus.manifest import Manifest, check_build
from search.corpus.parts import open_parts
from search.corpus.served import EVERYTHING, Floats, Found, Rows, Sentences
from search.corpus.store.identity import Apart
from search.errors import CorpusError
from search.types import Facet, Filters, Paper

REMEMBERED = 16
"""Filters whose papers are kept: of visitors who search at the same time. A set of a million papers takes
some megabytes. Chosen by hand."""


class FolderCorpus:
    """The builds of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def builds(self) -> list[str]:
        layout.current_build(self.folder)  # says what to do where there is none
        return [build.name for build in builds_to_serve(self.folder)]

    def manifest(self, build: str) -> Manifest:
        return check_build(self._path(build))

    def open(self, build: str, manifest: Manifest) -> FolderBuild:
        return FolderBuild(self._path(build), manifest)

    def notice_of(self, damage: str, served: Manifest) -> str:
        return notice_of(damage, self.folder, served)

    def _path(self, build: str) -> Path:
        return self.folder / layout.BUILDS / build


class FolderBuild:
    """One build, opened. Its files are looked at in the background."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.manifest = manifest
        self.health = Health(folder, manifest)
        self.health.start()
        try:
            parts = open_parts(folder, manifest, self.health.blocks)
        except CorpusError as error:
            raise DamagedError(str(error)) from error
        self._store, self._lexical = parts.store, parts.lexical
        self._sentence_vectors, self._paper_vectors = parts.sentence_vectors, parts.paper_vectors
        self._sentence_index, self._paper_index = parts.sentence_index, parts.paper_index
        self._offsets, self._panels = parts.offsets, parts.store.sentence_panels()
        self._allowed = lru_cache(maxsize=REMEMBERED)(self._allow)

    @cached_property
    def apart(self) -> Apart:
        return self._store.apart

    # -- which papers

    def _allow(self, filters: Filters) -> _Allowed | None:
        rows = self._store.paper_rows(filters)
        return None if rows is None else _Allowed(rows, self._offsets)

    def near_sentences(self, vectors: Floats, k: int, filters: Filters = EVERYTHING) -> Found:
        allowed = self._allowed(filters)
        scores, rows = self._sentence_index.search(vectors, k, allowed.sentences if allowed else None)
        papers = np.searchsorted(self._offsets, rows, side="right") - 1
        return scores, np.where(rows < 0, -1, papers)

    def near_papers(self, vectors: Floats, k: int, filters: Filters = EVERYTHING) -> Found:
        allowed = self._allowed(filters)
        return self._paper_index.search(vectors, k, allowed.papers if allowed else None)

    def words(self, terms: Mapping[str, float]) -> _Words:
        return _Words(self._lexical, terms, self._rows)

    def _rows(self, filters: Filters) -> Rows | None:
        allowed = self._allowed(filters)
        return None if allowed is None else allowed.rows

    def papers_with(self, terms: Collection[str]) -> dict[str, int]:
        return {term: self._lexical.count_with(term) for term in terms}

    def count(self, filters: Filters = EVERYTHING) -> int:
        rows = self._rows(filters)
        return self.manifest.papers if rows is None else len(rows)

    def passing(self, filters: Filters, most: int) -> Rows | None:
        rows = self._rows(filters)
        return rows if rows is not None and len(rows) <= most else None

    def spread(self, count: int) -> Rows:
        papers = self.manifest.papers
        return np.unique(np.linspace(0, papers - 1, min(count, papers)).astype(np.int64))

    def next_rows(self, after: int, count: int) -> Rows:
        return np.arange(after + 1, min(after + 1 + count, self.manifest.papers))

    # -- what is known of them

    def sentences(self, rows: Rows) -> Sentences:
        lengths = self._offsets[rows + 1] - self._offsets[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        mine = np.arange(offsets[-1]) + np.repeat(self._offsets[rows] - offsets[:-1], lengths)
        return Sentences(self._sentence_vectors[mine], self._panels[mine], offsets)

    def whole_vectors(self, rows: Rows) -> NDArray[np.float16]:
        return self._paper_vectors[rows]

    def rows_of(self, ids: Sequence[str]) -> NDArray[np.int64]:
        return self._store.rows_of(ids).astype(np.int64)

    def ids_of(self, rows: Rows) -> list[tuple[str, ...]]:
        return self._store.ids_of(rows)

    def arrivals(self, ids: Sequence[str]) -> NDArray[np.int64]:
        return self.rows_of(ids)  # papers have rows in the order in which they came

    def papers_by_row(self, rows: Rows | Sequence[int]) -> list[Paper]:
        return self._store.papers_by_row(rows)

    def headings_by_row(self, rows: Rows | Sequence[int]) -> list[Paper]:
        return self._store.headings_by_row(rows)

    def papers(self, ids: Sequence[str]) -> list[Paper]:
        return self._store.papers(ids)

    def paper(self, id: str) -> Paper | None:
        return self._store.paper(id)

    def find(self, text: str, limit: int = 20) -> list[Paper]:
        return self._store.find(text, limit)

    # -- counts

    def year_counts(self, filters: Filters | None = None) -> dict[int, int]:
        return self._store.year_counts(filters)

    def venue_counts(self, filters: Filters | None = None, limit: int = 1000) -> dict[str, int]:
        return self._store.venue_counts(filters, limit)

    def field_counts(self, filters: Filters | None = None, limit: int = 1000) -> dict[str, int]:
        return self._store.field_counts(filters, limit)

    def source_counts(self, filters: Filters | None = None) -> dict[str, int]:
        return self._store.source_counts(filters)

    def origin_counts(self, limit: int = 1000) -> dict[str, int]:
        return self._store.origin_counts(limit)

    def facet_shares(self) -> dict[Facet, float]:
        return self._store.facet_shares()

    def close(self) -> None:
        self._store.close()


class _Allowed:
    """The papers that pass a filter, as each part of a build wants them."""

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


class _Words:
    """The scores of one question in words."""

    def __init__(
        self, index: LexicalIndex, terms: Mapping[str, float], rows_of: Callable[[Filters], Rows | None]
    ) -> None:
        self._scores, self._rows_of = index.scores(terms), rows_of

    def best(self, k: int, filters: Filters = EVERYTHING) -> Found:
        return best(self._scores, k, self._rows_of(filters))

    def of(self, rows: Rows) -> NDArray[np.float32]:
        return self._scores[rows]
