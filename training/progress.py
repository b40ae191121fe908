"""Lines that a run prints, with the time of day."""

from __future__ import annotations

import time
from collections.abc import Callable

Say = Callable[[str], None]


def say(line: str) -> None:
    print(time.strftime("%H:%M:%S"), line, flush=True)


def count_up(say: Say, what: str = "hidden states") -> Callable[[int, int], None]:
    """A function to call with (done, total); it prints both and the minutes that are left."""
    started = time.monotonic()

    def progress(done: int, total: int) -> None:
        left = (time.monotonic() - started) / done * (total - done)
        say(f"{what} {done}/{total}, {left / 60:.1f} min left")

    return progress
