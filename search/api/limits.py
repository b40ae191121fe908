"""How much a client may ask: requests in a minute, bytes of a request, seconds of an answer."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

WINDOW = 60
"""Seconds over which requests are counted."""
MOST_CLIENTS = 10_000
"""Clients that are remembered; those heard of longest ago are forgotten first."""
MOST_BYTES = 4_000_000
"""Of a request: the longest query, a million characters, with room for its marks. Chosen by hand."""
MOST_PARTS = 500_000
"""Commas and brackets of a body: each takes far more memory when read. Ten times the longest query's."""
SMALL, MOST_HELD = 64_000, 16_000_000
"""Bytes up to which a body always has room, and those of all larger bodies at once. Chosen by hand."""
MOST_SECONDS = 30.0
"""Until a request has come in, and until its answer is ready. Chosen by hand; a search takes a tenth."""
MOST_WAITING = 64
"""Requests that wait for a thread; more are told to come back. Chosen by hand."""


class Room:
    """Memory for the bodies of all requests that are under way. For one thread: that of the event loop."""

    def __init__(self) -> None:
        self._left = MOST_HELD

    @contextmanager
    def share(self) -> Iterator[Callable[[int], bool]]:
        """What to ask whether a body may have so many bytes by now; all is given back in the end."""
        taken = 0

        def grow(size: int) -> bool:
            nonlocal taken
            more = max(0, size - SMALL) - taken
            if more > self._left:
                return False
            taken, self._left = taken + more, self._left - more
            return True

        try:
            yield grow
        finally:
            self._left += taken


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a client has left."""

    most: int
    left: int
    seconds: int
    """Until all is given back."""
    refused: bool

    @property
    def headers(self) -> dict[str, str]:
        """As the IETF's draft on RateLimit fields has them."""
        shown = {
            "RateLimit-Policy": f'"requests";q={self.most};w={WINDOW}',
            "RateLimit": f'"requests";r={self.left};t={self.seconds}',
        }
        return shown | ({"Retry-After": str(self.seconds)} if self.refused else {})


class Rates:
    """Counts the requests of each client in a window that begins with its first. Thread-safe."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._lock = threading.Lock()
        self._windows: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def take(self, client: str) -> Allowance:
        now = self._clock()
        with self._lock:
            began, count = self._windows.pop(client, (now, 0))
            if now - began >= WINDOW:
                began, count = now, 0
            self._windows[client] = began, count + 1
            if len(self._windows) > MOST_CLIENTS:
                self._windows.popitem(last=False)
        seconds = max(1, math.ceil(began + WINDOW - now))
        return Allowance(self._most, max(0, self._most - count - 1), seconds, count >= self._most)
