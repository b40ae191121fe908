"""The records of a working store as rows: their tables, and how they are read, written and moved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pyarrow as pa

from search.corpus.store import tables
from search.corpus.store.identity import Apart, Record, digest, keys, title_key
from search.references import pack
from search.types import Paper

KIND = "store"
# No indexes: a batch is joined as a whole, which beats looking up each record.
_RECORDS = f"""
    CREATE TABLE records (
        number BIGINT,           -- in order of arrival
        id VARCHAR,              -- the source's own
        hash UBIGINT,            -- of the record
        paper VARCHAR,           -- id of the first record of the same paper
        title_key UBIGINT,
        {tables.PAPER_COLUMNS},
        sentences {tables.SENTENCE}[]{{reference}}
    );
    CREATE TABLE keys (key UBIGINT, id VARCHAR);
"""
_APART = "CREATE TABLE apart (one VARCHAR, other VARCHAR);  -- ids of records that somebody split, in order"
TABLES = _RECORDS.format(reference=f", {tables.REFERENCE}") + _APART
LAYOUTS = {tables.BEFORE_REFERENCES: _RECORDS.format(reference=""), tables.LAYOUT: TABLES}
UPGRADE = f"""
    ALTER TABLE records ADD COLUMN {tables.REFERENCE};
    UPDATE records SET reference = '';
    {_APART}
    UPDATE about SET layout = {tables.LAYOUT};
"""
"""From layout 1; the old records stay as they are until they are imported again."""


@contextmanager
def transaction(connection: tables.Connection) -> Iterator[tables.Connection]:
    cursor = connection.cursor()
    cursor.begin()
    try:
        yield cursor
    except BaseException:
        cursor.rollback()
        raise
    cursor.commit()


class Known(NamedTuple):
    number: int
    hash: int
    paper: str


def known_of(cursor: tables.Connection, ids: list[str]) -> dict[str, Known]:
    """Those of these records that are stored."""
    query = "SELECT id, number, hash, paper FROM records WHERE id IN (SELECT unnest(?::VARCHAR[]))"
    return {id: Known(*found) for id, *found in cursor.execute(query, [ids]).fetchall()}


def read_records(cursor: tables.Connection, ids: list[str]) -> list[Paper]:
    """The stored records of these ids, as they were read."""
    if not ids:
        return []
    chosen = "id IN (SELECT unnest(?::VARCHAR[]))"
    query = f"SELECT id, sentences, {tables.FIELD_LIST} FROM records WHERE {chosen}"
    return [tables.paper_of(row) for row in cursor.sql(query, params=[ids]).to_arrow_table().to_pylist()]


def next_number(cursor: tables.Connection) -> int:
    return int(cursor.execute("SELECT coalesce(max(number) + 1, 0) FROM records").fetchall()[0][0])


def remove_records(cursor: tables.Connection, ids: list[str]) -> None:
    if ids:
        for table in ("records", "keys"):
            cursor.execute(f"DELETE FROM {table} WHERE id IN (SELECT unnest(?::VARCHAR[]))", [ids])


def records_sharing(cursor: tables.Connection, wanted: list[int], papers: list[str]) -> list[Record]:
    """The stored records of these papers, and of all papers that have one of these keys."""
    rows = cursor.sql(
        f"SELECT number, id, sentences, {tables.FIELD_LIST} FROM records WHERE paper IN ("
        "SELECT paper FROM records WHERE id IN ("
        "SELECT id FROM keys WHERE key IN (SELECT unnest(?::UBIGINT[]))) UNION SELECT unnest(?::VARCHAR[]))",
        params=[wanted, papers],
    )
    return [Record(row["number"], tables.paper_of(row)) for row in rows.to_arrow_table().to_pylist()]


def kept_apart(cursor: tables.Connection) -> Apart:
    return frozenset((one, other) for one, other in cursor.execute("SELECT one, other FROM apart").fetchall())


def insert_records(
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


def members_of(cursor: tables.Connection, id: str) -> list[str]:
    """The ids of all records of the paper that has a record of this id."""
    query = "SELECT id FROM records WHERE paper = (SELECT paper FROM records WHERE id = ?) ORDER BY number"
    return [row[0] for row in cursor.execute(query, [id]).fetchall()]


def move_records(cursor: tables.Connection, homes: dict[str, str]) -> None:
    """Note the paper that each of these records belongs to now."""
    if homes:
        cursor.execute(
            "UPDATE records SET paper = home.paper "
            "FROM (SELECT unnest(?::VARCHAR[]) AS id, unnest(?::VARCHAR[]) AS paper) AS home "
            "WHERE records.id = home.id AND records.paper <> home.paper",
            [list(homes), list(homes.values())],
        )


def hash_of(paper: Paper) -> int:
    """Of all that is stored; of a paper without a reference the same as before there were references."""
    sentences = [
        (sentence.start, sentence.end, sentence.facet, sentence.hinted) for sentence in paper.sentences
    ]
    values = (*(getattr(paper, name) for name in tables.FIELDS), sentences)
    reference = pack(paper.reference)
    return digest(repr((*values, reference) if reference else values))
