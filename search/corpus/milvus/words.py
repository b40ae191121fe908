"""Search by words on Milvus: BM25 is an inner product of sparse vectors.

A paper has tf / (tf + k1·(1 - b + b·|d|/avg|d|)) for each of its terms, a query has its weight times idf.
What is counted over all papers (df, avg|d|) is fixed when the build is made. The sum is the score of
`search.corpus.bm25`, but for rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from search.corpus.milvus.server import MOST_FOUND, Server
from search.corpus.served import EVERYTHING, Found, Rows
from search.types import Filters

NONE: Found = (np.empty(0, np.float32), np.empty(0, np.int64))
Read = Callable[[Rows], list[tuple[NDArray[np.uint32], NDArray[np.float32]]]]


def weigh(counts: Mapping[int, int], average: float, k1: float, b: float) -> dict[int, float]:
    """What a paper has of each of its terms, from how often it has them."""
    length = sum(counts.values())
    longer = k1 * (1 - b + b * length / average) if average else k1
    return {term: count / (count + longer) for term, count in sorted(counts.items())}


class SparseWords:
    """One question in words, its terms by their numbers, each with weight times idf."""

    def __init__(
        self, server: Server, collection: str, terms: Mapping[int, float], where: Callable[[Filters], str]
    ) -> None:
        self._server, self._collection, self._terms, self._where = server, collection, dict(terms), where

    def best(self, k: int, filters: Filters = EVERYTHING) -> Found:
        if not self._terms or k < 1:
            return NONE
        hits = [(score, row) for score, row in self._search(k, self._where(filters)) if score > 0]
        hits.sort(key=lambda hit: (-hit[0], hit[1]))
        scores, rows = zip(*hits, strict=True) if hits else ((), ())
        return np.array(scores, np.float32), np.array(rows, np.int64)

    def of(self, rows: Rows) -> NDArray[np.float32]:
        scores = np.zeros(len(rows), np.float32)
        if self._terms:
            place = {int(row): number for number, row in enumerate(rows)}
            for start in range(0, len(rows), MOST_FOUND):
                some = [int(row) for row in rows[start : start + MOST_FOUND]]
                for score, row in self._search(len(some), f"row in {some}"):
                    scores[place[row]] = score
        return scores

    def _search(self, k: int, where: str) -> list[tuple[float, int]]:
        parameters = {"drop_ratio_search": 0.0}
        return self._server.nearest(self._collection, [self._terms], "terms", k, "row", where, parameters)[0]


class ReadWords:
    """The same on a server without sparse vectors: papers that are found otherwise get their exact scores.

    Words alone bring in no papers there.
    """

    def __init__(self, terms: Mapping[int, float], read: Read) -> None:
        self._terms, self._read = terms, read

    def best(self, k: int, filters: Filters = EVERYTHING) -> Found:
        return NONE

    def of(self, rows: Rows) -> NDArray[np.float32]:
        numbers = np.array(sorted(self._terms), np.int64)
        if not len(numbers):
            return np.zeros(len(rows), np.float32)
        asked = np.array([self._terms[int(number)] for number in numbers], np.float32)
        scores = np.zeros(len(rows), np.float32)
        for place, (terms, weights) in enumerate(self._read(rows)):
            at = np.minimum(np.searchsorted(numbers, terms), len(numbers) - 1)
            same = numbers[at] == terms
            scores[place] = float((asked[at[same]] * weights[same]).sum())
        return scores
