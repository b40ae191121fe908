"""Kills in every step that writes: what was served or reported as kept stays, and the work goes on later."""

from __future__ import annotations

import multiprocessing
import shutil
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from index_build import publish, steps
from index_build.folder_publisher import FolderPublisher
from index_build.importing import import_papers
from index_build.segment_writer import SegmentWriter
from index_build.verify import verify
from search.corpus import layout
from search.corpus.store import Snapshot, Store
from search.errors import CorpusError
from search.history import History
from search.library import database
from search.library.files import Kept
from search.library.store import Library
from search.types import Paper
from tests.campaign.killing import killed_within
from tests.campaign.tally import Effort, Tally, repeat
from tests.random_encoder import RandomEncoder
from tests.test_disk_full import papers

FEW, MANY = 30, 50
"""Papers that are served, and papers once the killed work is done."""
BATCH = 7
STEPS = {
    "encode": (steps, "_encode"),
    "collect": (SegmentWriter, "add"),
    "index": (SegmentWriter, "finish"),
    "publish": (FolderPublisher, "publish"),
    "swap": (publish, "replace_text"),
    "prune": (FolderPublisher, "prune"),
}
KINDS = ("import", "publish", "swap", *STEPS, "import", "keep", "mend", "search kept")
"""Import, publish and swap come twice, for they are what a reader could see."""


def run(effort: Effort) -> Tally:
    folder = effort.folder
    make_templates(folder)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.campaign.kill"])

    def attempt(number: int) -> tuple[str, str]:
        kind = KINDS[number % len(KINDS)]
        place = Path(shutil.copytree(folder / _template(kind), folder / "try"))
        told, tell = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(kind, place, number, tell))
        process.start()
        tell.close()
        process.join()
        reported = 0
        with suppress(EOFError):
            while True:
                reported = told.recv()
        problem = "" if process.exitcode == -9 else f"the process ended with {process.exitcode}"
        problem = problem or CHECKS.get(kind, check_corpus)(place, reported)
        shutil.rmtree(place)
        return kind, problem

    return repeat("kill", effort, attempt)


def make_templates(folder: Path) -> None:
    """A served corpus, the same with papers not yet built, a library, and a damaged one."""
    corpus = folder / "served"
    import_papers(corpus, papers(FEW))
    steps.build(corpus, encoder=RandomEncoder())
    shutil.copytree(corpus, folder / "grown")
    import_papers(folder / "grown", papers(MANY))
    library = Library.open(folder / "library")
    library.keep("Sea", _kept(0))
    library.close()
    shutil.copytree(folder / "library", folder / "damaged")
    (folder / "damaged" / database.FILE).write_bytes(b"broken")


def _template(kind: str) -> str:
    return {"import": "served", "keep": "library", "search kept": "library", "mend": "damaged"}.get(
        kind, "grown"
    )


def _kept(batch: int) -> list[Kept]:
    numbers = range(batch * BATCH, (batch + 1) * BATCH)
    return [Kept(Paper(f"p:{number}", f"Title {number}", "Water moves. " * 50)) for number in numbers]


# -- in the process that is killed


def work(kind: str, place: Path, seed: int, tell: Connection) -> None:
    match kind:
        case "import":
            killed_within(import_papers, seed)(place, papers(MANY))
        case "keep":
            database.COPY_EVERY = 0.0  # copies as often as can be: a kill may come at any moment of one
            killed_within(_keep, seed)(place, tell)
        case "mend":
            killed_within(_open_damaged, seed)(place)
        case "search kept":
            killed_within(_put, seed)(place, tell)
        case _:
            place_of, name = STEPS[kind]
            setattr(place_of, name, killed_within(getattr(place_of, name), seed))
            steps.build(place, encoder=RandomEncoder())


def _keep(place: Path, tell: Connection) -> None:
    library = Library.open(place)
    for batch in range(1, 8):
        library.keep("Sea", _kept(batch))
        tell.send((batch + 1) * BATCH)


def _open_damaged(place: Path) -> None:
    with suppress(CorpusError):
        Library.open(place)


def _put(place: Path, tell: Connection) -> None:
    history = History.open(place)
    for number in range(200):
        history.put(f"id-{number}", "", "Title", "{}")
        tell.send(number + 1)


# -- what must hold afterwards


def check_corpus(corpus: Path, _: int) -> str:
    if problems := verify(corpus):
        return f"verify found {problems[0]}"
    with Snapshot.open(layout.current_build(corpus) / layout.STORE) as snapshot:
        if (served := snapshot.counts().papers) not in (FEW, MANY):
            return f"{served} papers are served"
    with Store.open(corpus / layout.STORE) as store:
        if not FEW <= (there := store.counts().papers) <= MANY:
            return f"{there} papers are stored"
    import_papers(corpus, papers(MANY))
    if (built := steps.build(corpus, encoder=RandomEncoder()).papers) != MANY:
        return f"{built} papers after the next build"
    if problems := verify(corpus):
        return f"after the next build verify found {problems[0]}"
    left = [each for each in (corpus / layout.BUILDS).iterdir() if not (each / layout.MANIFEST).is_file()]
    return f"{left[0].name} is left" if left else ""


def check_library(place: Path, reported: int) -> str:
    with suppress(CorpusError):  # where the kill came before it was mended
        Library.open(place).close()
    library = Library.open(place)
    there = len(library.all_ids())
    library.close()
    if there % BATCH or there < max(reported, BATCH):
        return f"{there} papers are there, {reported} were reported"
    return ""


def check_kept(place: Path, reported: int) -> str:
    if problem := check_library(place, reported):
        return problem
    aside = list(place.glob("library-damaged-*"))
    return f"a sound library was taken for damaged: {aside[0].name}" if aside else ""


def check_searches(place: Path, reported: int) -> str:
    history = History.open(place)
    lost = [number for number in range(reported) if history.content(f"id-{number}") != "{}"]
    return f"search {lost[0]} of {reported} is lost" if lost else ""


CHECKS: dict[str, Callable[[Path, int], str]] = {
    "keep": check_kept,
    "mend": check_library,
    "search kept": check_searches,
}
