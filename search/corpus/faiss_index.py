"""Search by meaning: Faiss over unit vectors, memory-mapped, opened whatever kind of index it is.

The Faiss id of a vector is its row, as `search.corpus.store` numbers sentences and papers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import faiss
import numpy as np
from numpy.typing import NDArray

from search.corpus.checksums import DamagedError
from search.corpus.faiss_header import check_file
from search.errors import CorpusError

ALONE_LIMIT = 1_000_000
"""Comparisons of vectors up to which a search takes one thread: about 20 milliseconds."""
AGAIN, MORE = 4, 600
"""Of what codes of one bit find, so many times what is asked for, and so many more, are compared again by the
vectors themselves. From the table in docs/scale.md: with fewer, near ones are missed."""
TOGETHER = 32
"""Queries whose finds are compared again together, to save memory."""
FEW_ALLOWED = 20_000
"""Rows that may be found up to which their vectors are compared without a look at the lists: reading so many
takes less time than looking through all lists for them. Chosen by hand."""

Floats = NDArray[np.floating]


class Vectors(Protocol):
    """Vectors [n, d] of which any rows can be read: an array, or a file."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Any, /) -> Floats: ...


def float32(vectors: Floats) -> NDArray[np.float32]:
    return np.ascontiguousarray(vectors, np.float32)


@contextmanager
def _threads_for(comparisons: float) -> Iterator[None]:
    """Small searches run on the calling thread alone: waking others takes longer, above all when it is busy.

    OpenMP keeps the number for each calling thread, so searches at the same time do not disturb each other.
    """
    usual = faiss.omp_get_max_threads()
    if comparisons < ALONE_LIMIT:
        faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(usual)


class Selection:
    """The only rows that a search may find; made once, used by any number of searches."""

    def __init__(self, allowed: NDArray[np.bool_]) -> None:
        """`allowed` [n] says it of each row."""
        self.count = int(np.count_nonzero(allowed))
        # The selector points into the bits.
        self._bits = np.packbits(allowed, bitorder="little")
        self.selector = faiss.IDSelectorBitmap(self._bits)

    @property
    def rows(self) -> NDArray[np.int64]:
        return np.flatnonzero(np.unpackbits(self._bits, bitorder="little"))

    @classmethod
    def of_rows(cls, rows: NDArray[np.integer], count: int) -> Selection:
        """These rows of `count`."""
        allowed = np.zeros(count, bool)
        allowed[rows] = True
        return cls(allowed)


class VectorIndex:
    """An index opened for reading. Safe to use from many threads."""

    def __init__(self, index: faiss.Index, exact: Vectors | None = None) -> None:
        self._index = index
        self._exact = exact
        self.count: int = index.ntotal
        self.dimension: int = index.d
        self.lists: int = index.nlist if isinstance(index, faiss.IndexIVF) else 0
        """0 where all vectors are compared."""
        self.visited: int = index.nprobe if self.lists else 0
        """Lists that a search without a filter looks through."""
        self.again, self.more = AGAIN, MORE

    @classmethod
    def open(cls, path: Path, exact: Callable[[], Vectors] | None = None) -> VectorIndex:
        """The index in `path`, memory-mapped: pages are read as searches need them.

        `exact` opens the vectors themselves. An index of one bit a number needs them to compare again what
        it finds; others do not open them.
        """
        try:
            check_file(path)
            index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except (RuntimeError, OSError, ValueError) as error:
            reason = str(error).rsplit(":", 1)[-1].strip()
            raise CorpusError(
                f"The index {path} cannot be read ({reason}); build the corpus again."
            ) from error
        return cls(index, exact() if exact and isinstance(index, faiss.IndexIVFRaBitQ) else None)

    @property
    def kind(self) -> str:
        """For reports: "flat, 16 bit" or "512 lists, 16 visited, 8 bit"."""
        if not self.lists:
            return "flat, 16 bit"
        bits = "1 bit" if isinstance(self._index, faiss.IndexIVFRaBitQ) else "8 bit"
        return f"{self.lists} lists, {self.visited} visited, {bits}"

    def search(
        self, queries: Floats, k: int, allowed: Selection | NDArray[np.integer] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Inner products and rows of the k best, each [q, k], best first; row -1 where there are fewer.

        `allowed` holds the only rows that may be found: the search itself is restricted to them.
        """
        if isinstance(allowed, np.ndarray):
            allowed = Selection.of_rows(allowed, self.count)
        most = self.count if allowed is None else allowed.count
        k = min(k, most)
        if k == 0:
            empty = (len(queries), 0)
            return np.empty(empty, np.float32), np.empty(empty, np.int64)
        if self._exact is None:
            return self._find(float32(queries), k, allowed)
        few = allowed.rows if allowed and allowed.count <= FEW_ALLOWED else None
        wanted = min(self.again * k + self.more, most)
        found = []
        for start in range(0, len(queries), TOGETHER):
            mine = float32(queries[start : start + TOGETHER])
            rows = np.unique(self._find(mine, wanted, allowed)[1]) if few is None else few
            found.append(_compared(mine, rows[rows >= 0], self._exact, k))
        scores, rows = (np.concatenate(part) for part in zip(*found, strict=True))
        return scores, rows

    def _find(
        self, queries: NDArray[np.float32], k: int, allowed: Selection | None
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """By the index alone."""
        visited = self._to_visit(allowed)
        with _threads_for(len(queries) * self.count * (visited / self.lists if self.lists else 1.0)):
            scores, rows = self._index.search(queries, k, params=self._parameters(allowed, visited))
        if self.lists and rows.max(initial=-1) >= self.count:
            raise DamagedError(
                f"An index has row {rows.max()} among {self.count} vectors; build the corpus again."
            )
        return scores, rows

    def _to_visit(self, allowed: Selection | None) -> int:
        # The fewer vectors are allowed, the more lists are visited: work and recall stay the same.
        rarity = 1.0 if allowed is None else self.count / max(allowed.count, 1)
        return min(self.lists, math.ceil(self.visited * rarity))

    def _parameters(self, allowed: Selection | None, visited: int) -> faiss.SearchParameters:
        selector = None if allowed is None else allowed.selector
        if not self.lists:
            return faiss.SearchParameters(sel=selector)
        if isinstance(self._index, faiss.IndexIVFRaBitQ):
            return faiss.IVFRaBitQSearchParameters(sel=selector, nprobe=visited, qb=self._index.qb)
        return faiss.SearchParametersIVF(sel=selector, nprobe=visited)


def _compared(
    queries: NDArray[np.float32], rows: NDArray[np.int64], vectors: Vectors, k: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The k best of these rows for each query, [q, k], by the vectors themselves."""
    scores = np.full((len(queries), max(len(rows), k)), -np.inf, np.float32)
    # On this thread alone: there are few queries, and waking others would take longer.
    scores[:, : len(rows)] = np.einsum("md,sd->ms", queries, float32(vectors[rows]))
    best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    rows = np.pad(rows, (0, scores.shape[1] - len(rows)), constant_values=-1)
    return np.take_along_axis(scores, best, axis=1), rows[best]
