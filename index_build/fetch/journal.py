"""What sources answered, as it came, and how far each fetch is: all of it survives a kill at any moment.

DIR/raw/<day>/<source>/<run>-<number>.gz   an answer, packed with gzip
DIR/raw/journal.sqlite                     which answer belongs to which call of which run
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from index_build.fetch.values import Answer, Call, Page, Wish, wish_from
from index_build.fetch.web import LARGEST, kept_headers
from index_build.publish import full_disk_in_words, lock_file
from search.errors import CorpusError

RAW, FILE, LOCK = "raw", "journal.sqlite", "fetch.lock"
_SCHEMA = """
create table if not exists wishes (id text primary key, wish text not null, made text not null);
create table if not exists runs (
    run integer primary key, wish text not null, since text not null, began text not null,
    ended text, announced integer, received integer not null default 0, gaps text not null default '[]',
    state text not null default '{}', taken_in integer not null default 0);
create table if not exists answers (
    run integer not null, key text not null, file text not null, status integer not null,
    headers text not null, hash text not null, primary key (run, key)) without rowid;
create table if not exists pages (
    run integer not null, place integer not null, key text not null, records integer not null,
    gone text not null, source text not null, primary key (run, place)) without rowid;
create table if not exists origins (
    record text not null, origin text not null, primary key (record, origin)) without rowid;
create table if not exists missing (
    wish text not null, id text not null, why text not null, primary key (wish, id)) without rowid;
"""
_LEVEL = 4
"""Of gzip, for answers that came unpacked; a good half of the size for little time."""
_RUN = "run, wish, since, began, ended, announced, received, gaps, state, taken_in"


@dataclass(frozen=True, slots=True)
class Run:
    """One fetch of a wish, from its first call until its papers are in the corpus."""

    number: int
    wish: Wish
    since: str
    """The day from which news were asked for; empty for all there is."""
    began: str
    ended: str | None
    announced: int | None
    received: int
    gaps: tuple[str, ...]
    state: Mapping[str, str]
    taken_in: bool


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page of records whose answer is kept."""

    key: str
    records: int
    gone: tuple[str, ...]
    source: str


def raw_folder(corpus: Path) -> Path:
    return corpus / RAW


def has_journal(corpus: Path) -> bool:
    """Whether anything was ever fetched into this corpus."""
    return (raw_folder(corpus) / FILE).is_file()


@contextmanager
def only_fetcher(corpus: Path) -> Iterator[None]:
    """One fetch of a corpus at a time; the lock goes with the process, however it ends."""
    folder = raw_folder(corpus)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("a")
    except OSError as error:
        raise CorpusError(
            f"The folder {folder} cannot be written to ({error.strerror}): allow it, or name another corpus."
        ) from error
    with full_disk_in_words(corpus), file:
        try:
            lock_file(file.fileno())
        except OSError:
            raise CorpusError(
                f"Another fetch is under way for {corpus}; wait until it is done, then try again."
            ) from None
        yield


