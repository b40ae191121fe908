"""The parts of a segment, opened, and known to fit each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from search.corpus import layout
from search.corpus.arrays import MAPPED, map_array
from search.corpus.bm25 import LexicalIndex
from search.corpus.checksums import Blocks, damaged
from search.corpus.faiss_index import VectorIndex
from search.corpus.manifest import Manifest, Segment
from search.corpus.removed import Removed, read_removed
from search.corpus.store import Snapshot
from search.corpus.vector_file import MappedVectors, VectorFile

Sums: TypeAlias = Mapping[str, Blocks]
"""By the path of their file below the build's folder."""


def _open_index(path: Path, vectors: str, sums: Sums) -> VectorIndex:
    """An index, and the vectors it is of where it compares them again."""
    return VectorIndex.open(path, lambda: VectorFile(path.with_name(vectors), sums.get(vectors)))


def _open_papers(path: Path, blocks: Blocks | None) -> MappedVectors:
    """Mapped where they are few, which is faster."""
    return (VectorFile if path.is_file() and path.stat().st_size > MAPPED else MappedVectors)(path, blocks)


PARTS: dict[str, Callable[[Path, Sums], Any]] = {
    layout.SENTENCE_VECTORS: lambda path, blocks: VectorFile(path, blocks.get(path.name)),
    layout.PAPER_VECTORS: lambda path, blocks: _open_papers(path, blocks.get(path.name)),
    layout.SENTENCE_INDEX: lambda path, blocks: _open_index(path, layout.SENTENCE_VECTORS, blocks),
    layout.PAPER_INDEX: lambda path, blocks: _open_index(path, layout.PAPER_VECTORS, blocks),
    layout.LEXICAL: lambda path, blocks: LexicalIndex.open(
        path,
        {name.name: each for full, each in blocks.items() if (name := Path(full)).parent.name == path.name},
    ),
}
"""How each part but the store is opened, by its name in the segment's folder."""
ARRAYS: dict[str, Callable[[Path], NDArray[Any]]] = {
    layout.OFFSETS: lambda path: map_array(path, np.int64),
    layout.PANELS: lambda path: map_array(path, np.uint8),
}
"""What builds made up to 0.8.0 have in their stores alone."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Of one segment."""

    store: Snapshot
    sentence_vectors: VectorFile
    paper_vectors: MappedVectors
    sentence_index: VectorIndex
    paper_index: VectorIndex
    lexical: LexicalIndex
    offsets: NDArray[np.int64]
    """[P + 1]: the sentences of paper row p are the rows offsets[p]:offsets[p + 1]."""
    panels: NDArray[np.uint8]
    """[S]"""
    removed: Removed


def open_parts(build: Path, manifest: Manifest, segment: Segment, sums: Sums) -> Parts:
    """All parts of a segment; refused where one does not fit the others.

    Blocks are compared with their checksums as they are read.
    """
    folder = build / segment.folder
    removed = read_removed(build, segment)
    store = Snapshot.open(folder / layout.STORE, removed.rows)
    counts = store.counts()
    manifest.require_counts(segment, folder / layout.STORE, counts.papers, counts.sentences)
    blocks = within(sums, segment.folder)
    opened = {name: open_part(folder / name, blocks) for name, open_part in PARTS.items()}
    for name, part in opened.items():
        manifest.require_counts(segment, folder / name, *counts_of(part))
    offsets, panels = _arrays(folder, manifest, segment, store)
    return Parts(
        store=store,
        sentence_vectors=opened[layout.SENTENCE_VECTORS],
        paper_vectors=opened[layout.PAPER_VECTORS],
        sentence_index=opened[layout.SENTENCE_INDEX],
        paper_index=opened[layout.PAPER_INDEX],
        lexical=opened[layout.LEXICAL],
        offsets=offsets,
        panels=panels,
        removed=removed,
    )


def within(sums: Sums, folder: str) -> Sums:
    """Those of the files of one segment, by their paths below its folder."""
    if not folder:
        return sums
    return {
        path.removeprefix(f"{folder}/"): each for path, each in sums.items() if path.startswith(f"{folder}/")
    }


def _arrays(
    folder: Path, manifest: Manifest, segment: Segment, store: Snapshot
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    if not (folder / layout.OFFSETS).exists():
        offsets = store.sentence_offsets()
        require_offsets(folder / layout.STORE, offsets, segment)
        return offsets, store.sentence_panels()
    found = {name: read(folder / name) for name, read in ARRAYS.items()}
    for name, array in found.items():
        manifest.require_counts(segment, folder / name, len(array))
    require_offsets(folder / layout.OFFSETS, found[layout.OFFSETS], segment)
    return found[layout.OFFSETS], found[layout.PANELS]


def require_offsets(path: Path, offsets: NDArray[np.int64], segment: Segment) -> None:
    """Every sentence belongs to a paper."""
    ends = len(offsets) and (len(offsets), offsets[0], offsets[-1])
    if ends != (segment.papers + 1, 0, segment.sentences) or (np.diff(offsets) < 0).any():
        raise damaged(
            path, f"has {segment.sentences} sentences that do not belong to its {segment.papers} papers"
        )


def counts_of(part: Any) -> tuple[int, ...]:
    """How much a part holds, as `Manifest.counts_of` has it."""
    if isinstance(part, VectorIndex):
        return part.count, part.dimension
    if isinstance(part, LexicalIndex):
        return (part.paper_count,)
    if isinstance(part, Snapshot):
        counts = part.counts()
        return counts.papers, counts.sentences
    return tuple(part.shape)
