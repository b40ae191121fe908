"""Checksums by block: damage is noticed when a block is read for the first time, not when the file is opened.

`checksums.json` of a build has the CRC-32 of every block of every other file. The manifest has the file's own
checksum. Builds made up to 0.8.0 have none: they are only looked at file by file.
"""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from search.corpus.layout import MANIFEST, require_plain
from search.errors import CorpusError

CHECKSUMS = "checksums.json"
BLOCK = 16_384
"""Bytes. The sentences of a paper take about 5,000, so little more is read than a search needs anyway."""
PIECE = 64 * BLOCK
"""Bytes that are read at a time when a whole file is looked at."""


class DamagedError(CorpusError):
    """A file of a build is not what it was when it was built."""


def damaged(path: Path, what: str) -> DamagedError:
    """ "The file x is missing; build the corpus again." """
    return DamagedError(f"The file {path} {what}; build the corpus again.")


def write_checksums(folder: Path, known: Mapping[str, NDArray[np.uint32]] | None = None) -> None:
    """Write the checksums of all files of a build, once they are complete; `known` ones are not read."""
    known = known or {}
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    kept = [path for path in files if path.name not in (CHECKSUMS, MANIFEST)]
    names = {path.relative_to(folder).as_posix(): path for path in kept}
    found = {name: known[name] if name in known else sums_of(path) for name, path in names.items()}
    sums = {name: each.astype(">u4").tobytes().hex() for name, each in found.items()}
    (folder / CHECKSUMS).write_text(json.dumps({"block": BLOCK, "crc32": sums}, indent=1), encoding="utf-8")


def sums_of(path: Path) -> NDArray[np.uint32]:
    """The CRC-32 of each block of a file, the last of which may be short."""
    with path.open("rb") as file:
        return np.array([crc32(block) for block in iter(lambda: file.read(BLOCK), b"")], np.uint32)


def read_checksums(folder: Path) -> dict[str, NDArray[np.uint32]]:
    """By file; empty where a build has none."""
    path = folder / CHECKSUMS
    try:
        require_plain(path)
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["block"] != BLOCK:
            raise ValueError(f"blocks of {found['block']} bytes")
        sums = {name: np.frombuffer(bytes.fromhex(text), ">u4") for name, text in found["crc32"].items()}
        return {name: each.astype(np.uint32) for name, each in sums.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise damaged(path, f"cannot be read ({error})") from error


class Blocks:
    """The blocks of one file, each compared with its checksum the first time it is read. Thread-safe."""

    def __init__(self, path: Path, sums: NDArray[np.uint32], tell: Callable[[str], None]) -> None:
        """`tell` hears of damage, in one sentence."""
        self.size = path.stat().st_size
        if len(sums) != -(-self.size // BLOCK):
            raise damaged(path, f"has {self.size} bytes for {len(sums)} checksums")
        self.is_known = not len(sums)
        """Whether all blocks are known to be sound: from then on nothing is looked up."""
        self._path, self._sums, self._tell = path, sums, tell
        self._sound = np.zeros(len(sums), bool)
        self._lock = threading.Lock()
        self._file = path.open("rb", buffering=0)
        weakref.finalize(self, self._file.close)

    def require(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
        """Look at the blocks that hold the bytes starts[k]:ends[k] and were not looked at before."""
        if self.is_known:
            return
        held = ends > starts
        change = np.zeros(len(self._sums) + 1, np.int64)
        np.add.at(change, starts[held] // BLOCK, 1)
        np.add.at(change, (ends[held] - 1) // BLOCK + 1, -1)
        for block in np.flatnonzero((change[:-1].cumsum() > 0) & ~self._sound).tolist():
            self._compare(block, self._read(block * BLOCK, BLOCK))

    def require_all(self) -> None:
        """Look at the whole file, piece by piece."""
        for first in range(0, len(self._sums), PIECE // BLOCK):
            piece = memoryview(self._read(first * BLOCK, PIECE))
            for start in range(0, len(piece), BLOCK):
                self._compare(first + start // BLOCK, piece[start : start + BLOCK])
        self.is_known = bool(self._sound.all())

    def _read(self, start: int, count: int) -> bytes:
        with self._lock:
            self._file.seek(start)
            return self._file.read(count)

    def _compare(self, block: int, data: bytes | memoryview) -> None:
        if crc32(data) != self._sums[block]:
            error = damaged(self._path, f"is damaged near byte {block * BLOCK:,}")
            self._tell(str(error))
            raise error
        self._sound[block] = True
