"""Search by meaning: Faiss over unit vectors, memory-mapped, the kind of index chosen by size.

The Faiss id of a vector is its row, as `search.store` numbers sentences and papers.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from search.errors import CorpusError

FLAT_LIMIT = 200_000
"""Up to here every vector is compared, in half precision; above, lists of near vectors are visited."""
RECALL_SAMPLE, RECALL_DEPTH, RECALL_WANTED = 256, 100, 0.98
"""Lists are visited until this share of the true neighbours of a sample is found: a margin over .95."""
FEWEST_LISTS, LEAST_GAIN = 32, 0.002
TRAINING_PER_LIST = 40
CHUNK = 65_536
ALONE_LIMIT = 1_000_000
"""Comparisons of vectors up to which a search takes one thread: some 20 milliseconds."""

Floats = NDArray[np.floating]


def build_index(vectors: Floats, path: Path, flat_limit: int = FLAT_LIMIT) -> None:
    """Write the index of unit vectors [n, d] (may be a float16 memory map) to `path`.

    Flat: 16-bit numbers, 2·d bytes a vector, exact but for rounding. Above `flat_limit`: inverted lists
    (Sivic and Zisserman 2003) of 8-bit residuals, d bytes a vector, with as many lists visited as a
    sample of the vectors themselves needs.
    """
    if len(vectors) <= flat_limit:
        index = faiss.index_factory(vectors.shape[1], "SQfp16", faiss.METRIC_INNER_PRODUCT)
        index.train(_float32(vectors[:1]))
        for chunk in _chunks(vectors):
            index.add(chunk)
    else:
        index = _build_lists(vectors)
    faiss.write_index(index, str(path))


def _build_lists(vectors: Floats) -> faiss.IndexIVF:
    count, dimension = vectors.shape
    lists = 2 ** round(math.log2(4 * math.sqrt(count)))
    index = faiss.index_factory(dimension, f"IVF{lists},SQ8", faiss.METRIC_INNER_PRODUCT)
    index.cp.max_points_per_centroid = TRAINING_PER_LIST
    index.cp.min_points_per_centroid = 1
    random = np.random.default_rng(0)
    sample = np.sort(random.choice(count, min(count, lists * TRAINING_PER_LIST), replace=False))
    on_gpu = faiss.get_num_gpus() > 0
    worker = faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, index) if on_gpu else index
    worker.train(_float32(vectors[sample]))
    for chunk in _chunks(vectors):
        worker.add(chunk)
    built = faiss.index_gpu_to_cpu(worker) if on_gpu else index
    built.nprobe = _lists_to_visit(built, vectors, random)
    return built


def _lists_to_visit(index: faiss.IndexIVF, vectors: Floats, random: np.random.Generator) -> int:
    """The fewest lists, doubling, that find enough of a sample's true neighbours, or all but as many."""
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


def nearest(queries: Floats, vectors: Floats, k: int) -> NDArray[np.int64]:
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


def _chunks(vectors: Floats) -> Iterator[NDArray[np.float32]]:
    for start in range(0, len(vectors), CHUNK):
        yield _float32(vectors[start : start + CHUNK])


def _float32(vectors: Floats) -> NDArray[np.float32]:
    return np.ascontiguousarray(vectors, np.float32)


@contextmanager
def _threads_for(comparisons: float) -> Iterator[None]:
    """A small search on this thread alone: to wake others takes longer, above all on a busy machine.

    OpenMP keeps the number for each calling thread, so searches at the same time do not disturb each other.
    """
    usual = faiss.omp_get_max_threads()
    if comparisons < ALONE_LIMIT:
        faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(usual)


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
            index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
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
        self, queries: Floats, k: int, allowed: NDArray[np.integer] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Inner products and rows of the k best, each [q, k], best first; row -1 where there are fewer.

        `allowed` holds the only rows that may be found: the search itself is restricted to them.
        """
        k = min(k, self.count if allowed is None else len(allowed))
        if k == 0:
            empty = (len(queries), 0)
            return np.empty(empty, np.float32), np.empty(empty, np.int64)
        selector = None if allowed is None else self._selector(allowed)
        parameters = self._parameters(k, selector, allowed)
        is_list = isinstance(self._index, faiss.IndexIVF)
        share = parameters.nprobe / self._index.nlist if is_list else 1.0
        with _threads_for(len(queries) * self.count * share):
            scores, rows = self._index.search(_float32(queries), k, params=parameters)
        return scores, rows

    def _selector(self, allowed: NDArray[np.integer]) -> faiss.IDSelector:
        mask = np.zeros(self.count, bool)
        mask[allowed] = True
        return faiss.IDSelectorBitmap(np.packbits(mask, bitorder="little"))

    def _parameters(
        self, k: int, selector: faiss.IDSelector | None, allowed: NDArray[np.integer] | None
    ) -> faiss.SearchParameters:
        if not isinstance(self._index, faiss.IndexIVF):
            return faiss.SearchParameters(sel=selector)
        # The fewer vectors may be found, the more lists are visited: the work stays, the recall too.
        rarity = 1.0 if allowed is None else self.count / max(len(allowed), 1)
        visited = min(self._index.nlist, math.ceil(self._index.nprobe * rarity))
        return faiss.SearchParametersIVF(sel=selector, nprobe=visited)


class VectorFile:
    """Vectors [n, d] of 16-bit numbers in a .npy file, of which any rows can be had. Thread-safe.

    They are read, not mapped: a mapped page counts as memory of the process from its first use on, and
    searches use nearly all of them in time. The system keeps them in its own cache all the same.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mapped = np.load(path, mmap_mode="r")
        self._file = path.open("rb", buffering=0)
        self.shape: tuple[int, int] = self._mapped.shape

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | NDArray[np.integer]) -> NDArray[np.float16]:
        """The vectors of these rows in the order given; neighbours are read in one go."""
        if not hasattr(os, "preadv"):  # Windows
            return np.array(self._mapped[rows])
        wanted = np.arange(*rows.indices(len(self))) if isinstance(rows, slice) else rows
        found = np.empty((len(wanted), self.shape[1]), np.float16)
        if not len(wanted):
            return found
        breaks = np.flatnonzero(np.diff(wanted) != 1) + 1
        firsts = np.concatenate([[0], breaks])
        width = found.itemsize * self.shape[1]
        places = self._mapped.offset + wanted[firsts].astype(np.int64) * width
        bounds = [*(firsts * width).tolist(), found.nbytes]
        target, file = found.data.cast("B"), self._file.fileno()
        for (start, end), place in zip(pairwise(bounds), places.tolist(), strict=True):
            if os.preadv(file, [target[start:end]], place) != end - start:
                raise CorpusError(f"The file {self._path} ends too early; build the corpus again.")
        return found
