"""What the API is given by the process it runs in: an engine, kept searches, keys, limits, threads."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from search.api.keys import Keys
from search.corpus.places import corpus_at
from search.errors import CorpusError
from search.history import History
from search.hosts import LOOPBACK
from search.settings import Settings
from search.watch.notes import Notes

if TYPE_CHECKING:
    from search.engine import Engine

log = logging.getLogger("triptych.api")
Work = Callable[[], Any]
Kept = TypeVar("Kept")
THREADS = 4 * max(2, os.cpu_count() or 2)
"""Each keeps the memory that a search once needed. More than cores, for a search waits in parts. By hand."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    engine: Callable[[], Engine]
    """The engine on the current build."""
    history: History | None
    """Kept searches; None where this host keeps none."""
    notes: Notes | None
    """What the feeds of kept searches have told; None where there are none."""
    keys: Keys | None
    """None where no key is asked for."""
    rate: int
    """Requests of one client in a minute."""
    origins: tuple[str, ...] = ()
    """Web sites whose pages may ask; none unless set."""
    allowed: Callable[[], Iterable[str]] = lambda: LOOPBACK
    """Host names that are answered to."""
    threads: int = THREADS
    ask: Callable[[str, Work], Any] = field(default=lambda client, work: work())
    """Does the work of a client, in one of `threads` threads: the app has clients and visitors take turns."""


class Opened:
    """The engine of the current build: opened when first asked for, again when another is published."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._corpus = corpus_at(settings.place, settings.milvus_token, settings.milvus_certificate)
        self._lock = threading.Lock()
        self._opened: tuple[str, Engine] | None = None

    def __call__(self) -> Engine:
        build = self._corpus.current() or self._corpus.builds()[0]  # says what to do where there is none
        with self._lock:
            if self._opened is None or self._opened[0] != build:
                from search.engine import Engine  # its libraries take a second to load

                self._opened = build, Engine.open(self._corpus, self._settings)
            return self._opened[1].in_service()


def open_twice(open: Callable[[], Kept]) -> Kept | None:
    """What keeps searches. A damaged file is set aside by the first try, and the second begins anew; None
    where there is no place for one, for answers need none."""
    for _ in range(2):
        try:
            return open()
        except CorpusError as error:
            log.warning("%s", error)
    return None


def alone(settings: Settings, rate: int, names: Iterable[str] = ()) -> Surroundings:
    """The surroundings of a process that does nothing but answer programs."""
    keeps = settings.history and not settings.session_library
    allowed = frozenset({*LOOPBACK, *settings.allowed_hosts, *names})
    return Surroundings(
        engine=Opened(settings),
        history=open_twice(lambda: History.open(settings.library)) if keeps else None,
        notes=open_twice(lambda: Notes(settings.library)) if keeps else None,
        keys=Keys(settings.library) if settings.api == "keys" else None,
        rate=rate,
        origins=settings.api_origins,
        allowed=lambda: allowed,
    )
