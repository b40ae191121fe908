"""Which papers were reported for which kept search, and when: so that each is told once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from search.sqlite_files import Kind, SqliteFile

FILE = "watch.sqlite"
_SCHEMA = """
create table if not exists told (
    reader text not null, search text not null, paper text not null, told_at text not null,
    primary key (reader, search, paper));
create table if not exists runs (
    reader text not null, search text not null, build text not null, papers integer not null,
    primary key (reader, search));
"""
_KIND = Kind(FILE, _SCHEMA, "notes of what was reported")


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
        """The notes in `folder`; a damaged file is set aside, and a CorpusError says so, once."""
        self._file = SqliteFile(folder, _KIND)

    def close(self) -> None:
        self._file.close()

    def last_run(self, reader: str, search: str) -> Run | None:
        rows = self._file.rows(
            "select build, papers from runs where reader = ? and search = ?", (reader, search)
        )
        return Run(*rows[0]) if rows else None

    def told(self, reader: str, search: str) -> list[Told]:
        """The latest first."""
        rows = self._file.rows(
            "select paper, told_at from told where reader = ? and search = ? order by told_at desc, rowid",
            (reader, search),
        )
        return [Told(paper, datetime.fromisoformat(when)) for paper, when in rows]

    def note(self, reader: str, search: str, run: Run, papers: Iterable[str]) -> None:
        """All of it or nothing; what another process has noted meanwhile stays as it is."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [(reader, search, paper, now) for paper in papers]
        with self._file.using() as connection:
            connection.execute("begin immediate")
            connection.executemany("insert or ignore into told values (?, ?, ?, ?)", rows)
            connection.execute(
                "insert into runs values (?, ?, ?, ?) on conflict (reader, search) do update set "
                "build = excluded.build, papers = excluded.papers",
                (reader, search, run.build, run.papers),
            )
            connection.execute("commit")
