"""Search by words: BM25 over title and abstract, memory-mapped."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from numpy.typing import NDArray

from search.corpus.arrays import map_array, write_array
from search.corpus.checksums import Blocks, DamagedError
from search.errors import CorpusError
from search.text.tokenizer import tokenize

SCORES, PAPERS, STARTS = "data.csc.index.npy", "indices.csc.index.npy", "indptr.csc.index.npy"
"""By term: the scores, the papers they belong to, and where each term's begin; named as `bm25s` does."""
VOCABULARY, PARAMETERS = "vocab.index.json", "params.index.json"
_UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)
"""What reading a file can end in that was not written by us."""


def idf(papers: int, having: int) -> float:
    """How rare a term is that so many of the papers have: ln(1 + (N - df + 0.5) / (df + 0.5))."""
    return math.log(1 + (papers - having + 0.5) / (having + 0.5))


class LexicalBuilder:
    """Takes in the papers' texts in row order, then writes the index."""

    def __init__(self) -> None:
        self._vocabulary: dict[str, int] = {"": 0}  # bm25s wants a term, even of a corpus without words
        self._papers: list[array[int]] = []

    def add(self, text: str) -> None:
        known = self._vocabulary
        self._papers.append(array("i", (known.setdefault(term, len(known)) for term in tokenize(text))))

    @property
    def average(self) -> float:
        """Terms of a paper."""
        return sum(map(len, self._papers)) / max(len(self._papers), 1)

    def write(self, path: Path, k1: float = 1.2, b: float = 0.75) -> None:
        """Write the index of all texts so far into the folder `path`."""
        index = bm25s.BM25(k1=k1, b=b, method="lucene", csc_backend="scipy")
        with np.errstate(invalid="ignore"):  # no paper has a word: the average length is 0
            index.index((self._papers, self._vocabulary), create_empty_token=False, show_progress=False)
        path.mkdir(parents=True, exist_ok=True)
        for name, key in ((SCORES, "data"), (PAPERS, "indices"), (STARTS, "indptr")):
            write_array(path / name, index.scores[key])
        (path / VOCABULARY).write_text(json.dumps(index.vocab_dict, ensure_ascii=False), encoding="utf-8")
        parameters = {"k1": k1, "b": b, "method": index.method, "num_docs": index.scores["num_docs"]}
        (path / PARAMETERS).write_text(json.dumps(parameters, indent=1), encoding="utf-8")


