"""Arrays in .npy files: written plainly, and mapped only after the header was compared with the file."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from search.errors import CorpusError

LONGEST_HEADER = 1024
"""Bytes; the headers we write have about a hundred."""
_LENGTHS = {(1, 0): 2, (2, 0): 4}
"""Bytes of the header's length, by version of the format."""
_HEADER = re.compile(
    rb"\{'descr': '(?P<kind>[<>|][a-zA-Z]\d{1,4})', 'fortran_order': (?P<by_column>True|False), "
    rb"'shape': \((?P<shape>(?:-?\d{1,20}, ?){0,8}(?:-?\d{1,20})?)\), \} {0,128}\n"
)
MAPPED = 100_000_000
"""Bytes up to which a file is mapped that could as well be read; chosen by hand."""
PIECE = 2**24
"""Bytes that are written at a time."""


def map_array(path: Path, *kinds: DTypeLike, columns: bool = False) -> NDArray[Any]:
    """The array in `path`, read as it is needed: one of these kinds of numbers, [n] or with columns [n, d].

    Nothing is taken on trust: objects (which may hold code), other kinds and a shape that does not
    fit the size of the file are refused before any memory is asked for.
    """
    try:
        with path.open("rb") as file:
            shape, kind = _read_header(file)
            start, size = file.tell(), path.stat().st_size
        if kind not in {np.dtype(each) for each in kinds}:
            raise ValueError(f"it holds {kind}, not {' or '.join(str(np.dtype(each)) for each in kinds)}")
        if len(shape) != 1 + columns or min(shape) < 0 or start + _bytes(shape, kind) != size:
            raise ValueError(f"an array {shape} of {kind} does not fit its {size} bytes")
        # An empty file cannot be mapped. A plain view: its slices cost less than those of a memmap.
        return np.asarray(np.memmap(path, kind, "r", start, shape)) if start < size else np.empty(shape, kind)
    except (OSError, ValueError, TypeError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise CorpusError(f"The file {path} cannot be read ({reason}); build the corpus again.") from error


class ReadArray:
    """An array [n] in a file, of which slices are read. Thread-safe.

    A mapped page counts as memory of the process from its first use on; in time that is the whole file.
    """

    def __init__(self, path: Path, mapped: NDArray[Any]) -> None:
        """`mapped` is the same array as `map_array` gives it."""
        self.itemsize = mapped.itemsize
        self._kind, self._count = mapped.dtype, len(mapped)
        self._start = path.stat().st_size - mapped.nbytes
        self._path = path
        self._file = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, places: slice) -> NDArray[Any]:
        first, end, _ = places.indices(self._count)
        found: NDArray[Any] = np.empty(max(end - first, 0), self._kind)
        place = self._start + first * self.itemsize
        if len(found) and os.preadv(self._file, [found.view(np.uint8).data], place) != found.nbytes:
            raise CorpusError(f"The file {self._path} ends too early; build the corpus again.")
        return found


def slices_of(path: Path, *kinds: DTypeLike) -> NDArray[Any] | ReadArray:
    """The array in `path`, of which slices are wanted: mapped where it is small, as is faster, else read."""
    mapped = map_array(path, *kinds)
    return ReadArray(path, mapped) if mapped.nbytes > MAPPED and hasattr(os, "preadv") else mapped


def _read_header(file: BinaryIO) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and kind, from a header as NumPy writes it. NumPy itself would read any Python literal, and
    some that are damaged end in errors of Python's parser."""
    version = npy.read_magic(file)
    if version not in _LENGTHS:
        raise ValueError(f"version {version} of the format is not known")
    length = int.from_bytes(file.read(_LENGTHS[version]), "little")
    found = _HEADER.fullmatch(file.read(length)) if length <= LONGEST_HEADER else None
    if found is None:
        raise ValueError("its header is none that we write")
    shape = tuple(int(number) for number in found["shape"].split(b",") if number.strip())
    if found["by_column"] == b"True" and len(shape) > 1:
        raise ValueError("it is stored column by column")
    return shape, np.dtype(found["kind"].decode())


def _bytes(shape: tuple[int, ...], kind: np.dtype[Any]) -> int:
    count = kind.itemsize
    for length in shape:
        count *= length
    return count


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write a whole array. `numpy.save` can lose the end of one on a full disk without a word."""
    with writing_rows(path, array.dtype, array.shape) as file:
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        for start in range(0, len(data), PIECE):
            file.write(data[start : start + PIECE])


@contextmanager
def writing_rows(path: Path, kind: DTypeLike, shape: tuple[int, ...]) -> Iterator[BinaryIO]:
    """A file whose header is written; the caller writes the rows, as bytes and in order.

    Written plainly: on a full disk a write fails with an error, where a write into mapped memory would
    end the process.
    """
    with path.open("wb") as file:
        header = {"descr": npy.dtype_to_descr(np.dtype(kind)), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(file, header)
        yield file


class GrowingArray:
    """An array in a file that is written row by row, its length known at the end. A context manager."""

    def __init__(self, path: Path, kind: DTypeLike, *columns: int) -> None:
        """Of rows of `columns` numbers; without it, of single numbers."""
        self._kind, self._columns = np.dtype(kind), columns
        self.rows = 0
        self._file = path.open("wb")
        self._write_header()
        self._start = self._file.tell()

    def __enter__(self) -> GrowingArray:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write_header(self) -> None:
        shape = (self.rows, *self._columns)
        header = {"descr": npy.dtype_to_descr(self._kind), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(self._file, header)  # leaves room for any number of rows

    def append(self, rows: NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(rows, self._kind).tobytes())
        self.rows += len(rows)

    def close(self) -> None:
        if self._file.closed:
            return
        self._file.seek(0)
        self._write_header()
        if self._file.tell() != self._start:
            raise ValueError("the header of an array has grown")
        self._file.close()
