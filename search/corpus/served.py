"""The seam: what an opened build can answer, wherever it lies. Engine, pages and API ask nothing else.

A row is the number of a paper in one build. It means nothing in another, and rows may be left out.
No answer holds something about every paper, so that a build may have any size.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from search.corpus.manifest import Manifest
from search.corpus.store.identity import Apart
from search.types import Facet, Filters, Paper

Floats = NDArray[np.floating[Any]]
Rows = NDArray[np.integer[Any]]
Found = tuple[NDArray[np.float32], NDArray[np.int64]]
"""Scores and rows, each [q, k] or [k], best first; row -1 where there are fewer."""
EVERYTHING = Filters()


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of some papers, one paper after another."""

    vectors: NDArray[np.float16]
    """[S, d]"""
    panels: NDArray[np.uint8]
    """[S] as in `search.types.PANEL_CODES`."""
    offsets: NDArray[np.int64]
    """[C + 1]: paper c has the sentences offsets[c]:offsets[c + 1]."""


class Words(Protocol):
    """One question in words: terms with weights, which are scored once."""

    def best(self, k: int, filters: Filters = EVERYTHING) -> Found:
        """The up to `k` best of the papers that pass and share a term, best first: scores [k], rows [k]."""
        ...

    def of(self, rows: Rows) -> NDArray[np.float32]:
        """The scores of these papers [C]; 0 where no term occurs."""
        ...


class Soundness(Protocol):
    """Whether all of a build can be read, as far as is known."""

    @property
    def damage(self) -> str:
        """What is damaged or missing, in one sentence; empty while nothing is."""
        ...

    def tell(self, damage: str) -> None:
        """Take note of damage that showed while answering."""
        ...

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the build was looked at; whether it was."""
        ...


class Served(Protocol):
    """An opened build. Safe to use from many threads."""

    @property
    def manifest(self) -> Manifest: ...

    @property
    def health(self) -> Soundness: ...

    @property
    def apart(self) -> Apart:
        """Pairs of papers that somebody split."""
        ...

    # -- which papers

    def near_sentences(self, vectors: Floats, k: int, filters: Filters = EVERYTHING) -> Found:
        """Of the `k` sentences nearest to each of the vectors [q, d]: cosines and rows of papers [q, k]."""
        ...

    def near_papers(self, vectors: Floats, k: int, filters: Filters = EVERYTHING) -> Found:
        """The `k` papers nearest to each of the vectors [q, d] as wholes: cosines and rows [q, k]."""
        ...

    def words(self, terms: Mapping[str, float]) -> Words:
        """BM25 by terms with weights."""
        ...

    def papers_with(self, terms: Collection[str]) -> Mapping[str, int]:
        """How many papers have each of these terms. `search.corpus.bm25.idf` makes its rarity of it."""
        ...

    def count(self, filters: Filters = EVERYTHING) -> int:
        """How many papers pass."""
        ...

    def passing(self, filters: Filters, most: int) -> Rows | None:
        """The rows that pass, in order, where something is asked and they are at most `most`; else None."""
        ...

    def spread(self, count: int) -> Rows:
        """Up to `count` rows, spread evenly over the build."""
        ...

    def next_rows(self, after: int, count: int) -> Rows:
        """The up to `count` rows that follow `after`, in order: a way through the whole build, from -1."""
        ...

    # -- what is known of them

    def sentences(self, rows: Rows) -> Sentences:
        """The sentences of these papers, in the order asked."""
        ...

    def whole_vectors(self, rows: Rows) -> NDArray[np.float16]:
        """The papers as wholes [C, d]."""
        ...

    def rows_of(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """The row of each id, of any record of the paper; -1 for an id that is not here."""
        ...

    def ids_of(self, rows: Rows) -> list[tuple[str, ...]]:
        """The ids of all records of each paper."""
        ...

    def arrivals(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """For each id how many papers came before it; -1 for an id that is not here."""
        ...

    def papers_by_row(self, rows: Rows | Sequence[int]) -> list[Paper]:
        """The papers of these rows in the order asked, with their labelled sentences."""
        ...

    def headings_by_row(self, rows: Rows | Sequence[int]) -> list[Paper]:
        """The same without abstracts and sentences: hundreds at once."""
        ...

    def papers(self, ids: Sequence[str]) -> list[Paper]:
        """The papers of these ids, in the order asked; unknown ids are left out."""
        ...

    def paper(self, id: str) -> Paper | None: ...

    def find(self, text: str, limit: int = 20) -> list[Paper]:
        """Papers by an id or web address, or by words of title, authors and year; closest first."""
        ...

    # -- counts

    def year_counts(self, filters: Filters | None = None) -> dict[int, int]: ...

    def venue_counts(self, filters: Filters | None = None, limit: int = 1000) -> dict[str, int]:
        """The most frequent first; so with fields and sources."""
        ...

    def field_counts(self, filters: Filters | None = None, limit: int = 1000) -> dict[str, int]: ...

    def source_counts(self, filters: Filters | None = None) -> dict[str, int]: ...

    def origin_counts(self, limit: int = 1000) -> dict[str, int]:
        """How papers came from live sources, for those that did; the most frequent first."""
        ...

    def facet_shares(self) -> dict[Facet, float]:
        """The part of all labelled sentences that each facet has."""
        ...

    def close(self) -> None: ...


class Corpus(Protocol):
    """Where builds are published: a folder, or a database elsewhere."""

    def current(self) -> str:
        """The name of the served build; empty where there is none."""
        ...

    def builds(self) -> Sequence[str]:
        """The names of the builds: the served one, then those that may stand in for it, the newest first."""
        ...

    def manifest(self, build: str) -> Manifest:
        """Checked as far as costs nothing."""
        ...

    def open(self, build: str, manifest: Manifest) -> Served:
        """A DamagedError where it cannot be read as a whole."""
        ...

    def notice_of(self, damage: str, served: Manifest) -> str:
        """What users are told when an older build stands in for a damaged one."""
        ...
