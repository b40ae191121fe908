"""Vectors and facets that a finished encoder gives, computed once and kept."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.encoding import Encoder
from search.tokens import Document
from search.types import FACETS

CHUNK = 256
"""Papers per file: a stopped run loses at most so many."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """Of papers in order: sentences [S, d] with their facets [S, 5], wholes [P, d].

    Paper p has the rows offsets[p]:offsets[p + 1].
    """

    sentences: NDArray[np.float16]
    papers: NDArray[np.float16]
    facets: NDArray[np.float16]
    offsets: NDArray[np.int64]

    def of(self, paper: int) -> NDArray[np.float32]:
        return self.sentences[self.offsets[paper] : self.offsets[paper + 1]].astype(np.float32)

    def roles(self, paper: int, panel: str) -> NDArray[np.float32]:
        """[n] 1 where a sentence of the paper stands in that panel."""
        facets = self.facets[self.offsets[paper] : self.offsets[paper + 1]].argmax(1)
        return np.array([FACETS[facet].panel == panel for facet in facets], np.float32)


def encode_all(
    documents: Sequence[Document], encoder: Encoder, folder: Path, say: Callable[[str], None]
) -> Vectors:
    """Vectors of all documents; chunks that are in the folder are read."""
    folder.mkdir(parents=True, exist_ok=True)
    chunks = [documents[start : start + CHUNK] for start in range(0, len(documents), CHUNK)]
    started, fresh = time.monotonic(), 0
    parts = []
    for number, chunk in enumerate(chunks):
        file = folder / f"{key_of(encoder.id, chunk)}.npz"
        if not file.exists():
            _write(file, encoder, chunk)
            fresh += 1
            left = (time.monotonic() - started) / fresh * (len(chunks) - number - 1)
            done = min((number + 1) * CHUNK, len(documents))
            say(f"{encoder.id}: {done} of {len(documents)} papers, {left / 60:.1f} min left")
        with np.load(file) as kept:
            parts.append([kept[name] for name in ("sentences", "papers", "facets")])
    counts = [len(document.sentences) for document in documents]
    joined = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Vectors(*joined, np.concatenate([[0], np.cumsum(counts)]))


def _write(file: Path, encoder: Encoder, chunk: Sequence[Document]) -> None:
    encoded = list(encoder.encode(chunk))
    draft = file.with_suffix(".part.npz")
    np.savez(
        draft,
        sentences=np.concatenate([one.sentences for one in encoded]).astype(np.float16),
        papers=np.stack([one.paper for one in encoded]).astype(np.float16),
        facets=np.concatenate([one.facets for one in encoded]).astype(np.float16),
    )
    draft.replace(file)


def key_of(model: str, documents: Sequence[Document]) -> str:
    """A name for what the model with this id says of these documents."""
    digest = hashlib.sha256(model.encode())
    for document in documents:
        digest.update("\0".join((document.title, *document.sentences)).encode() + b"\1")
    return digest.hexdigest()[:24]
