"""Store: the growing collection of records, each kept once and gathered into papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from search.corpus.store import snapshot, tables
from search.corpus.store.identity import (
    Apart,
    Record,
    completes,
    contradict,
    digest,
    group,
    keys,
    other_id,
    title_key,
)
from search.corpus.store.writer import SnapshotWriter
from search.errors import InputError
from search.references import PREPRINT_START, merge_packed, pack
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

_RICHEST = "(length(abstract), length(title), -number)"
_FIRST = ", ".join(
    f"coalesce(arg_min({name}, number) FILTER ({name} <> ''), '') AS {name}"
    for name in ("title", "doi", "arxiv_id", "pmid", "url", "source")
)
_PRINTED = f"(starts_with(substr(reference, 2), '{PREPRINT_START}'), number)"
"""The order in which records are asked for what is printed together: a preprint comes after its article."""
_MERGED = f"""
    SELECT * EXCLUDE (text, title, fields, title_key), text.abstract, text.sentences,
        text.reference AS of_abstract,
        CASE WHEN text.title = '' THEN title ELSE text.title END AS title,
        CASE WHEN text.title = '' THEN title_key ELSE text.title_key END AS title_key,
        list_filter(fields, lambda field, place: list_position(fields, field) = place) AS fields
    FROM (
        SELECT min(number) AS number, paper AS id, list(id ORDER BY number) AS ids,
            arg_max(struct_pack(title, abstract, sentences, title_key, reference), {_RICHEST}) AS text,
            arg_max(authors, (len(authors), -number)) AS authors,
            arg_min(year, {_PRINTED}) FILTER (year IS NOT NULL) AS year,
            coalesce(arg_min(venue, {_PRINTED}) FILTER (venue <> ''), '') AS venue,
            list(reference ORDER BY number) FILTER (reference <> '') AS refs,
            flatten(list(fields ORDER BY number)) AS fields,
            arg_min(title_key, number) FILTER (title <> '') AS title_key,
            {_FIRST}
        FROM {{records}} {{where}} GROUP BY paper)
"""
"""The longest abstract wins, with its title and sentences; of other fields, the first that is not empty."""


BLOCK = 4096
"""Papers that are read together for a build: some 20 MB. Chosen by hand."""
_STAMPS = """
    SELECT key, bit_xor(record) AS stamp, min(number) AS number
    FROM (SELECT hash(paper) AS key, hash(number, id, hash) AS record, number FROM records)
    GROUP BY key ORDER BY number
"""
_MEMBERS = """
    CREATE OR REPLACE TEMP TABLE members AS
        SELECT number, first FROM records JOIN (
            SELECT paper, min(number) AS first FROM records GROUP BY paper HAVING count(*) > 1
        ) USING (paper) WHERE number <> first ORDER BY first
"""
"""The later records of papers that have several."""
_OTHERS = """
    SELECT number FROM members
    WHERE first BETWEEN $first AND $last AND first IN (SELECT unnest($numbers::BIGINT[]))
"""


@dataclass(frozen=True, slots=True)
class Stamps:
    """[P] of each paper; equal stamps mean the same records in the same form."""

    keys: NDArray[np.uint64]
    """Of the paper's id."""
    stamps: NDArray[np.uint64]
    """Of its records."""
    numbers: NDArray[np.int64]
    """Of its first record, in order of arrival."""


