"""Which papers were reported for which kept search, and when: so that each is told once."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from search.errors import CorpusError

FILE = "watch.sqlite"
_SCHEMA = """
create table if not exists told (
    reader text not null, search text not null, paper text not null, told_at text not null,
    primary key (reader, search, paper));
create table if not exists runs (
    reader text not null, search text not null, build text not null, papers integer not null,
    primary key (reader, search));
"""


@dataclass(frozen=True, slots=True)
class Run:
    """The corpus as it was when a search was last looked at."""

    build: str
    papers: int


@dataclass(frozen=True, slots=True)
class Told:
    paper_id: str
    when: datetime


class Notes:
    """One file for all kept searches; `reader` keeps the command and the feeds apart. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(folder / FILE, check_same_thread=False, isolation_level=None)
            self._connection.execute("pragma trusted_schema = off")
            self._connection.execute("pragma journal_mode = wal")
            self._connection.executescript(_SCHEMA)
        except (sqlite3.Error, OSError) as error:
            raise CorpusError(
                f"The notes of what was reported in {folder} cannot be opened ({error}): set `library` to "
                "another folder."
            ) from error

    def close(self) -> None:
        self._connection.close()

    def last_run(self, reader: str, search: str) -> Run | None:
        with self._lock:
            row = self._connection.execute(
                "select build, papers from runs where reader = ? and search = ?", (reader, search)
            ).fetchone()
        return Run(*row) if row else None

    def told(self, reader: str, search: str) -> list[Told]:
        """The latest first."""
        with self._lock:
            rows = self._connection.execute(
                "select paper, told_at from told where reader = ? and search = ? "
                "order by told_at desc, rowid",
                (reader, search),
            ).fetchall()
        return [Told(paper, datetime.fromisoformat(when)) for paper, when in rows]

    def note(self, reader: str, search: str, run: Run, papers: Iterable[str]) -> None:
        """All of it or nothing; what another process has noted meanwhile stays as it is."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [(reader, search, paper, now) for paper in papers]
        with self._lock:
            self._connection.execute("begin immediate")
            self._connection.executemany("insert or ignore into told values (?, ?, ?, ?)", rows)
            self._connection.execute(
                "insert into runs values (?, ?, ?, ?) on conflict (reader, search) do update set "
                "build = excluded.build, papers = excluded.papers",
                (reader, search, run.build, run.papers),
            )
            self._connection.execute("commit")
