"""Inverted lists written straight into a Faiss file, list by list, so that memory does not grow with them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import faiss
import numpy as np
from numpy.typing import NDArray

from search.corpus.faiss_header import ARRAYS, FULL

GATHERED = 2**26
"""Bytes of lists that are put in order together."""
_COUNT, _VISITED = 8, 45
"""Where a file says how many vectors it holds, and how many lists are visited."""
_NO_LISTS = struct.calcsize("<4sqq4sq")
"""Bytes at the end of an empty index: that there are no vectors."""
_ROW = np.dtype(np.int64)


@dataclass(slots=True)
class _Runs:
    """Codes and rows of vectors in a file, chunk by chunk, each chunk in the order of its lists."""

    file: BinaryIO
    code_size: int
    starts: list[int] = field(default_factory=list)
    """Where each chunk begins."""
    sizes: list[NDArray[np.int64]] = field(default_factory=list)
    """[lists] of each chunk."""
    count: int = 0

    def add(self, lists: NDArray[np.int64], codes: NDArray[np.uint8], most: int) -> None:
        order = np.argsort(lists, kind="stable")
        self.starts.append(self.file.tell())
        self.sizes.append(np.bincount(lists, minlength=most))
        self.file.write(codes[order].tobytes())
        self.file.write((order + self.count).astype(_ROW).tobytes())
        self.count += len(lists)

    def read(self, first: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64]]:
        """The lists first:end of all chunks: list, code and row of each vector, in the order of lists."""
        lists, codes, rows = [], [], []
        for start, sizes in zip(self.starts, self.sizes, strict=True):
            before, mine = int(sizes[:first].sum()), int(sizes[first:end].sum())
            self.file.seek(start + before * self.code_size)
            codes.append(np.frombuffer(self.file.read(mine * self.code_size), np.uint8))
            self.file.seek(start + int(sizes.sum()) * self.code_size + before * _ROW.itemsize)
            rows.append(np.frombuffer(self.file.read(mine * _ROW.itemsize), _ROW))
            lists.append(np.repeat(np.arange(first, end), sizes[first:end]))
        numbers = np.concatenate(lists)
        order = np.argsort(numbers, kind="stable")
        return (
            numbers[order],
            np.concatenate(codes).reshape(-1, self.code_size)[order],
            np.concatenate(rows)[order],
        )


def write_lists(index: faiss.IndexIVF, chunks: Iterable[NDArray[np.float32]], path: Path) -> None:
    """Write the trained, empty index with the vectors of all chunks to `path`."""
    scratch = path.with_name(f"{path.name}.codes")
    with scratch.open("w+b") as file:
        runs = _Runs(file, index.code_size)
        for chunk in chunks:
            coded = index.sa_encode(chunk)
            wide = np.zeros((len(coded), 8), np.uint8)
            head = coded.shape[1] - index.code_size  # the number of the list comes first
            wide[:, :head] = coded[:, :head]
            runs.add(wide.view("<i8").ravel(), coded[:, head:], index.nlist)
        totals = np.stack(runs.sizes).sum(axis=0)
        with path.open("wb") as out:
            out.write(_head(index, runs.count))
            out.write(struct.pack("<4sqq4sq", ARRAYS, index.nlist, index.code_size, FULL, index.nlist))
            out.write(totals.astype("<i8").tobytes())
            for first, end in _parts(totals, GATHERED // (index.code_size + _ROW.itemsize)):
                _, codes, rows = runs.read(first, end)
                ends = totals[first:end].cumsum()
                for start, stop in zip(ends - totals[first:end], ends, strict=True):
                    out.write(codes[start:stop].tobytes())
                    out.write(rows[start:stop].tobytes())
    scratch.unlink()


def _head(index: faiss.IndexIVF, count: int) -> bytes:
    """An empty index as Faiss writes it, up to its lists, that says it holds `count` vectors."""
    head = bytearray(faiss.serialize_index(index).tobytes()[:-_NO_LISTS])
    struct.pack_into("<q", head, _COUNT, count)
    return bytes(head)


def _parts(sizes: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Neighbouring lists with about `most` vectors together."""
    parts = sizes.cumsum() // max(most, 1)
    bounds = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(sizes)]
    yield from pairwise(bounds)


def set_visited(path: Path, lists: int) -> None:
    """Note in the file how many lists a search visits."""
    with path.open("r+b") as file:
        file.seek(_VISITED)
        file.write(struct.pack("<q", lists))
