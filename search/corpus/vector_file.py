"""Vectors of 16-bit numbers in a file, of which any rows can be read."""

from __future__ import annotations

import os
import weakref
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.corpus.arrays import map_array
from search.corpus.checksums import Blocks
from search.errors import CorpusError


class MappedVectors:
    """Vectors [n, d] of 16-bit numbers in a .npy file, mapped. Thread-safe."""

    def __init__(self, path: Path, blocks: Blocks | None = None) -> None:
        """`blocks`, where given, are compared with their checksums as they are read."""
        self._path = path
        self._mapped: NDArray[np.float16] = map_array(path, np.float16, columns=True)
        self._start = path.stat().st_size - self._mapped.nbytes
        self._blocks = blocks
        self.shape: tuple[int, int] = self._mapped.shape[0], self._mapped.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: int | slice | NDArray[np.integer]) -> NDArray[np.float16]:
        """The vectors of these rows in the order given."""
        if self._blocks and not self._blocks.is_known:
            self._require(np.atleast_1d(np.arange(len(self))[rows]))
        return self._mapped[rows]

    def _require(self, rows: NDArray[np.integer]) -> None:
        """Compare what these rows are read from with its checksums."""
        if self._blocks and not self._blocks.is_known:
            width = self._mapped.itemsize * self.shape[1]
            starts = self._start + rows.astype(np.int64) * width
            self._blocks.require(starts, starts + width)


class VectorFile(MappedVectors):
    """The same, but read instead of mapped.

    A mapped page counts as memory of the process from its first use on, and searches use nearly all of them
    in time. The system keeps what is read in its own cache all the same.
    """

    def __init__(self, path: Path, blocks: Blocks | None = None) -> None:
        super().__init__(path, blocks)
        self._file = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)  # open as long as the engine that reads it

    def __getitem__(self, rows: int | slice | NDArray[np.integer]) -> NDArray[np.float16]:
        """The vectors of these rows in the order given; neighbours are read in one go."""
        if isinstance(rows, int) or not hasattr(os, "preadv"):  # Windows
            return np.array(super().__getitem__(rows))
        wanted = np.arange(*rows.indices(len(self))) if isinstance(rows, slice) else rows
        found = np.empty((len(wanted), self.shape[1]), np.float16)
        if not len(wanted):
            return found
        if wanted.min() < 0 or wanted.max() >= len(self):
            raise CorpusError(f"The file {self._path} ends too early; build the corpus again.")
        self._require(wanted)
        breaks = np.flatnonzero(np.diff(wanted) != 1) + 1
        firsts = np.concatenate([[0], breaks])
        width = found.itemsize * self.shape[1]
        places = self._start + wanted[firsts].astype(np.int64) * width
        bounds = [*(firsts * width).tolist(), found.nbytes]
        target = found.data.cast("B")
        for (start, end), place in zip(pairwise(bounds), places.tolist(), strict=True):
            if os.preadv(self._file, [target[start:end]], place) != end - start:
                raise CorpusError(f"The file {self._path} ends too early; build the corpus again.")
        return found
