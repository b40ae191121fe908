"""Snapshot: the read-only store of one build, where papers and sentences have dense rows."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from search.corpus.checksums import damaged
from search.corpus.store import tables
from search.corpus.store.addresses import Identifiers, read_identifiers
from search.corpus.store.identity import Apart, normalise_title
from search.corpus.store.title_words import SLIP, Batch, TitleWords
from search.types import FACETS, NO_PANEL, PANEL_CODES, Facet, Filters, Paper

KIND = "snapshot"
NO_FILTERS = Filters()
LONGEST_TEXT = 500
"""Characters read of what a paper is looked up by: more than titles and addresses have. Chosen by hand."""
LOOKED_AT = 10
"""How many times as many papers as asked for have their titles compared with the text. Chosen by hand."""
TOGETHER = 2048
"""Papers that are read together where all are read."""
MOST_SENTENCES = 10_000
"""Of a paper, as far as a store is taken at its word; the longest abstracts have a few hundred."""
WORDS_OF = 10_000
"""Papers whose words are read at a time, so that memory stays small; chosen by hand."""
_PAPERS = f"""
    CREATE TABLE papers (
        paper_row INTEGER, id VARCHAR, {tables.PAPER_COLUMNS}, title_key UBIGINT,
        first_sentence INTEGER, sentence_count INTEGER{{reference}}
    );"""
_OTHERS = f"""
    CREATE TABLE sentences (
        sentence_row INTEGER, paper_row INTEGER, position INTEGER,
        first INTEGER, last INTEGER, facet UTINYINT, hinted BOOLEAN, probabilities FLOAT[{len(FACETS)}]
    );
    CREATE TABLE ids (id VARCHAR, paper_row INTEGER);  -- of all records of each paper
    CREATE VIEW sentence_texts AS
        SELECT sentence_row, papers.id AS paper, position, first, last, probabilities,
            {list(map(str, FACETS))}[facet + 1] AS facet, substring(
                CASE WHEN abstract = '' THEN title ELSE abstract END, first + 1, last - first) AS text
        FROM sentences JOIN papers USING (paper_row);
"""
_APART = "CREATE TABLE apart (one VARCHAR, other VARCHAR);  -- ids of records that somebody split"
TABLES = _PAPERS.format(reference=f", {tables.REFERENCE}") + _OTHERS + _APART
LAYOUTS = {tables.BEFORE_REFERENCES: _PAPERS.format(reference="") + _OTHERS, tables.LAYOUT: TABLES}


@dataclass(frozen=True, slots=True)
class Counted:
    """What papers are counted by."""

    value: str
    known: str
    """Which papers have it."""
    order: str = "n DESC, value"


YEARS = Counted("year", "year IS NOT NULL", "value")
VENUES, FIELDS = Counted("venue", "venue <> ''"), Counted("unnest(fields)", "true")
SOURCES = Counted("source", "true")


@dataclass(frozen=True, slots=True)
class Counts:
    papers: int
    sentences: int


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A paper as the encoder reads it; one without an abstract has its title as its only sentence."""

    paper_row: int
    title: str
    """Empty where the title is the sentence."""
    sentences: tuple[str, ...]
    text_hash: str
    """Of title and sentences: equal texts have equal vectors."""


def document_of(row: int, paper: Paper) -> StoredDocument:
    title = paper.title if paper.abstract else ""
    sentences = tuple(sentence.text for sentence in paper.sentences)
    return StoredDocument(row, title, sentences, text_hash(title, sentences))


