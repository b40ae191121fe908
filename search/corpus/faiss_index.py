"""Search by meaning: Faiss over unit vectors, memory-mapped, the kind of index chosen by size.

The Faiss id of a vector is its row, as `search.corpus.store` numbers sentences and papers.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import faiss
import numpy as np
from numpy.typing import NDArray

from search.corpus.checksums import DamagedError
from search.corpus.faiss_header import check_file
from search.corpus.faiss_lists import set_visited, write_lists
from search.errors import CorpusError

FLAT_LIMIT = 200_000
"""Vectors up to which all are compared, in half precision; larger indices visit lists of near vectors.
With this many, one vector of 384 numbers takes about 5 milliseconds on one core. Chosen by hand."""
RECALL_SAMPLE, RECALL_DEPTH, RECALL_WANTED = 256, 100, 0.98
"""As many lists are visited as it takes to find this share of the true nearest RECALL_DEPTH vectors of
RECALL_SAMPLE vectors. The goal is 0.95; the rest is a margin."""
FEWEST_LISTS, LEAST_GAIN = 32, 0.002
"""Lists visited at first, then doubled until the recall grows by less than LEAST_GAIN; chosen by hand."""
TRAINING_PER_LIST = 40
"""Vectors that the centre of each list is trained on: Faiss by default warns below 39."""
CHUNK = 65_536
"""Vectors that are converted to 32 bits together, to save memory."""
ALONE_LIMIT = 1_000_000
"""Comparisons of vectors up to which a search takes one thread: about 20 milliseconds."""

MOST_TRAINING = 2**18
"""Vectors that lists are trained on at most: 400 MB at 384 numbers."""

Floats = NDArray[np.floating]


class Vectors(Protocol):
    """Vectors [n, d] of which any rows can be read: an array, or a file."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Any, /) -> Floats: ...


def build_index(vectors: Vectors, path: Path, flat_limit: int = FLAT_LIMIT) -> None:
    """Write the index of unit vectors [n, d] (an array or a file of them) to `path`.

    Flat: 16-bit numbers, 2·d bytes a vector, exact but for rounding. Above `flat_limit`: inverted lists
    (Sivic and Zisserman 2003) of 8-bit residuals, d bytes a vector, with as many lists visited as a
    sample of the vectors themselves needs. Lists are gathered on disk, so that memory does not grow.
    """
    if len(vectors) <= flat_limit:
        index = faiss.index_factory(vectors.shape[1], "SQfp16", faiss.METRIC_INNER_PRODUCT)
        index.train(_float32(vectors[:1]))
        for chunk in _chunks(vectors):
            index.add(chunk)
        _write(index, path)
    else:
        index = _train_lists(vectors)
        write_lists(index, _chunks(vectors), path)
        set_visited(path, _lists_to_visit(path, vectors))


def _write(index: faiss.Index, path: Path) -> None:
    """Faiss says only at times that the disk is full: the end of a file may be missing without an error."""
    try:
        faiss.write_index(index, str(path))
        check_file(path)
    except (RuntimeError, ValueError) as error:
        told = str(error)
        if isinstance(error, ValueError) or "write error" in told or os.strerror(errno.ENOSPC) in told:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
        raise


def _train_lists(vectors: Vectors) -> faiss.IndexIVF:
    """An empty index whose lists are trained on a sample."""
    count, dimension = vectors.shape
    lists = 2 ** round(math.log2(4 * math.sqrt(count)))
    index = faiss.index_factory(dimension, f"IVF{lists},SQ8", faiss.METRIC_INNER_PRODUCT)
    index.cp.max_points_per_centroid = TRAINING_PER_LIST
    index.cp.min_points_per_centroid = 1
    random = np.random.default_rng(0)
    wanted = min(count, lists * TRAINING_PER_LIST, MOST_TRAINING)
    sample = np.sort(random.choice(count, wanted, replace=False))
    on_gpu = faiss.get_num_gpus() > 0
    worker = faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, index) if on_gpu else index
    worker.train(_float32(vectors[sample]))
    return faiss.index_gpu_to_cpu(worker) if on_gpu else index


