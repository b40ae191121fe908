"""Whether a corpus is sound, file by file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.corpus import layout
from search.corpus.checksums import CHECKSUMS, read_checksums, sums_of
from search.corpus.manifest import FileEntry, Manifest, Segment, read_manifest
from search.corpus.parts import ARRAYS, PARTS, counts_of, require_offsets
from search.corpus.removed import read_removed
from search.corpus.store import Snapshot
from search.errors import CorpusError
from search.text.tokenizer import TOKENIZER, tokenize

SAMPLE = 100
"""Rows that are looked up in every part of a build; chosen by hand."""
ROUNDING = 0.05
"""How much an index in 8 bits may take off the product of a vector with itself; chosen by hand."""


@dataclass(frozen=True, slots=True)
class Problem:
    file: Path
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


def verify(corpus: Path) -> list[Problem]:
    """Everything that is wrong with the served build, each with its file; empty when all is well."""
    try:
        folder = layout.current_build(corpus)
        manifest = read_manifest(folder)
    except CorpusError as error:
        return [Problem(corpus / layout.CURRENT, str(error))]
    found = list(_check_manifest(folder, manifest))
    found += [problem for entry in manifest.files if (problem := _check_file(folder, entry))]
    found += _unlisted(folder, manifest)
    # What is damaged is not opened: its numbers would mean nothing, and libraries may fall over it.
    return found or list(_check_blocks(folder, manifest)) or list(check_parts(folder, manifest))


def _check_manifest(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    """It is written as we write it, to the letter; older builds lack its own checksum."""
    path = folder / layout.MANIFEST
    older = (json.dumps(values, indent=1) + "\n" for values in (manifest.values, asdict(manifest)))
    if path.read_text(encoding="utf-8") not in (manifest.text, *older):
        yield Problem(path, "was changed since the build was made")
    if manifest.build_id != folder.name:
        yield Problem(path, f"belongs to the build {manifest.build_id}")


def _check_blocks(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    """Files whose checksums by block are of another content: they came from another build."""
    try:
        sums = read_checksums(folder)
    except CorpusError as error:
        yield Problem(folder / CHECKSUMS, str(error))
        return
    listed = {entry.path for entry in manifest.files} - {CHECKSUMS}
    for name in sorted(listed | sums.keys()) if sums else []:
        if name not in sums or name not in listed or not np.array_equal(sums_of(folder / name), sums[name]):
            yield Problem(folder / name, f"does not fit its checksums in {CHECKSUMS}")


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


def _unlisted(folder: Path, manifest: Manifest) -> list[Problem]:
    """Files that came later; DuckDB's own folder for large questions is none of the build."""
    listed = {folder / entry.path for entry in manifest.files} | {folder / layout.MANIFEST}
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.parent.suffix != ".tmp")
    return [Problem(path, "does not belong to the build") for path in found if path not in listed]


def check_parts(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    """Every part can be opened, holds nothing foreign, and agrees with the others on how much there is."""
    for segment in manifest.parts:
        yield from check_segment(folder, manifest, segment)


def check_segment(build: Path, manifest: Manifest, segment: Segment) -> Iterator[Problem]:
    """The same of one segment."""
    folder = build / segment.folder
    opened: dict[str, Any] = {}
    openers = {layout.STORE: _open_store, **PARTS}
    for name, open_part in openers.items():
        try:
            opened[name] = open_part(folder / name, {})
            manifest.require_counts(segment, folder / name, *counts_of(opened[name]))
        except (CorpusError, OSError, ValueError) as error:
            opened.pop(name, None)
            yield Problem(folder / name, str(error))
    if len(opened) == len(openers):
        yield from _check_bonds(folder, manifest, opened)
        yield from _check_arrays(build, segment, opened[layout.STORE])
    if layout.STORE in opened:
        opened[layout.STORE].close()


def _open_store(path: Path, _: Any) -> Any:
    return Snapshot.open(path)


def _check_arrays(build: Path, segment: Segment, store: Snapshot) -> Iterator[Problem]:
    """What is kept beside the store for speed says the same as the store."""
    folder = build / segment.folder
    found: dict[str, NDArray[Any]] = {
        layout.OFFSETS: store.sentence_offsets(),
        layout.PANELS: store.sentence_panels(),
    }
    try:
        require_offsets(folder / layout.STORE, found[layout.OFFSETS], segment)
        read_removed(build, segment)
        kept = {name: read(folder / name) for name, read in ARRAYS.items() if (folder / name).exists()}
    except CorpusError as error:
        yield Problem(folder, str(error))
        return
    for name, array in kept.items():
        if not np.array_equal(array, found[name]):
            yield Problem(folder / name, f"does not fit {layout.STORE}")


def _check_bonds(folder: Path, manifest: Manifest, opened: dict[str, Any]) -> Iterator[Problem]:
    """Parts of one segment are about the same papers: a sample of the rows is in all of them."""
    for name, of in (
        (layout.SENTENCE_INDEX, layout.SENTENCE_VECTORS),
        (layout.PAPER_INDEX, layout.PAPER_VECTORS),
    ):
        vectors = opened[of][_sample(len(opened[of]))].astype(np.float32)
        nearest = opened[name].search(vectors, 1)[0][:, 0]
        if (nearest < (vectors * vectors).sum(axis=1) - ROUNDING).any():
            yield Problem(folder / name, f"does not hold the vectors of {of}")
    lexical, papers = opened[layout.LEXICAL], len(opened[layout.PAPER_VECTORS])
    rows = _sample(papers) if manifest.tokenizer == TOKENIZER else np.empty(0, np.int64)
    for row, paper in zip(rows, opened[layout.STORE].papers_by_row(rows), strict=True):
        title = paper.title if paper.abstract else ""
        terms = set(tokenize(" ".join((title, *(sentence.text for sentence in paper.sentences)))))
        if not all(row in lexical.papers_with(term) for term in terms):
            yield Problem(folder / layout.LEXICAL, f"does not hold the words of paper {paper.id!r}")
            return


def _sample(count: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, count - 1, min(count, SAMPLE)).astype(np.int64))
