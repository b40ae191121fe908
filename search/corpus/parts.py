"""The parts of a build, opened, and known to fit each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from search.corpus import layout
from search.corpus.bm25 import LexicalIndex
from search.corpus.checksums import Blocks
from search.corpus.faiss_index import VectorIndex
from search.corpus.manifest import Manifest
from search.corpus.store import Snapshot
from search.corpus.vector_file import MappedVectors, VectorFile
from search.errors import CorpusError

Sums: TypeAlias = Mapping[str, Blocks]
"""By the path of their file below the build's folder."""


PARTS: dict[str, Callable[[Path, Sums], Any]] = {
    layout.STORE: lambda path, blocks: Snapshot.open(path),
    layout.SENTENCE_VECTORS: lambda path, blocks: VectorFile(path, blocks.get(path.name)),
    layout.PAPER_VECTORS: lambda path, blocks: MappedVectors(path, blocks.get(path.name)),
    layout.SENTENCE_INDEX: lambda path, blocks: VectorIndex.open(path),
    layout.PAPER_INDEX: lambda path, blocks: VectorIndex.open(path),
    layout.LEXICAL: lambda path, blocks: LexicalIndex.open(
        path,
        {name.name: each for full, each in blocks.items() if (name := Path(full)).parent.name == path.name},
    ),
}
"""How each part is opened, by its name in the build's folder."""


@dataclass(frozen=True, slots=True)
class Parts:
    store: Snapshot
    sentence_vectors: VectorFile
    paper_vectors: MappedVectors
    sentence_index: VectorIndex
    paper_index: VectorIndex
    lexical: LexicalIndex
    offsets: NDArray[np.int64]
    """[P + 1]: the sentences of paper row p are the rows offsets[p]:offsets[p + 1]."""


def open_parts(folder: Path, manifest: Manifest, blocks: Sums) -> Parts:
    """All parts of the build in `folder`; refused where one does not fit the others.

    `blocks` are compared with their checksums as they are read.
    """
    opened = {name: open_part(folder / name, blocks) for name, open_part in PARTS.items()}
    for name, part in opened.items():
        manifest.require_counts(folder / name, *counts_of(part))
    return Parts(
        store=opened[layout.STORE],
        sentence_vectors=opened[layout.SENTENCE_VECTORS],
        paper_vectors=opened[layout.PAPER_VECTORS],
        sentence_index=opened[layout.SENTENCE_INDEX],
        paper_index=opened[layout.PAPER_INDEX],
        lexical=opened[layout.LEXICAL],
        offsets=opened[layout.STORE].sentence_offsets(),
    )


def counts_of(part: Any) -> tuple[int, ...]:
    """How much a part holds, as `Manifest.counts` has it."""
    if isinstance(part, Snapshot):
        counts, offsets = part.counts(), part.sentence_offsets()
        if (
            len(offsets) != counts.papers + 1
            or offsets[-1] != counts.sentences
            or (np.diff(offsets) < 0).any()
        ):
            raise CorpusError(
                f"The {counts.sentences} sentences of the store do not belong to its {counts.papers} papers; "
                "build the corpus again."
            )
        return counts.papers, counts.sentences
    if isinstance(part, VectorIndex):
        return part.count, part.dimension
    if isinstance(part, LexicalIndex):
        return (part.paper_count,)
    return tuple(part.shape)
