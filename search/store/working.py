"""Store: the growing collection of records, each kept once and gathered into papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import pyarrow as pa

from search.store import snapshot, tables
from search.store.identity import Record, digest, group, keys, title_key
from search.types import Paper

KIND = "store"
# No indexes: a batch is joined as a whole, which beats looking up each record.
TABLES = f"""
    CREATE TABLE records (
        number BIGINT,           -- in order of arrival
        id VARCHAR,              -- the source's own
        hash UBIGINT,            -- of the record
        paper VARCHAR,           -- id of the first record of the same paper
        title_key UBIGINT,
        {tables.PAPER_COLUMNS},
        sentences {tables.SENTENCE}[]
    );
    CREATE TABLE keys (key UBIGINT, id VARCHAR);
"""

_RICHEST = "(length(abstract), length(title), -number)"
_FIRST = ", ".join(
    f"coalesce(arg_min({name}, number) FILTER ({name} <> ''), '') AS {name}"
    for name in ("title", "venue", "doi", "arxiv_id", "pmid", "url", "source")
)
_MERGED = f"""
    SELECT * EXCLUDE (text, title, fields, title_key), text.abstract, text.sentences,
        CASE WHEN text.title = '' THEN title ELSE text.title END AS title,
        CASE WHEN text.title = '' THEN title_key ELSE text.title_key END AS title_key,
        list_filter(fields, lambda field, place: list_position(fields, field) = place) AS fields
    FROM (
        SELECT min(number) AS number, paper AS id, list(id ORDER BY number) AS ids,
            arg_max(struct_pack(title, abstract, sentences, title_key), {_RICHEST}) AS text,
            arg_max(authors, (len(authors), -number)) AS authors,
            arg_min(year, number) FILTER (year IS NOT NULL) AS year,
            flatten(list(fields ORDER BY number)) AS fields,
            arg_min(title_key, number) FILTER (title <> '') AS title_key,
            {_FIRST}
        FROM records {{where}} GROUP BY paper)
