"""The head of a Faiss file, read before Faiss does: every length in it must fit the file.

Faiss takes the lengths as they stand and asks for as much memory as they say.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

FLAT, BYTES, BITS, CENTRES = b"IxSQ", b"IwSq", b"Iwrq", b"IxFI"
"""How the kinds of index begin: all vectors compared, lists of 8-bit codes (written up to 0.8.0), lists of
1-bit codes; and the centres of lists within them."""
ARRAYS, FULL, SPARSE = b"ilar", b"full", b"sprs"
"""Lists in memory, and their lengths: of all, or only of those that are not empty."""
_INDEX, _QUANTISER, _BIT_QUANTISER = "4siqqqBi", "iifqqq", "qqi"
_HALF, _BYTE = 4, 0
"""Kinds of quantiser: 16-bit numbers, 8 bits between limits."""
_FACTORS = 8
"""Bytes of the two numbers that go with the bits of a vector."""
MOST_LISTS = 2**24
"""Far more than any index has; their lengths are read into memory."""


class _Head:
    """Numbers taken from the beginning of a file one after another."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self.left = file, size

    def take(self, layout: str) -> tuple[Any, ...]:
        wanted = struct.calcsize(f"<{layout}")
        data = self._file.read(wanted)
        if len(data) < wanted:
            raise ValueError("it ends too early")
        self.left -= wanted
        return struct.unpack(f"<{layout}", data)

    def numbers(self, count: int) -> NDArray[np.int64]:
        self.left -= 8 * count
        return np.frombuffer(self._file.read(8 * count), "<i8")

    def skip(self, count: int) -> None:
        require(0 <= count <= self.left, f"a part of {count} bytes is longer than the file")
        self._file.seek(count, 1)
        self.left -= count


def require(fits: bool, otherwise: str) -> None:
    if not fits:
        raise ValueError(otherwise)


def check_file(path: Path) -> tuple[int, int]:
    """How many vectors of how many numbers the index in `path` holds; a ValueError where it cannot."""
    with path.open("rb") as file:
        head = _Head(file, path.stat().st_size)
        kind, dimension, count, _, _, trained, metric = head.take(_INDEX)
        require(kind in (FLAT, BYTES, BITS), f"it is of the kind {kind!r}, which Triptych does not write")
        require(0 < dimension <= 2**16 and count >= 0, f"{count} vectors of {dimension} numbers")
        require(trained == 1 and metric == 0, "it does not compare by inner products")
        if kind == FLAT:
            _check_quantiser(head, dimension, _HALF, 2 * dimension)
            rest = head.take("q")[0]
            require(rest == 2 * dimension * count, f"{rest} bytes for {count} vectors of {dimension} numbers")
        else:
            rest = _check_lists(head, kind, dimension, count)
        require(head.left == rest, f"{head.left} bytes of vectors instead of {rest}")
        return count, dimension


def _check_quantiser(head: _Head, dimension: int, kind: int, size: int) -> None:
    found, _, _, numbers, code_size, limits = head.take(_QUANTISER)
    require((found, numbers, code_size) == (kind, dimension, size), "its vectors are stored in a foreign way")
    require(limits == (2 * dimension if kind == _BYTE else 0), f"{limits} limits of {dimension} numbers")
    head.skip(4 * limits)


def _check_bit_quantiser(head: _Head, dimension: int, size: int) -> None:
    found = head.take(_BIT_QUANTISER)
    require(found == (dimension, size, 0), "its vectors are stored in a foreign way")


def _check_lists(head: _Head, kind: bytes, dimension: int, count: int) -> int:
    """The bytes that must follow: of each vector its code and its row."""
    lists, visited = head.take("qq")
    require(0 < lists <= MOST_LISTS and 0 < visited <= lists, f"{visited} of {lists} lists")
    within, numbers, centres, _, _, _, _ = head.take(_INDEX)
    require((within, numbers, centres) == (CENTRES, dimension, lists), "its centres do not fit its lists")
    values = head.take("q")[0]
    require(values == lists * dimension, f"{values} numbers for {lists} centres")
    head.skip(4 * values)
    require(head.take("Bq") == (0, 0), "it has a map of its rows, which Triptych does not write")
    size = dimension if kind == BYTES else -(-dimension // 8) + _FACTORS
    if kind == BYTES:
        _check_quantiser(head, dimension, _BYTE, size)
        head.take("qB")
    else:
        _check_bit_quantiser(head, dimension, size)
        head.take("qBB")
    where, same, code_size, form, entries = head.take("4sqq4sq")
    require((where, same, code_size) == (ARRAYS, lists, size), "its lists are stored in a foreign way")
    pairs = 2 if form == SPARSE else 1
    require(form in (FULL, SPARSE) and 0 <= entries <= pairs * lists, f"{entries} lengths of {lists} lists")
    require(8 * entries <= head.left, "it ends too early")
    lengths = head.numbers(entries)
    places, sizes = (lengths[::2], lengths[1::2]) if form == SPARSE else (lengths[:0], lengths)
    require(bool(((places >= 0) & (places < lists)).all()), "a list that does not exist")
    fitting = bool(((sizes >= 0) & (sizes <= count)).all()) and int(sizes.sum()) == count
    require(fitting, f"lists that do not hold {count} vectors")
    return count * (size + 8)