class Merged(NamedTuple):
    """A paper made of all its records, and their ids."""

    paper: Paper
    ids: tuple[str, ...]


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

    def __init__(self, connection: tables.Connection, layout: int = tables.LAYOUT) -> None:
        self._connection = connection
        self._layout = layout

    @classmethod
    def create(cls, path: Path) -> Self:
        return cls(tables.create(path, KIND, TABLES))

    @classmethod
    def open(cls, path: Path, read_only: bool = True, **config: str) -> Self:
        """The store in `path`; one that was made before there were references takes them in from now on.

        `config` is for DuckDB.
        """
        connection, layout = tables.open_existing(path, KIND, LAYOUTS, read_only, **config)
        if layout == tables.BEFORE_REFERENCES and not read_only:
            with _transaction(connection) as cursor:
                cursor.execute(UPGRADE)
            layout = tables.LAYOUT
        return cls(connection, layout)

    def _merged(self, where: str = "") -> str:
        older = "(SELECT *, '' AS reference FROM records)"
        return _MERGED.format(records="records" if self._layout == tables.LAYOUT else older, where=where)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def add(self, papers: Sequence[Paper]) -> AddReport:
        """Take in split papers as one transaction: once this returns, they survive a crash.

        A record replaces the one with its id, unless that is another paper (`contradict`), has what this
        one lacks (`completes`) or is of another format: then it gets an id of its own, and both are kept.
        """
        with _transaction(self._connection) as cursor:
            papers = _name_apart(cursor, papers)
            batch = {paper.id: paper for paper in papers}
            hashes = {id: _hash(paper) for id, paper in batch.items()}
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
        merged = self._merged("WHERE paper = (SELECT paper FROM records WHERE id = ?)")
        rows = self._connection.cursor().sql(merged, params=[id]).to_arrow_table().to_pylist()
        return tables.paper_of(rows[0] | {"reference": _merged_reference(rows[0])}) if rows else None

    def records(self, ids: Sequence[str]) -> list[Paper]:
        """The records of these ids as they were read; unknown ids are left out."""
        return _stored(self._connection.cursor(), list(ids))

    def counts(self) -> snapshot.Counts:
        chosen = f"SELECT arg_max(len(sentences), {_RICHEST}) AS sentences FROM records GROUP BY paper"
        query = f"SELECT count(*), coalesce(sum(sentences), 0)::BIGINT FROM ({chosen})"
        return snapshot.Counts(*self._connection.cursor().execute(query).fetchall()[0])

    def fingerprint(self) -> str:
        """Stays the same as long as the same records, in the same form, make up the same papers."""
        each = "hash(number, id, hash, paper)"
        query = f"SELECT count(*), bit_xor({each}), sum({each})::VARCHAR FROM records"
        return "-".join(map(str, self._connection.cursor().execute(query).fetchall()[0]))

    def apart(self) -> Apart:
        """What was split by `split`."""
        return frozenset() if self._layout == tables.BEFORE_REFERENCES else _apart(self._connection.cursor())

    def split(self, id: str, other: str = "") -> tuple[str, ...]:
        """Keep a record apart from another of its paper, or from all others, now and at every import.

        Returns the ids it is apart from.
        """
        with _transaction(self._connection) as cursor:
            members = self._members(cursor, id)
            others = [each for each in members if each in ((other,) if other else members) and each != id]
            if not others:
                told = (
                    f"no record {other} in the paper of {id}"
                    if other
                    else f"no other record of the paper {id}"
                )
                raise InputError(f"There is {told}: see the ids with `python -m index_build merges`.")
            pairs = [sorted((id, each)) for each in others]
            cursor.executemany("INSERT INTO apart VALUES (?, ?)", pairs)
            _move(cursor, _homes(_sharing(cursor, [], members), _apart(cursor)))
        return tuple(others)

    def _members(self, cursor: tables.Connection, id: str) -> list[str]:
        """The ids of all records of the paper that has a record of this id."""
        query = (
            "SELECT id FROM records WHERE paper = (SELECT paper FROM records WHERE id = ?) ORDER BY number"
        )
        return [row[0] for row in cursor.execute(query, [id]).fetchall()]

    def joined(self) -> Iterator[tuple[Paper, list[Paper]]]:
        """Each paper that has several records, merged, and its records in order of arrival."""
        reference = "reference" if self._layout == tables.LAYOUT else "'' AS reference"
        fields = ", ".join((*tables.FIELDS, reference))
        several = "SELECT paper FROM records GROUP BY paper HAVING count(*) > 1"
        query = f"SELECT paper, number, id, sentences, {fields} FROM records WHERE paper IN ({several})"
        rows = self._connection.cursor().sql(f"{query} ORDER BY paper, number").to_arrow_table().to_pylist()
        records: dict[str, list[Paper]] = {}
        for row in rows:
            records.setdefault(row["paper"], []).append(tables.paper_of(row))
        for row in (
            self._connection.cursor()
            .sql(self._merged(f"WHERE paper IN ({several})"))
            .to_arrow_table()
            .to_pylist()
        ):
            merged = tables.paper_of(row | {"reference": _merged_reference(row)})
            yield merged, records[merged.id]

    def records_by_source(self) -> dict[str, int]:
        query = "SELECT source, count(*) FROM records GROUP BY source ORDER BY count(*) DESC, source"
        return dict(self._connection.cursor().execute(query).fetchall())

    def stamps(self) -> Stamps:
        """One number for each paper and one for what it is made of, in order of arrival."""
        found = self._connection.cursor().execute(_STAMPS).fetchnumpy()
        return Stamps(*(np.asarray(found[name]) for name in ("key", "stamp", "number")))

    def blocks(self, numbers: NDArray[np.int64]) -> Iterator[list[Merged]]:
        """The papers whose first records have these numbers, ascending, as they are now: a block at a time.

        Nothing is ever asked of all papers at once, so the memory this takes does not grow with them.
        """
        with self._connection.cursor() as cursor:
            cursor.execute(_MEMBERS)
            for start in range(0, len(numbers), BLOCK):
                yield self._block(cursor, numbers[start : start + BLOCK])

    def snapshot(self, path: Path) -> None:
        """Write the papers as they are now to a new file, with dense rows: the store of a build."""
        writer = SnapshotWriter(path, self.apart())
        try:
            for block in self.blocks(self.stamps().numbers):
                writer.add([each.paper for each in block], [each.ids for each in block])
            writer.finish()
        finally:
            writer.close()

    def _block(self, cursor: tables.Connection, numbers: NDArray[np.int64]) -> list[Merged]:
        asked = {"numbers": numbers.tolist(), "first": int(numbers[0]), "last": int(numbers[-1])}
        others = cursor.execute(_OTHERS, asked).fetchnumpy()["number"]
        named = dict(asked, others=others.tolist())
        reference = "" if self._layout == tables.LAYOUT else ", '' AS reference"
        records = f"""(SELECT *{reference} FROM records
            WHERE number BETWEEN $first AND $last AND number IN (SELECT unnest($numbers::BIGINT[]))"""
        if len(others):
            records += f""" UNION ALL SELECT *{reference} FROM records
                WHERE number IN (SELECT unnest($others::BIGINT[]))"""
        else:
            named.pop("others")
        query = _MERGED.format(records=f"{records})", where="")
        rows = cursor.sql(f"{query} ORDER BY number", params=named).to_arrow_table().to_pylist()
        return [
            Merged(
                tables.paper_of(row | {"reference": _merged_reference(row)}),
                tuple(row["ids"]),
            )
            for row in rows
        ]