class Snapshot:
    """Safe to share between threads: each call has a cursor of its own."""

    def __init__(
        self, connection: tables.Connection, path: Path, layout: int, removed: Sequence[int] = ()
    ) -> None:
        self._connection = connection
        self._path = path
        self._words: TitleWords | None = None
        self._words_lock = threading.Lock()
        self._layout = layout
        self._removed = [int(row) for row in removed]

    @classmethod
    def open(cls, path: Path, removed: Sequence[int] | NDArray[np.integer[Any]] = ()) -> Self:
        """`removed` are rows of papers that are no more: they are not found, and not counted."""
        connection, layout = tables.open_existing(path, KIND, LAYOUTS, read_only=True)
        return cls(connection, path, layout, list(removed))

    def _where(self, filters: Filters, *also: str) -> tuple[str, list[Any]]:
        """A WHERE clause and its values; empty where all papers pass."""
        return _conditions(filters, self._removed, *also)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def _rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        with tables.damage_in_words(self._path):
            return self._connection.cursor().sql(query, params=list(values)).to_arrow_table().to_pylist()

    def _column(self, query: str, *values: Any) -> NDArray[Any]:
        """The one column of a query, as an array."""
        with tables.damage_in_words(self._path):
            found = self._connection.cursor().execute(query, list(values)).fetchnumpy()
        return np.asarray(next(iter(found.values())))

    def counts(self) -> Counts:
        query = (
            "SELECT (SELECT count(*) FROM papers) AS papers, (SELECT count(*) FROM sentences) AS sentences"
        )
        return Counts(**self._rows(query)[0])

    def documents(self) -> Iterator[StoredDocument]:
        """All papers in the order of their rows, a few thousand at a time in memory."""
        for first in range(0, papers := self.counts().papers, TOGETHER):
            rows = range(first, min(first + TOGETHER, papers))
            yield from map(document_of, rows, self.papers_by_row(rows))

    def probabilities(self) -> NDArray[np.float32]:
        """Facet probabilities of all sentences [S, 5] in the order of their rows."""
        rows = self._connection.cursor().sql("SELECT probabilities FROM sentences ORDER BY sentence_row")
        column = rows.to_arrow_table().column(0).combine_chunks()
        return np.asarray(column.flatten(), dtype=np.float32).reshape(-1, len(FACETS))

    def sentence_panels(self) -> NDArray[np.uint8]:
        """[S]: the panel each sentence stands in, as in PANEL_CODES."""
        codes = self._column("SELECT coalesce(facet, 255) FROM sentences ORDER BY sentence_row")
        panel = np.full(256, NO_PANEL, np.uint8)
        panel[: len(FACETS)] = [PANEL_CODES[facet] for facet in FACETS]
        return panel[codes.astype(np.uint8)]

    def sentence_offsets(self) -> NDArray[np.int64]:
        """[P + 1]: the sentences of paper row p are the rows offsets[p]:offsets[p + 1]."""
        counts = self._column("SELECT sentence_count FROM papers ORDER BY paper_row")
        (ends,) = self._rows("SELECT min(paper_row) AS first, max(paper_row) AS last FROM papers")
        if len(counts) and ends != {"first": 0, "last": len(counts) - 1}:
            raise damaged(self._path, f"numbers its {len(counts)} papers in a foreign way")
        return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)

    def paper_rows(self, filters: Filters) -> NDArray[np.int32] | None:
        """The rows that pass, in order; None where all do."""
        if filters.origins and self._layout == tables.BEFORE_REFERENCES:
            return np.zeros(0, np.int32)
        where, values = self._where(filters)
        if not where:
            return None
        query = f"SELECT paper_row FROM papers {where} ORDER BY paper_row"
        return self._column(query, *values).astype(np.int32)

    def rows_of(self, ids: Sequence[str]) -> NDArray[np.int32]:
        """The paper row of each id, of any record of the paper; -1 for an id that is not here."""
        rows = self.first_rows(ids)
        if self._removed:
            rows[np.isin(rows, self._removed)] = -1
        return rows

    def first_rows(self, ids: Sequence[str]) -> NDArray[np.int32]:
        """The same, of removed papers too."""
        query = "SELECT id, paper_row FROM ids WHERE id IN (SELECT unnest(?::VARCHAR[]))"
        rows = {row["id"]: row["paper_row"] for row in self._rows(query, list(ids))}
        return np.array([rows.get(id, -1) for id in ids], dtype=np.int32)

    def ids_of(self, rows: Sequence[int] | NDArray[np.integer[Any]]) -> list[tuple[str, ...]]:
        """The ids of all records of each paper."""
        wanted = [int(row) for row in rows]
        query = (
            "SELECT id, paper_row FROM ids WHERE paper_row IN (SELECT unnest(?::INTEGER[])) ORDER BY rowid"
        )
        ids: dict[int, list[str]] = {row: [] for row in wanted}
        for found in self._rows(query, wanted):
            ids[found["paper_row"]].append(found["id"])
        return [tuple(ids[row]) for row in wanted]

    def papers_by_row(self, rows: Sequence[int] | NDArray[np.integer[Any]]) -> list[Paper]:
        """The papers of these rows in the order asked, with their labelled sentences."""
        wanted = [int(row) for row in rows]
        papers = self._picked(
            "paper_row, id, coalesce(first_sentence, 0) AS first_sentence, "
            f"coalesce(sentence_count, 0) AS sentence_count, {tables.field_list(self._layout)}",
            "papers",
            {row: row for row in wanted},
        )
        spans = ((paper["first_sentence"], paper["sentence_count"], paper["paper_row"]) for paper in papers)
        sentences = self._picked(
            "paper_row, first, last, facet, hinted, probabilities",
            "sentences",
            {
                first + place: row
                for first, count, row in spans
                for place in range(min(count, MOST_SENTENCES))
            },
        )
        of_paper: dict[int, list[dict[str, Any]]] = {row: [] for row in wanted}
        for sentence in sentences:
            of_paper[sentence["paper_row"]].append(sentence)
        try:
            found = {
                paper["paper_row"]: tables.paper_of(paper | {"sentences": of_paper[paper["paper_row"]]})
                for paper in papers
            }
            return [found[row] for row in wanted]
        except (KeyError, IndexError, TypeError, ValueError) as error:  # a stranger's values
            raise damaged(self._path, f"holds a paper that cannot be read ({error!r})") from error

    def _picked(self, columns: str, table: str, places: dict[int, int]) -> list[dict[str, Any]]:
        """What a table has of some papers, in order; `places` says where, and of which paper each row is.

        We write rows in order, and what is found by its place is found twice as fast. Where the rows there
        are of other papers, all are looked through.
        """
        among = "IN (SELECT unnest(?::BIGINT[]))"
        query = f"SELECT {columns} FROM {table} WHERE {{}} {among} ORDER BY {table.removesuffix('s')}_row"
        found = self._rows(query.format("rowid"), list(places))
        if [row["paper_row"] for row in found] == [places[place] for place in sorted(places)]:
            return found
        return self._rows(query.format("paper_row"), sorted(set(places.values())))

    def headings_by_row(self, rows: Sequence[int] | NDArray[np.integer[Any]]) -> list[Paper]:
        """The papers of these rows in the order asked, without abstracts and sentences: hundreds at once."""
        wanted = [int(row) for row in rows]
        names = [name for name in tables.FIELDS if name != "abstract"]
        papers = self._rows(
            f"SELECT paper_row, id, {', '.join(names)} FROM papers "
            "WHERE paper_row IN (SELECT unnest(?::INTEGER[]))",
            wanted,
        )
        bare = {"abstract": "", "sentences": (), "reference": ""}
        try:
            found = {paper["paper_row"]: tables.paper_of(paper | bare) for paper in papers}
            return [found[row] for row in wanted]
        except (KeyError, TypeError) as error:  # a stranger's values, in tables like ours
            raise damaged(self._path, f"holds a paper that cannot be read ({error!r})") from error

    def papers(self, ids: Sequence[str]) -> list[Paper]:
        """The papers of these ids, in the order asked; unknown ids are left out."""
        rows = self.rows_of(ids)
        return self.papers_by_row(rows[rows >= 0])

    def paper(self, id: str) -> Paper | None:
        return next(iter(self.papers([id])), None)

    @cached_property
    def apart(self) -> Apart:
        """Pairs of papers that somebody split."""
        return apart(self.split(), self)

    def split(self) -> list[tuple[str, str]]:
        """Pairs of ids of records that somebody split."""
        if self._layout == tables.BEFORE_REFERENCES:
            return []
        return [(pair["one"], pair["other"]) for pair in self._rows("SELECT one, other FROM apart")]

    def find(self, text: str, limit: int = 20) -> list[Paper]:
        """Papers by an id or web address, or by words of title, authors and year; closest first."""
        return find([self], text, limit)

    def named(self, named: Identifiers, limit: int) -> list[tuple[Any, ...]]:
        """Papers by an id or web address: what they are ordered by, their rows last."""
        where, values = self._where(
            NO_FILTERS,
            """(lower(id) = ? OR list_contains(?::VARCHAR[], doi)
                OR (arxiv_id <> '' AND lower(arxiv_id) = ?) OR (pmid <> '' AND pmid = ?)
                OR (url <> '' AND lower(rtrim(url, '/')) = ?)
                OR paper_row IN (SELECT paper_row FROM ids WHERE lower(id) = ?))""",
        )
        given = [named.whole, list(named.dois), named.arxiv_id, named.pmid, named.whole, named.whole]
        query = f"""SELECT -length(doi) AS longest, paper_row FROM papers {where}
            ORDER BY longest, paper_row LIMIT {int(limit)}"""
        return [(row["longest"], row["paper_row"]) for row in self._rows(query, *given, *values)]

    def worded(self, text: str, limit: int) -> list[tuple[Any, ...]]:
        """The same by words of title, authors and year."""
        rows, costs = self._title_words().find(text)
        if self._removed:
            kept = ~np.isin(rows, self._removed)
            rows, costs = rows[kept], costs[kept]
        closest = np.lexsort((rows, costs))[: limit * LOOKED_AT]
        cost = dict(zip(rows[closest].tolist(), costs[closest].tolist(), strict=True))
        phrase = normalise_title(text)
        titles = self._rows(
            "SELECT paper_row, title FROM papers WHERE paper_row IN (SELECT unnest(?::INTEGER[]))", list(cost)
        )
        return [
            (cost[each["paper_row"]], phrase not in title, len(title), each["paper_row"])
            for each in titles
            for title in [normalise_title(each["title"])]
        ]

    def _title_words(self) -> TitleWords:
        """Made when it is first asked for: a corpus that is only searched by meaning needs none."""
        with self._words_lock:
            if self._words is None:
                self._words = TitleWords(self._word_batches(), self.counts().papers, self._near)
            return self._words

    def _word_batches(self) -> Iterator[Batch]:
        query = """SELECT DISTINCT paper_row, unnest(string_split_regex(strip_accents(lower(
                concat_ws(' ', title, array_to_string(authors, ' '), year))), '[^\\pL\\pN\\pM]+')) AS word
            FROM papers WHERE paper_row BETWEEN ? AND ? - 1"""
        for first in range(0, self.counts().papers, WORDS_OF):
            with tables.damage_in_words(self._path):
                found = (
                    self._connection.cursor().sql(query, params=[first, first + WORDS_OF]).to_arrow_table()
                )
            found = found.filter(pc.not_equal(found["word"], ""))
            words = found["word"].combine_chunks().dictionary_encode()
            yield words.dictionary.to_pylist(), words.indices.to_numpy(), found["paper_row"].to_numpy()

    def _near(self, words: Sequence[str], word: str, edits: int) -> dict[str, int]:
        query = """SELECT * FROM (SELECT word, damerau_levenshtein(word, ?) AS edits
            FROM (SELECT unnest(?::VARCHAR[]) AS word)) WHERE edits <= ?"""
        return {row["word"]: row["edits"] for row in self._rows(query, word, list(words), edits)}

    def facet_counts(self) -> dict[Facet, int]:
        """How many sentences each facet has."""
        where, values = self._where(NO_FILTERS, "facet IS NOT NULL")
        query = f"SELECT facet, count(*) AS n FROM sentences {where} GROUP BY facet"
        counts = {row["facet"]: row["n"] for row in self._rows(query, *values)}
        return {facet: counts.get(code, 0) for code, facet in enumerate(FACETS)}

    def origin_counts(self) -> Counter[str]:
        """How papers came from live sources, for those that did."""
        if self._layout == tables.BEFORE_REFERENCES:
            return Counter()
        where, values = self._where(NO_FILTERS)
        found = self._rows(
            f"""SELECT list, count(*) AS n FROM (
                SELECT regexp_extract(reference, ?, 1) AS list FROM papers {where})
            WHERE list <> '' GROUP BY list""",
            _ORIGINS,
            *values,
        )
        counts: Counter[str] = Counter()
        for row in found:
            for origin in _origins_in(row["list"]):
                counts[origin] += row["n"]
        return counts

    def tally(self, counted: Counted, filters: Filters | None, most: int = 2**31) -> dict[Any, int]:
        """How many papers have each value, the most frequent first; years in order."""
        where, values = self._where(filters or NO_FILTERS, counted.known)
        query = f"""SELECT value, count(*) AS n FROM (SELECT {counted.value} AS value FROM papers {where})
            GROUP BY value ORDER BY {counted.order} LIMIT {int(most)}"""
        return {row["value"]: row["n"] for row in self._rows(query, *values)}


