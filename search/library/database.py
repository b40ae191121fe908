"""The file of a library: opened and checked, changed all or nothing, copied, restored when it is damaged."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from search.databases import LOCKED
from search.errors import CorpusError, InputError
from search.library.copies import Copy, OwnedList, Row, sound_copies, stamp, write_copy, write_former

FILE = "library.duckdb"
COPY_EVERY = 600.0
"""Seconds between two copies while papers are kept and notes written; the first change of a run makes one."""
SCHEMA_VERSION = 2
"""1 had no origin of a kept paper; it is brought to 2 when it is opened."""
_SCHEMA = """
create table if not exists about (version integer);
create sequence if not exists list_ids;
create table if not exists lists (
    id integer primary key default nextval('list_ids'), owner varchar not null, name varchar not null,
    unique (owner, name));
create table if not exists kept (
    list_id integer not null, paper_id varchar not null, paper varchar not null, note varchar not null,
    tags varchar[] not null, is_read boolean not null, added varchar not null,
    origin varchar not null default '', primary key (list_id, paper_id));
"""
_DAMAGE = ("corrupt", "not a valid duckdb database", "could not read enough bytes", "failed to deserialize")
"""How DuckDB says that a file is damaged; a file in use, a full disk or a newer version is none."""


class Database:
    """One file, or memory where `folder` is None. Thread-safe; opened again after a fault of the disk."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._lock = threading.RLock()
        self._next_copy = 0.0
        self._changed = False
        self._connection: duckdb.DuckDBPyConnection | None = self._open()
        with suppress(duckdb.Error, OSError):  # it can be read, and the first change tries again
            self._copy_where_changed()

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if self._connection is None:
                self._connection = self._open()
            return self._connection

    def close(self) -> None:
        with self._lock, suppress(duckdb.Error, OSError):
            if self._changed:
                self._copy()
        self._leave()

    def query(self, sql: str, values: list[Any]) -> list[Any]:
        try:
            with closing(self.connection.cursor()) as cursor:
                return cursor.execute(sql, values).fetchall()
        except duckdb.Error as error:
            if self.folder is not None:  # what is wrong is found, and mended, by opening it again
                self._leave()
                _ = self.connection
            raise self._cannot("read", error) from error

    @contextmanager
    def change(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A transaction: all that is done with the cursor is stored on the disk, or nothing of it."""
        with self._lock:
            try:
                with closing(self.connection.cursor()) as cursor:
                    cursor.execute("begin")
                    try:
                        yield cursor
                        cursor.execute("commit")
                    except BaseException:
                        with suppress(duckdb.Error):
                            cursor.execute("rollback")
                        raise
            except (duckdb.InvalidInputException, UnicodeError) as error:
                raise InputError(
                    "A text to keep has characters that cannot be stored, such as half an emoji: "
                    "remove them and try again."
                ) from error
            except (duckdb.Error, OSError) as error:
                if self.folder is not None:  # after some faults DuckDB refuses all until it is opened again
                    self._leave()
                raise self._cannot("changed", error) from error
            self._changed = True
            if time.monotonic() >= self._next_copy:
                with suppress(duckdb.Error, OSError):  # the change is stored; the copy is tried again
                    self._copy()

    def _leave(self) -> None:
        with self._lock, suppress(duckdb.Error):
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def _cannot(self, done: str, error: Exception) -> CorpusError:
        return CorpusError(
            f"The library in {self.folder} could not be {done} ({_reason(error)}), and is as it was before: "
            "make room if the disk is full, and try again."
        )

    def _open(self) -> duckdb.DuckDBPyConnection:
        try:
            if self.folder is not None:
                self.folder.mkdir(parents=True, exist_ok=True)
            connection = _connect(":memory:" if self.folder is None else str(self.folder / FILE))
            try:
                _bring_up_to_date(connection, self.folder)
            except BaseException:
                connection.close()
                raise
        except (duckdb.Error, OSError) as error:
            if self.folder is not None and _is_damage(error):
                raise restore(self.folder, _reason(error)) from error
            raise CorpusError(
                f"The library in {self.folder} cannot be opened ({_reason(error)}): close other programs "
                "that use it, or set `library` to another folder."
            ) from error
        return connection

    def _copy_where_changed(self) -> None:
        if self.folder is not None:
            now = _lists(self.connection)
            newest = next(sound_copies(self.folder), None)
            if now != (newest.lists if newest else ()):
                write_copy(self.folder, now)

    def _copy(self) -> None:
        if self.folder is not None:
            write_copy(self.folder, _lists(self.connection))
            self.connection.execute("checkpoint")  # so that the file alone is never older than a copy
            self._next_copy = time.monotonic() + COPY_EVERY
            self._changed = False


def restore(folder: Path, reason: str) -> CorpusError:
    """Puts what is sound in the place of a damaged file, which is kept; says so as an error to raise.

    Stopping it at any moment is safe: the damaged file keeps its name until the new one takes its place.
    """
    file, wal, draft = folder / FILE, folder / f"{FILE}.wal", folder / f"{FILE}.part"
    aside = f"library-damaged-{stamp()}.duckdb"
    try:
        draft.unlink(missing_ok=True)
        origin = _make_sound(folder, draft)
        shutil.copy2(file, folder / aside)
        shutil.copymode(file, draft)
        if wal.exists():
            wal.replace(folder / f"{aside}.wal")
        draft.replace(file)
    except (duckdb.Error, OSError) as error:
        return CorpusError(
            f"The library in {folder} is damaged ({reason}) and could not be restored ({_reason(error)}): "
            "make room if the disk is full, and open it again."
        )
    return CorpusError(
        f"The library in {folder} was damaged ({reason}): {origin}, and the damaged file is kept as {aside}; "
        "open the page again to go on."
    )


def _make_sound(folder: Path, draft: Path) -> str:
    """Writes a sound library to `draft` and says where it comes from."""
    copy = next(sound_copies(folder), None)
    if (folder / f"{FILE}.wal").exists():  # perhaps only the latest changes, which lie in it, are damaged
        shutil.copy2(folder / FILE, draft)
        with suppress(duckdb.Error), closing(_connect(str(draft))) as connection:
            held = connection.execute("select count(*) from kept").fetchall()[0][0]
            if held >= (copy.papers if copy else 1):
                return f"it has {held} papers again, without the latest changes"
        draft.unlink()
    with closing(_connect(str(draft))) as connection:
        _bring_up_to_date(connection, folder)
        if copy is None:
            return "there is no sound copy of it, so it begins empty"
        _fill(connection, copy)
        connection.execute("checkpoint")
    return f"it has {copy.papers} papers again, from the copy of {copy.made}"


def _connect(target: str) -> duckdb.DuckDBPyConnection:
    """Opens the file and reads every row of it, so that damage shows now."""
    connection = duckdb.connect(target, config={"threads": "1", **LOCKED})
    try:
        connection.execute(_SCHEMA)
        for table in ("lists", "kept"):
            connection.execute(f"select sum(hash({table})) from {table}").fetchall()
    except duckdb.Error:
        connection.close()
        raise
    return connection


def _fill(connection: duckdb.DuckDBPyConnection, copy: Copy) -> None:
    connection.execute("begin")
    for each in copy.lists:
        number = list_number(connection, each.owner, each.name)
        insert_rows(connection, number, each.rows)
    connection.execute("commit")


def list_number(cursor: duckdb.DuckDBPyConnection, owner: str, name: str) -> int:
    """The number of a list, which is made where there is none of this name."""
    cursor.execute("insert into lists (owner, name) values (?, ?) on conflict do nothing", [owner, name])
    found = cursor.execute("select id from lists where owner = ? and name = ?", [owner, name]).fetchall()
    return int(found[0][0])


def insert_rows(cursor: duckdb.DuckDBPyConnection, number: int, rows: tuple[Row, ...]) -> int:
    """Puts papers on a list; those already there stay as they are. Says how many are new."""
    columns = [
        [row.paper_id for row in rows],
        [row.paper for row in rows],
        [row.note for row in rows],
        [row.tags for row in rows],
        [row.is_read for row in rows],
        [row.added for row in rows],
        [row.origin for row in rows],
    ]
    inserted = cursor.execute(
        "insert into kept (list_id, paper_id, paper, note, tags, is_read, added, origin) "
        "select ?, unnest(?::varchar[]), unnest(?::varchar[]), unnest(?::varchar[]), "
        "unnest(?::varchar[][]), unnest(?::boolean[]), unnest(?::varchar[]), unnest(?::varchar[]) "
        "on conflict do nothing returning paper_id",
        [number, *columns],
    )
    return len(inserted.fetchall())


def _lists(connection: duckdb.DuckDBPyConnection, origin: str = "origin") -> tuple[OwnedList, ...]:
    """All lists of all owners, in the order they were made; `origin` is '' where the column is missing."""
    with closing(connection.cursor()) as cursor:
        lists = cursor.execute("select id, owner, name from lists order by id").fetchall()
        kept = cursor.execute(
            f"select list_id, paper_id, paper, note, tags, is_read, added, {origin} from kept "
            "order by added, paper_id"
        ).fetchall()
    on_list: dict[int, list[Row]] = {}
    for number, *values in kept:
        on_list.setdefault(number, []).append(Row(*values))
    return tuple(OwnedList(owner, name, tuple(on_list.get(number, ()))) for number, owner, name in lists)


def _is_damage(error: Exception) -> bool:
    kinds = (duckdb.SerializationException, duckdb.InternalException)
    return isinstance(error, kinds) or any(words in str(error).lower() for words in _DAMAGE)


def _reason(error: Exception) -> str:
    """The first line of an error, short enough for a sentence."""
    if "no space left" in str(error).lower():
        return "the disk is full"
    line = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return line if len(line) <= 160 else f"{line[:159]}…"


def _bring_up_to_date(connection: duckdb.DuckDBPyConnection, folder: Path | None) -> None:
    """Makes a new library this version's and an older one, too, once a copy of it is written."""
    found = connection.execute("select version from about").fetchall()
    if not found:
        connection.execute("insert into about values (?)", [SCHEMA_VERSION])
    elif found[0][0] == 1:
        if folder is not None:
            write_former(folder, 1, _lists(connection, origin="''"))
        connection.execute("begin")
        connection.execute("alter table kept add column if not exists origin varchar default ''")
        connection.execute("update about set version = ?", [SCHEMA_VERSION])
        connection.execute("commit")
    elif found[0][0] != SCHEMA_VERSION:
        raise CorpusError(
            f"The library in {folder} has version {found[0][0]} but this app reads {SCHEMA_VERSION}: "
            "export the lists with the app that made it and import them here."
        )
