"""From a folder full of files to the build that is served: checksums, manifest last, pointer swapped."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from search.errors import CorpusError
from search.manifest import (
    BUILDS,
    CURRENT,
    MANIFEST,
    FileEntry,
    Manifest,
    current_build,
    read_manifest,
    replace_text,
    sync_folder,
)

LOCK = "build.lock"


@contextmanager
def only_writer(corpus: Path) -> Iterator[None]:
    """Hold the corpus for writing. The lock goes with the process, however it ends; readers need none."""
    corpus.mkdir(parents=True, exist_ok=True)
    with (corpus / LOCK).open("a") as file:
        try:
            _lock(file.fileno())
        except OSError:
            raise CorpusError(
                f"Another build is writing to {corpus}; wait until it is done, then try again."
            ) from None
        try:
            yield
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise CorpusError(
                f"The disk of {corpus} is full; make room, then run the same command again to go on."
            ) from error


def _lock(descriptor: int) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def publish(corpus: Path, folder: Path, manifest: Manifest, keep: int) -> Manifest:
    """Serve the build in `folder` from now on, and remove builds beyond the newest `keep`."""
    complete = replace(manifest, files=tuple(describe_files(folder)))
    complete.write(folder)
    sync_folder(folder.parent)
    replace_text(corpus / CURRENT, folder.name + "\n")
    prune(corpus, keep)
    return complete


def describe_files(folder: Path) -> Iterator[FileEntry]:
    """Size and checksum of every file of a build, each flushed to disk first."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != MANIFEST:
            with path.open("r+b") as file:
                os.fsync(file.fileno())
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            yield FileEntry(path.relative_to(folder).as_posix(), path.stat().st_size, digest)


def served(corpus: Path) -> Manifest | None:
    """The manifest of the build that is served, None where there is none that can be read."""
    try:
        return read_manifest(current_build(corpus))
    except CorpusError:
        return None


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
