"""This engine beside that of another commit: the same searches in turn, by processor time and by the clock.

Each runs in a process of its own, from its own files, on a corpus of the demo papers that its own code built.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.campaign.tally import Tally

ROOT = Path(__file__).resolve().parents[2]
SEARCHING = """
import sys, time
from pathlib import Path
from search import Engine, Facet, Query, choose_facet
engine = Engine.open(Path(sys.argv[1]))
facets = (None, Facet.BACKGROUND, Facet.METHOD, Facet.RESULT)
print(flush=True)
for line in sys.stdin:
    number, id = line.split()
    paper, facet = engine.example(id), facets[int(number) % len(facets)]
    if facet and any(each.panel is facet for each in paper.sentences):
        paper = choose_facet(paper, facet)
    clock, processor = time.perf_counter(), time.process_time()
    engine.search(Query((paper,), top=20))
    print(time.perf_counter() - clock, time.process_time() - processor, flush=True)
"""
ALLOWED = 0.02
"""By how much this engine may be slower."""
FIRST = 20
"""Searches that only warm both up."""


class Other:
    """One engine that waits for its turn."""

    def __init__(self, tree: Path, corpus: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", SEARCHING, str(corpus)],
            cwd=tree,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def search(self, number: int, id: str) -> tuple[float, float]:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{number} {id}\n")
        self._process.stdin.flush()
        clock, processor = map(float, self._line().split())
        return clock, processor

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


def run(folder: Path, commits: list[str], times: int) -> Tally:
    """One commit, which is compared with the files that lie here, or two, the later last."""
    trees = {"before": folder / "tree before", "now": folder / "tree now" if commits[1:] else ROOT}
    for tree, commit in zip(trees.values(), commits, strict=False):
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", tree, commit], cwd=ROOT, check=True)
    try:
        return _compared(trees, folder, times)
    finally:
        for tree, _ in zip(trees.values(), commits, strict=False):
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)


def _compared(trees: dict[str, Path], folder: Path, times: int) -> Tally:
    tally, begun = Tally("before"), time.monotonic()
    engines = {name: Other(tree, _built(tree, folder / name)) for name, tree in trees.items()}
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in engines}
    for number, id in enumerate(_ids(trees["now"], folder / "now", times + FIRST)):
        for name, engine in engines.items():
            spent[name].append(engine.search(number, id))
    for engine in engines.values():
        engine.end()
    for place, what in enumerate(("the clock", "processor time")):
        before, now = ([each[place] for each in spent[name][FIRST:]] for name in ("before", "now"))
        slower = statistics.median(b / a for a, b in zip(before, now, strict=True)) - 1
        middle = [f"{1000 * statistics.median(some):.1f} ms" for some in (before, now)]
        tally.notes.append(
            f"By {what}: before {middle[0]}, now {middle[1]}; middle of the ratios {slower:+.1%}"
        )
    tally.tries["searches"] = times
    if slower > ALLOWED:
        tally.failures.append(f"{slower:.1%} slower by processor time")
    tally.seconds = time.monotonic() - begun
    return tally


def _built(tree: Path, corpus: Path) -> Path:
    command = [sys.executable, "-m", "index_build", "demo", "--out", str(corpus), "--quiet"]
    subprocess.run(command, cwd=tree, check=True, stdout=subprocess.DEVNULL)
    return corpus


def _ids(tree: Path, corpus: Path, count: int) -> list[str]:
    """Papers that both have, spread over the corpus."""
    code = (
        "import sys, json; from pathlib import Path; from search import Engine\n"
        "store = Engine.open(Path(sys.argv[1])).store; rows = store.spread(int(sys.argv[2]))\n"
        "print(json.dumps([each.id for each in store.headings_by_row(rows)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(corpus), str(count)],
        cwd=tree,
        check=True,
        capture_output=True,
        text=True,
    )
    return list(json.loads(done.stdout))
