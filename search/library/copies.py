"""Copies of the library beside it: each written whole or not at all, checked when read; the last few stay."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FORMAT = "triptych-library-copy"
COPIES = 3
"""How many are kept: enough to go back when a mistake is found late, and small beside the library itself."""
_NAME = "library-copy-{}.json"


@dataclass(frozen=True, slots=True)
class Row:
    """One kept paper as it is stored: `paper` is JSON."""

    paper_id: str
    paper: str
    note: str
    tags: list[str]
    is_read: bool
    added: str
    origin: str = ""
    """JSON, empty where it was kept outside of a search, and in copies of before."""


@dataclass(frozen=True, slots=True)
class OwnedList:
    """One list of one owner, with all that is on it."""

    owner: str
    name: str
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Copy:
    """What a copy holds, and when it was made."""

    made: str
    lists: tuple[OwnedList, ...]

    @property
    def papers(self) -> int:
        return sum(len(each.rows) for each in self.lists)


def stamp() -> str:
    """Now, for the name of a file: 20261118T120000Z. Names sort by time."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")


def write_copy(folder: Path, lists: Iterable[OwnedList]) -> None:
    """A new copy in `folder`; those beyond the last few go. OSError leaves the others as they are."""
    _write(folder / _NAME.format(stamp()), lists)
    for old in _paths(folder)[COPIES:]:
        with suppress(OSError):  # another time
            old.unlink()


def write_former(folder: Path, version: int, lists: Iterable[OwnedList]) -> None:
    """A copy of what a library held before it was brought to a newer version; it is never removed."""
    _write(folder / f"library-version-{version}-{stamp()}.json", lists)


def _write(path: Path, lists: Iterable[OwnedList]) -> None:
    content = {"format": FORMAT, "lists": [asdict(each) for each in lists]}
    body = json.dumps(content).encode()
    draft = path.with_suffix(".part")
    try:
        with draft.open("wb") as file:
            file.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def sound_copies(folder: Path) -> Iterator[Copy]:
    """The copies in `folder` that are whole, the newest first."""
    for path in _paths(folder):
        with suppress(OSError, ValueError, TypeError, KeyError):
            checksum, _, body = path.read_bytes().partition(b"\n")
            if hashlib.sha256(body).hexdigest().encode() == checksum:
                made = datetime.strptime(path.stem.rsplit("-", 1)[1], "%Y%m%dT%H%M%SZ")
                yield Copy(f"{made:%Y-%m-%d %H:%M} UTC", tuple(_list_in(each) for each in _lists_in(body)))


def _paths(folder: Path) -> list[Path]:
    return sorted(folder.glob(_NAME.format("*")), reverse=True)


def _lists_in(body: bytes) -> list[dict[str, Any]]:
    content = json.loads(body)
    if content["format"] != FORMAT:
        raise ValueError(content["format"])
    return list(content["lists"])


def _list_in(values: dict[str, Any]) -> OwnedList:
    return OwnedList(values["owner"], values["name"], tuple(Row(**row) for row in values["rows"]))
