"""What a corpus holds (`status`) and whether it is sound (`verify`), file by file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search import manifest as layout
from search.errors import CorpusError
from search.lexical import LexicalIndex
from search.manifest import FileEntry, Manifest
from search.store import Snapshot
from search.types import Facet
from search.vectors import VectorIndex


@dataclass(frozen=True, slots=True)
class Status:
    corpus: Path
    manifest: Manifest
    facet_shares: dict[Facet, float]
    """The share of the sentences of each facet."""
    sentence_index: str
    builds: int
    build_bytes: int
    """Of the served build."""
    cache_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class Problem:
    file: Path
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


def status(corpus: Path) -> Status:
    """What is served from `corpus`, and what it takes on disk."""
    folder = layout.current_build(corpus)
    manifest = layout.check(folder)
    with Snapshot.open(folder / layout.STORE) as snapshot:
        shares = snapshot.facet_shares()
    return Status(
        corpus=corpus,
        manifest=manifest,
        facet_shares=shares,
        sentence_index=VectorIndex.open(folder / layout.SENTENCE_INDEX).kind,
        builds=sum(1 for _ in (corpus / layout.BUILDS).glob(f"*/{layout.MANIFEST}")),
        build_bytes=_bytes(folder),
        cache_bytes=_bytes(corpus / layout.CACHE),
        total_bytes=_bytes(corpus),
    )


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def describe(status: Status) -> str:
    """The status in lines for the terminal."""
    manifest = status.manifest
    shares = ", ".join(f"{facet} {share:.0%}" for facet, share in status.facet_shares.items())
    build, cache, whole = (
        f"{size / 1e6:,.1f} MB" for size in (status.build_bytes, status.cache_bytes, status.total_bytes)
    )
    rows = {
        "Corpus": str(status.corpus),
        "Papers": f"{manifest.papers:,}",
        "Sentences": f"{manifest.sentences:,} ({shares})",
        "Encoder": f"{manifest.encoder} ({manifest.dimension} numbers a vector)",
        "Facets": manifest.facets,
        "Word index": f"BM25, k1 {manifest.bm25_k1:g}, b {manifest.bm25_b:g}, tokenizer {manifest.tokenizer}",
        "Sentence index": status.sentence_index,
        "On disk": f"{build} this build, {cache} cache, {whole} with all builds ({status.builds})",
        "Built": f"{manifest.created} ({age_in_words(manifest.age)} ago), build {manifest.build_id}",
    }
    return "\n".join(f"{name:<15} {text}" for name, text in rows.items())


def age_in_words(seconds: float) -> str:
    """ "3 days", "5 hours", "12 minutes", "40 seconds": the largest unit that fits."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            count = int(seconds // length)
            return f"{count} {unit}" + "s" * (count > 1)
    return f"{int(seconds)} seconds"


def verify(corpus: Path) -> list[Problem]:
    """Everything that is wrong with the served build, each with its file; empty when all is well."""
    try:
        folder = layout.current_build(corpus)
        manifest = layout.read_manifest(folder)
    except CorpusError as error:
        return [Problem(corpus / layout.CURRENT, str(error))]
    damaged = [problem for entry in manifest.files if (problem := _check_file(folder, entry))]
    # What is damaged is not opened: its numbers would mean nothing, and libraries may fall over it.
    return damaged or list(_check_counts(folder, manifest))


def _check_file(folder: Path, entry: FileEntry) -> Problem | None:
    path = folder / entry.path
    if not path.is_file():
        return Problem(path, "is missing")
    if path.stat().st_size != entry.size:
        return Problem(path, f"has {path.stat().st_size} bytes instead of {entry.size}")
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != entry.sha256:
            return Problem(path, "has another content than when it was built (its checksum differs)")
    return None


def _check_counts(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    """Store, vectors and indices must agree on how many papers and sentences there are."""
    sentences, papers, size = manifest.sentences, manifest.papers, manifest.dimension
    for name, expected, count in (
        (layout.STORE, (papers, sentences), _store_counts),
        (layout.SENTENCE_VECTORS, (sentences, size), _array_shape),
        (layout.PAPER_VECTORS, (papers, size), _array_shape),
        (layout.SENTENCE_INDEX, (sentences, size), _index_shape),
        (layout.PAPER_INDEX, (papers, size), _index_shape),
        (layout.LEXICAL, (papers,), _lexical_papers),
    ):
        yield from _compare(folder / name, expected, count)


def _compare(
    path: Path, expected: tuple[int, ...], count: Callable[[Path], tuple[int, ...]]
) -> Iterator[Problem]:
    try:
        found = count(path)
    except (CorpusError, OSError, ValueError) as error:
        yield Problem(path, f"cannot be read ({error})")
        return
    if found != expected:
        yield Problem(path, f"holds {_by(found)} instead of the {_by(expected)} of the manifest")


def _by(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


def _store_counts(path: Path) -> tuple[int, ...]:
    with Snapshot.open(path) as snapshot:
        counts, offsets = snapshot.counts(), snapshot.sentence_offsets()
    if len(offsets) != counts.papers + 1 or offsets[-1] != counts.sentences:
        raise ValueError(f"its {counts.sentences} sentences do not belong to its {counts.papers} papers")
    return counts.papers, counts.sentences


def _array_shape(path: Path) -> tuple[int, ...]:
    return tuple(np.load(path, mmap_mode="r").shape)


def _index_shape(path: Path) -> tuple[int, ...]:
    index = VectorIndex.open(path)
    return index.count, index.dimension


def _lexical_papers(path: Path) -> tuple[int, ...]:
    return (LexicalIndex.open(path).paper_count,)
