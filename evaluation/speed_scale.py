"""How a corpus grows: what it takes to build, to open, to search and to add to, from small to very large.

The corpora are made from the one given (`evaluation.synthetic`) and kept, so a run that is stopped goes on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from evaluation.build_steps import despite_kills, make
from evaluation.own_process import alone
from evaluation.scale_report import chart, table
from evaluation.scale_searches import agree, compare, serve

SIZES = (5_000, 65_000)
"""Papers; larger ones are asked for with --papers, for they take hours."""
ADDED = 1000
"""Papers added to each corpus."""
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
    parser.add_argument("--chart", type=Path, metavar="FILE", help="draw the growth there, as SVG")
    parser.add_argument(
        "--kills", type=int, default=0, metavar="N", help="kill the first build of each size so often"
    )
    parser.add_argument(
        "--compare",
        action="store_true",
        help="also score every paper, and build what was added to anew, to compare the rankings",
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
    if args.chart:
        args.chart.write_text(chart(found), encoding="utf-8")
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
        parts["every"] = partial(alone, compare, corpus)
        parts["anew"] = partial(alone, make, base, anew, papers + ADDED)
        parts["agree"] = partial(alone, agree, corpus, anew)
    for name, part in parts.items():
        if name not in figures:
            figures[name] = part()
            file.write_text(json.dumps(figures, indent=1))
    return {f"{name}_{key}": value for name, part in figures.items() for key, value in part.items()}
