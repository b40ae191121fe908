"""A corpus in a folder: DuckDB, Faiss and BM25 files in segments, the embedded kind of `Served`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.corpus import layout
from search.corpus.bm25 import idf
from search.corpus.checksums import DamagedError
from search.corpus.health import Health, builds_to_serve, notice_of
from search.corpus.manifest import Manifest, check_build
from search.corpus.parts import open_parts
from search.corpus.segment import OpenSegment, SegmentWords
from search.corpus.served import EVERYTHING, Floats, Found, Rows, Sentences
from search.corpus.store import snapshot
from search.corpus.store.identity import Apart
from search.errors import CorpusError
from search.types import FACETS, Facet, Filters, Paper


class FolderCorpus:
    """The builds of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def current(self) -> str:
        return layout.current_name(self.folder)

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
        bases = np.cumsum([0, *(segment.papers for segment in manifest.parts)])
        self._bases: NDArray[np.int64] = bases[:-1]
        self._end = int(bases[-1])
        try:
            self._segments = [
                OpenSegment(open_parts(folder, manifest, segment, self.health.blocks), int(base))
                for segment, base in zip(manifest.parts, bases, strict=False)
            ]
        except CorpusError as error:
            raise DamagedError(str(error)) from error
        self._stores = [segment.store for segment in self._segments]
        removed = [segment.parts.removed.rows + segment.base for segment in self._segments]
        self._removed: NDArray[np.int64] = np.concatenate(removed).astype(np.int64)

    @cached_property
    def apart(self) -> Apart:
        # Each segment has all pairs that there were when it was made.
        return snapshot.apart(self._stores[-1].split(), self)

    # -- which papers

    def near_sentences(self, vectors: Floats, k: int, filters: Filters = EVERYTHING) -> Found:
        return _merged([each.near_sentences(vectors, k, filters) for each in self._segments], k)

    def near_papers(self, vectors: Floats, k: int, filters: Filters = EVERYTHING) -> Found:
        return _merged([each.near_papers(vectors, k, filters) for each in self._segments], k)

    def words(self, terms: Mapping[str, float]) -> _Words:
        if len(self._segments) == 1 and not len(self._removed):
            return _Words(self, [self._segments[0].words(terms)])
        having = self.papers_with(terms)
        rarity = {term: idf(self.manifest.papers, having[term]) for term in terms}
        return _Words(self, [self._words(segment, terms, rarity) for segment in self._segments])

    def _words(
        self, segment: OpenSegment, terms: Mapping[str, float], rarity: Mapping[str, float]
    ) -> SegmentWords:
        """A segment's scores hold a term's rarity within it: in its place comes that of the whole build."""
        own = segment.parts.lexical.idf
        return segment.words({term: weight * rarity[term] / own(term) for term, weight in terms.items()})

    def papers_with(self, terms: Collection[str]) -> dict[str, int]:
        return {term: sum(segment.having(term) for segment in self._segments) for term in terms}

    def count(self, filters: Filters = EVERYTHING) -> int:
        return sum(segment.passing(filters) for segment in self._segments)

    def passing(self, filters: Filters, most: int) -> Rows | None:
        if filters == EVERYTHING or self.count(filters) > most:
            return None
        allowed = [(segment, segment.allowed(filters)) for segment in self._segments]
        return np.concatenate(
            [
                segment.base + (np.arange(segment.count) if found is None else found.rows).astype(np.int64)
                for segment, found in allowed
            ]
        )

    def spread(self, count: int) -> Rows:
        rows = np.linspace(0, self._end - 1, min(count, self._end)).astype(np.int64)
        return np.setdiff1d(rows, self._removed)

    def next_rows(self, after: int, count: int) -> Rows:
        rows: Rows = np.empty(0, np.int64)
        while len(rows) < count and after + 1 < self._end:
            more = np.arange(after + 1, min(after + 1 + count, self._end))
            rows = np.concatenate([rows, np.setdiff1d(more, self._removed)])
            after = int(more[-1])
        return rows[:count]

    # -- what is known of them

    def _shares(self, rows: Rows) -> Iterator[tuple[OpenSegment, NDArray[np.int64]]]:
        """Each segment with the places of its own rows."""
        owners = np.searchsorted(self._bases, rows, side="right") - 1
        for number, segment in enumerate(self._segments):
            places = np.flatnonzero(owners == number)
            if len(places):
                yield segment, places

    def sentences(self, rows: Rows) -> Sentences:
        rows = np.asarray(rows, np.int64)
        shares = [(places, segment.sentences(rows[places])) for segment, places in self._shares(rows)]
        if len(shares) == 1:
            return shares[0][1]
        lengths = np.zeros(len(rows), np.int64)
        for places, mine in shares:
            lengths[places] = np.diff(mine.offsets)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        vectors = np.empty((offsets[-1], self.manifest.dimension), np.float16)
        panels = np.empty(offsets[-1], np.uint8)
        for places, mine in shares:
            where = np.arange(mine.offsets[-1]) + np.repeat(
                offsets[places] - mine.offsets[:-1], lengths[places]
            )
            vectors[where], panels[where] = mine.vectors, mine.panels
        return Sentences(vectors, panels, offsets)

    def whole_vectors(self, rows: Rows) -> NDArray[np.float16]:
        rows = np.asarray(rows, np.int64)
        vectors = np.empty((len(rows), self.manifest.dimension), np.float16)
        for segment, places in self._shares(rows):
            vectors[places] = segment.whole_vectors(rows[places])
        return vectors

    def rows_of(self, ids: Sequence[str]) -> NDArray[np.int64]:
        return self._look_up(ids, lambda segment: segment.store.rows_of(ids))

    def _look_up(
        self, ids: Sequence[str], look: Callable[[OpenSegment], NDArray[np.int32]]
    ) -> NDArray[np.int64]:
        """In the first segment that has each."""
        rows = np.full(len(ids), -1, np.int64)
        for segment in self._segments:
            found = look(segment)
            new = (rows < 0) & (found >= 0)
            rows[new] = found[new] + segment.base
        return rows

    def arrivals(self, ids: Sequence[str]) -> NDArray[np.int64]:
        # A paper keeps its turn when it comes again in another form: the row where it stood first.
        rows = self._first_rows(ids)
        rows[self.rows_of(ids) < 0] = -1
        return np.where(rows < 0, -1, rows - np.searchsorted(self._without_turn, rows))

    def _first_rows(self, ids: Sequence[str]) -> NDArray[np.int64]:
        return self._look_up(ids, lambda segment: segment.store.first_rows(ids))

    @cached_property
    def _without_turn(self) -> NDArray[np.int64]:
        """Rows, in order, at which no paper came: of papers that are gone, and of later forms of others."""
        ids = [found[0] for found in self.ids_of(self._removed) if found]
        now, first = self.rows_of(ids), self._first_rows(ids)
        return np.setdiff1d(np.concatenate([self._removed, now[now >= 0]]), first[now >= 0])

    def _in_order(
        self, rows: Rows | Sequence[int], read: Callable[[OpenSegment, Rows], Sequence[Any]]
    ) -> list[Any]:
        """What each segment has of its own rows, in the order asked."""
        rows = np.asarray(rows, np.int64)
        found: list[Any] = [None] * len(rows)
        for segment, places in self._shares(rows):
            for place, value in zip(places, read(segment, rows[places] - segment.base), strict=True):
                found[place] = value
        return found

    def papers_by_row(self, rows: Rows | Sequence[int]) -> list[Paper]:
        return self._in_order(rows, lambda segment, mine: segment.store.papers_by_row(mine))

    def headings_by_row(self, rows: Rows | Sequence[int]) -> list[Paper]:
        return self._in_order(rows, lambda segment, mine: segment.store.headings_by_row(mine))

    def ids_of(self, rows: Rows) -> list[tuple[str, ...]]:
        return self._in_order(rows, lambda segment, mine: segment.store.ids_of(mine))

    def papers(self, ids: Sequence[str]) -> list[Paper]:
        rows = self.rows_of(ids)
        return self.papers_by_row(rows[rows >= 0])

    def paper(self, id: str) -> Paper | None:
        return next(iter(self.papers([id])), None)

    def find(self, text: str, limit: int = 20) -> list[Paper]:
        return snapshot.find(self._stores, text, limit, self._bases.tolist())

    # -- counts

    def year_counts(self, filters: Filters | None = None) -> dict[int, int]:
        found = self._tally(snapshot.YEARS, filters)
        return {year: found[year] for year in sorted(found)}

    def venue_counts(self, filters: Filters | None = None, limit: int = 1000) -> dict[str, int]:
        return self._tally(snapshot.VENUES, filters, limit)

    def field_counts(self, filters: Filters | None = None, limit: int = 1000) -> dict[str, int]:
        return self._tally(snapshot.FIELDS, filters, limit)

    def source_counts(self, filters: Filters | None = None) -> dict[str, int]:
        return self._tally(snapshot.SOURCES, filters)

    def _tally(self, counted: snapshot.Counted, filters: Filters | None, most: int = 2**31) -> dict[Any, int]:
        if len(self._stores) == 1:
            return self._stores[0].tally(counted, filters, most)
        total: dict[Any, int] = {}
        for store in self._stores:
            for value, count in store.tally(counted, filters).items():
                total[value] = total.get(value, 0) + count
        order = sorted(total, key=lambda value: (-total[value], value))
        return {value: total[value] for value in order[:most]}

    def origin_counts(self, limit: int = 1000) -> dict[str, int]:
        counts: Counter[str] = sum((store.origin_counts() for store in self._stores), Counter())
        return dict(counts.most_common(limit))

    def facet_shares(self) -> dict[Facet, float]:
        found = [store.facet_counts() for store in self._stores]
        counts = {facet: sum(each[facet] for each in found) for facet in FACETS}
        total = max(sum(counts.values()), 1)
        return {facet: count / total for facet, count in counts.items()}

    def close(self) -> None:
        for store in self._stores:
            store.close()


