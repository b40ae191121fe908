"""The word index of any number of papers, made in bounded memory: sorted runs on disk, then merged.

What grows with the papers while it is made: four bytes for the length of each.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from search.corpus.arrays import write_array, writing_rows
from search.corpus.bm25 import PAPERS, PARAMETERS, SCORES, STARTS, TERMS, idf, number_of

POSTINGS = 4_000_000
"""Terms of papers that are sorted together: some 200 MB. Chosen by hand."""
BUCKETS = 4096
"""Parts of the range of term numbers, by which runs are merged."""
_SHIFT = np.uint64(64 - 12)


class PostingsWriter:
    """Takes in the terms of papers in the order of their rows, then writes the index."""

    def __init__(self, folder: Path, most: int = POSTINGS) -> None:
        """Runs go into `folder`, which is removed at the end."""
        folder.mkdir(parents=True)
        self._folder, self._most = folder, most
        self._lengths: list[NDArray[np.int32]] = []
        self._numbers: dict[str, int] = {}
        self._waiting: list[tuple[NDArray[Any], ...]] = []
        self._count = self.papers = 0
        self._runs: list[NDArray[np.int64]] = []
        """Of each run, how many of its postings lie in each bucket."""

    def add(self, papers: Sequence[Mapping[str, int]]) -> None:
        """How often each paper has each of its terms."""
        sizes = np.fromiter((len(terms) for terms in papers), np.int64, len(papers))
        terms = np.fromiter((self._number(term) for paper in papers for term in paper), np.uint64)
        times = np.fromiter((count for paper in papers for count in paper.values()), np.int32)
        rows = np.repeat(np.arange(self.papers, self.papers + len(papers), dtype=np.int32), sizes)
        lengths = (sum(paper.values()) for paper in papers)
        self._lengths.append(np.fromiter(lengths, np.int32, len(papers)))
        self._waiting.append((terms, rows, times))
        self._count += len(terms)
        self.papers += len(papers)
        if self._count >= self._most:
            self._write_run()

    def _number(self, term: str) -> int:
        number = self._numbers.get(term)
        if number is None:
            number = self._numbers[term] = number_of(term)
        return number

    def _write_run(self) -> None:
        terms, rows, times = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
        order = np.argsort(terms, kind="stable")  # the papers of a term stay in order
        terms = terms[order]
        with self._run(len(self._runs)).open("wb") as file:
            for part in (terms, rows[order], times[order]):
                file.write(part.tobytes())
        self._runs.append(np.bincount((terms >> _SHIFT).astype(np.int64), minlength=BUCKETS))
        self._waiting, self._count = [], 0
        self._numbers.clear()  # so that it does not grow with the papers

    def _run(self, number: int) -> Path:
        return self._folder / f"{number}.run"

    @property
    def average(self) -> float:
        """Terms of a paper."""
        total = sum(int(lengths.sum(dtype=np.int64)) for lengths in self._lengths)
        return total / self.papers if self.papers else 0.0

    def write(self, path: Path, k1: float, b: float, average: float) -> None:
        """Write the index into the folder `path`; `average` is the length that counts as neither long nor
        short."""
        if self._waiting:
            self._write_run()
        lengths = np.concatenate([*self._lengths, np.empty(0, np.int32)])
        with np.errstate(invalid="ignore", divide="ignore"):  # no paper has a word
            norms = k1 * (1 - b + b * lengths / average) if average else np.full(len(lengths), k1)
        total = int(sum(run.sum() for run in self._runs))
        path.mkdir(parents=True, exist_ok=True)
        terms: list[NDArray[np.uint64]] = []
        counts: list[NDArray[np.int64]] = []
        with (
            writing_rows(path / SCORES, np.float32, (total,)) as scores,
            writing_rows(path / PAPERS, np.int32, (total,)) as papers,
        ):
            for numbers, rows, times in self._merged():
                first = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]]))
                having = np.diff(np.append(first, len(numbers)))
                # In 32 bits, as `bm25s` has it: scores are the same as its own.
                rarity = np.array([idf(self.papers, int(count)) for count in having], np.float32)
                share = times / (norms[rows] + times)
                scores.write((np.repeat(rarity, having) * share).astype(np.float32).tobytes())
                papers.write(rows.tobytes())
                terms.append(numbers[first])
                counts.append(having)
        write_array(path / TERMS, np.concatenate([*terms, np.empty(0, np.uint64)]))
        write_array(path / STARTS, np.concatenate([[0], *counts]).cumsum().astype(np.int64))
        parameters = {"k1": k1, "b": b, "average": average, "num_docs": self.papers}
        (path / PARAMETERS).write_text(json.dumps(parameters, indent=1), encoding="utf-8")
        shutil.rmtree(self._folder)

    def _merged(self) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32]]]:
        """Terms, papers and counts in the order of terms, then papers; all papers of a term together."""
        if not self._runs:
            return
        sizes = np.stack(self._runs)  # [runs, buckets]
        starts = np.concatenate([np.zeros((len(sizes), 1), np.int64), sizes.cumsum(axis=1)], axis=1)
        files = [self._run(number).open("rb") for number in range(len(sizes))]
        try:
            for first, end in _parts(sizes.sum(axis=0), self._most):
                pieces = [
                    _read(file, int(mine[-1]), int(mine[first]), int(mine[end]))
                    for file, mine in zip(files, starts, strict=True)
                ]
                terms, rows, times = (np.concatenate(part) for part in zip(*pieces, strict=True))
                if len(terms):
                    order = np.argsort(terms, kind="stable")  # later runs hold later papers
                    yield terms[order], rows[order], times[order]
        finally:
            for file in files:
                file.close()


def _parts(sizes: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Neighbouring buckets with about `most` postings together."""
    parts = sizes.cumsum() // most
    yield from pairwise([0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(sizes)])


def _read(file: BinaryIO, total: int, first: int, end: int) -> tuple[NDArray[Any], ...]:
    """A span of a run of `total` postings."""
    found, before = [], 0
    for kind in (np.uint64, np.int32, np.int32):
        size = np.dtype(kind).itemsize
        file.seek(before + first * size)
        found.append(np.frombuffer(file.read((end - first) * size), kind))
        before += total * size
    return tuple(found)
