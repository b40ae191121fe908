"""Many visitors at once, and few for a long time: how long they wait, what the server takes."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.campaign.tally import Tally
from tests.campaign.visitors import Journey, visit_together

TICKS = 3
"""Sentences that a visitor ticks after the example."""
ROUND = 5
"""Visitors at once in a soak."""
GROWTH = {"MB": 60.0, "threads": 10.0, "files": 20.0}
"""By how much the last third of a soak may lie above the second; a leak of a session a round goes beyond."""


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, int]]:
    """The app on a small corpus: its address and process."""
    from tests.app_corpus import make_corpus
    from tests.browser.conftest import start_server

    server = start_server(make_corpus(folder / "corpus"), folder / "server")
    try:
        yield server.url, server.process.pid
    finally:
        server.stop()


def run(folder: Path, seed: int, visitors: Sequence[int], pause: float, urls: Sequence[str]) -> Tally:
    """Each number of visitors at each address in turn; without an address, at a server of its own."""
    if not urls:
        with served(folder) as (url, _):
            return run(folder, seed, visitors, pause, [url])
    tally, begun = Tally("load"), time.monotonic()
    for url in urls:  # what is loaded once is not counted
        asyncio.run(visit_together(url, 2, TICKS, seed, 0.0))
    for count in visitors:
        for url in urls:
            journeys, seconds = asyncio.run(visit_together(url, count, TICKS, seed, pause))
            tally.tries[f"{count} visitors"] += count
            tally.failures += [f"seed {seed}, {url}: {fault}" for each in journeys for fault in each.faults]
            tally.notes.append(f"{url}: {_in_words(count, journeys, seconds)}")
    tally.seconds = time.monotonic() - begun
    return tally


def _in_words(count: int, journeys: list[Journey], seconds: float) -> str:
    searches = sorted(time for each in journeys for time in each.searches) or [0.0]
    opened = statistics.median(each.opened for each in journeys)
    return (
        f"{count} visitors, {count / seconds:.2f} served a second; opening p50 {opened:.2f} s; "
        f"a search p50 {statistics.median(searches):.2f} s, p95 {percentile(searches, 0.95):.2f} s"
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


@dataclass(frozen=True, slots=True)
class Taken:
    """What the server takes at one moment."""

    MB: float
    threads: float
    files: float

    @staticmethod
    def by(process: int) -> Taken:
        status = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
        files = len(os.listdir(f"/proc/{process}/fd"))
        return Taken(int(status["VmRSS"].split()[0]) / 1000, float(status["Threads"]), files)


def soak(folder: Path, seed: int, minutes: float) -> Tally:
    """Visitors come and go; memory, threads and open files stay where they are."""
    tally, taken = Tally("soak"), list[Taken]()
    with served(folder) as (url, process):
        begun = time.monotonic()  # starting the server does not count: a short soak has a round, too
        while not taken or time.monotonic() < begun + 60 * minutes:
            number = seed + len(taken)
            journeys, _ = asyncio.run(visit_together(url, ROUND, TICKS, number, 0.0))
            tally.tries["visitors"] += ROUND
            tally.failures += [f"seed {number}: {fault}" for each in journeys for fault in each.faults]
            taken.append(Taken.by(process))
    tally.seconds = time.monotonic() - begun
    third = max(len(taken) // 3, 1)
    for what, most in GROWTH.items():
        before, after = (
            statistics.median(getattr(each, what) for each in part)
            for part in (taken[third:-third] or taken, taken[-third:])
        )
        tally.notes.append(f"{what}: {before:.0f} in the second third, {after:.0f} in the last")
        if after > before + most:
            tally.failures.append(f"seed {seed}: {what} grew from {before:.0f} to {after:.0f}")
    return tally