class LexicalIndex:
    """BM25 scores of every term in every paper, read from disk as they are needed.

    score(q, d) = Σ_t w_t · idf(t) · tf / (tf + k1·(1 - b + b·|d|/avg|d|)) with
    idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5)): Lucene's form of Robertson et al. (1994), as compared
    in Kamphuis et al. (2020). `terms` maps a term to its weight w_t. Safe to use from many threads.
    """

    def __init__(self, index: bm25s.BM25, blocks: Mapping[str, Blocks] | None = None) -> None:
        """`blocks`, by the name of their file, are compared with their checksums as they are read."""
        self._vocabulary: dict[str, int] = index.vocab_dict
        # Plain views even of mapped files: slicing them is several times faster than slicing a memmap.
        self._scores: NDArray[np.float32] = np.asarray(index.scores["data"])
        self._papers: NDArray[np.int32] = np.asarray(index.scores["indices"])
        self._starts: NDArray[np.int64] = np.asarray(index.scores["indptr"])
        self.paper_count: int = index.scores["num_docs"]
        arrays = {SCORES: self._scores, PAPERS: self._papers}
        self._blocks = [
            (each, arrays[name].itemsize) for name, each in (blocks or {}).items() if name in arrays
        ]

    @staticmethod
    def build(texts: Iterable[str], path: Path, k1: float = 1.2, b: float = 0.75) -> None:
        """Write the index of the papers' texts, in row order, into the folder `path`."""
        builder = LexicalBuilder()
        for text in texts:
            builder.add(text)
        builder.write(path, k1, b)

    @classmethod
    def open(cls, path: Path, blocks: Mapping[str, Blocks] | None = None) -> LexicalIndex:
        """The index in `path`, memory-mapped, once its parts are known to fit each other."""
        try:
            index = bm25s.BM25()
            papers = json.loads((path / PARAMETERS).read_text(encoding="utf-8"))["num_docs"]
            index.vocab_dict = json.loads((path / VOCABULARY).read_text(encoding="utf-8"))
            index.scores = {
                "data": map_array(path / SCORES, np.float32),
                "indices": map_array(path / PAPERS, np.int32, np.int64),
                "indptr": map_array(path / STARTS, np.int32, np.int64),
                "num_docs": papers,
            }
            _check_parts(index.vocab_dict, index.scores)
            return cls(index, blocks)
        except _UNREADABLE as error:
            raise CorpusError(
                f"The word index {path} cannot be read ({error}); build the corpus again."
            ) from error

    def idf(self, term: str) -> float:
        """How rare a term is in this corpus, by the formula above."""
        return idf(self.paper_count, self.count_with(term))

    def count_with(self, term: str) -> int:
        """How many papers have a term."""
        column = self._vocabulary.get(term)
        return 0 if column is None else int(self._starts[column + 1] - self._starts[column])

    def papers_with(self, term: str) -> NDArray[np.integer]:
        """The rows of the papers that have a term."""
        column = self._vocabulary.get(term)
        if column is None:
            return np.empty(0, np.int32)
        return self._papers[self._starts[column] : self._starts[column + 1]]

    def scores(self, terms: Mapping[str, float]) -> NDArray[np.float32]:
        """The score of every paper, [P] in row order; 0 where no term occurs."""
        scores = np.zeros(self.paper_count, np.float32)
        self._require_blocks(terms)
        for term, weight in terms.items():
            column = self._vocabulary.get(term)
            if column is not None:
                span = slice(self._starts[column], self._starts[column + 1])
                # A paper occurs once per term, so the buffered += loses nothing.
                try:
                    scores[self._papers[span]] += np.float32(weight) * self._scores[span]
                except IndexError as error:
                    raise DamagedError(
                        f"The word index has papers that are not there ({error}); build the corpus again."
                    ) from error
        return scores

    def _require_blocks(self, terms: Iterable[str]) -> None:
        for blocks, size in self._blocks:
            if not blocks.is_known:
                columns = np.array(
                    [self._vocabulary[term] for term in terms if term in self._vocabulary], int
                )
                before = blocks.size - size * len(self._scores)  # the header of the file
                starts, ends = self._starts[columns], self._starts[columns + 1]
                blocks.require(before + size * starts.astype(np.int64), before + size * ends.astype(np.int64))

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
    rows = np.flatnonzero(scores > 0) if allowed is None else allowed[scores[allowed] > 0]
    found = scores[rows]
    if k < len(rows):
        highest = np.argpartition(found, len(rows) - k)[len(rows) - k :]
        rows, found = rows[highest], found[highest]
    order = np.lexsort((rows, -found))
    return found[order], rows[order].astype(np.int64)


def _check_parts(vocabulary: dict[str, int], scores: Mapping[str, Any]) -> None:
    """Every term has a column, every column lies within the scores; a ValueError where not."""
    starts, count, papers = scores["indptr"], len(scores["data"]), scores["num_docs"]
    if type(papers) is not int or not 0 <= papers < 2**31:
        raise ValueError(f"{papers!r} papers")
    if (len(scores["indices"]), starts[0], starts[-1]) != (count, 0, count) or (np.diff(starts) < 0).any():
        raise ValueError(f"columns that do not fit {count} scores")
    if not all(type(column) is int for column in vocabulary.values()):
        raise ValueError("terms without a column")
    columns = np.fromiter(vocabulary.values(), np.int64, len(vocabulary))
    if len(columns) != len(starts) - 1 or columns.min() < 0 or columns.max() >= len(columns):
        raise ValueError(f"{len(columns)} terms for {len(starts) - 1} columns")
