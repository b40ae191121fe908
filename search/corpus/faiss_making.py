"""Vectors made into an index file, the kind chosen by how many there are, in bounded memory."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Iterator
from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from search.corpus.faiss_header import check_file
from search.corpus.faiss_index import Floats, VectorIndex, Vectors, float32
from search.corpus.faiss_lists import set_visited, write_lists

FLAT_LIMIT = 200_000
"""Vectors up to which all are compared, in half precision; larger indices visit lists of near vectors.
With this many, one vector of 384 numbers takes about 5 milliseconds on one core. Chosen by hand."""
LISTS = 2
"""Lists for each vector of the square root of all, about. From the table in docs/scale.md."""
RECALL_SAMPLE, RECALL_DEPTH, RECALL_WANTED = 256, 100, 0.98
"""As many lists are visited as it takes to find this share of the true nearest RECALL_DEPTH vectors of
RECALL_SAMPLE vectors. The goal is 0.97; the rest is a margin."""
FEWEST_LISTS, LEAST_GAIN = 32, 0.002
"""Lists visited at first, then doubled until the recall grows by less than LEAST_GAIN; chosen by hand."""
TRAINING_PER_LIST = 40
"""Vectors that the centre of each list is trained on: Faiss by default warns below 39."""
MOST_TRAINING = 2**18
"""Vectors that lists are trained on at most: 400 MB at 384 numbers."""
CHUNK = 65_536
"""Vectors that are converted to 32 bits together, to save memory."""
CODES = "RaBitQ"
"""How the vectors of a list are kept, by the name that Faiss has for it."""


def build_index(vectors: Vectors, path: Path, flat_limit: int = FLAT_LIMIT) -> None:
    """Write the index of unit vectors [n, d] (an array or a file of them) to `path`.

    Flat: 16-bit numbers, 2·d bytes a vector, exact but for rounding. Above `flat_limit`: inverted lists
    (Sivic and Zisserman 2003) of residuals in one bit a number (RaBitQ: Gao and Long 2024), d/8 + 16 bytes a
    vector, what they find scored again by the vectors themselves; with as many lists visited as a sample of
    the vectors needs. Lists are gathered on disk, so that memory does not grow.
    """
    if len(vectors) <= flat_limit:
        index = faiss.index_factory(vectors.shape[1], "SQfp16", faiss.METRIC_INNER_PRODUCT)
        index.train(float32(vectors[:1]))
        for chunk in chunks(vectors):
            index.add(chunk)
        _write(index, path)
    else:
        index = train_lists(vectors)
        write_lists(index, chunks(vectors), path)
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


def train_lists(vectors: Vectors, lists: int = 0, codes: str = CODES) -> faiss.IndexIVF:
    """An empty index whose lists are trained on a sample; as many lists as suit the vectors, or as said."""
    count, dimension = vectors.shape
    lists = lists or 2 ** round(math.log2(LISTS * math.sqrt(count)))
    index = faiss.index_factory(dimension, f"IVF{lists},{codes}", faiss.METRIC_INNER_PRODUCT)
    index.cp.max_points_per_centroid = TRAINING_PER_LIST
    index.cp.min_points_per_centroid = 1
    random = np.random.default_rng(0)
    wanted = min(count, lists * TRAINING_PER_LIST, MOST_TRAINING)
    sample = np.sort(random.choice(count, wanted, replace=False))
    if faiss.get_num_gpus():
        index.clustering_index = faiss.index_cpu_to_all_gpus(faiss.IndexFlatIP(dimension))
    index.train(float32(vectors[sample]))
    return index


def _lists_to_visit(path: Path, vectors: Vectors) -> int:
    """How many lists to visit: doubled until a sample's true neighbours are found, or no more of them are."""
    index = VectorIndex.open(path, lambda: vectors)
    random = np.random.default_rng(1)
    rows = np.sort(random.choice(len(vectors), min(len(vectors), RECALL_SAMPLE), replace=False))
    queries = float32(vectors[rows])
    truth = nearest(queries, vectors, RECALL_DEPTH)
    visited, before = FEWEST_LISTS, 0.0
    while visited < index.lists:
        index.visited = visited
        share = recall(index.search(queries, RECALL_DEPTH)[1], truth)
        if share >= RECALL_WANTED:
            return visited
        if share - before < LEAST_GAIN:  # what is still missing is lost to rounding, not to the lists
            return visited // 2
        visited, before = visited * 2, share
    return index.lists


def nearest(queries: Floats, vectors: Vectors, k: int) -> NDArray[np.int64]:
    """The rows of the k largest inner products, [q, k], by comparing everything: the oracle."""
    heap = faiss.ResultHeap(len(queries), min(k, len(vectors)), keep_max=True)
    start = 0
    for chunk in chunks(vectors):
        scores, rows = faiss.knn(queries, chunk, min(k, len(chunk)), metric=faiss.METRIC_INNER_PRODUCT)
        heap.add_result(scores, rows + start)
        start += len(chunk)
    heap.finalize()
    return heap.I


def recall(found: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
    """The share of the true rows [q, k] that were found [q, k']."""
    hits = [np.isin(true, mine).mean() for true, mine in zip(truth, found, strict=True)]
    return float(np.mean(hits))


def chunks(vectors: Vectors) -> Iterator[NDArray[np.float32]]:
    for start in range(0, len(vectors), CHUNK):
        yield float32(vectors[start : start + CHUNK])
