"""Work on the corpus that outlives a click: one job at a time, in a thread, watched from any page."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from pages.ui import faults, words
from pages.ui.words import counted
from search.corpus.layout import REJECTS
from search.errors import InputError, TriptychError
from search.settings import Settings
from search.types import Progress

SHOWN_REJECTS = 200
LONGEST_LINE = 1_000_000
"""Characters of a list of rejects that are read at once; ours hold a few thousand."""
"""Rejected records in the table; the file has all. Chosen by hand."""


@dataclass(slots=True)
class Job:
    """What is being done, how far it is, and how it ended."""

    title: str
    step: str = ""
    done: int = 0
    total: int = 0
    outcome: str = ""
    error: str = ""
    finished: bool = False
    stoppable: bool = False
    stopping: bool = False

    def report(self, step: str, done: int, total: int) -> None:
        self.step, self.done, self.total = step, done, total

    @property
    def text(self) -> str:
        return words.progress(self.step, self.done, self.total) if self.step else self.title

    @property
    def share(self) -> float:
        return words.share(self.done, self.total)


@dataclass(slots=True)
class Jobs:
    lock: threading.Lock = field(default_factory=threading.Lock)
    last: Job | None = None

    @property
    def is_busy(self) -> bool:
        return self.last is not None and not self.last.finished

    def stop(self) -> None:
        """Asks the work under way to end soon."""
        if self.last is not None:
            self.last.stopping = True

    def is_stopping(self) -> bool:
        return self.last is not None and self.last.stopping

    def begin(self, title: str, work: Callable[[Progress], str], stoppable: bool = False) -> None:
        """Starts the work unless other work is under way."""
        with self.lock:
            if self.is_busy:
                raise InputError("Papers are being added already: wait until that is done.")
            self.last = Job(title, stoppable=stoppable)
        threading.Thread(target=_run, args=(self.last, work), daemon=True).start()


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    return Jobs()


def _run(job: Job, work: Callable[[Progress], str]) -> None:
    try:
        job.outcome = work(job.report)
    except TriptychError as error:
        job.error = str(error)
    except Exception:
        job.error = faults.sentence()
    finally:
        job.finished = True


def add_file(settings: Settings, name: str, data: bytes, progress: Progress) -> str:
    """Adds the papers of a file to the corpus and serves it anew; says what came of it."""
    from index_build.importing import import_papers
    from index_build.isolated import read_upload
    from index_build.steps import as_built, build

    settings = as_built(settings)
    limit = settings.upload_papers
    with closing(read_upload(name, data, limit)) as items:
        summary = import_papers(settings.corpus, items, [name], limit=limit, progress=progress)
    stored = summary.stored
    if not stored.total:
        reasons = "; ".join(summary.rejected) or "it holds none"
        raise InputError(f"No paper could be taken from {name} ({reasons}): choose another file.")
    manifest = build(settings.corpus, settings, progress)
    told = (
        f"{counted(stored.added, 'paper')} added, {stored.unchanged:,} already there, "
        f"{stored.replaced:,} replaced, {stored.merged:,} merged, "
        f"{sum(summary.rejected.values()):,} rejected. "
        f"The corpus now has {counted(manifest.papers, 'paper')}."
    )
    more = f" Only the first {limit:,} were taken: larger files go through `python -m index_build add`."
    return told + (more if stored.total >= limit else "")


def make_demo(settings: Settings, progress: Progress) -> str:
    """Fetches the demo papers and builds the first corpus."""
    from index_build import demo
    from index_build.importing import import_papers
    from index_build.steps import build

    import_papers(settings.corpus, demo.papers(progress=progress), [demo.SAMPLE], progress=progress)
    manifest = build(settings.corpus, settings, progress)
    return f"The demo corpus is ready: {counted(manifest.papers, 'paper')}."


def rejects(corpus: Path) -> list[dict[str, Any]]:
    """The records that the last imports could not read, the first few hundred.

    A line that was cut off, because an import ended in the middle of it, is left out. So is a list that lies
    elsewhere: in a stranger's corpus, a link may lead to any file of ours.
    """
    found: list[dict[str, Any]] = []
    path = corpus / REJECTS
    if path.is_symlink() or not path.is_file():
        return found
    with suppress(OSError), path.open(encoding="utf-8", errors="replace") as file:
        for line, _ in zip(iter(lambda: file.readline(LONGEST_LINE), ""), range(SHOWN_REJECTS), strict=False):
            with suppress(ValueError, RecursionError):
                found.append(json.loads(line))
    return [each for each in found if isinstance(each, dict)]
