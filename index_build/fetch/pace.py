"""One request at a time to each host, a pause apart, over all processes of this machine.

A small file for each host in the cache folder is locked during the request and holds the time of the last
one, and the time before which the host wants no other.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from index_build.fetch.values import Stopped
from index_build.publish import lock_file
from search.downloads import cache_root

POLL = 0.02
"""Seconds between two tries for the lock; chosen by hand."""
NAP = 0.2
"""The longest sleep before somebody's wish to stop is heard."""
MOST_HOLD = 3600.0
"""Seconds: what a file asks for beyond that comes from a clock that was wrong."""
_NOT_NAME = re.compile(r"[^a-z0-9.]")

Stop = Callable[[], bool]


def nobody() -> bool:
    """Nobody asks to stop."""
    return False


def sleep(seconds: float, stop: Stop = nobody) -> None:
    """Sleeps in naps, and ends early with Stopped."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if stop():
            raise Stopped
        time.sleep(min(left, NAP))


class Turn:
    """The right to send one request."""

    def __init__(self) -> None:
        self.last = time.time()
        self.hold = 0.0
        """Seconds for which the host wants no other request."""

    def arrived(self) -> None:
        """The host has the request for certain, so the pause counts from now."""
        self.last = time.time()


class Pace:
    def __init__(self, host: str, pause: float, folder: Path | None = None) -> None:
        self._path = (folder or cache_root() / "hosts") / f"{_NOT_NAME.sub('-', host.lower())}.times"
        self._pause = pause

    @contextmanager
    def turn(self, stop: Stop = nobody, after: float = 0.0) -> Iterator[Turn]:
        """Waits for a turn, at least `after` seconds, and holds it: nothing else is sent to this host."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a+", encoding="ascii") as file:
            _lock(file, stop)
            sleep(max(self._wait(file), after), stop)
            turn = Turn()
            _write(file, turn.last, 0.0)  # a process that is killed now has sent something
            try:
                yield turn
            finally:
                _write(file, turn.last, time.time() + turn.hold if turn.hold else 0.0)

    def _wait(self, file: IO[str]) -> float:
        file.seek(0)
        try:
            last, not_before = (float(word) for word in file.read(100).split())
        except ValueError:
            return 0.0
        now = time.time()
        last, not_before = min(last, now), min(not_before, now + MOST_HOLD)  # the clock may have been ahead
        return max(last + self._pause, not_before) - now


def _lock(file: IO[str], stop: Stop) -> None:
    while True:
        if stop():
            raise Stopped
        try:
            return lock_file(file.fileno())
        except OSError:
            time.sleep(POLL)


def _write(file: IO[str], last: float, not_before: float) -> None:
    file.seek(0)
    file.truncate()
    file.write(f"{last!r} {not_before!r}")
    file.flush()
