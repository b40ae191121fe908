"""Store: the growing collection of records, each kept once and gathered into papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from search.corpus.store import adding, snapshot, tables
from search.corpus.store.adding import AddReport, homes_of
from search.corpus.store.identity import Apart
from search.corpus.store.merged import Merged, MergedPapers, Stamps
from search.corpus.store.record_table import (
    KIND,
    LAYOUTS,
    TABLES,
    UPGRADE,
    kept_apart,
    members_of,
    move_records,
    read_records,
    records_sharing,
    transaction,
)
from search.corpus.store.writer import SnapshotWriter
from search.errors import InputError
from search.types import Paper


class Store:
    """The working store of a corpus. One process writes at a time; builds read their own snapshots."""

    def __init__(self, connection: tables.Connection, layout: int = tables.LAYOUT) -> None:
        self._connection = connection
        self._layout = layout
        self._papers = MergedPapers(connection, layout)

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
            with transaction(connection) as cursor:
                cursor.execute(UPGRADE)
            layout = tables.LAYOUT
        return cls(connection, layout)

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
        return adding.add(self._connection, papers)

    def paper(self, id: str) -> Paper | None:
        """The paper that has a record of this id, all its records merged."""
        return self._papers.paper(id)

    def records(self, ids: Sequence[str]) -> list[Paper]:
        """The records of these ids as they were read; unknown ids are left out."""
        return read_records(self._connection.cursor(), list(ids))

    def counts(self) -> snapshot.Counts:
        return self._papers.counts()

    def fingerprint(self) -> str:
        """Stays the same as long as the same records, in the same form, make up the same papers."""
        each = "hash(number, id, hash, paper)"
        query = f"SELECT count(*), bit_xor({each}), sum({each})::VARCHAR FROM records"
        return "-".join(map(str, self._connection.cursor().execute(query).fetchall()[0]))

    def apart(self) -> Apart:
        """What was split by `split`."""
        if self._layout == tables.BEFORE_REFERENCES:
            return frozenset()
        return kept_apart(self._connection.cursor())

    def split(self, id: str, other: str = "") -> tuple[str, ...]:
        """Keep a record apart from another of its paper, or from all others, now and at every import.

        Returns the ids it is apart from.
        """
        with transaction(self._connection) as cursor:
            members = members_of(cursor, id)
            others = [each for each in members if each in ((other,) if other else members) and each != id]
            if not others:
                of_one, of_all = (
                    f"no record {other} in the paper of {id}",
                    f"no other record of the paper {id}",
                )
                told = of_one if other else of_all
                raise InputError(f"There is {told}: see the ids with `python -m index_build merges`.")
            pairs = [sorted((id, each)) for each in others]
            cursor.executemany("INSERT INTO apart VALUES (?, ?)", pairs)
            move_records(cursor, homes_of(records_sharing(cursor, [], members), kept_apart(cursor)))
        return tuple(others)

    def joined(self) -> Iterator[tuple[Paper, list[Paper]]]:
        """Each paper that has several records, merged, and its records in order of arrival."""
        return self._papers.joined()

    def records_by_source(self) -> dict[str, int]:
        query = "SELECT source, count(*) FROM records GROUP BY source ORDER BY count(*) DESC, source"
        return dict(self._connection.cursor().execute(query).fetchall())

    def stamps(self) -> Stamps:
        """One number for each paper and one for what it is made of, in order of arrival."""
        return self._papers.stamps()

    def blocks(self, numbers: NDArray[np.int64]) -> Iterator[list[Merged]]:
        """The papers whose first records have these numbers, ascending, as they are now: a block at a time.

        Nothing is ever asked of all papers at once, so the memory this takes does not grow with them.
        """
        return self._papers.blocks(numbers)

    def snapshot(self, path: Path) -> None:
        """Write the papers as they are now to a new file, with dense rows: the store of a build."""
        writer = SnapshotWriter(path, self.apart())
        try:
            for block in self.blocks(self.stamps().numbers):
                writer.add([each.paper for each in block], [each.ids for each in block])
            writer.finish()
        finally:
            writer.close()
