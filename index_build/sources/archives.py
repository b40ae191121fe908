"""Reads the files in a zip archive, each as a file of its own."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any

from index_build.sources.rejects import Reason, Reject, reject
from index_build.sources.streams import Damaged
from search.types import Paper

MOST_FILES = 10_000
"""Files of one archive that are read. Chosen by hand; exports in parts have some hundreds."""
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError, ValueError, LookupError)
"""What `zipfile` raises where an archive is damaged, locked or packed in a way it does not know."""

ReadStream = Callable[[Any, str], Iterator[Paper | Reject]]


class _Member(io.RawIOBase):
    """A file in the archive, whose damages are those of a packed file."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed = packed
        self._given = 0

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._packed.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._packed.read(len(buffer))
        except _DAMAGE as error:
            raise Damaged(f"after byte {self._given} of the unpacked text") from error
        buffer[: len(data)] = data
        self._given += len(data)
        return len(data)


def read_archive(raw: Any, name: str, read_member: ReadStream) -> Iterator[Paper | Reject]:
    """The papers of every file in it; what programs for computers of Apple put beside them is left out."""
    try:
        raw.seek(0)
        archive = zipfile.ZipFile(raw)
        members = [member for member in archive.infolist() if not _is_aside(member)]
    except _DAMAGE:
        yield reject(name, "file", Reason.CUT_OFF)
        return
    for member in members[:MOST_FILES]:
        place = f"{name}/{member.filename}"
        try:
            packed = archive.open(member)
        except _DAMAGE as error:
            yield reject(place, "file", Reason.UNREADABLE, str(error))
        else:
            yield from read_member(_Member(packed), place)
    if len(members) > MOST_FILES:
        yield reject(name, f"file {MOST_FILES + 1}", Reason.TOO_LONG)


def _is_aside(member: zipfile.ZipInfo) -> bool:
    parts = member.filename.split("/")
    return member.is_dir() or parts[0] == "__MACOSX" or any(part.startswith(".") for part in parts)
