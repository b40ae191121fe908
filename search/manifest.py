"""What a built corpus holds and where: layout, versions, counts, checksums; checked whenever it is opened.

DIR/store.duckdb      the working store: papers are added here
DIR/cache/            vectors by encoder and text, so nothing is encoded twice
DIR/builds/<id>/      a finished build: read only, complete once its manifest is there
DIR/current           names the build that is served
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from search.errors import CorpusError

SCHEMA = 1
"""Raise it when older builds can no longer be read."""

CURRENT, BUILDS, CACHE, MANIFEST = "current", "builds", "cache", "manifest.json"
STORE = "store.duckdb"
SENTENCE_VECTORS, PAPER_VECTORS = "sentences.f16.npy", "papers.f16.npy"
SENTENCE_INDEX, PAPER_INDEX, LEXICAL = "sentences.faiss", "papers.faiss", "lexical"


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a build, by its path below the build's folder."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    schema: int
    package: str
    """Version of this software."""
    build_id: str
    created: str
    """ISO 8601, UTC."""
    fingerprint: str
    """What went in: papers, models and settings. The same again makes no new build."""
    encoder_name: str
    """As in the settings: a preset, a hub name or a folder."""
    encoder: str
    """Id with the hash of the weights and the recipe."""
    facets: str
    tokenizer: str
    dimension: int
    bm25_k1: float
    bm25_b: float
    papers: int
    sentences: int
    files: tuple[FileEntry, ...]

    @property
    def age(self) -> float:
        """Seconds since the build was made."""
        return (datetime.now(UTC) - datetime.fromisoformat(self.created)).total_seconds()

    def require_encoder(self, encoder_id: str, name: str) -> None:
        """Vectors of two encoders cannot be compared: refuse a corpus that another one made."""
        if encoder_id != self.encoder:
            other = "" if name == self.encoder_name else f', or set `encoder = "{self.encoder_name}"`'
            raise CorpusError(
                f"This corpus was built with encoder {self.encoder} but the app loads {encoder_id}. "
                f"Build it again{other}."
            )

    def require_tokenizer(self, tokenizer: str) -> None:
        """Words must be cut the same way in the corpus and in the query."""
        if tokenizer != self.tokenizer:
            raise CorpusError(
                f"This corpus was built with tokenizer {self.tokenizer} but this version has {tokenizer}: "
                "build it again, which takes the vectors from the cache."
            )

    def write(self, folder: Path) -> None:
        replace_text(folder / MANIFEST, json.dumps(asdict(self), indent=1) + "\n")


def current_build(corpus: Path) -> Path:
    """The folder of the build that is served."""
    try:
        name = (corpus / CURRENT).read_text(encoding="utf-8").strip()
    except OSError:
        raise CorpusError(
            f"There is no built corpus in {corpus}; make one with "
            f"`python -m index_build demo --out {corpus}`, or with `build FILE` instead of `demo`."
        ) from None
    return corpus / BUILDS / name


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a build, refused when this software cannot read what it describes."""
    path = folder / MANIFEST
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        schema = values["schema"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CorpusError(f"The manifest {path} cannot be read; build the corpus again.") from error
    if schema != SCHEMA:
        raise CorpusError(
            f"The build {folder.name} has layout {schema} but this version reads layout {SCHEMA}; "
            "build the corpus again."
        )
    try:
        values["files"] = tuple(FileEntry(**entry) for entry in values["files"])
        return Manifest(**{field.name: values[field.name] for field in fields(Manifest)})
    except (KeyError, TypeError) as error:
        raise CorpusError(f"The manifest {path} lacks {error}; build the corpus again.") from error


def check(folder: Path) -> Manifest:
    """The manifest, after a look that costs nothing: every file is there and has its size.

    `python -m index_build verify` reads the files themselves.
    """
    manifest = read_manifest(folder)
    for entry in manifest.files:
        path = folder / entry.path
        size = path.stat().st_size if path.is_file() else None
        if size != entry.size:
            found = "is missing" if size is None else f"has {size} bytes instead of {entry.size}"
            raise CorpusError(f"The file {path} {found}; build the corpus again.")
    return manifest


def replace_text(path: Path, text: str) -> None:
    """Write a small file so that a reader sees the old or the new one, whatever happens meanwhile."""
    draft = path.with_name(f"{path.name}.part")
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
