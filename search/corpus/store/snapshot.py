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
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from search.corpus.checksums import damaged
from search.corpus.store import tables
from search.corpus.store.addresses import Identifiers, read_identifiers
from search.corpus.store.identity import Apart, normalise_title
from search.corpus.store.title_words import Batch, TitleWords
from search.errors import CorpusError
from search.types import FACETS, NO_PANEL, PANEL_CODES, Facet, Filters, Paper

KIND = "snapshot"
LONGEST_TEXT = 500
"""Characters read of what a paper is looked up by: more than titles and addresses have. Chosen by hand."""
LOOKED_AT = 10
"""How many times as many papers as asked for have their titles compared with the text. Chosen by hand."""
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
FILL = f"""
    INSERT INTO papers BY NAME
        SELECT row_number() OVER (ORDER BY number) - 1 AS paper_row, id, {tables.FIELD_LIST}, title_key,
            sum(len(sentences)) OVER (ORDER BY number) - len(sentences) AS first_sentence,
            len(sentences) AS sentence_count
        FROM merged ORDER BY number;
    INSERT INTO sentences BY NAME
        SELECT first_sentence + position - 1 AS sentence_row, paper_row, position - 1 AS position,
            sentence.first, sentence.last, sentence.facet, sentence.hinted
        FROM (SELECT paper_row, first_sentence, unnest(merged.sentences) AS sentence,
                generate_subscripts(merged.sentences, 1) AS position
              FROM merged JOIN papers USING (id))
        ORDER BY sentence_row;
    INSERT INTO ids
        SELECT unnest(ids) AS id, paper_row FROM merged JOIN papers USING (id) ORDER BY paper_row;
"""
"""From the table `merged`, the papers of the working store."""


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


