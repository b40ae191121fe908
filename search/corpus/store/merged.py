"""Papers made of all their records: what each gives, and how they are read, one or a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from search.corpus.store import snapshot, tables
from search.references import PREPRINT_START, merge_packed
from search.types import Paper

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
_SEVERAL = "WHERE paper IN (SELECT paper FROM records GROUP BY paper HAVING count(*) > 1)"
"""The records of papers that have several."""


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


class MergedPapers:
    """The papers in the tables of records; those of an older layout have no references."""

    def __init__(self, connection: tables.Connection, layout: int) -> None:
        self._connection = connection
        without = layout == tables.BEFORE_REFERENCES
        self._records = "(SELECT *, '' AS reference FROM records)" if without else "records"

    def paper(self, id: str) -> Paper | None:
        """The paper that has a record of this id."""
        where = "WHERE paper = (SELECT paper FROM records WHERE id = ?)"
        found = self._read(self._connection.cursor(), self._records, where, [id])
        return found[0].paper if found else None

    def joined(self) -> Iterator[tuple[Paper, list[Paper]]]:
        """Each paper that has several records, and its records in order of arrival."""
        cursor = self._connection.cursor()
        query = f"SELECT paper, id, sentences, {tables.FIELD_LIST} FROM {self._records} {_SEVERAL}"
        records: dict[str, list[Paper]] = {}
        for row in cursor.sql(f"{query} ORDER BY paper, number").to_arrow_table().to_pylist():
            records.setdefault(row["paper"], []).append(tables.paper_of(row))
        for merged in self._read(cursor, self._records, _SEVERAL):
            yield merged.paper, records[merged.paper.id]

    def counts(self) -> snapshot.Counts:
        chosen = f"SELECT arg_max(len(sentences), {_RICHEST}) AS sentences FROM records GROUP BY paper"
        query = f"SELECT count(*), coalesce(sum(sentences), 0)::BIGINT FROM ({chosen})"
        return snapshot.Counts(*self._connection.cursor().execute(query).fetchall()[0])

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

    def _block(self, cursor: tables.Connection, numbers: NDArray[np.int64]) -> list[Merged]:
        asked = {"numbers": numbers.tolist(), "first": int(numbers[0]), "last": int(numbers[-1])}
        others = cursor.execute(_OTHERS, asked).fetchnumpy()["number"].tolist()
        records = f"""SELECT * FROM {self._records}
            WHERE number BETWEEN $first AND $last AND number IN (SELECT unnest($numbers::BIGINT[]))"""
        if others:
            asked["others"] = others
            records += f""" UNION ALL SELECT * FROM {self._records}
                WHERE number IN (SELECT unnest($others::BIGINT[]))"""
        return self._read(cursor, f"({records})", values=asked)

    def _read(
        self, cursor: tables.Connection, records: str, where: str = "", values: object = None
    ) -> list[Merged]:
        """The papers that these records make up, in order of arrival."""
        query = f"{_MERGED.format(records=records, where=where)} ORDER BY number"
        rows = cursor.sql(query, params=values).to_arrow_table().to_pylist()
        return [Merged(tables.paper_of(_with_reference(row)), tuple(row["ids"])) for row in rows]


def _with_reference(row: dict[str, Any]) -> dict[str, Any]:
    """The row of a paper, with one reference made of those of its records."""
    return row | {"reference": merge_packed(row["refs"] or (), row["of_abstract"])}