def _merged_reference(row: dict[str, Any]) -> str:
    return merge_packed(row["refs"] or (), row["of_abstract"])


def _hash(paper: Paper) -> int:
    """Of all that is stored; of a paper without a reference the same as before there were references."""
    sentences = [
        (sentence.start, sentence.end, sentence.facet, sentence.hinted) for sentence in paper.sentences
    ]
    values = (*(getattr(paper, name) for name in tables.FIELDS), sentences)
    reference = pack(paper.reference)
    return digest(repr((*values, reference) if reference else values))


def _homes(records: list[Record], apart: Apart) -> dict[str, str]:
    """The paper of each record: the id of the first record of its group."""
    return {member.paper.id: members[0].paper.id for members in group(records, apart) for member in members}


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


def _name_apart(cursor: tables.Connection, papers: Sequence[Paper]) -> list[Paper]:
    """The papers, with another id where a record of the same id must not be replaced by them."""
    known = _known(cursor, list({paper.id for paper in papers}))
    changed = [paper.id for paper in papers if paper.id in known and known[paper.id].hash != _hash(paper)]
    holders = {paper.id: paper for paper in _stored(cursor, changed)}
    named = []
    for paper in papers:
        holder = holders.get(paper.id)
        if holder and (contradict(holder, paper) or completes(holder, paper)):
            paper = replace(paper, id=other_id(paper))
        elif holder and holder.source != paper.source:
            paper = replace(paper, id=f"{paper.id}#{paper.source}")
        if paper.id not in known or holder:
            holders[paper.id] = paper
        named.append(paper)
    return named


def _stored(cursor: tables.Connection, ids: list[str]) -> list[Paper]:
    """The stored records of these ids, as they were read."""
    if not ids:
        return []
    chosen = "id IN (SELECT unnest(?::VARCHAR[]))"
    query = f"SELECT id, sentences, {tables.FIELD_LIST} FROM records WHERE {chosen}"
    return [tables.paper_of(row) for row in cursor.sql(query, params=[ids]).to_arrow_table().to_pylist()]


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
    for members in group([*stored, *doubtful], _apart(cursor)):
        homes |= {member.paper.id: members[0].paper.id for member in members}
    _move(cursor, {record.paper.id: homes[record.paper.id] for record in stored})
    return homes


def _apart(cursor: tables.Connection) -> Apart:
    return frozenset((one, other) for one, other in cursor.execute("SELECT one, other FROM apart").fetchall())


def _move(cursor: tables.Connection, homes: dict[str, str]) -> None:
    """Note the paper that each of these records belongs to now."""
    if homes:
        cursor.execute(
            "UPDATE records SET paper = home.paper "
            "FROM (SELECT unnest(?::VARCHAR[]) AS id, unnest(?::VARCHAR[]) AS paper) AS home "
            "WHERE records.id = home.id AND records.paper <> home.paper",
            [list(homes), list(homes.values())],
        )


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
