"""A wish becomes answers on disk: asked once, kept as they came, and gone on with after any end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from index_build.fetch.asking import Asking
from index_build.fetch.catalogue import source_of
from index_build.fetch.journal import Journal, Run, now
from index_build.fetch.pace import Stop, nobody
from index_build.fetch.values import Call, Count, Heard, Since, Understand, Unreadable, Wish
from index_build.fetch.web import TRIES, Client
from search.errors import SettingsError
from search.settings import Settings

T = TypeVar("T")
Report = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Fetched:
    """What one run brought onto the disk."""

    run: Run
    announced: int | None
    received: int
    gaps: tuple[str, ...]
    notes: tuple[str, ...]
    missing: dict[str, str]
    calls: int
    """Requests that were sent; what was kept is not asked for again."""


def require_allowed(settings: Settings) -> None:
    """Where the host does not want it, nothing is fetched."""
    if not settings.allow_fetch:
        raise SettingsError(
            "This host does not let papers be fetched from live sources (allow_fetch = false): import files, "
            "or change the setting."
        )


class Direct:
    """Asks the sources and keeps nothing but the answers of this moment."""

    def __init__(self, settings: Settings, stop: Stop = nobody, tries: int = TRIES) -> None:
        require_allowed(settings)
        self._client = Client(settings, stop, tries)
        self._bodies: dict[str, bytes] = {}

    def __call__(self, call: Call, understand: Understand[T]) -> Heard[T]:
        answer, found = self._client(call, understand)
        self._bodies[call.key] = answer.body
        return Heard(call.key, answer.headers, found)

    def body(self, key: str) -> bytes:
        return self._bodies[key]


class Journaled:
    """Asks the sources, or gives what the same run was answered before it ended."""

    def __init__(self, journal: Journal, run: Run, settings: Settings, stop: Stop) -> None:
        self._journal, self._run = journal, run
        self.client = Client(settings, stop)

    def __call__(self, call: Call, understand: Understand[T]) -> Heard[T]:
        kept = self._journal.kept(self._run, call.key)
        if kept is not None:
            try:
                return Heard(call.key, kept.headers, understand(kept))
            except Unreadable:  # cannot be, unless a newer version understands less
                pass
        answer, found = self.client(call, understand)
        self._journal.keep(self._run, call, answer)
        return Heard(call.key, answer.headers, found)

    def body(self, key: str) -> bytes:
        kept = self._journal.kept(self._run, key)
        if kept is None:
            raise KeyError(key)
        return kept.body


def count(wish: Wish, settings: Settings, stop: Stop = nobody, tries: int = TRIES) -> Count:
    """How much there is, before anything is fetched."""
    direct = Direct(settings, stop, tries)
    return source_of(wish).count(Asking(wish, direct, settings, now()[:10], direct.body))


def fetch(
    corpus: Path,
    wish: Wish,
    settings: Settings,
    report: Report = lambda step, done, total: None,
    stop: Stop = nobody,
    news: bool = False,
) -> Fetched:
    """All answers for a wish, or what is new since its last run. Stopped or SourceError leave it to go on."""
    require_allowed(settings)
    source_of(wish)
    with Journal(corpus) as journal:
        done = journal.last_done(wish) if news else None
        run = journal.begin(wish, done.began[:10] if done else "")
        since = Since(run.since, done.state if done else {}) if run.since else None
        ask = Journaled(journal, run, settings, stop)
        asking = Asking(wish, ask, settings, run.began[:10], ask.body, since)
        if run.ended is None:
            _all_pages(journal, run, asking, report)
            run = journal.last(wish) or run
        return Fetched(
            run, asking.ledger.announced, run.received, run.gaps, tuple(asking.ledger.notes),
            journal.missing(wish), ask.client.sent,
        )  # fmt: skip


def _all_pages(journal: Journal, run: Run, asking: Asking, report: Report) -> None:
    place = 0
    for page in source_of(asking.wish).pages(asking):
        journal.add_page(run, place, page)
        place += 1
        journal.note(run, asking.ledger.announced, asking.ledger.received)
        report("fetch", asking.ledger.received, asking.ledger.announced or 0)
    journal.cut_pages(run, place)
    journal.note(run, asking.ledger.announced, asking.ledger.received)
    if asking.missing or not run.since:
        journal.set_missing(asking.wish, asking.missing)
    journal.end(run, asking.ledger.gaps, asking.state)
