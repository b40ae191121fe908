"""Kept papers: named lists with notes, tags and read marks, in a DuckDB store of their own.

A kept paper is stored whole, so a list survives a corpus that is rebuilt or replaced.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from search.errors import CorpusError, InputError
from search.list_files import Kept, ReadingList, paper_from_json, paper_to_json

NAME_LENGTH = 80
SCHEMA_VERSION = 1
_SCHEMA = """
create table if not exists about (version integer);
create sequence if not exists list_ids;
create table if not exists lists (
    id integer primary key default nextval('list_ids'), owner varchar not null, name varchar not null,
    unique (owner, name));
create table if not exists kept (
    list_id integer not null, paper_id varchar not null, paper varchar not null, note varchar not null,
    tags varchar[] not null, is_read boolean not null, added varchar not null,
    primary key (list_id, paper_id));
"""


class Library:
    """The lists of one owner: a signed-in visitor, or "" where nobody signs in. Thread-safe."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, lock: threading.Lock, owner: str) -> None:
        self._connection = connection
        self._lock = lock
        self.owner = owner

    @classmethod
    def open(cls, folder: Path | None) -> Library:
        """The library in `folder`, made when it is not there; None keeps it in memory."""
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            target = ":memory:" if folder is None else str(folder / "library.duckdb")
            connection = duckdb.connect(target, config={"threads": 1})
            connection.execute(_SCHEMA)
        except (duckdb.Error, OSError) as error:
            reason = str(error).splitlines()[0]
            raise CorpusError(
                f"The library in {folder} cannot be opened ({reason}): close other programs that use it, "
                "or set `library` to another folder."
            ) from error
        _check_version(connection, folder)
        return cls(connection, threading.Lock(), owner="")

    def close(self) -> None:
        self._connection.close()

    def of(self, owner: str) -> Library:
        """The same store for another owner; owners do not see each other's lists."""
        return Library(self._connection, self._lock, owner)

    def names(self) -> list[str]:
        rows = self._query("select name from lists where owner = ? order by id", [self.owner])
        return [name for (name,) in rows]

    def create(self, name: str) -> str:
        """Makes an empty list and returns its name as stored; a list that is there stays as it is."""
        name = _clean_name(name)
        sql = "insert into lists (owner, name) values (?, ?) on conflict do nothing"
        self._write(sql, [self.owner, name])
        return name

    def rename(self, name: str, new: str) -> str:
        number, new = self._number(name), _clean_name(new)
        if new in self.names():
            raise InputError(f'There is a list "{new}" already: choose another name.')
        self._write("update lists set name = ? where id = ?", [new, number])
        return new

    def delete(self, name: str) -> None:
        number = self._number(name)
        self._write("delete from kept where list_id = ?", [number])
        self._write("delete from lists where id = ?", [number])

    def keep(self, name: str, kept: Iterable[Kept]) -> int:
        """Puts papers on a list, made when needed; those already there stay. Says how many are new."""
        number = self._number(self.create(name))
        before = len(self.ids(name))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [
            [number, k.paper.id, paper_to_json(k.paper), k.note, list(k.tags), k.read, k.added or now]
            for k in kept
        ]
        if rows:
            with self._lock:
                self._connection.cursor().executemany(
                    "insert into kept values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing", rows
                )
        return len(self.ids(name)) - before

    def drop(self, name: str, paper_id: str) -> None:
        self._write("delete from kept where list_id = ? and paper_id = ?", [self._number(name), paper_id])

    def annotate(self, name: str, paper_id: str, *, note: str, tags: Iterable[str], read: bool) -> None:
        clean = sorted({tag for each in tags if (tag := " ".join(each.split()))})
        self._write(
            "update kept set note = ?, tags = ?, is_read = ? where list_id = ? and paper_id = ?",
            [note, clean, read, self._number(name), paper_id],
        )

    def reading_list(self, name: str) -> ReadingList:
        rows = self._query(
            "select paper, note, tags, is_read, added from kept where list_id = ? order by added, paper_id",
            [self._number(name)],
        )
        return ReadingList(
            name,
            tuple(
                Kept(paper_from_json(json.loads(paper)), note, tuple(tags), read, added)
                for paper, note, tags, read, added in rows
            ),
        )

    def ids(self, name: str) -> set[str]:
        rows = self._query("select paper_id from kept where list_id = ?", [self._number(name)])
        return {paper_id for (paper_id,) in rows}

    def all_ids(self) -> set[str]:
        """Every paper on any list of this owner."""
        rows = self._query(
            "select distinct paper_id from kept join lists on id = list_id where owner = ?", [self.owner]
        )
        return {paper_id for (paper_id,) in rows}

    def _number(self, name: str) -> int:
        rows = self._query("select id from lists where owner = ? and name = ?", [self.owner, name])
        if not rows:
            raise InputError(f'There is no list "{name}": it was renamed or deleted; choose another.')
        return int(rows[0][0])

    def _query(self, sql: str, values: list[Any]) -> list[Any]:
        return self._connection.cursor().execute(sql, values).fetchall()

    def _write(self, sql: str, values: list[Any]) -> None:
        with self._lock:
            self._connection.cursor().execute(sql, values)


def _clean_name(name: str) -> str:
    name = " ".join(name.split())
    if not 1 <= len(name) <= NAME_LENGTH:
        raise InputError(f"A list needs a name of 1 to {NAME_LENGTH} characters; this one has {len(name)}.")
    return name


def _check_version(connection: duckdb.DuckDBPyConnection, folder: Path | None) -> None:
    found = connection.execute("select version from about").fetchall()
    if not found:
        connection.execute("insert into about values (?)", [SCHEMA_VERSION])
    elif found[0][0] != SCHEMA_VERSION:
        raise CorpusError(
            f"The library in {folder} has version {found[0][0]} but this app reads {SCHEMA_VERSION}: "
            "export the lists with the app that made it and import them here."
        )
