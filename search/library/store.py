"""Kept papers: named lists with notes, tags and read marks, in a DuckDB store of their own.

A kept paper is stored whole, so a list survives a corpus that is rebuilt or replaced.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from search.errors import InputError
from search.library.copies import Row
from search.library.database import Database, insert_rows, list_number
from search.library.files import Kept, ReadingList, check_remarks, paper_from_json, paper_to_json
from search.library.origins import NOWHERE, origin_from_json, origin_to_json

NAME_LENGTH = 80
"""Characters of the name of a list, at most; chosen by hand."""
MOST_LISTS = 500
"""Of one owner: each page that can keep a paper offers all of them. Chosen by hand."""


class Library:
    """The lists of one owner: a signed-in visitor, or "" where nobody signs in. Thread-safe."""

    def __init__(self, database: Database, owner: str) -> None:
        self._database = database
        self.owner = owner

    @classmethod
    def open(cls, folder: Path | None) -> Library:
        """The library in `folder`, made when it is not there; None keeps it in memory.

        A damaged file is set aside and the last sound copy takes its place; a CorpusError says so, once.
        """
        return cls(Database(folder), owner="")

    def close(self) -> None:
        self._database.close()

    def of(self, owner: str) -> Library:
        """The same store for another owner; owners do not see each other's lists."""
        return Library(self._database, owner)

    def names(self) -> list[str]:
        rows = self._query("select name from lists where owner = ? order by id", [self.owner])
        return [name for (name,) in rows]

    def create(self, name: str) -> str:
        """Makes an empty list and returns its name as stored; a list that is there stays as it is."""
        name = _clean_name(name)
        self._require_room([name])
        with self._database.change() as cursor:
            list_number(cursor, self.owner, name)
        return name

    def rename(self, name: str, new: str) -> str:
        number, new = self._number(name), _clean_name(new)
        if new in self.names():
            raise InputError(f'There is a list "{new}" already: choose another name.')
        self._write("update lists set name = ? where id = ?", [new, number])
        return new

    def delete(self, name: str) -> None:
        number = self._number(name)
        with self._database.change() as cursor:
            cursor.execute("delete from kept where list_id = ?", [number])
            cursor.execute("delete from lists where id = ?", [number])

    def keep(self, name: str, kept: Iterable[Kept]) -> int:
        """Puts papers on a list, made when needed; those already there stay. Says how many are new."""
        return self.keep_lists([ReadingList(name, tuple(kept))])

    def keep_lists(self, lists: Iterable[ReadingList]) -> int:
        """The same for several lists: all of them are stored, or none."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [(_clean_name(each.name), tuple(_row(kept, now) for kept in each.kept)) for each in lists]
        self._require_room([name for name, _ in rows])
        with self._database.change() as cursor:
            return sum(insert_rows(cursor, list_number(cursor, self.owner, name), new) for name, new in rows)

    def drop(self, name: str, paper_id: str) -> None:
        self._write("delete from kept where list_id = ? and paper_id = ?", [self._number(name), paper_id])

    def move(self, name: str, other: str, paper_id: str) -> bool:
        """Moves a paper with its note to another list; False where that list has it, and nothing changes."""
        number, goal = self._number(name), self._number(other)
        if paper_id in self.ids(other):
            return False
        self._write(
            "update kept set list_id = ? where list_id = ? and paper_id = ?", [goal, number, paper_id]
        )
        return True

    def annotate(
        self, name: str, paper_id: str, *, note: str, tags: Iterable[str], read: bool | None = None
    ) -> None:
        """Sets note and tags, and the read mark unless that is to stay."""
        clean = sorted({tag for each in tags if (tag := " ".join(each.split()))})
        check_remarks(note, clean)
        self._write(
            "update kept set note = ?, tags = ?, is_read = coalesce(?, is_read) "
            "where list_id = ? and paper_id = ?",
            [note, clean, read, self._number(name), paper_id],
        )

    def mark(self, name: str, paper_id: str, read: bool) -> None:
        self._write(
            "update kept set is_read = ? where list_id = ? and paper_id = ?",
            [read, self._number(name), paper_id],
        )

    def reading_list(self, name: str) -> ReadingList:
        rows = self._query(
            "select paper, note, tags, is_read, added, origin from kept where list_id = ? "
            "order by added, paper_id",
            [self._number(name)],
        )
        return ReadingList(name, tuple(_kept(*row) for row in rows))

    def ids(self, name: str) -> set[str]:
        rows = self._query("select paper_id from kept where list_id = ?", [self._number(name)])
        return {paper_id for (paper_id,) in rows}

    def all_ids(self) -> set[str]:
        """Every paper on any list of this owner."""
        rows = self._query(
            "select distinct paper_id from kept join lists on id = list_id where owner = ?", [self.owner]
        )
        return {paper_id for (paper_id,) in rows}

    def _require_room(self, new: Iterable[str]) -> None:
        lists = len({*self.names(), *new})
        if lists > MOST_LISTS:
            raise InputError(
                f"There would be {lists:,} lists, and a library has up to {MOST_LISTS}: delete or join some."
            )

    def _number(self, name: str) -> int:
        rows = self._query("select id from lists where owner = ? and name = ?", [self.owner, name])
        if not rows:
            raise InputError(f'There is no list "{name}": it was renamed or deleted; choose another.')
        return int(rows[0][0])

    def _query(self, sql: str, values: list[Any]) -> list[Any]:
        return self._database.query(sql, values)

    def _write(self, sql: str, values: list[Any]) -> None:
        with self._database.change() as cursor:
            cursor.execute(sql, values)

    @property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        return self._database.connection


def _row(kept: Kept, now: str) -> Row:
    paper = paper_to_json(kept.paper)
    origin = origin_to_json(kept.origin)
    return Row(kept.paper.id, paper, kept.note, list(kept.tags), kept.read, kept.added or now, origin)


def _kept(paper: str, note: str, tags: list[str], read: bool, added: str, origin: str) -> Kept:
    found = origin_from_json(json.loads(origin)) if origin else NOWHERE
    return Kept(paper_from_json(json.loads(paper)), note, tuple(tags), read, added, found)


def _clean_name(name: str) -> str:
    name = " ".join(name.split())
    if not 1 <= len(name) <= NAME_LENGTH:
        raise InputError(f"A list needs a name of 1 to {NAME_LENGTH} characters; this one has {len(name)}.")
    return name
