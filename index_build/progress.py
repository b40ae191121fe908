"""Progress of the command line: one line that moves on a terminal, plain lines now and then when piped."""

from __future__ import annotations

import sys
import time
from collections import deque
from types import TracebackType
from typing import Self, TextIO

STEPS = {
    "download": ("Downloading", "MB"),
    "fetch": ("Fetching", "records"),
    "import": ("Importing", "papers"),
    "encode": ("Encoding", "papers"),
    "store": ("Storing", "papers"),
    "index": ("Indexing", "indices"),
    "count": ("Reading", "papers"),
    "publish": ("Publishing", "papers"),
    "load": ("Indexing and loading on the server", ""),
}
EVERY = 10.0
"""Seconds between lines in a file or pipe, where no line can move."""
MOVES_EVERY = 0.1
"""Seconds between updates of the moving line on a terminal."""
RECENT = 30.0
"""Seconds over which the rate is measured: papers already in the cache pass much faster than others."""


class ProgressLine:
    """Shows how far a step is, how fast it goes and how long it will take."""

    def __init__(self, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._moves = self._stream.isatty()
        self._step = ""
        self._shown = 0.0
        self._seen: deque[tuple[float, int]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()

    def __call__(self, step: str, done: int, total: int) -> None:
        if self._quiet or not (done or total):
            return
        now = time.monotonic()
        if step != self._step:
            self.finish()
            self._step, self._shown = step, 0.0
            self._seen.clear()
        self._seen.append((now, done))
        while self._seen[0][0] < now - RECENT and len(self._seen) > 2:
            self._seen.popleft()
        ended = bool(total) and done >= total
        if ended or now - self._shown >= (MOVES_EVERY if self._moves else EVERY):
            self._shown = now
            first, before = self._seen[0]
            self._show(describe(step, done, total, done - before, now - first))
        if ended:
            self.finish()

    def _show(self, line: str) -> None:
        self._stream.write(f"\r\x1b[K{line}" if self._moves else f"{line}\n")
        self._stream.flush()

    def finish(self) -> None:
        """End the line, so that what follows begins a new one."""
        if self._step and self._moves:
            self._stream.write("\n")
        self._step = ""


def describe(step: str, done: int, total: int, since: int, seconds: float) -> str:
    """ "Encoding: 1,200 of 5,000 papers, 35/s, 1:48 left"."""
    verb, noun = STEPS.get(step, (step.capitalize(), ""))
    unit = 1_000_000 if noun == "MB" else 1
    shown = f"{done // unit:,} of {total // unit:,}" if total else f"{done // unit:,}"
    parts = [f"{verb}: {shown} {noun}"]
    rate = since / seconds if seconds > 0 else 0.0
    if rate and noun == "papers":
        parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s")
    if rate and noun in ("papers", "MB") and total > done:
        parts.append(f"{clock((total - done) / rate)} left")
    return ", ".join(parts)


def clock(seconds: float) -> str:
    """ "1:48" or "2:05:09"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
