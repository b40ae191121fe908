"""Vector indices beside one another: codes, numbers of lists, lists visited, how many are compared again.

Of each, its size, the share of the true nearest sentences it finds, and the time of a search on one core.
Vectors are the sentences of a built corpus, queries such sentences moved a little.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from evaluation.own_process import alone
from evaluation.synthetic import jitter
from search.corpus.faiss_index import VectorIndex
from search.corpus.faiss_lists import write_lists
from search.corpus.faiss_making import chunks, nearest, recall, train_lists
from search.corpus.layout import SENTENCE_VECTORS, current_build
from search.corpus.vector_file import VectorFile
from search.errors import InputError

QUERIES, DEPTH, SEED = 200, 100, 1
CODES = ("SQ8", "RaBitQ")
LISTS = (1, 2, 4)
"""Lists for each vector of the square root of all."""
SHARES = (1 / 128, 1 / 64, 1 / 32, 1 / 16, 1 / 8)
"""Of the lists, how many are visited."""
AGAIN = (4, 10, 20)
"""What one-bit codes find is compared again by the vectors themselves: so many times DEPTH of it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sweep", type=Path, metavar="FILE", help="write the table of indices there")
    parser.add_argument("--vectors", type=int, metavar="N", help="only the first N sentences of the corpus")


def run(args: argparse.Namespace) -> dict[str, Any]:
    if args.corpus is None:
        raise InputError("Which sentences? Name a large built corpus with `--corpus DIR`.")
    figures = alone(sweep, current_build(args.corpus) / SENTENCE_VECTORS, args.vectors)
    if args.sweep:
        args.sweep.write_text(table(figures["indices"]), encoding="utf-8")
    return {"vectors": figures["vectors"], "indices": json.dumps(figures["indices"])}


@dataclass(frozen=True, slots=True)
class Measured:
    """One way to search one index."""

    codes: str
    lists: int
    visited: int
    again: int
    """Compared again; 0 for 8-bit codes, whose own scores stand."""
    megabytes: float
    recall: float
    milliseconds: float


class First:
    """The first vectors of a file."""

    def __init__(self, vectors: VectorFile, count: int | None) -> None:
        self._vectors = vectors
        self.shape = (min(count or len(vectors), len(vectors)), vectors.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | NDArray[np.integer]) -> NDArray[np.float16]:
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(len(self)))
        return self._vectors[rows]


def sweep(path: Path, count: int | None) -> dict[str, Any]:
    vectors = First(VectorFile(path), count)
    random = np.random.default_rng(SEED)
    rows = np.sort(random.choice(len(vectors), min(QUERIES, len(vectors)), replace=False))
    queries = jitter(vectors[rows].astype(np.float32), random)
    truth = nearest(queries, vectors, DEPTH)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for codes in CODES:
            for factor in LISTS:
                lists = 2 ** round(math.log2(factor * math.sqrt(len(vectors))))
                file = Path(folder) / f"{codes}-{lists}.faiss"
                write_lists(train_lists(vectors, lists, codes), chunks(vectors), file)
                index = VectorIndex.open(file, lambda: vectors)
                found += [asdict(each) for each in _searched(codes, index, file, queries, truth)]
                file.unlink()
    return {"vectors": len(vectors), "indices": found}


def _searched(
    codes: str, index: VectorIndex, file: Path, queries: NDArray[np.float32], truth: NDArray[np.int64]
) -> Iterator[Measured]:
    faiss.omp_set_num_threads(1)
    for share in SHARES:
        index.visited = max(round(index.lists * share), 1)
        for again in AGAIN if codes == "RaBitQ" else (0,):
            index.again, index.more = again, 0
            rows, seconds = [], []
            for query in queries:
                started = time.perf_counter()
                rows.append(index.search(query[None], DEPTH)[1][0])
                seconds.append(time.perf_counter() - started)
            share_found, size = recall(np.stack(rows), truth), file.stat().st_size / 1e6
            middle = 1000 * float(np.median(seconds))
            yield Measured(codes, index.lists, index.visited, again * DEPTH, size, share_found, middle)


def table(found: list[dict[str, Any]]) -> str:
    lines = [
        "| Codes | Lists | Visited | Compared again | MB | Recall@100 | ms |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in (Measured(**values) for values in found):
        again = str(each.again or "–")
        lines.append(
            f"| {each.codes} | {each.lists:,} | {each.visited} | {again} | {each.megabytes:,.0f} | "
            f"{each.recall:.3f} | {each.milliseconds:.1f} |"
        )
    return "\n".join(lines) + "\n"