class Named(Protocol):
    """Papers by the ids of their records."""

    def rows_of(self, ids: Sequence[str]) -> NDArray[np.integer[Any]]: ...

    def headings_by_row(self, rows: NDArray[np.integer[Any]]) -> list[Paper]: ...


def apart(pairs: Sequence[tuple[str, str]], papers: Named) -> Apart:
    """The papers of pairs of records, by their ids."""
    rows = papers.rows_of([id for pair in pairs for id in pair]).reshape(-1, 2)
    rows = rows[(rows >= 0).all(axis=1)]
    wanted = np.unique(rows)
    ids = {row: paper.id for row, paper in zip(wanted.tolist(), papers.headings_by_row(wanted), strict=True)}
    named = (sorted((ids[one], ids[other])) for one, other in rows.tolist())
    return frozenset((one, other) for one, other in named)


def find(stores: Sequence[Snapshot], text: str, limit: int, bases: Sequence[int] = (0,)) -> list[Paper]:
    """Papers of several stores by an id or web address, or by words; closest first."""
    named = read_identifiers(text[:LONGEST_TEXT])

    def ordered(found: Sequence[list[tuple[Any, ...]]]) -> list[Paper]:
        keyed = [
            ((*keys, base + row), store, row)
            for store, base, mine in zip(stores, bases, found, strict=True)
            for *keys, row in mine
        ]
        closest = sorted(keyed, key=lambda each: each[0])[:limit]
        papers: dict[int, Paper] = {}
        for store, base in zip(stores, bases, strict=True):
            rows = [row for _, owner, row in closest if owner is store]
            papers |= dict(zip([base + row for row in rows], store.papers_by_row(rows), strict=True))
        return [papers[keys[-1]] for keys, *_ in closest]

    if named.whole and (papers := ordered([store.named(named, limit) for store in stores])):
        return papers
    return [] if named.is_address else ordered(_worded(stores, text[:LONGEST_TEXT], limit))


