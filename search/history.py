"""Searches by a short id: what a reload, a short link and the list of recent searches are made of."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from search.errors import CorpusError

FILE = "searches.sqlite"
BUILDS = 10
"""Builds that are looked back on for what a visitor saw last."""
MOST = 2000
"""Searches without a name that are kept for each owner; the oldest go first."""
_DAMAGE = ("malformed", "not a database")
"""How SQLite says that a file is damaged; a full disk or a file in use is none."""
_SCHEMA = """
create table if not exists searches (
    id text primary key, owner text not null, title text not null, name text not null default '',
    content text not null, first_used text not null, last_used text not null);
create index if not exists by_owner on searches (owner, last_used);
create table if not exists visits (
    owner text not null, build text not null, papers integer not null,
    first text not null, last text not null, primary key (owner, build));
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One search as the start page lists it."""

    id: str
    title: str
    name: str
    """Given by the visitor; empty for one that only happened."""
    last_used: datetime


@dataclass(frozen=True, slots=True)
class Before:
    """The corpus as a visitor saw it before it grew."""

    papers: int
    when: datetime


def new_id() -> str:
    """Nobody can guess it: whoever knows it may read the search."""
    return secrets.token_urlsafe(9)


class History:
    """Searches in a file of their own, or in memory for a host without a durable disk. Thread-safe."""

    def __init__(self, connection: sqlite3.Connection, folder: Path | None = None) -> None:
        self._connection = connection
        self._folder = folder
        self._lock = threading.Lock()

    @classmethod
    def open(cls, folder: Path | None) -> History:
        """The searches in `folder`; a damaged file is set aside, and a CorpusError says so, once."""
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            return cls(_connect(folder), folder)
        except (sqlite3.Error, OSError) as error:
            if folder is not None and _is_damage(error):
                raise _set_aside(folder) from error
            raise CorpusError(
                f"The searches in {folder} cannot be opened ({error}): set `library` to another folder."
            ) from error

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        """The connection for one visitor at a time; what goes wrong with the file becomes a sentence."""
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                if self._folder is None or not _is_damage(error):
                    raise CorpusError(
                        f"The searches in {self._folder} could not be kept or read ({error}): make room if "
                        "the disk is full, and try again."
                    ) from error
                self._connection.close()
                told = _set_aside(self._folder)
                self._connection = _connect(self._folder)
                raise told from error

    def put(self, id: str, owner: str, title: str, content: str) -> None:
        """Keeps the search as it is now; its name stays."""
        now = datetime.now(UTC).isoformat()
        with self._using() as connection:
            connection.execute(
                "insert into searches (id, owner, title, content, first_used, last_used) "
                "values (?, ?, ?, ?, ?, ?) on conflict (id) do update set "
                "title = excluded.title, content = excluded.content, last_used = excluded.last_used",
                (id, owner, title, content, now, now),
            )
            connection.execute(
                "delete from searches where id in (select id from searches where owner = ? and name = '' "
                "order by last_used desc limit -1 offset ?)",
                (owner, MOST),
            )

    def content(self, id: str) -> str:
        """What was put under this id; empty for one that is not there."""
        rows = self._rows("select content from searches where id = ?", [id])
        return str(rows[0][0]) if rows else ""

    def recent(self, owner: str, count: int) -> list[Entry]:
        """The last used first."""
        return self._entries("owner = ? order by last_used desc limit ?", [owner, count])

    def named(self, owner: str) -> list[Entry]:
        """Those with a name, in its order."""
        return self._entries("owner = ? and name != '' order by name, last_used desc", [owner])

    def entry(self, id: str) -> Entry | None:
        return next(iter(self._entries("id = ?", [id])), None)

    def rename(self, id: str, owner: str, name: str) -> None:
        """Gives the search a name, under which it is kept for good; an empty name takes it away."""
        self._rows("update searches set name = ? where id = ? and owner = ?", [name.strip()[:120], id, owner])

    def forget(self, id: str, owner: str) -> None:
        self._rows("delete from searches where id = ? and owner = ?", [id, owner])

    def clear(self, owner: str) -> None:
        """Forgets all searches of this owner that have no name."""
        self._rows("delete from searches where owner = ? and name = ''", [owner])

    def see(self, owner: str, build: str, papers: int, now: datetime | None = None) -> Before | None:
        """Notes that a visitor sees this build, and gives the one seen before it where that was smaller.

        For a day after the first look at a build, so that a reload does not make everything old.
        """
        now = now or datetime.now(UTC)
        with self._using() as connection:
            connection.execute(
                "insert into visits values (?, ?, ?, ?, ?) on conflict do update set last = excluded.last",
                (owner, build, papers, now.isoformat(), now.isoformat()),
            )
            rows = connection.execute(
                "select papers, first, last, build from visits where owner = ? order by last desc limit ?",
                (owner, BUILDS),
            ).fetchall()
        first = next(datetime.fromisoformat(row[1]) for row in rows if row[3] == build)
        others = [row for row in rows if row[3] != build and datetime.fromisoformat(row[2]) <= first]
        if not others or now - first > timedelta(days=1) or others[0][0] >= papers:
            return None
        return Before(others[0][0], datetime.fromisoformat(others[0][2]))

    def _entries(self, where: str, values: Sequence[Any]) -> list[Entry]:
        rows = self._rows(f"select id, title, name, last_used from searches where {where}", values)
        return [Entry(id, title, name, datetime.fromisoformat(used)) for id, title, name, used in rows]

    def _rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with self._using() as connection:
            return connection.execute(sql, values).fetchall()


def _connect(folder: Path | None) -> sqlite3.Connection:
    """Opens the file and looks through it, so that damage shows now."""
    target = ":memory:" if folder is None else str(folder / FILE)
    connection = sqlite3.connect(target, check_same_thread=False, isolation_level=None)
    try:
        connection.execute("pragma trusted_schema = off")  # the file may have been made by a stranger
        connection.execute("pragma journal_mode = wal")
        connection.executescript(_SCHEMA)
        if connection.execute("pragma quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("database disk image is malformed")
    except BaseException:
        connection.close()
        raise
    return connection


def _is_damage(error: Exception) -> bool:
    return any(words in str(error) for words in _DAMAGE)


def _set_aside(folder: Path) -> CorpusError:
    """Gives a damaged file another name, and says so as an error to raise."""
    aside = f"searches-damaged-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.sqlite"
    for ending in ("-wal", "-shm", ""):
        if (file := folder / f"{FILE}{ending}").exists():
            file.replace(folder / f"{aside}{ending}")
    return CorpusError(
        f"The list of searches in {folder} was damaged, so it begins anew, and the damaged file is kept as "
        f"{aside}; open the page again to go on."
    )
