"""Vectors and facets that a finished encoder gives, computed once and kept on disk."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.encoder.encoder import Encoder
from search.encoder.loading import load_encoder
from search.types import FACETS, Document
from training.progress import Say, say

PAPERS_PER_FILE = 256
"""A run that is stopped loses the work on at most this many papers."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """Papers in order: sentences [S, d] with their facets [S, 5], and whole papers [P, d].

    The sentences of paper p are the rows offsets[p]:offsets[p + 1].
    """

    sentences: NDArray[np.float16]
    papers: NDArray[np.float16]
    facets: NDArray[np.float16]
    offsets: NDArray[np.int64]

    def of(self, paper: int) -> NDArray[np.float32]:
        """The sentence vectors [n, d] of one paper."""
        return self.sentences[self.offsets[paper] : self.offsets[paper + 1]].astype(np.float32)

    def in_panel(self, paper: int, panel: str) -> NDArray[np.float32]:
        """[n]: 1 where a sentence of the paper belongs to the panel, else 0."""
        facets = self.facets[self.offsets[paper] : self.offsets[paper + 1]].argmax(1)
        return np.array([FACETS[facet].panel == panel for facet in facets], np.float32)


Encode = Callable[[Sequence[Document]], Vectors]


def cached_encoder(name: str, folder: Path) -> Encode:
    """The encoder with this name, as a function that reads what is in the folder and computes the rest."""

    def encode(documents: Sequence[Document]) -> Vectors:
        return encode_all(documents, load_encoder(name).without_labels(), folder, say)

    return encode


def encode_all(documents: Sequence[Document], encoder: Encoder, folder: Path, say: Say) -> Vectors:
    """Vectors of all documents; files that are in the folder already are read."""
    folder.mkdir(parents=True, exist_ok=True)
    chunks = [
        documents[start : start + PAPERS_PER_FILE] for start in range(0, len(documents), PAPERS_PER_FILE)
    ]
    started, fresh = time.monotonic(), 0
    parts = []
    for number, chunk in enumerate(chunks):
        file = folder / f"{key_of(encoder.id, chunk)}.npz"
        if not file.exists():
            _write(file, encoder, chunk)
            fresh += 1
            left = (time.monotonic() - started) / fresh * (len(chunks) - number - 1)
            done = min((number + 1) * PAPERS_PER_FILE, len(documents))
            say(f"{encoder.id}: {done} of {len(documents)} papers, {left / 60:.1f} min left")
        with np.load(file) as kept:
            parts.append([kept[name] for name in ("sentences", "papers", "facets")])
    counts = [len(document.sentences) for document in documents]
    sentences, papers, facets = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Vectors(sentences, papers, facets, np.concatenate([[0], np.cumsum(counts)]))


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
    """A file name for what the model with this id says about these documents."""
    digest = hashlib.sha256(model.encode())
    for document in documents:
        digest.update("\0".join((document.title, *document.sentences)).encode() + b"\1")
    return digest.hexdigest()[:24]
