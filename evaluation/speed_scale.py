"""How a corpus grows: what it takes to build, to open, to search and to add to, from small to very large.

The corpora are made from the one given (`evaluation.synthetic`) and kept, so a run that is stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.build_steps import despite_kills, make
from evaluation.own_process import alone
from evaluation.speed_memory import resident_megabytes
from search.corpus.layout import current_build

SIZES = (5_000, 65_000)
"""Papers; larger ones are asked for with --papers, for they take hours."""
ADDED, QUERIES, TOP = 1000, 200, 20
"""Papers added to each corpus, searches that are timed and compared, results compared."""
FIGURES, GROWN, ANEW = "figures.json", "grown", "anew"
Part = Callable[[], dict[str, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--papers",
        type=lambda text: tuple(map(int, text.split(","))),
        default=SIZES,
        metavar="N,N",
        help="sizes of the growth table (default: 5000,65000)",
    )
    parser.add_argument(
        "--table", type=Path, metavar="FILE", help="write the growth table there, as Markdown"
    )
    parser.add_argument(
        "--kills", type=int, default=0, metavar="N", help="kill the first build of each size so often"
    )
    parser.add_argument(
        "--compare", action="store_true", help="build what was added to anew, too, and compare the rankings"
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    from search.settings import load_settings

    base = args.corpus or load_settings().corpus
    found = {
        str(size): measure(base, args.synthetic / f"scale-{size}", size, args.kills, args.compare)
        for size in args.papers
    }
    if args.table:
        args.table.write_text(table(found), encoding="utf-8")
    return {f"{name}_{size}": value for size, each in found.items() for name, value in each.items()}


def measure(base: Path, folder: Path, papers: int, kills: int, compared: bool) -> dict[str, Any]:
    """Each part in a process of its own; what was measured before is taken from its file.

    The first build is killed `kills` times on the way, and the command repeated.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / FIGURES
    figures: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    corpus = folder / GROWN
    anew = folder / ANEW
    parts: dict[str, Part] = {
        "build": partial(despite_kills, kills, base, corpus, papers),
        "search": partial(alone, serve, corpus),
        "add": partial(alone, make, base, corpus, papers + ADDED),
    }
    if compared:
        parts["anew"] = partial(alone, make, base, anew, papers + ADDED)
        parts["agree"] = partial(alone, agree, corpus, anew)
    for name, part in parts.items():
        if name not in figures:
            figures[name] = part()
            file.write_text(json.dumps(figures, indent=1))
    return {f"{name}_{key}": value for name, part in figures.items() for key, value in part.items()}


def serve(corpus: Path) -> dict[str, Any]:
    """Open and search as the app does."""
    from evaluation.speed_search import ask, sample

    started = time.perf_counter()
    engine = _opened(corpus)
    opened = time.perf_counter() - started
    after_opening = resident_megabytes()
    asked = [ask(engine, task) for task in sample(engine, QUERIES)]
    figures: dict[str, Any] = {"open_seconds": opened, "opened_megabytes": after_opening}
    for stage in ("encode", "total"):
        for percent in (50, 95):
            values = [each[stage] for each in asked]
            figures[f"{stage}_p{percent}_ms"] = 1000 * float(np.percentile(values, percent))
    return figures | {"searched_megabytes": resident_megabytes()}


def _opened(corpus: Path) -> Any:
    from search.corpus.manifest import read_manifest
    from search.engine import Engine
    from search.settings import load_settings

    encoder = read_manifest(current_build(corpus)).encoder_name
    return Engine.open(corpus, replace(load_settings(), encoder=encoder))


def agree(grown: Path, anew: Path) -> dict[str, Any]:
    """How much of the best results of a corpus built anew one that grew finds, on average and at worst."""
    from search.types import Query

    engines = _opened(grown), _opened(anew)
    ids = [each.id for each in engines[1].store.headings_by_row(engines[1].store.spread(QUERIES))]
    shares = []
    for id in ids:
        found = [
            {result.paper.id for result in engine.search(Query((engine.example(id),), top=TOP)).results}
            for engine in engines
        ]
        shares.append(len(found[0] & found[1]) / max(len(found[1]), 1))
    return {"top_20_overlap": float(np.mean(shares)), "least_overlap": float(np.min(shares))}


ROWS = {
    "Sentences": lambda each: f"{each['build_sentences']:,}",
    "Build, all steps": lambda each: _clock(sum(each["build_seconds"].values())),
    "Peak memory": lambda each: f"{max(each['build_peak_megabytes'].values()):,.0f} MB",
    "On disk": lambda each: f"{each['build_disk_megabytes']:,.0f} MB",
    "Opening": lambda each: f"{each['search_open_seconds']:.1f} s",
    "Search, p50 and p95": lambda each: (
        f"{each['search_total_p50_ms']:.0f} and {each['search_total_p95_ms']:.0f} ms"
    ),
    "p50 over encoding": lambda each: f"{each['search_total_p50_ms'] / each['search_encode_p50_ms']:.1f}",
    "Resident after searching": lambda each: f"{each['search_searched_megabytes']:,.0f} MB",
    f"Adding {ADDED:,}": lambda each: _clock(sum(each["add_seconds"].values())),
    "Overlap with a build anew": lambda each: f"{each['agree_top_20_overlap']:.3f}",
}
"""What the table shows of each size."""


def table(found: dict[str, dict[str, Any]]) -> str:
    """The growth table, then each step's time and memory; a dash where it was not measured."""
    sizes = [f"{int(size):,} papers" for size in found]
    rows = [[name, *(_shown(show, each) for each in found.values())] for name, show in ROWS.items()]
    steps = list(dict.fromkeys(step for each in found.values() for step in each["build_seconds"]))
    for step in steps:
        cells = [
            f"{_clock(each['build_seconds'][step])}, {each['build_peak_megabytes'].get(step, 0):,.0f} MB"
            if step in each["build_seconds"]
            else "–"
            for each in found.values()
        ]
        rows.append([f"Step: {step}", *cells])
    lines = [["", *sizes], ["---"] * (len(sizes) + 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _shown(show: Any, each: dict[str, Any]) -> str:
    try:
        return str(show(each))
    except KeyError:
        return "–"


def _clock(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
