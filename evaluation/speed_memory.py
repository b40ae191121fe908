"""Memory, opening time and index recall of a served corpus of 65 thousand papers, 450 thousand sentences."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.own_process import alone
from search.corpus.layout import SENTENCE_INDEX, SENTENCE_VECTORS, current_build

PAPERS, SEARCHES = 65_000, 50
"""Papers of the corpus, about those of the ACL Anthology with an abstract; searches before memory is read."""
RECALL_QUERIES, RECALL_DEPTH = 200, 100
"""Sentences whose nearest sentences are compared with the true ones, and how many of these."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--synthetic",
        type=Path,
        default=Path("build/synthetic"),
        metavar="DIR",
        help="where large corpora are made, and kept for the next run (default: build/synthetic)",
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Each part in a process of its own, so that making the corpus does not count as serving it."""
    base = args.corpus or _default_corpus()
    corpus = args.synthetic / str(PAPERS)
    figures: dict[str, Any] = {}
    for measure, arguments in ((_make, (base, corpus)), (_serve, (corpus,)), (recall_of, (corpus,))):
        figures |= alone(measure, *arguments)
    return figures


def _default_corpus() -> Path:
    from search.settings import load_settings

    return load_settings().corpus


def _make(base: Path, corpus: Path) -> dict[str, Any]:
    from evaluation.synthetic import make_corpus

    made = make_corpus(base, corpus, PAPERS)
    return {"papers": made.papers, "sentences": made.sentences}


def _serve(corpus: Path) -> dict[str, Any]:
    """Open and search as the app does."""
    started = time.perf_counter()
    from search.engine import Engine
    from search.types import Query

    imported = time.perf_counter()
    engine = Engine.open(corpus)
    opened = time.perf_counter()
    after_opening = resident_megabytes()
    for number in range(SEARCHES):
        engine.search(Query((engine.example(str(number * 1000)),)))
    return {
        "import_seconds": imported - started,
        "open_seconds": opened - imported,
        "resident_megabytes_after_opening": after_opening,
        f"resident_megabytes_after_{SEARCHES}_searches": resident_megabytes(),
    }


def resident_megabytes() -> float:
    """What this process holds in memory now, mapped files included as far as they were read."""
    if sys.platform == "linux":
        fields = Path("/proc/self/status").read_text().split("VmRSS:")[1].split()
        return int(fields[0]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)


def recall_of(corpus: Path) -> dict[str, Any]:
    """The share of the true nearest sentences the index finds, as it is searched."""
    from evaluation.synthetic import jitter
    from search.corpus.faiss_index import VectorIndex
    from search.corpus.faiss_making import nearest, recall
    from search.corpus.vector_file import VectorFile

    folder = current_build(corpus)
    vectors = VectorFile(folder / SENTENCE_VECTORS)
    index = VectorIndex.open(folder / SENTENCE_INDEX, lambda: vectors)
    random = np.random.default_rng(1)
    rows = np.sort(random.choice(len(vectors), RECALL_QUERIES, replace=False))
    queries = jitter(vectors[rows].astype(np.float32), random)
    found = index.search(queries, RECALL_DEPTH)[1]
    return {
        "sentence_index": index.kind,
        f"recall_at_{RECALL_DEPTH}": recall(found, nearest(queries, vectors, RECALL_DEPTH)),
    }