class Journal:
    """Thread-safe: the app looks at it while a fetch is under way."""

    def __init__(self, corpus: Path) -> None:
        self.folder = raw_folder(corpus)
        self._lock = threading.Lock()
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = sqlite3.connect(
                self.folder / FILE, check_same_thread=False, isolation_level=None, timeout=30
            )
            self._connection.execute("pragma trusted_schema = off")
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute("pragma synchronous = normal")
            self._connection.executescript(_SCHEMA)
        except sqlite3.Error as error:
            raise CorpusError(
                f"The journal {self.folder / FILE} cannot be read ({error}): move it away to begin anew."
            ) from error

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _do(self, query: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    # -- wishes and runs

    def remember(self, wish: Wish) -> None:
        """From now on this wish is brought up to date with the others."""
        text = json.dumps(wish.as_dict(), ensure_ascii=False)
        self._do("insert or ignore into wishes values (?, ?, ?)", wish.id, text, now())

    def forget(self, wish: Wish) -> None:
        """No longer bring it up to date; its papers stay."""
        self._do("delete from wishes where id = ?", wish.id)
        self._do("delete from missing where wish = ?", wish.id)

    def wishes(self) -> list[Wish]:
        """In the order they were first made."""
        return [wish_from(json.loads(text)) for (text,) in self._do("select wish from wishes order by rowid")]

    def begin(self, wish: Wish, since: str = "") -> Run:
        """The run of this wish that is under way, or a new one."""
        self.remember(wish)
        last = self.last(wish)
        if last is None or last.taken_in:
            self._do("insert into runs (wish, since, began) values (?, ?, ?)", wish.id, since, now())
            last = self.last(wish)
        assert last is not None
        return last

    def last(self, wish: Wish) -> Run | None:
        """The latest run of a wish, under way or not."""
        return next(iter(self._runs("where wish = ? order by run desc limit 1", wish.id)), None)

    def last_done(self, wish: Wish) -> Run | None:
        """The latest run whose papers are in the corpus."""
        where = "where wish = ? and taken_in = 1 order by run desc limit 1"
        return next(iter(self._runs(where, wish.id)), None)

    def runs(self) -> list[Run]:
        """All runs that were finished, in order."""
        return self._runs("where ended is not null order by run")

    def _runs(self, where: str, *values: Any) -> list[Run]:
        wishes = {wish.id: wish for wish in self.wishes()}
        found = self._do(f"select {_RUN} from runs {where}", *values)
        return [
            Run(
                number, wishes[wish], since, began, ended, announced, received,
                tuple(json.loads(gaps)), json.loads(state), bool(taken_in),
            )
            for number, wish, since, began, ended, announced, received, gaps, state, taken_in in found
            if wish in wishes
        ]  # fmt: skip

    def note(self, run: Run, announced: int | None, received: int) -> None:
        self._do("update runs set announced = ?, received = ? where run = ?", announced, received, run.number)

    def end(self, run: Run, gaps: Iterable[str], state: Mapping[str, str]) -> None:
        """Everything the source has for this run is here."""
        self._do(
            "update runs set ended = ?, gaps = ?, state = ? where run = ?",
            now(), json.dumps(list(gaps), ensure_ascii=False), json.dumps(dict(state)), run.number,
        )  # fmt: skip

    def took_in(self, run: Run) -> None:
        self._do("update runs set taken_in = 1 where run = ?", run.number)

    # -- answers

    def keep(self, run: Run, call: Call, answer: Answer) -> None:
        """The answer is on disk, whole, before the journal names it."""
        place = f"{now()[:10]}/{call.source}/{run.number:06}-{call.key[:12]}.gz"
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        packed = answer.packed or gzip.compress(answer.body, _LEVEL, mtime=0)
        draft = path.with_suffix(".part")
        draft.write_bytes(packed)
        os.replace(draft, path)
        headers = json.dumps(kept_headers(answer))
        self._do(
            "insert or replace into answers values (?, ?, ?, ?, ?, ?)",
            run.number, call.key, place, answer.status, headers, hashlib.sha256(packed).hexdigest(),
        )  # fmt: skip

    def kept(self, run: Run, key: str) -> Answer | None:
        """What was answered to this call in this run; None where it was not, or where the file is damaged."""
        query = "select file, status, headers, hash from answers where run = ? and key = ?"
        for file, status, headers, digest in self._do(query, run.number, key):
            with suppress(OSError, EOFError, zlib.error):
                packed = (self.folder / file).read_bytes()
                if hashlib.sha256(packed).hexdigest() == digest:
                    return Answer(status, json.loads(headers), _unpack(packed))
        return None

    def add_page(self, run: Run, place: int, page: Page) -> None:
        self._do(
            "insert or replace into pages values (?, ?, ?, ?, ?, ?)",
            run.number, place, page.key, len(page.ids), json.dumps(page.gone), page.source,
        )  # fmt: skip

    def cut_pages(self, run: Run, count: int) -> None:
        """The run has this many pages; a run that was begun again may have had more."""
        self._do("delete from pages where run = ? and place >= ?", run.number, count)

    def pages(self, run: Run) -> list[KeptPage]:
        """The pages of a run, in order."""
        query = "select key, records, gone, source from pages where run = ? order by place"
        return [
            KeptPage(key, records, tuple(json.loads(gone)), source)
            for key, records, gone, source in self._do(query, run.number)
        ]

    def file_of(self, run: Run, key: str) -> str:
        query = "select file from answers where run = ? and key = ?"
        return next((str(file) for (file,) in self._do(query, run.number, key)), "")

    # -- what is known of papers

    def add_origins(self, records: Iterable[str], origin: str) -> None:
        with self._lock:
            self._connection.execute("begin")
            rows = [(record, origin) for record in records]
            self._connection.executemany("insert or ignore into origins values (?, ?)", rows)
            self._connection.execute("commit")

    def origins(self, records: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """From where each of some records has ever come, in the order of the alphabet."""
        found: dict[str, tuple[str, ...]] = dict.fromkeys(records, ())
        among = "(select value from json_each(?))"
        query = f"select record, origin from origins where record in {among} order by origin"
        for record, origin in self._do(query, json.dumps(list(found))):
            found[record] += (origin,)
        return found

    def set_missing(self, wish: Wish, missing: Mapping[str, str]) -> None:
        """Identifiers of a list that no source knows, or knows without an abstract, and which it is."""
        with self._lock:
            self._connection.execute("begin")
            self._connection.execute("delete from missing where wish = ?", [wish.id])
            rows = [(wish.id, id, why) for id, why in missing.items()]
            self._connection.executemany("insert into missing values (?, ?, ?)", rows)
            self._connection.execute("commit")

    def missing(self, wish: Wish) -> dict[str, str]:
        return dict(self._do("select id, why from missing where wish = ? order by id", wish.id))


def _unpack(packed: bytes) -> bytes:
    body = gzip.decompress(packed)
    if len(body) > LARGEST:
        raise EOFError
    return body


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
