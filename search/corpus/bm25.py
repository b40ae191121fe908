"""Search by words: BM25 over title and abstract, memory-mapped."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from search.corpus.arrays import ReadArray, map_array, slices_of
from search.corpus.checksums import Blocks, DamagedError
from search.errors import CorpusError
from search.text.tokenizer import tokenize

SCORES, PAPERS, STARTS = "data.csc.index.npy", "indices.csc.index.npy", "indptr.csc.index.npy"
"""By term: the scores, the papers they belong to, and where each term's begin; named as `bm25s` does."""
TERMS, VOCABULARY, PARAMETERS = "terms.index.npy", "vocab.index.json", "params.index.json"
"""The numbers of the terms, ascending; builds made up to 0.8.0 have their texts and columns instead."""
_UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)
"""What reading a file can end in that was not written by us."""


REMEMBERED = 50_000
"""Terms whose columns are remembered: those of queries and of the papers that are shown."""
SPACING = 64
"""One score in so many is looked at to see how high the best are; chosen by hand."""
Columns: TypeAlias = Callable[[str], int | None]
Slices: TypeAlias = "NDArray[Any] | ReadArray"


def idf(papers: int, having: int) -> float:
    """How rare a term is that so many of the papers have: ln(1 + (N - df + 0.5) / (df + 0.5))."""
    return math.log(1 + (papers - having + 0.5) / (having + 0.5))


