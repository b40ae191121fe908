"""Reads papers from the files people have: formats found by content, records streamed, bad ones reported."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from index_build.sources.archives import read_archive
from index_build.sources.detection import detect
from index_build.sources.rejects import Reason, Reject, log, reject
from index_build.sources.streams import CHUNK, Damaged, unpack
from search.errors import InputError
from search.types import Paper

__all__ = ["FORMATS", "Reason", "Reject", "detect", "files_of", "read", "read_bytes", "read_stream"]

FORMATS = {
    "acl": "acl",
    "arxiv": "arxiv",
    "atom": "atom",
    "beir": "beir",
    "bibtex": "bibtex",
    "biorxiv": "biorxiv",
    "cff": "cff",
    "crossref": "crossref",
    "csfcube": "csfcube",
    "csl-json": "csl",
    "csv": "tables",
    "datacite": "datacite",
    "dblp": "dblp",
    "ebsco": "ebsco",
    "endnote-xml": "endnote_xml",
    "enw": "enw",
    "eric": "eric",
    "europe-pmc": "europe_pmc",
    "jats": "jats",
    "jsonl": "generic",
    "marcxml": "marc",
    "mods": "mods",
    "nbib": "nbib",
    "oai": "oai",
    "openalex": "openalex",
    "ovid": "ovid",
    "pdf": "pdf",
    "pubmed": "pubmed",
    "refworks": "refworks",
    "ris": "ris",
    "s2": "semantic_scholar",
    "tei": "tei",
    "wos": "wos",
    "xlsx": "workbooks",
    "zotero": "zotero",
    "zotero-rdf": "zotero_rdf",
}
"""The name of each format, as in `Paper.source`, and the module here that reads it."""


_MAY_LACK_ABSTRACTS = frozenset({"cff", "dblp"})
"""Formats in which abstracts are rare or none; a file of them without any is said to have none."""


def files_of(path: Path) -> list[Path]:
    """The file, or every file in the folder and below it; hidden files are left out."""
    if not path.exists():
        raise InputError(f"There is no file or folder {path}: check the path.")
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*") if file.is_file() and not _is_hidden(file, path))
    if not files:
        raise InputError(f"The folder {path} holds no files: name the file or folder with the papers.")
    return files


def read(path: Path, on_bytes: Callable[[int], None] | None = None) -> Iterator[Paper | Reject]:
    """The papers of a file or of every file in a folder; `on_bytes` hears how many bytes were read."""
    return (item for file in files_of(path) for item in _read_file(file, on_bytes))


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)


def read_bytes(data: bytes, name: str) -> Iterator[Paper | Reject]:
    """The papers of a file that was uploaded."""
    return read_stream(io.BytesIO(data), name)


class _Watched(io.FileIO):
    """A file that tells how many bytes are read from it."""

    on_bytes: Callable[[int], None] | None = None

    def readinto(self, buffer: Any) -> int | None:
        count = super().readinto(buffer)
        if self.on_bytes and count:
            self.on_bytes(count)
        return count


def _read_file(path: Path, on_bytes: Callable[[int], None] | None) -> Iterator[Paper | Reject]:
    try:
        with _Watched(path) as file:
            file.on_bytes = on_bytes
            yield from read_stream(file, str(path))
    except OSError as error:
        yield reject(str(path), "file", Reason.UNREADABLE, str(error))


def read_stream(
    raw: io.RawIOBase | io.BytesIO, name: str, archived: bool = False
) -> Iterator[Paper | Reject]:
    """The papers of an open file, closed in the end; after a damage, one reject says where it broke off.

    No file ends an import: a reader that fails outside of a record leaves one reject with the last place.
    An archive within an archive (`archived`) is not opened.
    """
    count = 0
    try:
        with unpack(raw) as stream:
            head = stream.peek(CHUNK)
            kind = detect(head, name)
            if kind == "zip" and not archived:
                yield from read_archive(raw, name, partial(read_stream, archived=True))
            elif kind in FORMATS:
                for item in _read_format(kind, stream, name):
                    count += 1
                    yield item
            else:
                yield reject(name, "file", Reason.UNKNOWN_FORMAT if head.strip() else Reason.EMPTY_FILE, head)
    except Damaged as damage:
        yield reject(name, str(damage), Reason.CUT_OFF)
    except (OSError, MemoryError):
        raise
    except Exception as error:
        log.warning("%s after %d items: %r", name, count, error)
        yield reject(name, f"after record {count}", Reason.FAULT)


def _read_format(kind: str, stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    found = papers = abstracts = False
    for item in import_module(f"{__name__}.{FORMATS[kind]}").read(stream, name):
        found = True
        if isinstance(item, Paper):
            papers, abstracts = True, abstracts or bool(item.abstract)
        yield item
    if not found:
        yield reject(name, "file", Reason.NO_RECORDS)
    elif kind in _MAY_LACK_ABSTRACTS and papers and not abstracts:
        yield reject(name, "file", Reason.NO_ABSTRACTS)
