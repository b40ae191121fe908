"""Makes a build on a Milvus server: papers in batches, sealed and counted, then one pointer moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from index_build.publisher import Batch
from search.corpus.manifest import Manifest
from search.corpus.milvus import titles
from search.corpus.milvus.about import LISTED, About, read_about, write_about
from search.corpus.milvus.address import Address
from search.corpus.milvus.packing import Vectors, pack_paper, pack_terms, pack_vectors, parts_of
from search.corpus.milvus.server import CHANGING, LOADING, STRICT, Server, connect
from search.corpus.milvus.shapes import (
    ABOUT,
    ARXIV,
    DETAILS,
    DOI,
    FIELD,
    ID,
    IDS_FROM,
    LOWER,
    NAMES,
    NAMES_OF_PAPER,
    NO_YEAR,
    NOTHING,
    ORIGIN,
    PAPERS,
    PARTS,
    PER_DETAIL,
    PER_PAPER,
    PMID,
    SENTENCES,
    SOURCE,
    TERM,
    URL,
    VALUES_FROM,
    VENUE,
    Kind,
    build_of,
    collection_of,
    hash_of,
    indices_of,
    kind_for,
    schema_of,
)
from search.corpus.milvus.words import weigh
from search.corpus.store.identity import Apart
from search.errors import CorpusError
from search.types import FACETS, PANEL_CODES, Facet, Paper

REPLICAS = 2
"""Copies of every part, on different machines, where the server has as many."""
PAPERS_PER_SHARD = 2_000_000
"""Papers from which another channel takes part in writing. Chosen by hand."""
MOST_SHARDS = 8
NAMES_TOGETHER = 5_000

Row = dict[str, Any]


@dataclass(slots=True)
class _Counts:
    """What is counted while papers pass: the same papers in the same order give the same numbers."""

    terms: dict[str, int] = field(default_factory=dict)
    """The number of each term, from 1; in the order in which they first come."""
    having: list[int] = field(default_factory=lambda: [0])
    """By the number of a term, the papers that have it."""
    values: dict[tuple[str, str], int] = field(default_factory=dict)
    """The number of each venue, field and source, from 1."""
    papers_of: Counter[tuple[str, str]] = field(default_factory=Counter)
    years: Counter[int] = field(default_factory=Counter)
    facets: Counter[Facet] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    """What each collection must hold."""

    def number_of(self, term: str) -> int:
        number = self.terms.setdefault(term, len(self.having))
        if number == len(self.having):
            self.having.append(0)
        self.having[number] += 1
        return number

    def code_of(self, kind: str, value: str) -> int:
        if not value and kind == VENUE:  # none; a source that is not named is one to filter by
            return 0
        self.papers_of[kind, value] += 1
        return self.values.setdefault((kind, value), 1 + len(self.values))

    def most(self, kind: str) -> dict[str, int]:
        found = [(value, count) for (of, value), count in self.papers_of.items() if of == kind]
        return dict(sorted(found, key=lambda each: (-each[1], each[0]))[:LISTED])


class MilvusPublisher:
    """Makes one build. Killed and begun again, it writes what is not there yet, and nothing twice."""

    def __init__(self, address: Address, replicas: int = 0, index: str = "") -> None:
        """`replicas` 0: two where the server has two machines for them. `index` as in `shapes.KINDS`."""
        self._address, self._replicas, self._index = address, replicas, index
        self._server: Server = connect(address)
        self._can = self._server.abilities
        self._counts = _Counts()
        self._resumes = False
        self._of: dict[str, str] = {}
        self.replicas = 0
        """How many copies were loaded."""

    def begin(self, planned: Manifest, apart: Apart) -> int:
        """Makes the collections. Papers that are there are asked for again, to be counted, not written."""
        self._planned, self._apart = planned, apart
        self._of = {
            part: collection_of(self._address.name, planned.build_id, part) for part in (ABOUT, *PARTS)
        }
        self._kind = self._possible(kind_for(planned.sentences, self._index))
        there = set(self._server.collections())
        self._resumes = any(self._of[part] in there for part in PARTS)
        client = self._server.client
        for part in PARTS:
            if self._of[part] not in there:
                shards = min(MOST_SHARDS, 1 + planned.papers // PAPERS_PER_SHARD)
                self._server.ask(
                    client.create_collection,
                    self._of[part],
                    schema=schema_of(client, part, planned.dimension, self._can),
                    num_shards=shards if part in (SENTENCES, PAPERS, DETAILS) else 1,
                    timeout=CHANGING,
                )
        if self._resumes:
            self._index_and_load(1)  # only what is loaded can be counted
        return 0

    def _possible(self, kind: Kind) -> Kind:
        if self._can.number < kind.version:
            raise CorpusError(
                f"The index {kind.name} needs Milvus {kind.version[0]}.{kind.version[1]} or later, and this "
                f"server is {self._can.version}: choose another with `--index`."
            )
        return kind

    def add(self, batch: Batch) -> None:
        rows = self._rows_of(batch)
        first, end = batch.first, batch.first + len(batch.papers)
        spans = {
            SENTENCES: (first * PER_PAPER, end * PER_PAPER),
            PAPERS: (first, end),
            DETAILS: (first * PER_DETAIL, end * PER_DETAIL),
            NAMES: (IDS_FROM + first * NAMES_OF_PAPER, IDS_FROM + end * NAMES_OF_PAPER),
        }
        for part, mine in rows.items():
            self._write(part, mine, *spans[part])

    def _write(self, part: str, rows: Sequence[Row], first: int, end: int) -> None:
        """Store these rows, which are all from `first` to before `end`, unless they are there."""
        self._counts.rows[part] += len(rows)
        if not self._resumes:
            self._server.put(self._of[part], rows)
            return
        where = f"row >= {first} and row < {end}"
        if self._server.count(self._of[part], where, STRICT) != len(rows):
            self._server.put(self._of[part], rows, again=True)

    # -- what is stored of papers

    def _rows_of(self, batch: Batch) -> dict[str, list[Row]]:
        rows: dict[str, list[Row]] = {part: [] for part in PARTS}
        start = 0
        for place, paper in enumerate(batch.papers):
            row, count = batch.first + place, len(paper.sentences)
            vectors = batch.sentences[start : start + count]
            start += count
            if count != len(vectors) or count >= PER_PAPER:
                raise CorpusError(f"The paper {paper.id!r} has {count} sentences but {len(vectors)} vectors.")
            terms = {self._counts.number_of(term): times for term, times in batch.terms[place].items()}
            weighed = weigh(terms, self._planned.average_terms, self._planned.bm25_k1, self._planned.bm25_b)
            filtered = self._filtered(paper)
            rows[PAPERS].append(
                {
                    "row": row,
                    "vector": self._vector(batch.whole[place]),
                    **filtered,
                    **self._sparse(paper, weighed),
                }
            )
            rows[SENTENCES] += [
                {"row": row * PER_PAPER + at, "paper": row, "vector": self._vector(vector), **filtered}
                for at, vector in enumerate(vectors)
            ]
            panels = np.array([PANEL_CODES[each.facet] for each in paper.sentences], np.uint8)
            packed = Vectors(batch.whole[place], vectors, panels)
            rows[DETAILS] += self._details(row, paper, batch.ids[place], packed, weighed)
            rows[NAMES] += _names_of(row, paper, batch.ids[place])
            self._counts.facets.update(each.facet for each in paper.sentences if each.facet)
        return rows

    def _vector(self, vector: Any) -> Any:
        return np.asarray(vector, np.float16 if self._can.half else np.float32)

    def _sparse(self, paper: Paper, weighed: Mapping[int, float]) -> Row:
        if not self._can.sparse:
            return {}
        title = titles.shortened(titles.letters(titles.title_text(paper)))
        return {"terms": dict(weighed) or {0: 1.0}, "title": title}

    def _filtered(self, paper: Paper) -> Row:
        if paper.year is not None:
            self._counts.years[paper.year] += 1
        return {
            "year": NO_YEAR if paper.year is None else paper.year,
            "venue": self._counts.code_of(VENUE, paper.venue),
            "source": self._counts.code_of(SOURCE, paper.source),
            "has_doi": int(bool(paper.doi)),
            "fields": [self._counts.code_of(FIELD, each) for each in dict.fromkeys(paper.fields)],
            "origins": [
                self._counts.code_of(ORIGIN, each) for each in dict.fromkeys(paper.reference.origins)
            ],
        }

    def _details(
        self, row: int, paper: Paper, ids: Sequence[str], vectors: Vectors, weighed: Mapping[int, float]
    ) -> list[Row]:
        texts = {"paper": pack_paper(paper, ids), "vectors": pack_vectors(vectors)}
        if not self._can.sparse:
            texts["terms"] = pack_terms(weighed)
        pieces = {name: parts_of(text) for name, text in texts.items()}
        parts = max(map(len, pieces.values()))
        return [
            {
                "row": row * PER_DETAIL + part,
                "parts": parts,
                "nothing": NOTHING,
                **{name: some[part] if part < len(some) else "" for name, some in pieces.items()},
            }
            for part in range(parts)
        ]

    # -- the end

    def seal(self, papers: int, sentences: int) -> Manifest:
        for rows in _together(self._numbered(), NAMES_TOGETHER):
            first = rows[0]["row"]
            self._write(NAMES, rows, first, rows[-1]["row"] + 1)
        found = {PAPERS: papers, SENTENCES: sentences}
        for part, expected in found.items():
            if self._counts.rows[part] != expected:
                raise CorpusError(
                    f"{self._counts.rows[part]:,} {part} were given instead of {expected:,}: publish again."
                )
        self.replicas = self._index_and_load(self._replicas or REPLICAS)
        self._require_counts()
        manifest = replace(self._planned, papers=papers, sentences=sentences, files=(), segments=())
        self._write_about(manifest)
        return manifest

    def _numbered(self) -> Iterator[Row]:
        """Terms with the papers that have them, then filter values, in the order of their numbers."""
        for term, number in self._counts.terms.items():
            yield _name(number, TERM, term, number, self._counts.having[number])
        for (kind, value), number in self._counts.values.items():
            yield _name(VALUES_FROM + number, kind, value, number, self._counts.papers_of[kind, value])

    def _index_and_load(self, replicas: int) -> int:
        """Write out, index and load all, and wait for it; how many replicas there are."""
        with ThreadPoolExecutor(len(PARTS)) as workers:  # each mostly waits
            return min(workers.map(lambda part: self._ready(part, replicas), PARTS))

    def _ready(self, part: str, replicas: int) -> int:
        """Write out, index and load one collection; how many replicas it has."""
        client, collection = self._server.client, self._of[part]
        self._server.ask(client.flush, collection, timeout=CHANGING)
        if not self._server.ask(client.list_indexes, collection):
            indices = indices_of(client, part, self._kind, self._can)
            # An index that compares everything is nothing to wait for; what is there is searched meanwhile.
            waits = part in (SENTENCES, PAPERS) and self._kind.index != "FLAT"
            self._server.ask(client.create_index, collection, indices, sync=waits, timeout=LOADING)
        return self._load(collection, replicas)

    def _load(self, collection: str, replicas: int) -> int:
        load = self._server.client.load_collection
        if not self._can.several or replicas < 2:
            self._server.ask(load, collection, timeout=LOADING)
            return 1
        if self._server.is_loaded(collection):  # with one replica, to be counted
            self._server.ask(self._server.client.release_collection, collection, timeout=CHANGING)
        try:
            self._server.ask(load, collection, replica_number=replicas, timeout=LOADING)
        except CorpusError as error:
            if ("not enough" not in str(error) and "insufficient" not in str(error)) or self._replicas:
                raise
            self._server.ask(load, collection, timeout=LOADING)
            return 1
        return replicas

    def _require_counts(self) -> None:
        for part in PARTS:
            found = self._server.count(self._of[part], "", STRICT)
            if found != self._counts.rows[part]:
                raise CorpusError(
                    f"The server has {found:,} rows of {self._of[part]} instead of "
                    f"{self._counts.rows[part]:,}: run the same command again, which writes what is missing."
                )

    def _write_about(self, manifest: Manifest) -> None:
        """Last of all: a build without it is never served."""
        client, collection = self._server.client, self._of[ABOUT]
        if collection in self._server.collections():
            self._server.ask(client.drop_collection, collection, timeout=CHANGING)
        schema = schema_of(client, ABOUT, 0, self._can)
        self._server.ask(client.create_collection, collection, schema=schema, num_shards=1, timeout=CHANGING)
        kind, counts = self._kind, self._counts
        about = About(
            manifest=manifest,
            rows=dict(counts.rows),
            search=dict(kind.search),
            kind=kind.name,
            sparse=self._can.sparse,
            apart=tuple(sorted(self._apart)),
            years=dict(sorted(counts.years.items())),
            venues=counts.most(VENUE),
            fields=counts.most(FIELD),
            sources=counts.most(SOURCE),
            origins=counts.most(ORIGIN),
            facets={facet: counts.facets[facet] for facet in FACETS},
        )
        written = write_about(self._server, collection, about)
        self._server.ask(client.flush, collection, timeout=CHANGING)
        indices = indices_of(client, ABOUT, kind, self._can)
        self._server.ask(client.create_index, collection, indices, sync=False, timeout=CHANGING)
        self._load(collection, self.replicas)
        if (
            self._server.count(collection, "", STRICT) != written
            or read_about(self._server, collection) != about
        ):
            raise CorpusError(f"The collection {collection} came out wrong: run the same command again.")

    def publish(self, sealed: Manifest) -> None:
        """The pointer moves: who opens the corpus from now on gets this build."""
        client, name = self._server.client, self._address.name
        target = collection_of(name, sealed.build_id, ABOUT)
        call = client.alter_alias if self._server.pointed(name) else client.create_alias
        self._server.ask(call, target, name, timeout=CHANGING)

    def prune(self, keep: int) -> None:
        """Remove builds beyond the newest `keep`, and what killed ones before the served build left."""
        current = build_of(self._address.name, self._server.pointed(self._address.name))
        if not current:
            return
        there = self._server.collections()
        complete = {build for each in there if (build := build_of(self._address.name, each))}
        older = sorted(complete - {current}, reverse=True)[: max(keep - 1, 0)]
        kept = {
            collection_of(self._address.name, build, part)
            for build in (current, *older)
            for part in (ABOUT, *PARTS)
        }
        newest = collection_of(self._address.name, current, "")
        for each in there:
            if _is_of(self._address.name, each) and each not in kept and each < newest:
                self._server.ask(self._server.client.drop_collection, each, timeout=CHANGING)

    def close(self) -> None:
        self._server.close()


def _is_of(name: str, collection: str) -> bool:
    """Whether a collection is part of some build of this corpus."""
    build, _, part = collection.removeprefix(f"{name}_").rpartition("_")
    return collection.startswith(f"{name}_") and part in (ABOUT, *PARTS) and build[:8].isdigit()


def _name(row: int, kind: str, text: str, number: int, count: int) -> Row:
    key, check = hash_of(kind, text)
    return {"row": row, "key": key, "check": check, "number": number, "count": count, "nothing": NOTHING}


def _names_of(row: int, paper: Paper, ids: Sequence[str]) -> list[Row]:
    """What a paper can be looked up by, beside its words."""
    wanted = [(ID, id) for id in ids] + [(LOWER, id.lower()) for id in ids]
    wanted += [(DOI, paper.doi), (ARXIV, paper.arxiv_id.lower()), (PMID, paper.pmid)]
    wanted.append((URL, paper.url.lower().rstrip("/")))
    known = list(dict.fromkeys(each for each in wanted if each[1]))[:NAMES_OF_PAPER]
    start = IDS_FROM + row * NAMES_OF_PAPER
    return [_name(start + at, kind, text, row, 1) for at, (kind, text) in enumerate(known)]


def _together(rows: Iterator[Row], size: int) -> Iterator[list[Row]]:
    some: list[Row] = []
    for row in rows:
        # Numbers of terms and of values are far apart: a span must not hold others.
        if len(some) == size or (some and row["row"] != some[-1]["row"] + 1):
            yield some
            some = []
        some.append(row)
    if some:
        yield some
