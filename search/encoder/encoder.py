"""Title and sentences -> contextual sentence vectors, a whole-paper vector and facets, in one pass.

A sentence's vector is the mean of its tokens' vectors while the model sees the whole abstract (Mysore, Cohan
and Hope 2022, "Multi-Vector Models with Textual Guidance for Fine-Grained Scientific Document Similarity",
eq. 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import tee

import numpy as np
from numpy.typing import NDArray

from search.encoder.read_ahead import Model, Read, in_order, read_ahead
from search.encoder.windows import Packer
from search.encoder.word_vectors import WordVectors
from search.types import FACETS, Document, Encoded

Floats = NDArray[np.float32]


class Encoder:
    """The same code for corpus and query. Thread-safe."""

    def __init__(
        self,
        id: str,
        packer: Packer,
        models: Sequence[Model],
        facets_id: str = "none",
        labels: Encoder | None = None,
        word_vectors: WordVectors | None = None,
    ) -> None:
        """Several models are copies that work side by side; `labels` gives the facets when they do not."""
        self.id = id
        self.facets_id = facets_id
        self.packer = packer
        self.models = models
        self.labels = labels
        self.word_vectors: WordVectors | None = word_vectors or (labels.word_vectors if labels else None)
        self.dimension = models[0].dimension

    def without_labels(self) -> Encoder:
        """The same vectors; labels that another encoder gives are not asked for."""
        return Encoder(self.id, self.packer, self.models, self.facets_id)

    def encode_one(self, document: Document) -> Encoded:
        windows = list(self.packer.pack([document]))
        passes = zip(windows, self.models[0].run(windows), strict=True)
        encoded = next(merged(in_order([document], passes), self.dimension))
        return replace(encoded, facets=self.labels.encode_one(document).facets) if self.labels else encoded

    def encode(
        self, documents: Iterable[Document], progress: Callable[[int], None] | None = None
    ) -> Iterator[Encoded]:
        """Vectors and facets in the order of the documents; `progress` hears how many more are done."""
        labels = None
        if self.labels:
            documents, same = tee(documents)
            labels = self.labels.encode(same)
        for encoded in merged(read_ahead(self.models, self.packer, documents), self.dimension):
            yield replace(encoded, facets=next(labels).facets) if labels else encoded
            if progress:
                progress(1)


def merged(reads: Iterable[Read], dimension: int) -> Iterator[Encoded]:
    """Windows of a document put together; each token counts once, in the window that owns it.

    Sums have the direction of means, and only the direction is kept.
    """
    for document, passes in reads:
        count = len(document.sentences)
        sums = np.zeros((1 + count, dimension), np.float32)
        facets = np.zeros((count, len(FACETS)), np.float32)
        for window, one in passes:
            rows = slice(1 + window.rows.start, 1 + window.rows.stop)
            sums[0] += one.sums[0]
            sums[rows] += one.sums[1:]
            # A model that does not label leaves it open; another one's labels then take the place.
            labels = np.float32(1 / len(FACETS)) if one.facets is None else one.facets
            facets[window.rows.start : window.rows.stop] += one.tokens[:, None] * labels
        yield Encoded(unit(sums[1:]), unit(sums[0]), facets / facets.sum(axis=1, keepdims=True))


def unit(vectors: Floats) -> Floats:
    """Rows scaled to length one."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
