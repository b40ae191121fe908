"""Vectors and facets kept by encoder and text, so that nothing is encoded twice and a killed run goes on.

Two files that only grow, per encoder: `records.f16` holds for each document its paper vector [d], sentence
vectors [n, d] and facet probabilities [n, 5] as 16-bit floats; `entries.bin` says which text is where. A
record reaches the disk before its entry does, so every entry points at a whole record; what a crash left
behind the last whole one is cut off at the next opening.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from search.corpus.layout import CACHE
from search.corpus.store import StoredDocument
from search.errors import CorpusError
from search.types import FACETS, Encoded

RECORDS, ENTRIES = "records.f16", "entries.bin"
KEY_BYTES = 16
"""128 bits, as `StoredDocument.text_hash` has them."""
_ENTRY = np.dtype([("key", f"S{KEY_BYTES}"), ("start", "<i8"), ("sentences", "<u4"), ("checksum", "<u4")])
"""`start` counts 16-bit numbers, not bytes; the checksum is the record's CRC-32."""

Keys = NDArray[np.bytes_]


def keys_of(documents: Iterable[StoredDocument]) -> Keys:
    """[P]: for each document the 16 bytes of its hash, over exactly the text that the encoder reads."""
    return np.array([bytes.fromhex(document.text_hash) for document in documents], f"S{KEY_BYTES}")


def find(sorted_keys: Keys, keys: Keys) -> NDArray[np.int64]:
    """Where each key is among the sorted ones, -1 where it is not."""
    if not len(sorted_keys):
        return np.full(len(keys), -1)
    place = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.where(sorted_keys[place] == keys, place, -1)


def cache_folder(corpus: Path, encoder_id: str) -> Path:
    return corpus / CACHE / re.sub(r"[^\w.-]+", "_", encoder_id)


class VectorCache:
    """Open for one writer at a time (the build holds the corpus lock). A context manager."""

    def __init__(self, folder: Path, dimension: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.dimension = dimension
        self._records = (folder / RECORDS).open("a+b")
        self._entries = (folder / ENTRIES).open("a+b")
        self._cut_torn_tail()
        self._load()

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._records.close()
        finally:
            self._entries.close()

    def __len__(self) -> int:
        return len(self._sorted)

    def _length(self, sentences: Any) -> Any:
        """How many 16-bit numbers a record with this number of sentences has; takes a number or an array."""
        return self.dimension + sentences * (self.dimension + len(FACETS))

    def _cut_torn_tail(self) -> None:
        size = os.fstat(self._entries.fileno()).st_size // _ENTRY.itemsize * _ENTRY.itemsize
        self._entries.seek(0)
        entries = np.frombuffer(self._entries.read(size), _ENTRY)
        ends = entries["start"] + self._length(entries["sentences"].astype(np.int64))
        # Records follow one another without a gap, so the first entry that breaks the chain is torn.
        starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
        available = os.fstat(self._records.fileno()).st_size // 2
        sound = (entries["start"] == starts) & (entries["sentences"] > 0) & (ends <= available)
        whole = len(entries) if sound.all() else int(np.argmin(sound))
        self._entries.truncate(whole * _ENTRY.itemsize)
        self._records.truncate(2 * int(ends[whole - 1]) if whole else 0)

    def _load(self) -> None:
        """(Re)read which keys are there."""
        self._entries.seek(0)
        entries = np.frombuffer(self._entries.read(), _ENTRY)
        self._sorted = entries[np.argsort(entries["key"], kind="stable")]

    def missing(self, keys: Keys) -> NDArray[np.int64]:
        """Positions of keys the cache does not have, each text once."""
        first = np.unique(keys, return_index=True)[1]
        return np.sort(first[find(self._sorted["key"], keys[first]) < 0])

    def append(self, keys: Keys, encoded: Sequence[Encoded]) -> None:
        """Add documents; when this returns they are on disk. `get` sees them after `refresh`."""
        start = os.fstat(self._records.fileno()).st_size // 2
        entries = np.zeros(len(keys), _ENTRY)
        for position, (key, item) in enumerate(zip(keys, encoded, strict=True)):
            numbers = np.concatenate([item.paper, item.sentences.ravel(), item.facets.ravel()])
            record = numbers.astype("<f2").tobytes()
            self._records.write(record)
            entries[position] = (key, start, len(item.sentences), crc32(record))
            start += len(numbers)
        _to_disk(self._records)
        self._entries.write(entries.tobytes())
        _to_disk(self._entries)

    def refresh(self) -> None:
        """Make what was appended readable."""
        self._load()

    def get(self, keys: Keys) -> Iterator[Encoded]:
        """What the encoder gave for these keys, in order, to 16 bits; all must be there."""
        for place in find(self._sorted["key"], keys):
            if place < 0:
                raise KeyError("a text that was never encoded")
            _, start, count, checksum = self._sorted[place].item()
            record = self._read(start, self._length(count))
            if crc32(record) != checksum:
                raise CorpusError(
                    f"The vectors in {self._records.name} are damaged; delete the file, then build."
                )
            numbers = np.frombuffer(record, "<f2").astype(np.float32)
            paper, sentences, facets = np.split(numbers, [self.dimension, self.dimension * (1 + count)])
            yield Encoded(sentences.reshape(count, -1), paper, facets.reshape(count, -1))

    def _read(self, start: int, count: int) -> bytes:
        """So many 16-bit numbers. Read, not mapped: mapped pages would count as memory of the build."""
        self._records.seek(2 * start)
        return self._records.read(2 * count)


def _to_disk(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