def _worded(stores: Sequence[Snapshot], text: str, limit: int) -> list[list[tuple[Any, ...]]]:
    """By words, in each store; with slips only where no store has a paper without."""
    found = [store.worded(text, limit) for store in stores]
    nearest = [min((each[0] for each in mine), default=SLIP) for mine in found]
    if min(nearest) >= SLIP:
        return found
    return [mine if near < SLIP else [] for mine, near in zip(found, nearest, strict=True)]


def _conditions(filters: Filters, removed: list[int], *also: str) -> tuple[str, list[Any]]:
    """A WHERE clause and its values; those of `also` come first."""
    among = "paper_row IN (SELECT paper_row FROM ids WHERE id IN (SELECT unnest(?::VARCHAR[])))"
    asked: list[tuple[bool, str, list[Any]]] = [
        (filters.year_from is not None, "year >= ?", [filters.year_from]),
        (filters.year_to is not None, "year <= ?", [filters.year_to]),
        (bool(filters.venues), "list_contains(?::VARCHAR[], venue)", [list(filters.venues)]),
        (bool(filters.fields), "list_has_any(fields, ?::VARCHAR[])", [list(filters.fields)]),
        (bool(filters.sources), "list_contains(?::VARCHAR[], source)", [list(filters.sources)]),
        (filters.ids is not None, among, [list(filters.ids or ())]),
        (filters.has_doi, "doi <> ''", []),
        (bool(filters.origins), _CAME, [[f"%{each}%" for each in map(_packed, filters.origins)]]),
        (bool(removed), "paper_row NOT IN (SELECT unnest(?::INTEGER[]))", [removed]),
    ]  # fmt: skip
    clauses = [*also, *(clause for wanted, clause, _ in asked if wanted)]
    values = [value for wanted, _, given in asked if wanted for value in given]
    return ("WHERE " + " AND ".join(clauses) if clauses else ""), values


_TEXT = r'"(?:[^"\\]|\\.)*"'
_ORIGINS = rf'"origins":(\[{_TEXT}(?:,{_TEXT})*\])'
"""A packed reference's list of origins, for DuckDB, whose expressions take linear time."""
_CAME = "len(list_filter(?::VARCHAR[], lambda each: reference LIKE each ESCAPE '!')) > 0"


def _packed(origin: str) -> str:
    """An origin as it stands in a packed reference, for LIKE."""
    text = json.dumps(origin, ensure_ascii=False)
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def _origins_in(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except ValueError:
        return []
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def text_hash(title: str, sentences: Sequence[str]) -> str:
    """128 bits of BLAKE2b over title and sentences, separated by a character that no text uses."""
    joined = "\x1e".join((title, *sentences))
    return hashlib.blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