"""
"""The richest text wins and brings its sentences; of the other fields the first that is not empty."""


@dataclass(frozen=True, slots=True)
class AddReport:
    """What became of a batch: each record counts once."""

    added: int = 0
    """New papers."""
    unchanged: int = 0
    """Already there, to the letter."""
    replaced: int = 0
    """There in another form, which this one replaces."""
    merged: int = 0
    """New records of papers that another record brought before."""

    @property
    def total(self) -> int:
        return sum(astuple(self))

    def __add__(self, other: AddReport) -> AddReport:
        return AddReport(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


class Store:
    """The working store of a corpus. One process writes at a time; builds read their own snapshots."""

    def __init__(self, connection: tables.Connection) -> None:
        self._connection = connection

    @classmethod
    def create(cls, path: Path) -> Self:
        return cls(tables.create(path, KIND, TABLES))

    @classmethod
    def open(cls, path: Path, read_only: bool = True) -> Self:
        return cls(tables.open_existing(path, KIND, read_only))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def add(self, papers: Sequence[Paper]) -> AddReport:
        """Take in split papers as one transaction: once this returns, they survive a crash."""
        batch = {paper.id: paper for paper in papers}
        hashes = {id: _hash(paper) for id, paper in batch.items()}
        with _transaction(self._connection) as cursor:
            known = _known(cursor, list(batch))
            fresh = [paper for id, paper in batch.items() if id not in known or known[id].hash != hashes[id]]
            number = _next_number(cursor)
            records = [
                Record(known[paper.id].number if paper.id in known else number + place, paper)
                for place, paper in enumerate(fresh)
            ]
            outdated = [paper.id for paper in fresh if paper.id in known]
            _remove(cursor, outdated)
            homes = _regroup(cursor, records, [known[id].paper for id in outdated])
            _insert(cursor, records, hashes, homes)
        new = [paper.id for paper in fresh if paper.id not in known]
        added = sum(homes[id] == id for id in new)
        within = sum(batch[paper.id] is not paper and _hash(paper) != hashes[paper.id] for paper in papers)
        replaced = len(outdated) + within
        return AddReport(added, len(papers) - len(new) - replaced, replaced, len(new) - added)

    def paper(self, id: str) -> Paper | None:
        """The paper that has a record of this id, all its records merged."""
        merged = _MERGED.format(where="WHERE paper = (SELECT paper FROM records WHERE id = ?)")
        rows = self._connection.cursor().sql(merged, params=[id]).to_arrow_table().to_pylist()
        return tables.paper_of(rows[0]) if rows else None

    def counts(self) -> snapshot.Counts:
        chosen = f"SELECT arg_max(len(sentences), {_RICHEST}) AS sentences FROM records GROUP BY paper"
        query = f"SELECT count(*), coalesce(sum(sentences), 0)::BIGINT FROM ({chosen})"
        return snapshot.Counts(*self._connection.cursor().execute(query).fetchall()[0])

    def fingerprint(self) -> str:
        """Stays the same as long as the same records, in the same form, make up the same papers."""
        each = "hash(number, id, hash, paper)"
        query = f"SELECT count(*), bit_xor({each}), sum({each})::VARCHAR FROM records"
        return "-".join(map(str, self._connection.cursor().execute(query).fetchall()[0]))

    def snapshot(self, path: Path) -> None:
        """Write the papers as they are now to a new file, with dense rows: the store of a build."""
        tables.create(path, snapshot.KIND, snapshot.TABLES).close()
        quoted = str(path).replace("'", "''")
        cursor = self._connection.cursor()
        cursor.execute(f"ATTACH '{quoted}' AS build (READ_WRITE)")
        # Texts in a packing whose single rows can be read alone: a search reads thirty of 65 thousand.
        cursor.execute("SET force_compression = 'fsst'")
        try:
            cursor.execute(f"CREATE OR REPLACE TEMP TABLE merged AS {_MERGED.format(where='')}")
            cursor.execute(snapshot.FILL)
            cursor.execute("DROP TABLE merged")
        finally:
            cursor.execute("DETACH build")
            cursor.execute("SET force_compression = 'auto'")


def _hash(paper: Paper) -> int:
    sentences = [
        (sentence.start, sentence.end, sentence.facet, sentence.hinted) for sentence in paper.sentences
    ]
    return digest(repr((*(getattr(paper, name) for name in tables.FIELDS), sentences)))


@contextmanager
def _transaction(connection: tables.Connection) -> Iterator[tables.Connection]:
    cursor = connection.cursor()
    cursor.begin()
    try:
        yield cursor
    except BaseException:
        cursor.rollback()
        raise
    cursor.commit()


class _Known(NamedTuple):
    number: int
    hash: int
    paper: str


def _known(cursor: tables.Connection, ids: list[str]) -> dict[str, _Known]:
    """Those of these records that are stored."""
    query = "SELECT id, number, hash, paper FROM records WHERE id IN (SELECT unnest(?::VARCHAR[]))"
    return {id: _Known(*found) for id, *found in cursor.execute(query, [ids]).fetchall()}


def _next_number(cursor: tables.Connection) -> int:
    return int(cursor.execute("SELECT coalesce(max(number) + 1, 0) FROM records").fetchall()[0][0])


def _remove(cursor: tables.Connection, ids: list[str]) -> None:
    if ids:
        for table in ("records", "keys"):
            cursor.execute(f"DELETE FROM {table} WHERE id IN (SELECT unnest(?::VARCHAR[]))", [ids])


def _regroup(cursor: tables.Connection, records: list[Record], left: list[str]) -> dict[str, str]:
    """The paper each new record belongs to; stored records that change papers with it are moved.

    Only records that share a key with another, or a paper that an outdated record has `left`, need a
    closer look, and those are few.
    """
    homes = {record.paper.id: record.paper.id for record in records}
    keys_of = {record.paper.id: set(keys(record.paper)) for record in records}
    holders = Counter(key for found in keys_of.values() for key in found)
    stored = _sharing(cursor, list(holders), left)
    taken = {key for record in stored for key in keys(record.paper)}
    taken |= {key for key, count in holders.items() if count > 1}
    doubtful = [record for record in records if keys_of[record.paper.id] & taken]
    for members in group([*stored, *doubtful]):
        homes |= {member.paper.id: members[0].paper.id for member in members}
    moved = [record.paper.id for record in stored]
    if moved:
        cursor.execute(
            "UPDATE records SET paper = home.paper "
            "FROM (SELECT unnest(?::VARCHAR[]) AS id, unnest(?::VARCHAR[]) AS paper) AS home "
            "WHERE records.id = home.id AND records.paper <> home.paper",
            [moved, [homes[id] for id in moved]],
        )
    return homes


def _sharing(cursor: tables.Connection, wanted: list[int], papers: list[str]) -> list[Record]:
    """The stored records of these papers, and of all papers that have one of these keys."""
    rows = cursor.sql(
        f"SELECT number, id, sentences, {tables.FIELD_LIST} FROM records WHERE paper IN ("
        "SELECT paper FROM records WHERE id IN ("
        "SELECT id FROM keys WHERE key IN (SELECT unnest(?::UBIGINT[]))) UNION SELECT unnest(?::VARCHAR[]))",
        params=[wanted, papers],
    )
    return [Record(row["number"], tables.paper_of(row)) for row in rows.to_arrow_table().to_pylist()]


def _insert(
    cursor: tables.Connection, records: list[Record], hashes: dict[str, int], homes: dict[str, str]
) -> None:
    papers = [record.paper for record in records]
    ids = [paper.id for paper in papers]
    columns = {
        "number": pa.array([record.order for record in records], pa.int64()),
        "id": pa.array(ids, pa.string()),
        "hash": pa.array([hashes[id] for id in ids], pa.uint64()),
        "paper": pa.array([homes[id] for id in ids], pa.string()),
        "title_key": pa.array([title_key(paper.title, paper.year) for paper in papers], pa.uint64()),
    }
    cursor.register("new_records", pa.table(columns | tables.paper_columns(papers)))
    cursor.execute("INSERT INTO records BY NAME SELECT * FROM new_records")
    pairs = [(key, paper.id) for paper in papers for key in keys(paper)]
    cursor.register(
        "new_keys",
        pa.table({"key": pa.array([key for key, _ in pairs], pa.uint64()), "id": [id for _, id in pairs]}),
    )
    cursor.execute("INSERT INTO keys BY NAME SELECT * FROM new_keys")
