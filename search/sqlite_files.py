"""A small SQLite file that many share: opened, set aside where it is damaged, its faults in a sentence."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

from search.errors import CorpusError

_DAMAGE = ("malformed", "not a database")
"""How SQLite says that a file is damaged; a full disk or a file in use is none."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is for."""

    file: str
    schema: str
    what: str
    """For sentences: "The searches in ..."."""


class SqliteFile:
    """One file, or memory where `folder` is None. Thread-safe.

    A damaged file is set aside, and a new one takes over what can be read; a CorpusError says so, once.
    """

    def __init__(self, folder: Path | None, kind: Kind) -> None:
        self._folder, self._kind = folder, kind
        self._lock = threading.Lock()
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            self.connection = self._connect()
        except (sqlite3.Error, OSError) as error:
            if folder is not None and _is_damage(error):
                told = self._begin_anew(folder)
                self.connection.close()
                raise told from error
            raise CorpusError(
                f"The {kind.what} in {folder} cannot be opened ({error}): set `library` to another folder."
            ) from error

    def close(self) -> None:
        self.connection.close()

    @contextmanager
    def using(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one at a time; what goes wrong with the file becomes a sentence."""
        with self._lock:
            try:
                self._follow()
                yield self.connection
            except (sqlite3.Error, OSError) as error:
                with suppress(sqlite3.Error):
                    self.connection.rollback()  # nothing is left half done for those who come next
                if self._folder is None or not _is_damage(error):
                    raise CorpusError(
                        f"The {self._kind.what} in {self._folder} could not be kept or read ({error}): make "
                        "room if the disk is full, and try again."
                    ) from error
                self.connection.close()
                raise self._begin_anew(self._folder) from error

    def rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with self.using() as connection:
            return connection.execute(sql, values).fetchall()

    def _follow(self) -> None:
        """Opens the file anew where another took its place: what is written to the old one would be lost."""
        if self._folder is not None and _identity(self._folder / self._kind.file) != self._opened:
            self._folder.mkdir(parents=True, exist_ok=True)
            self.connection.close()
            self.connection = self._connect()

    def _begin_anew(self, folder: Path) -> CorpusError:
        """A new file with what can still be read of the damaged one; says so as an error to raise."""
        aside = _set_aside(folder, self._kind)
        self.connection = self._connect()
        held = _take_over(folder / aside, self.connection)
        left = f"has the {held:,} entries again that could be read" if held else "begins anew"
        return CorpusError(
            f"The list of {self._kind.what} in {folder} was damaged, so it {left}, and the damaged file is "
            f"kept as {aside}; open the page again to go on."
        )

    def _connect(self) -> sqlite3.Connection:
        """Opens the file and looks through it, so that damage shows now."""
        path = None if self._folder is None else self._folder / self._kind.file
        target = str(path or ":memory:")
        connection = sqlite3.connect(target, check_same_thread=False, isolation_level=None)
        try:
            connection.execute("pragma trusted_schema = off")  # the file may have been made by a stranger
            connection.execute("pragma journal_mode = wal")
            connection.executescript(self._kind.schema)
            if connection.execute("pragma quick_check(1)").fetchone() != ("ok",):
                raise sqlite3.DatabaseError("database disk image is malformed")
            self._opened = _identity(path) if path else None
        except BaseException:
            connection.close()
            raise
        return connection


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file lies there; None where there is none."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _is_damage(error: Exception) -> bool:
    return any(words in str(error) for words in _DAMAGE)


def _set_aside(folder: Path, kind: Kind) -> str:
    """Gives a damaged file another name."""
    stem, ending = kind.file.rsplit(".", 1)
    aside = f"{stem}-damaged-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.{ending}"
    for part in ("-wal", "-shm", ""):
        if (file := folder / f"{kind.file}{part}").exists():
            file.replace(folder / f"{aside}{part}")
    return aside


def _take_over(damaged: Path, sound: sqlite3.Connection) -> int:
    """Copies the rows that can be read, from both ends up to the damage, and counts them."""
    held = 0
    tables = sound.execute("select name from sqlite_master where type = 'table'").fetchall()
    with suppress(sqlite3.Error), closing(sqlite3.connect(damaged)) as old:
        old.execute("pragma trusted_schema = off")
        sound.execute("begin")
        for (table,), order in product(tables, ("", "order by rowid desc")):
            with suppress(sqlite3.Error):
                for row in old.execute(f"select * from {table} {order}"):
                    marks = ", ".join("?" * len(row))
                    held += sound.execute(f"insert or ignore into {table} values ({marks})", row).rowcount
    if sound.in_transaction:
        sound.execute("commit")
    return held
