"""What a run prints."""

from __future__ import annotations

import time
from collections.abc import Callable

Say = Callable[[str], None]


def say(line: str) -> None:
    print(time.strftime("%H:%M:%S"), line, flush=True)


def progress_of(say: Say, what: str = "hidden states") -> Callable[[int, int], None]:
    """How many of them there are, and how long the rest will take."""
    started = time.monotonic()

    def progress(done: int, total: int) -> None:
        left = (time.monotonic() - started) / done * (total - done)
        say(f"{what} {done}/{total}, {left / 60:.1f} min left")

    return progress
