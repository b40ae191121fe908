"""Searches by a short id: what a reload, a short link and the list of recent searches are made of."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from search.errors import InputError
from search.sqlite_files import Kind, SqliteFile

FILE = "searches.sqlite"
BUILDS = 10
"""Builds that are looked back on for what a visitor saw last."""
MOST = 2000
"""Searches without a name that are kept for each owner; the oldest go first."""
LOOKED_THROUGH = 100
"""Searches among which the recent ones are looked for: of those with one paper the last is listed."""
_SCHEMA = """
create table if not exists searches (
    id text primary key, owner text not null, title text not null, name text not null default '',
    content text not null, first_used text not null, last_used text not null);
create index if not exists by_owner on searches (owner, last_used);
create table if not exists visits (
    owner text not null, build text not null, papers integer not null,
    first text not null, last text not null, primary key (owner, build));
"""
_KIND = Kind(FILE, _SCHEMA, "searches")
MOST_NAMED, MOST_CHARACTERS = 500, 20_000_000
"""Searches with a name that one owner can keep, and what they hold in all: the start page lists them, and
programs can ask for all of them at once. Chosen by hand."""


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

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    @classmethod
    def open(cls, folder: Path | None) -> History:
        """The searches in `folder`; a damaged file is set aside, and a CorpusError says so, once."""
        return cls(SqliteFile(folder, _KIND))

    def close(self) -> None:
        self._file.close()

    def put(self, id: str, owner: str, title: str, content: str) -> None:
        """Keeps the search as it is now; its name stays."""
        now = datetime.now(UTC).isoformat()
        with self._file.using() as connection:
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
        rows = self._file.rows("select content from searches where id = ?", [id])
        return str(rows[0][0]) if rows else ""

    def recent(self, owner: str, count: int) -> list[Entry]:
        """Those without a name, the last used first; of those with one title, the latest."""
        latest = "select id from searches where owner = ? and name = '' order by last_used desc limit ?"
        title = "case title when '' then content else title end"
        same = f"id in ({latest}) group by {title} order by last_used desc limit ?"
        return self._entries(same, [owner, LOOKED_THROUGH, count], "max(last_used) as last_used")

    def named(self, owner: str) -> list[Entry]:
        """Those with a name, in its order."""
        return self._entries("owner = ? and name != '' order by name, last_used desc", [owner])

    def entry(self, id: str) -> Entry | None:
        return next(iter(self._entries("id = ?", [id])), None)

    def rename(self, id: str, owner: str, name: str) -> None:
        """Gives the search a name, under which it is kept for good; an empty name takes it away."""
        if name.strip():
            self._require_room(id, owner)
        self._file.rows(
            "update searches set name = ? where id = ? and owner = ?", [name.strip()[:120], id, owner]
        )

    def forget(self, id: str, owner: str) -> None:
        self._file.rows("delete from searches where id = ? and owner = ?", [id, owner])

    def clear(self, owner: str) -> None:
        """Forgets all searches of this owner that have no name."""
        self._file.rows("delete from searches where owner = ? and name = ''", [owner])

    def see(self, owner: str, build: str, papers: int, now: datetime | None = None) -> Before | None:
        """Notes that a visitor sees this build, and gives the one seen before it where that was smaller.

        For a day after the first look at a build, so that a reload does not make everything old.
        """
        now = now or datetime.now(UTC)
        with self._file.using() as connection:
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

    def _require_room(self, id: str, owner: str) -> None:
        rows = self._file.rows(
            "select count(*), coalesce(sum(length(content)), 0) from searches "
            "where owner = ? and (name != '' or id = ?)",
            [owner, id],
        )
        count, characters = rows[0]
        if count > MOST_NAMED or characters > MOST_CHARACTERS:
            raise InputError(
                f"Up to {MOST_NAMED} searches of {MOST_CHARACTERS:,} characters in all are kept by name: "
                "take the name from some of them first."
            )

    def _entries(self, where: str, values: Sequence[Any], used: str = "last_used") -> list[Entry]:
        rows = self._file.rows(f"select id, title, name, {used} from searches where {where}", values)
        return [Entry(id, title, name, datetime.fromisoformat(used)) for id, title, name, used in rows]
