"""A large corpus built, step by step: the seconds and the most memory of each, kills and all."""

from __future__ import annotations

import json
import multiprocessing
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evaluation.own_process import alone
from evaluation.speed_memory import resident_megabytes
from search.corpus.layout import current_build

LOOKS = 0.2
"""Seconds between two looks at the memory."""
SHORTEST, PER_PAPER = 5.0, 1 / 3000
"""Seconds until a kill: at most so many, and so many more for each paper."""


def make(base: Path, corpus: Path, papers: int) -> dict[str, Any]:
    """Seconds and most memory of each step, those of killed runs included, and the bytes on disk."""
    from evaluation.synthetic import make_corpus

    with _watched(_notes(corpus, papers)) as steps:
        made = make_corpus(base, corpus, papers, steps.enter)
    build = current_build(corpus)
    return {
        "papers": made.papers,
        "sentences": made.sentences,
        "segments": len(made.parts),
        "seconds": steps.seconds,
        "peak_megabytes": steps.megabytes,
        "killed_in": steps.killed_in,
        "disk_megabytes": sum(path.stat().st_size for path in build.rglob("*") if path.is_file()) / 1e6,
    }


def despite_kills(kills: int, base: Path, corpus: Path, papers: int) -> dict[str, Any]:
    """The same in processes of their own, each killed at a moment drawn at random, but for the last."""
    moments = random.Random(papers)
    for _ in range(kills):
        process = multiprocessing.get_context("spawn").Process(target=make, args=(base, corpus, papers))
        process.start()
        process.join(moments.uniform(0, SHORTEST + papers * PER_PAPER))
        if process.exitcode is not None:  # it was done before
            break
        process.kill()
        process.join()
    return alone(make, base, corpus, papers)


def _notes(corpus: Path, papers: int) -> Path:
    return corpus.with_name(f"{corpus.name}-{papers}.steps.json")


class Steps:
    """The seconds of each step, and the most memory during it, noted in a file for the next run."""

    def __init__(self, notes: Path) -> None:
        before = json.loads(notes.read_text()) if notes.exists() else {}
        self.seconds: dict[str, float] = before.get("seconds", {})
        self.megabytes: dict[str, float] = before.get("megabytes", {})
        self.killed_in: list[str] = before.get("killed_in", [])
        """The step that each run before this one was in when it was killed."""
        if before:
            self.killed_in.append(before["step"])
        self._step, self._since = "start", time.monotonic()
        self._notes, self._lock = notes, threading.Lock()

    def enter(self, step: str, done: int, total: int) -> None:
        self.look()
        self._step = f"index {min(done + 1, total)} of {total}" if step == "index" else step

    def look(self) -> None:
        with self._lock:
            now, step = time.monotonic(), self._step
            self.seconds[step] = self.seconds.get(step, 0.0) + now - self._since
            self.megabytes[step] = max(self.megabytes.get(step, 0.0), resident_megabytes())
            self._since = now

    def note(self) -> None:
        noted = {"seconds": self.seconds, "megabytes": self.megabytes, "killed_in": self.killed_in}
        draft = self._notes.with_suffix(".part")
        draft.write_text(json.dumps(noted | {"step": self._step}))
        draft.replace(self._notes)


@contextmanager
def _watched(notes: Path) -> Iterator[Steps]:
    notes.parent.mkdir(parents=True, exist_ok=True)
    steps, ended = Steps(notes), threading.Event()

    def look() -> None:
        while not ended.wait(LOOKS):
            steps.look()
            steps.note()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield steps
        steps.look()
    finally:
        ended.set()
        thread.join()