def number_of(term: str) -> int:
    """64 bits that stand for a term; two of a million terms share them once in forty million corpora."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest())


class LexicalIndex:
    """BM25 scores of every term in every paper, read from disk as they are needed.

    score(q, d) = Σ_t w_t · idf(t) · tf / (tf + k1·(1 - b + b·|d|/avg|d|)) with
    idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5)): Lucene's form of Robertson et al. (1994), as compared
    in Kamphuis et al. (2020). `terms` maps a term to its weight w_t. Safe to use from many threads.
    """

    def __init__(
        self, columns: Columns, scores: Slices, rows: Slices, starts: NDArray[Any], papers: int
    ) -> None:
        """By term: the scores, the papers they belong to, and where each term's begin."""
        self._column = columns
        self._scores, self._papers, self._starts = scores, rows, starts
        self.paper_count = papers
        self._blocks: list[tuple[Blocks, int]] = []

    @staticmethod
    def build(texts: Iterable[str], path: Path, k1: float = 1.2, b: float = 0.75) -> None:
        """Write the index of the papers' texts, in row order, into the folder `path`."""
        from search.corpus.postings import PostingsWriter

        writer = PostingsWriter(path.with_name(f"{path.name}.runs"))
        writer.add([Counter(tokenize(text)) for text in texts])
        writer.write(path, k1, b, writer.average)

    @classmethod
    def open(cls, path: Path, blocks: Mapping[str, Blocks] | None = None) -> LexicalIndex:
        """The index in `path`, memory-mapped, once its parts are known to fit each other.

        `blocks`, by the name of their file, are compared with their checksums as they are read.
        """
        try:
            papers = json.loads((path / PARAMETERS).read_text(encoding="utf-8"))["num_docs"]
            scores = slices_of(path / SCORES, np.float32)
            rows = slices_of(path / PAPERS, np.int32, np.int64)
            starts = map_array(path / STARTS, np.int32, np.int64)
            columns = _open_columns(path, len(starts) - 1)
            _check_parts(scores, rows, starts, papers)
            index = cls(columns, scores, rows, starts, papers)
        except _UNREADABLE as error:
            raise CorpusError(
                f"The word index {path} cannot be read ({error}); build the corpus again."
            ) from error
        index._blocks = [
            (blocks[name], array.itemsize)
            for name, array in ((SCORES, scores), (PAPERS, rows))
            if blocks and name in blocks
        ]
        return index

    def idf(self, term: str) -> float:
        """How rare a term is in this corpus, by the formula above."""
        return idf(self.paper_count, self.count_with(term))

    def count_with(self, term: str) -> int:
        """How many papers have a term."""
        start, end = self._span(term)
        return end - start

    def papers_with(self, term: str) -> NDArray[np.integer]:
        """The rows of the papers that have a term."""
        return self._papers[slice(*self._span(term))]

    def _span(self, term: str) -> tuple[int, int]:
        """Where the postings of a term lie."""
        column = self._column(term)
        return (0, 0) if column is None else (int(self._starts[column]), int(self._starts[column + 1]))

    def scores(self, terms: Mapping[str, float]) -> NDArray[np.float32]:
        """The score of every paper, [P] in row order; 0 where no term occurs."""
        scores = np.zeros(self.paper_count, np.float32)
        spans = {term: self._span(term) for term in terms}
        self._require_blocks(np.array(list(spans.values()), np.int64).reshape(-1, 2))
        for term, weight in terms.items():
            span = slice(*spans[term])
            try:  # twice as fast as += with an index, and rows of this kind are faster than of 32 bits
                np.add.at(scores, self._papers[span].astype(np.intp), np.float32(weight) * self._scores[span])
            except IndexError as error:
                raise DamagedError(
                    f"The word index has papers that are not there ({error}); build the corpus again."
                ) from error
        return scores

    def _require_blocks(self, spans: NDArray[np.int64]) -> None:
        for blocks, size in self._blocks:
            if not blocks.is_known:
                before = blocks.size - size * len(self._scores)  # the header of the file
                blocks.require(before + size * spans[:, 0], before + size * spans[:, 1])

    def search(
        self, terms: Mapping[str, float], k: int, allowed: NDArray[np.integer] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The up to `k` best papers that share a term: (scores, paper rows), best first.

        `allowed` holds the only paper rows that may be found.
        """
        return best(self.scores(terms), k, allowed)


def best(
    scores: NDArray[np.float32], k: int, allowed: NDArray[np.integer] | None = None
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The up to `k` highest of the scores above zero, best first, and where they stand."""
    rows = np.flatnonzero(scores > _low_bar(scores, k)) if allowed is None else allowed[scores[allowed] > 0]
    found = scores[rows]
    if k < len(rows):
        highest = np.argpartition(found, len(rows) - k)[len(rows) - k :]
        rows, found = rows[highest], found[highest]
    order = np.lexsort((rows, -found))
    return found[order], rows[order].astype(np.int64)


def _low_bar(scores: NDArray[np.float32], k: int) -> np.float32:
    """A score that at least `k` papers exceed, not many more where there are many papers; else 0."""
    drawn = scores[::SPACING]
    place = k // SPACING + SPACING
    if place >= len(drawn):
        return np.float32(0)
    bar = np.partition(drawn, len(drawn) - place)[len(drawn) - place]
    return bar if bar > 0 and np.count_nonzero(scores > bar) >= k else np.float32(0)


def _open_columns(path: Path, count: int) -> Columns:
    """The column of each term, each within `count`; a ValueError where not."""
    if not (path / TERMS).exists():
        return _read_vocabulary(path / VOCABULARY, count).get
    numbers = map_array(path / TERMS, np.uint64)
    if len(numbers) != count or (numbers[1:] <= numbers[:-1]).any():
        raise ValueError(f"{len(numbers)} terms for {count} columns")

    @lru_cache(maxsize=REMEMBERED)
    def column(term: str) -> int | None:
        number = np.uint64(number_of(term))
        place = int(np.searchsorted(numbers, number))
        return place if place < count and numbers[place] == number else None

    return column


def _read_vocabulary(path: Path, count: int) -> dict[str, int]:
    vocabulary: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))
    if not all(type(column) is int for column in vocabulary.values()):
        raise ValueError("terms without a column")
    columns = np.fromiter(vocabulary.values(), np.int64, len(vocabulary))
    if len(columns) != count or columns.min() < 0 or columns.max() >= count:
        raise ValueError(f"{len(columns)} terms for {count} columns")
    return vocabulary


def _check_parts(scores: Slices, rows: Slices, starts: NDArray[Any], papers: int) -> None:
    """Every column lies within the scores; a ValueError where not."""
    count = len(scores)
    if type(papers) is not int or not 0 <= papers < 2**31:
        raise ValueError(f"{papers!r} papers")
    fitting = len(starts) and (len(rows), starts[0], starts[-1]) == (count, 0, count)
    if not fitting or (np.diff(starts) < 0).any():
        raise ValueError(f"columns that do not fit {count} scores")
