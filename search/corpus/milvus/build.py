"""One build on Milvus, opened: the remote kind of `Served`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.corpus.bm25 import idf
from search.corpus.checksums import DamagedError
from search.corpus.manifest import Manifest
from search.corpus.milvus import titles
from search.corpus.milvus.about import About
from search.corpus.milvus.names import Names
from search.corpus.milvus.packing import Vectors, damaged, unpack_paper, unpack_terms, unpack_vectors
from search.corpus.milvus.server import MOST_FOUND, Server
from search.corpus.milvus.shapes import (
    ARXIV,
    DETAILS,
    DOI,
    FIELD,
    ID,
    LOWER,
    NAMES,
    ORIGIN,
    PAPERS,
    PARTS,
    PER_DETAIL,
    PMID,
    SENTENCES,
    SOURCE,
    URL,
    VENUE,
    collection_of,
    condition,
)
from search.corpus.milvus.watch import Watch
from search.corpus.milvus.words import ReadWords, SparseWords
from search.corpus.served import EVERYTHING, Floats, Found, Rows, Sentences, Words
from search.corpus.store.addresses import read_identifiers
from search.corpus.store.identity import Apart
from search.references import EMPTY
from search.text.tokenizer import tokenize
from search.types import Facet, Filters, Paper

TOGETHER = 1_000
"""Papers that are read with one question: some 9 MB with their vectors. Chosen by hand."""
KEPT = 4
"""Sets of vectors that are kept: a search asks for those of its candidates twice. Some 7 MB each."""
PREPARED = 400
"""Papers up to which the terms of their texts are looked up when they are read: to explain results, each is
asked for. Chosen by hand."""
LONGEST_TEXT, LOOKED_AT = 500, 10
"""As in `search.corpus.store.snapshot`."""


class MilvusBuild:
    """Concrete collections, resolved once: a build that is published meanwhile changes nothing here."""

    def __init__(self, server: Server, about: About) -> None:
        self._server, self._about = server, about
        self.manifest: Manifest = about.manifest
        name = server.address.name
        self._of = {part: collection_of(name, self.manifest.build_id, part) for part in PARTS}
        self.health = Watch(server, {self._of[part]: about.rows[part] for part in PARTS})
        self._names = Names(server, self._of[NAMES])
        self._vectors: OrderedDict[bytes, list[Vectors]] = OrderedDict()
        self._lock = Lock()

    @property
    def finds_words(self) -> bool:
        """Whether words bring in papers: not on servers without sparse vectors."""
        return self._about.sparse

    @property
    def is_exact(self) -> bool:
        """Whether all vectors are compared."""
        return self._about.kind == "flat"

    @cached_property
    def apart(self) -> Apart:
        return frozenset(self._about.apart)

    # -- which papers

    def _where(self, filters: Filters, paper: str = "row") -> str:
        """The filter as Milvus takes it."""
        if filters == EVERYTHING:
            return ""
        wanted = [
            (kind, value)
            for kind, values in (
                (VENUE, filters.venues),
                (FIELD, filters.fields),
                (SOURCE, filters.sources),
                (ORIGIN, filters.origins),
            )
            for value in values
        ]
        codes = {key: names[0].number for key, names in self._names.find(wanted).items()} if wanted else {}
        rows = None
        if filters.ids is not None:
            known = self.rows_of(filters.ids)
            rows = np.unique(known[known >= 0]).tolist()
        return condition(filters, codes, rows, paper)

    def near_sentences(self, vectors: Floats, k: int, filters: Filters = EVERYTHING) -> Found:
        return self._nearest(SENTENCES, "paper", vectors, k, filters)

    def near_papers(self, vectors: Floats, k: int, filters: Filters = EVERYTHING) -> Found:
        return self._nearest(PAPERS, "row", vectors, k, filters)

    def _nearest(self, part: str, wanted: str, vectors: Floats, k: int, filters: Filters) -> Found:
        self.health.asked()
        k = min(k, self._about.rows[part], MOST_FOUND)
        if k < 1 or not len(vectors):
            empty = (len(vectors), 0)
            return np.empty(empty, np.float32), np.empty(empty, np.int64)
        precision = np.float16 if self._server.abilities.half else np.float32
        found = self._server.nearest(
            self._of[part],
            list(np.asarray(vectors, precision)),
            "vector",
            k,
            wanted,
            self._where(filters, wanted),
            self._about.search,
        )
        scores = np.full((len(vectors), k), -np.inf, np.float32)
        rows = np.full((len(vectors), k), -1, np.int64)
        for place, hits in enumerate(found):
            for at, (score, row) in enumerate(hits[:k]):
                scores[place, at], rows[place, at] = score, row
        return scores, rows

    def words(self, terms: Mapping[str, float]) -> Words:
        self.health.asked()
        found = self._names.terms(terms)
        weights = {
            name.number: float(terms[term] * idf(self.manifest.papers, name.count))
            for term, name in found.items()
            if name.number >= 0
        }
        if self._about.sparse:
            return SparseWords(self._server, self._of[PAPERS], weights, self._where)
        return ReadWords(weights, self._read_terms)

    def _read_terms(self, rows: Rows) -> list[tuple[NDArray[np.uint32], NDArray[np.float32]]]:
        return [unpack_terms(text) for text in self._details(rows, "terms")]

    def papers_with(self, terms: Collection[str]) -> dict[str, int]:
        return {term: name.count for term, name in self._names.terms(terms).items()}

    def count(self, filters: Filters = EVERYTHING) -> int:
        if filters == EVERYTHING:
            return self.manifest.papers
        self.health.asked()
        return self._server.count(self._of[PAPERS], self._where(filters))

    def passing(self, filters: Filters, most: int) -> Rows | None:
        if filters == EVERYTHING:
            return None
        self.health.asked()
        where = self._where(filters)
        if self._server.count(self._of[PAPERS], where) > min(most, MOST_FOUND):
            return None
        found = self._server.rows(self._of[PAPERS], where or "row >= 0", ("row",))
        return np.sort(np.array([row["row"] for row in found], np.int64))

    def spread(self, count: int) -> Rows:
        papers = self.manifest.papers
        return np.unique(np.linspace(0, papers - 1, min(count, papers)).astype(np.int64))

    def next_rows(self, after: int, count: int) -> Rows:
        return np.arange(after + 1, min(after + 1 + count, self.manifest.papers), dtype=np.int64)

    # -- what is known of them

    def _details(self, rows: Rows | Sequence[int], field: str) -> list[str]:
        """One field of these papers in the order asked, long ones put together."""
        self.health.asked()
        wanted = [int(row) for row in rows]
        pieces: dict[int, str] = {}
        more: list[int] = []
        for start in range(0, len(wanted), TOGETHER):
            places = [row * PER_DETAIL for row in dict.fromkeys(wanted[start : start + TOGETHER])]
            for found in self._server.rows(self._of[DETAILS], f"row in {places}", ("row", field, "parts")):
                pieces[found["row"]] = found[field]
                more += range(found["row"] + 1, found["row"] + found["parts"])
        for start in range(0, len(more), TOGETHER):
            places = more[start : start + TOGETHER]
            for found in self._server.rows(self._of[DETAILS], f"row in {places}", ("row", field)):
                pieces[found["row"]] = found[field]
        overflow: dict[int, list[int]] = {}
        for place in sorted(more):
            overflow.setdefault(place // PER_DETAIL, []).append(place)
        try:
            return [
                "".join(pieces[place] for place in (row * PER_DETAIL, *overflow.get(row, ())))
                for row in wanted
            ]
        except KeyError as error:
            # Where a node was lost, rows are missing for a while: they are not damaged.
            if problem := self.health.damage:
                raise DamagedError(problem) from None
            raise damaged(f"row {error} does not answer") from None

    def _packed(self, rows: Rows) -> list[Vectors]:
        """The vectors of these papers; the same set is asked for twice."""
        key = np.asarray(rows, np.int64).tobytes()
        with self._lock:
            if (kept := self._vectors.get(key)) is not None:
                self._vectors.move_to_end(key)
                return kept
        found = [unpack_vectors(text, self.manifest.dimension) for text in self._details(rows, "vectors")]
        with self._lock:
            self._vectors[key] = found
            while len(self._vectors) > KEPT:
                self._vectors.popitem(last=False)
        return found

    def sentences(self, rows: Rows) -> Sentences:
        found = self._packed(rows)
        offsets = np.concatenate([[0], np.cumsum([len(each.panels) for each in found], dtype=np.int64)])
        if not found:
            return Sentences(
                np.empty((0, self.manifest.dimension), np.float16), np.empty(0, np.uint8), offsets
            )
        vectors = np.concatenate([each.sentences for each in found])
        return Sentences(vectors, np.concatenate([each.panels for each in found]), offsets)

    def whole_vectors(self, rows: Rows) -> NDArray[np.float16]:
        found = [each.whole for each in self._packed(rows)]
        return np.stack(found) if found else np.empty((0, self.manifest.dimension), np.float16)

    def rows_of(self, ids: Sequence[str]) -> NDArray[np.int64]:
        self.health.asked()
        found = self._names.find([(ID, id) for id in dict.fromkeys(ids)])
        return np.array([found[ID, id][0].number if (ID, id) in found else -1 for id in ids], np.int64)

    def ids_of(self, rows: Rows) -> list[tuple[str, ...]]:
        return [unpack_paper(text)[1] for text in self._details(rows, "paper")]

    def arrivals(self, ids: Sequence[str]) -> NDArray[np.int64]:
        return self.rows_of(ids)  # papers have rows in the order in which they came

    def papers_by_row(self, rows: Rows | Sequence[int]) -> list[Paper]:
        papers = [unpack_paper(text)[0] for text in self._details(rows, "paper")]
        if len(papers) <= PREPARED:
            texts = (text for paper in papers for text in (paper.title, paper.abstract))
            self._names.terms({term for text in texts for term in tokenize(text)})
        return papers

    def headings_by_row(self, rows: Rows | Sequence[int]) -> list[Paper]:
        return [_heading(unpack_paper(text)[0]) for text in self._details(rows, "paper")]

    def papers(self, ids: Sequence[str]) -> list[Paper]:
        rows = self.rows_of(ids)
        return self.papers_by_row(rows[rows >= 0])

    def paper(self, id: str) -> Paper | None:
        return next(iter(self.papers([id])), None)

    def find(self, text: str, limit: int = 20) -> list[Paper]:
        named = read_identifiers(text[:LONGEST_TEXT])
        if named.whole:
            wanted = [(LOWER, named.whole), (URL, named.whole), (ARXIV, named.arxiv_id), (PMID, named.pmid)]
            wanted += [(DOI, doi) for doi in named.dois]
            found = self._names.find([each for each in wanted if each[1]])
            ordered = [*((DOI, doi) for doi in named.dois), *wanted]
            rows = list(dict.fromkeys(name.number for key in ordered for name in found.get(key, ())))
            if rows:
                return self.papers_by_row(rows[:limit])
        return [] if named.is_address else self._worded(text[:LONGEST_TEXT], limit)

    def _worded(self, text: str, limit: int) -> list[Paper]:
        if not self._about.sparse or not text.strip():
            return []
        self.health.asked()
        asked = titles.letters(text)
        hits = self._server.nearest(self._of[PAPERS], [asked], "title", limit * LOOKED_AT, "row")[0]
        near = self.headings_by_row([row for _, row in hits])
        places = titles.closest(text, near, limit)
        return self.papers_by_row([hits[place][1] for place in places])

    # -- counts, which are fixed with the build

    def year_counts(self, filters: Filters | None = None) -> dict[int, int]:
        return self._tally(self._about.years, filters, lambda year: Filters(year_from=year, year_to=year))

    def venue_counts(self, filters: Filters | None = None, limit: int = 1000) -> dict[str, int]:
        return self._first(self._about.venues, filters, lambda value: Filters(venues=(value,)), limit)

    def field_counts(self, filters: Filters | None = None, limit: int = 1000) -> dict[str, int]:
        return self._first(self._about.fields, filters, lambda value: Filters(fields=(value,)), limit)

    def source_counts(self, filters: Filters | None = None) -> dict[str, int]:
        return self._first(self._about.sources, filters, lambda value: Filters(sources=(value,)), 1000)

    def origin_counts(self, limit: int = 1000) -> dict[str, int]:
        return dict(list(self._about.origins.items())[:limit])

    def _first(
        self,
        counts: Mapping[str, int],
        filters: Filters | None,
        alone: Callable[[str], Filters],
        limit: int,
    ) -> dict[str, int]:
        found = self._tally(counts, filters, alone)
        return dict(sorted(found.items(), key=lambda each: (-each[1], each[0]))[:limit])

    def _tally(
        self, counts: Mapping[Any, int], filters: Filters | None, alone: Callable[[Any], Filters]
    ) -> dict[Any, int]:
        """Under a filter each value is counted by itself: only those that are listed without one."""
        if filters is None or filters == EVERYTHING:
            return dict(counts)
        base = self._where(filters)
        found = {}
        for value in counts:
            both = " and ".join(f"({part})" for part in (base, self._where(alone(value))) if part)
            if count := self._server.count(self._of[PAPERS], both):
                found[value] = count
        return found

    def facet_shares(self) -> dict[Facet, float]:
        total = sum(self._about.facets.values())
        return {facet: count / total if total else 0.0 for facet, count in self._about.facets.items()}

    def close(self) -> None:
        """The connection stays: it is shared with the builds that come."""
        self.health.close()


def _heading(paper: Paper) -> Paper:
    return replace(paper, abstract="", sentences=(), reference=EMPTY)