def _lists_to_visit(path: Path, vectors: Vectors) -> int:
    """How many lists to visit: doubled until a sample's true neighbours are found, or no more of them are."""
    index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
    random = np.random.default_rng(1)
    rows = np.sort(random.choice(len(vectors), min(len(vectors), RECALL_SAMPLE), replace=False))
    queries = _float32(vectors[rows])
    truth = nearest(queries, vectors, RECALL_DEPTH)
    visited, before = FEWEST_LISTS, 0.0
    while visited < index.nlist:
        found = index.search(queries, RECALL_DEPTH, params=faiss.SearchParametersIVF(nprobe=visited))[1]
        share = recall(found, truth)
        if share >= RECALL_WANTED:
            return visited
        if share - before < LEAST_GAIN:  # what is still missing is lost to rounding, not to the lists
            return visited // 2
        visited, before = visited * 2, share
    return int(index.nlist)


def nearest(queries: Floats, vectors: Vectors, k: int) -> NDArray[np.int64]:
    """The rows of the k largest inner products, [q, k], by comparing everything: the oracle."""
    heap = faiss.ResultHeap(len(queries), min(k, len(vectors)), keep_max=True)
    start = 0
    for chunk in _chunks(vectors):
        scores, rows = faiss.knn(queries, chunk, min(k, len(chunk)), metric=faiss.METRIC_INNER_PRODUCT)
        heap.add_result(scores, rows + start)
        start += len(chunk)
    heap.finalize()
    return heap.I


def recall(found: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
    """The share of the true rows [q, k] that were found [q, k']."""
    hits = [np.isin(true, mine).mean() for true, mine in zip(truth, found, strict=True)]
    return float(np.mean(hits))


def _chunks(vectors: Vectors) -> Iterator[NDArray[np.float32]]:
    for start in range(0, len(vectors), CHUNK):
        yield _float32(vectors[start : start + CHUNK])


def _float32(vectors: Floats) -> NDArray[np.float32]:
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

    @classmethod
    def of_rows(cls, rows: NDArray[np.integer], count: int) -> Selection:
        """These rows of `count`."""
        allowed = np.zeros(count, bool)
        allowed[rows] = True
        return cls(allowed)


class VectorIndex:
    """An index opened for reading. Safe to use from many threads."""

    def __init__(self, index: faiss.Index) -> None:
        self._index = index
        self.count: int = index.ntotal
        self.dimension: int = index.d

    @classmethod
    def open(cls, path: Path) -> VectorIndex:
        """The index in `path`, memory-mapped: pages are read as searches need them."""
        try:
            check_file(path)
            index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except (RuntimeError, OSError, ValueError) as error:
            reason = str(error).rsplit(":", 1)[-1].strip()
            raise CorpusError(
                f"The index {path} cannot be read ({reason}); build the corpus again."
            ) from error
        return cls(index)

    @property
    def kind(self) -> str:
        """For reports: "flat, 16 bit" or "512 lists, 16 visited, 8 bit"."""
        if isinstance(self._index, faiss.IndexIVF):
            return f"{self._index.nlist} lists, {self._index.nprobe} visited, 8 bit"
        return "flat, 16 bit"

    def search(
        self, queries: Floats, k: int, allowed: Selection | NDArray[np.integer] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Inner products and rows of the k best, each [q, k], best first; row -1 where there are fewer.

        `allowed` holds the only rows that may be found: the search itself is restricted to them.
        """
        if isinstance(allowed, np.ndarray):
            allowed = Selection.of_rows(allowed, self.count)
        k = min(k, self.count if allowed is None else allowed.count)
        if k == 0:
            empty = (len(queries), 0)
            return np.empty(empty, np.float32), np.empty(empty, np.int64)
        parameters = self._parameters(allowed)
        is_list = isinstance(self._index, faiss.IndexIVF)
        share = parameters.nprobe / self._index.nlist if is_list else 1.0
        with _threads_for(len(queries) * self.count * share):
            scores, rows = self._index.search(_float32(queries), k, params=parameters)
        if is_list and rows.max(initial=-1) >= self.count:
            raise DamagedError(
                f"An index has row {rows.max()} among {self.count} vectors; build the corpus again."
            )
        return scores, rows

    def _parameters(self, allowed: Selection | None) -> faiss.SearchParameters:
        selector = None if allowed is None else allowed.selector
        if not isinstance(self._index, faiss.IndexIVF):
            return faiss.SearchParameters(sel=selector)
        # The fewer vectors are allowed, the more lists are visited: work and recall stay the same.
        rarity = 1.0 if allowed is None else self.count / max(allowed.count, 1)
        visited = min(self._index.nlist, math.ceil(self._index.nprobe * rarity))
        return faiss.SearchParametersIVF(sel=selector, nprobe=visited)
