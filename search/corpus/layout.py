"""Where the parts of a corpus lie.

DIR/store.duckdb      the working store: papers are added here
DIR/rejects.jsonl     the records that could not be read, each with its place and the reason
DIR/cache/            vectors by encoder and text, so nothing is encoded twice
DIR/builds/<id>/      a finished build: read only, complete once its manifest is there
DIR/current           names the build that is served
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from search.errors import CorpusError

CURRENT, BUILDS, CACHE, MANIFEST = "current", "builds", "cache", "manifest.json"
STORE, REJECTS = "store.duckdb", "rejects.jsonl"
SENTENCE_VECTORS, PAPER_VECTORS = "sentences.f16.npy", "papers.f16.npy"
SENTENCE_INDEX, PAPER_INDEX, LEXICAL = "sentences.faiss", "papers.faiss", "lexical"
OFFSETS, PANELS, STAMPS = "offsets.npy", "panels.npy", "stamps.npy"
"""Where the sentences of each paper lie and their panels, as they are read; what each paper was made of."""


_LONGEST_NAME = 200
"""Bytes of the pointer; the names we give have some thirty."""


def current_name(corpus: Path) -> str:
    """The name of the build that is served; empty where there is none."""
    try:
        if not (corpus / CURRENT).is_file():  # also a pipe, which would be waited for without end
            return ""
        with (corpus / CURRENT).open("rb") as file:
            content = file.read(_LONGEST_NAME + 1)
    except OSError:
        return ""
    name = content.decode("utf-8", "replace").strip()
    strange = name in (".", "..") or not name.isprintable() or any(mark in name for mark in "/\\\ufffd")
    if strange or len(content) > _LONGEST_NAME:
        raise CorpusError(
            f"The file {corpus / CURRENT} names no build: write the name of a folder in {corpus / BUILDS} "
            "into it, or build the corpus again."
        )
    return name


def require_plain(path: Path) -> None:
    """An OSError for a pipe or a device: in a stranger's corpus one would be read without end."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "no plain file", str(path))


def current_build(corpus: Path) -> Path:
    """The folder of the build that is served."""
    name = current_name(corpus)
    if not name:
        raise CorpusError(
            f"There is no built corpus in {corpus}; make one with "
            f"`python -m index_build demo --out {corpus}`, or with `build FILE` instead of `demo`."
        )
    return corpus / BUILDS / name


def replace_text(path: Path, text: str) -> None:
    """Write a small file so that a reader always sees the old or the new one, never a part of it."""
    draft = path.with_name(f"{path.name}.part")
    draft.unlink(missing_ok=True)  # a stranger's may be a link to a file of ours
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder last through a power cut, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
