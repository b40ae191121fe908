"""From a folder full of files to the build that is served: checksums, manifest last, pointer swapped."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

import duckdb

from search.corpus.checksums import read_checksums, write_checksums
from search.corpus.layout import BUILDS, CURRENT, MANIFEST, current_build, replace_text, sync_folder
from search.corpus.manifest import FileEntry, Manifest, read_manifest
from search.errors import CorpusError

LOCK = "build.lock"
_FULL = (errno.ENOSPC, errno.EDQUOT) if hasattr(errno, "EDQUOT") else (errno.ENOSPC,)
_SIGNS = (os.strerror(errno.ENOSPC), "max_temp_directory_size", "write error")
"""Of a full disk for DuckDB and Faiss; the second is a limit that DuckDB derives from the room left."""
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


@contextmanager
def only_writer(corpus: Path) -> Iterator[None]:
    """Hold the corpus for writing. The lock goes with the process, however it ends; readers need none."""
    with full_disk_in_words(corpus), _open_lock(corpus) as file:
        try:
            lock_file(file.fileno())
        except OSError:
            raise CorpusError(
                f"Another build is writing to {corpus}; wait until it is done, then try again."
            ) from None
        yield


def _open_lock(corpus: Path) -> IO[str]:
    try:
        corpus.mkdir(parents=True, exist_ok=True)
        return (corpus / LOCK).open("a")
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise
        raise CorpusError(
            f"The folder {corpus} cannot be written to ({error.strerror}): build into another one with "
            "`--out DIR`, or allow writing; what is served from it can still be searched."
        ) from error


@contextmanager
def full_disk_in_words(corpus: Path) -> Iterator[None]:
    """One sentence for what Python, DuckDB and Faiss each say in their own way."""
    try:
        yield
    except (OSError, RuntimeError, duckdb.Error) as error:
        if not is_full_disk(error):
            raise
        raise CorpusError(
            f"The disk is full ({corpus}): free some space and run the command again; the served corpus is "
            "untouched."
        ) from error


def is_full_disk(error: BaseException) -> bool:
    """Whether an error, or one that led to it, says that there is no room left."""
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    told = str(error)
    if isinstance(error, duckdb.Error | RuntimeError) and any(sign in told for sign in _SIGNS):
        return True
    led = error.__cause__ or error.__context__
    return led is not None and is_full_disk(led)


def lock_file(descriptor: int) -> None:
    """Locks an open file for this process alone; OSError where another has it."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def seal(folder: Path, manifest: Manifest, base: Path | None = None) -> Manifest:
    """Complete the build in `folder`: checksums, then the manifest. Files of `base` are not read again."""
    known = {entry.path: entry for entry in read_manifest(base).files} if base else {}
    shared = {path for path in known if _is_same(folder / path, base / path)} if base else set()
    sums = read_checksums(base) if base else {}
    write_checksums(folder, {path: sums[path] for path in shared & sums.keys()})
    files = describe_files(folder, {path: known[path] for path in shared})
    complete = replace(manifest, files=tuple(files))
    complete.write(folder)
    sync_folder(folder.parent)
    return complete


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def serve(corpus: Path, build: str) -> None:
    """Serve a complete build from now on."""
    replace_text(corpus / CURRENT, f"{build}\n")


def describe_files(folder: Path, known: Mapping[str, FileEntry] | None = None) -> Iterator[FileEntry]:
    """Size and checksum of every file of a build, each flushed to disk first; `known` ones as they are."""
    for path in sorted(folder.rglob("*")):
        if entry := (known or {}).get(path.relative_to(folder).as_posix()):
            yield entry
        elif path.is_file() and path.name != MANIFEST:
            with path.open("r+b") as file:
                os.fsync(file.fileno())
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            yield FileEntry(path.relative_to(folder).as_posix(), path.stat().st_size, digest)


def remove_unfinished(corpus: Path) -> None:
    """Remove what killed builds left behind; their vectors are in the cache, so little is lost."""
    for folder in (corpus / BUILDS).glob("*/"):
        if not (folder / MANIFEST).is_file():
            shutil.rmtree(folder, ignore_errors=True)


def prune(corpus: Path, keep: int) -> None:
    """Keep the served build and the newest others, `keep` in all.

    A reader that is still open on a removed build keeps its mapped files (on Windows the files stay, and go
    at the next build).
    """
    current = current_build(corpus)
    builds = sorted((corpus / BUILDS).glob("*/"), key=lambda folder: folder.name, reverse=True)
    others = [folder for folder in builds if folder.name != current.name]
    for folder in others[max(keep - 1, 0) :]:
        (folder / MANIFEST).unlink(missing_ok=True)  # from here on it is unfinished, not half a build
        shutil.rmtree(folder, ignore_errors=True)