def _merged(found: Sequence[Found], k: int) -> Found:
    """The `k` best of what several segments found."""
    if len(found) == 1:
        return found[0]
    scores = np.concatenate([each[0] for each in found], axis=1)
    rows = np.concatenate([each[1] for each in found], axis=1)
    order = np.argsort(-np.where(rows < 0, -np.inf, scores), axis=1, kind="stable")[:, :k]
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)


@dataclass(frozen=True, slots=True)
class _Words:
    """The scores of one question in words, by segment."""

    build: FolderBuild
    found: list[SegmentWords]

    def best(self, k: int, filters: Filters = EVERYTHING) -> Found:
        each = [words.best(k, filters) for words in self.found]
        scores, rows = (np.concatenate(parts) for parts in zip(*each, strict=True))
        order = np.lexsort((rows, -scores))[:k]
        return scores[order], rows[order]

    def of(self, rows: Rows) -> NDArray[np.float32]:
        if len(self.found) == 1:
            return self.found[0].of(np.asarray(rows))
        scores = np.empty(len(rows), np.float32)
        owners = np.searchsorted(self.build._bases, rows, side="right") - 1
        for number, words in enumerate(self.found):
            mine = owners == number
            scores[mine] = words.of(np.asarray(rows)[mine])
        return scores