class Snapshot:
    """Safe to share between threads: each call has a cursor of its own."""

    def __init__(self, connection: tables.Connection, path: Path, layout: int) -> None:
        self._connection = connection
        self._path = path
        self._words: TitleWords | None = None
        self._words_lock = threading.Lock()
        self._layout = layout

    @classmethod
    def open(cls, path: Path, read_only: bool = True) -> Self:
        connection, layout = tables.open_existing(path, KIND, LAYOUTS, read_only)
        return cls(connection, path, layout)

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
        cursor = self._connection.cursor()
        spans = cursor.execute("SELECT first, last FROM sentences ORDER BY sentence_row").fetchnumpy()
        papers = cursor.sql(
            "SELECT paper_row, title, abstract, first_sentence, sentence_count FROM papers ORDER BY paper_row"
        )
        for batch in papers.to_arrow_reader(2048):
            for row, title, abstract, first, count in zip(*batch.to_pydict().values(), strict=True):
                starts, ends = (column[first : first + count].tolist() for column in spans.values())
                text = abstract or title
                sentences = tuple(text[start:end] for start, end in zip(starts, ends, strict=True))
                title = title if abstract else ""
                yield StoredDocument(row, title, sentences, _text_hash(title, sentences))

    def set_facets(self, probabilities: NDArray[np.floating[Any]]) -> None:
        """Label all sentences: `probabilities` [S, 5] in the order of FACETS; hints of the source win."""
        labels = np.array(probabilities, dtype=np.float32)
        wanted = (self.counts().sentences, len(FACETS))
        if labels.shape != wanted:
            raise CorpusError(
                f"Facets for {labels.shape} sentences do not fit the {wanted} of this build: build it again."
            )
        for hint in self._rows("SELECT sentence_row, facet FROM sentences WHERE hinted"):
            labels[hint["sentence_row"]] = np.eye(len(FACETS))[hint["facet"]]
        columns = {
            "sentence_row": pa.array(np.arange(len(labels), dtype=np.int32)),
            "facet": pa.array(labels.argmax(axis=1).astype(np.uint8)),
            "probabilities": pa.FixedSizeListArray.from_arrays(pa.array(labels.ravel()), len(FACETS)),
        }
        with self._connection.cursor() as cursor:
            cursor.register("labels", pa.table(columns))
            cursor.execute(
                "CREATE OR REPLACE TABLE sentences AS "
                "SELECT sentences.* REPLACE (labels.facet AS facet, labels.probabilities AS probabilities) "
                "FROM sentences JOIN labels USING (sentence_row) ORDER BY sentence_row"
            )
        self._connection.execute("CHECKPOINT")  # closing would do it too, but silently fail on a full disk

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
        """The rows that pass, in order; None when nothing is asked, so that all pass."""
        if filters.origins and self._layout == tables.BEFORE_REFERENCES:
            return np.zeros(0, np.int32)
        where, values = _conditions(filters)
        if not where:
            return None
        query = f"SELECT paper_row FROM papers {where} ORDER BY paper_row"
        return self._column(query, *values).astype(np.int32)

    def rows_of(self, ids: Sequence[str]) -> NDArray[np.int32]:
        """The paper row of each id, of any record of the paper; -1 for an id that is not here."""
        query = "SELECT id, paper_row FROM ids WHERE id IN (SELECT unnest(?::VARCHAR[]))"
        found = self._rows(query, list(ids))
        rows = {row["id"]: row["paper_row"] for row in found}
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
        papers = self._rows(
            f"SELECT paper_row, id, {tables.field_list(self._layout)} FROM papers "
            "WHERE paper_row IN (SELECT unnest(?::INTEGER[]))",
            wanted,
        )
        sentences = self._rows(
            "SELECT paper_row, first, last, facet, hinted, probabilities FROM sentences "
            "WHERE paper_row IN (SELECT unnest(?::INTEGER[])) ORDER BY sentence_row",
            wanted,
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
        if self._layout == tables.BEFORE_REFERENCES:
            return frozenset()
        found = self._rows("""SELECT first.paper_row AS one, second.paper_row AS other FROM apart
            JOIN ids AS first ON first.id = one JOIN ids AS second ON second.id = other""")
        names = {row: self.papers_by_row([row])[0].id for pair in found for row in pair.values()}
        pairs = (sorted((names[pair["one"]], names[pair["other"]])) for pair in found)
        return frozenset((one, other) for one, other in pairs)

    def find(self, text: str, limit: int = 20) -> list[Paper]:
        """Papers by an id or web address, or by words of title, authors and year; closest first."""
        named = read_identifiers(text[:LONGEST_TEXT])
        rows = self._named(named, limit) if named.whole else []
        if not rows and not named.is_address:
            rows = self._worded(text[:LONGEST_TEXT], limit)
        return self.papers_by_row(rows)

    def _named(self, named: Identifiers, limit: int) -> list[int]:
        found = self._column(
            """SELECT paper_row FROM papers
            WHERE lower(id) = ? OR list_contains(?::VARCHAR[], doi)
                OR (arxiv_id <> '' AND lower(arxiv_id) = ?) OR (pmid <> '' AND pmid = ?)
                OR (url <> '' AND lower(rtrim(url, '/')) = ?)
                OR paper_row IN (SELECT paper_row FROM ids WHERE lower(id) = ?)
            ORDER BY length(doi) DESC, paper_row LIMIT ?""",
            named.whole, list(named.dois), named.arxiv_id, named.pmid, named.whole, named.whole, limit,
        )  # fmt: skip
        return [int(row) for row in found]

    def _worded(self, text: str, limit: int) -> list[int]:
        rows, costs = self._title_words().find(text)
        closest = np.lexsort((rows, costs))[: limit * LOOKED_AT]
        cost = dict(zip(rows[closest].tolist(), costs[closest].tolist(), strict=True))
        phrase = normalise_title(text)
        titles = self._rows(
            "SELECT paper_row, title FROM papers WHERE paper_row IN (SELECT unnest(?::INTEGER[]))", list(cost)
        )
        places = [
            (cost[each["paper_row"]], phrase not in title, len(title), each["paper_row"])
            for each in titles
            for title in [normalise_title(each["title"])]
        ]
        return [row for *_, row in sorted(places)[:limit]]

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

    def facet_shares(self) -> dict[Facet, float]:
        """The part of all labelled sentences that each facet has."""
        query = "SELECT facet, count(*) AS n FROM sentences WHERE facet IS NOT NULL GROUP BY facet"
        counts = {row["facet"]: row["n"] for row in self._rows(query)}
        total = sum(counts.values())
        return {facet: counts.get(code, 0) / total if total else 0.0 for code, facet in enumerate(FACETS)}

    def year_counts(self, filters: Filters | None = None) -> dict[int, int]:
        return self._tally("year", "year IS NOT NULL", filters, "value")

    def venue_counts(self, filters: Filters | None = None, limit: int = 1000) -> dict[str, int]:
        return self._tally("venue", "venue <> ''", filters, "n DESC, value", limit)

    def field_counts(self, filters: Filters | None = None, limit: int = 1000) -> dict[str, int]:
        return self._tally("unnest(fields)", "true", filters, "n DESC, value", limit)

    def source_counts(self, filters: Filters | None = None) -> dict[str, int]:
        return self._tally("source", "true", filters, "n DESC, value")

    def origin_counts(self, limit: int = 1000) -> dict[str, int]:
        """How papers came from live sources, for those that did."""
        if self._layout == tables.BEFORE_REFERENCES:
            return {}
        found = self._rows(
            """SELECT list, count(*) AS n FROM (
                SELECT regexp_extract(reference, ?, 1) AS list FROM papers)
            WHERE list <> '' GROUP BY list""",
            _ORIGINS,
        )
        counts: Counter[str] = Counter()
        for row in found:
            for origin in _origins_in(row["list"]):
                counts[origin] += row["n"]
        return dict(counts.most_common(limit))

    def _tally(
        self, value: str, known: str, filters: Filters | None, order: str, limit: int = 1000
    ) -> dict[Any, int]:
        where, values = _conditions(filters or Filters(), known)
        query = f"""SELECT value, count(*) AS n FROM (SELECT {value} AS value FROM papers {where})
            GROUP BY value ORDER BY {order} LIMIT {int(limit)}"""
        return {row["value"]: row["n"] for row in self._rows(query, *values)}


def _conditions(filters: Filters, *also: str) -> tuple[str, list[Any]]:
    """A WHERE clause and its values; empty when nothing is asked."""
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


def _text_hash(title: str, sentences: Sequence[str]) -> str:
    """128 bits of BLAKE2b over title and sentences, separated by a character that no text uses."""
    joined = "\x1e".join((title, *sentences))
    return hashlib.blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
