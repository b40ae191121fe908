"""Searching: each stage warm and cold, alone and eight at once, beside the usual ways, at three sizes.

The corpora are made from the one given (`evaluation.synthetic`). Queries are abstracts pasted as a user does,
by facet in turn and as wholes, each text new to the engine, so that every one is encoded.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluation import speed_baselines
from evaluation.synthetic import make_corpus
from search.corpus.layout import current_build
from search.engine import Engine
from search.errors import InputError
from search.query.choosing import choose_facet
from search.settings import Settings, load_settings
from search.types import PANELS, Facet, Paper, Query, QueryPaper

SIZES = (5_000, 20_000, 65_000)
"""Papers of the corpora that are searched."""
STAGES = ("encode", "candidates", "matching", "explanation", "total")
SEED, AT_ONCE, TOP = 4, 8, 20
"""Of the drawn queries; threads that search at once; results of a search."""
FEW = 8
"""Repetitions of what takes long."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--queries", type=int, default=200, metavar="N", help="how many (default: 200)")
    parser.add_argument(
        "--sizes",
        type=lambda text: tuple(map(int, text.split(","))),
        default=SIZES,
        metavar="N,N,N",
        help="papers of the corpora that are made and searched (default: 5000,20000,65000)",
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Stages at every size; agreement with scoring every paper at the first, baselines at the last."""
    base = args.corpus or load_settings().corpus
    figures: dict[str, Any] = {}
    for size in args.sizes:
        corpus = args.synthetic / str(size)
        settings = replace(load_settings(), encoder=make_corpus(base, corpus, size).encoder_name)
        engine = Engine.open(corpus, settings)
        tasks = sample(engine, args.queries)
        figures |= spread(f"warm_{size}", [ask(engine, task) for task in tasks])
        if size == args.sizes[0]:
            figures[f"overlap_with_exhaustive_{size}"] = overlap(engine, tasks)
    figures |= cold(corpus, settings, sample(engine, FEW, SEED + 1))
    figures |= eight_at_once(engine, sample(engine, args.queries, SEED + 2))
    figures |= speed_baselines.measure(engine, [task.paper for task in tasks[:FEW]])
    total, encode = (figures[f"warm_{size}_{stage}_p50_ms"] for stage in ("total", "encode"))
    figures["total_times_encode"] = total / encode
    figures["rank_bm25_times_total"] = figures["rank_bm25_p50_ms"] / total
    return figures


# -- queries


@dataclass(frozen=True, slots=True)
class Task:
    """A paper to paste and the panel to search by; None: the whole abstract."""

    paper: Paper
    facet: Facet | None


def sample(engine: Engine, count: int, seed: int = SEED) -> list[Task]:
    everything = engine.store.spread(engine.manifest.papers)
    rows = np.random.default_rng(seed).permutation(everything)[:count]
    panels = (None, *PANELS)
    papers = engine.store.papers_by_row(rows)
    return [Task(paper, panels[number % len(panels)]) for number, paper in enumerate(papers)]


def choose(paper: QueryPaper, facet: Facet | None) -> Query:
    try:
        return Query((choose_facet(paper, facet) if facet else paper,), top=TOP)
    except InputError:  # no sentence of this facet
        return Query((paper,), top=TOP)


def ask(engine: Engine, task: Task) -> dict[str, float]:
    """The seconds of each stage as the user waits for them: reading the pasted text counts as encoding."""
    started = time.perf_counter()
    query = choose(engine.read(task.paper.title, task.paper.abstract), task.facet)
    reading = time.perf_counter() - started
    seconds = engine.search(query).seconds
    return seconds | {"encode": reading + seconds["encode"], "total": reading + seconds["total"]}


def spread(name: str, measured: Sequence[dict[str, float]]) -> dict[str, float]:
    """p50 and p95 of each stage in milliseconds."""
    return {
        f"{name}_{stage}_p{percent}_ms": 1000
        * float(np.percentile([each[stage] for each in measured], percent))
        for stage in STAGES
        for percent in (50, 95)
    }


# -- the engine


def overlap(engine: Engine, tasks: Iterable[Task]) -> float:
    """How much of the best 20 of scoring every paper the search finds, on average."""
    ids = [paper.id for paper in engine.store.headings_by_row(engine.store.spread(engine.manifest.papers))]
    shares = []
    for task in tasks:
        query = choose(engine.example(task.paper.id), task.facet)
        results = engine.search(query).results
        found = [id for result in results for id in (result.paper.id, *result.duplicates)]
        every = [one.paper_id for one in engine.rank_pool(query, ids) if one.paper_id != task.paper.id]
        shares.append(len(set(found) & set(every[: len(found)])) / max(len(found), 1))
    return float(np.mean(shares))


def cold(corpus: Path, settings: Settings, tasks: Iterable[Task]) -> dict[str, float]:
    """The first search after opening, with the corpus out of the system's cache; the model is loaded."""
    opening, measured = [], []
    for task in tasks:
        forget(current_build(corpus))
        started = time.perf_counter()
        engine = Engine.open(corpus, settings)
        opening.append(time.perf_counter() - started)
        measured.append(ask(engine, task))
    return {"open_p50_ms": 1000 * float(np.median(opening))} | spread("cold", measured)


def forget(folder: Path) -> None:
    """Ask the system to drop its copies of these files, where it can be asked."""
    for file in folder.rglob("*"):
        if file.is_file() and hasattr(os, "posix_fadvise"):
            descriptor = os.open(file, os.O_RDONLY)
            try:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)


def eight_at_once(engine: Engine, tasks: Sequence[Task]) -> dict[str, float]:
    started = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        measured = list(pool.map(lambda task: ask(engine, task), tasks))
    rate = len(tasks) / (time.perf_counter() - started)
    return spread(f"{AT_ONCE}_at_once", measured) | {f"{AT_ONCE}_at_once_searches_per_second": rate}
