"""An encoder without a model, for tests of what happens around it: random vectors, fixed by the text."""

from __future__ import annotations

import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from index_build.steps import build
from search.types import FACETS, Document, Encoded


class RandomEncoder:
    """Counts what it encodes; `seconds` is how long each document takes."""

    def __init__(self, id: str = "random-1", dimension: int = 16, seconds: float = 0.0) -> None:
        self.id, self.facets_id, self.dimension = id, f"{id}-facets", dimension
        self.seconds = seconds
        self.word_vectors = None
        self.encoded = 0

    def encode_one(self, document: Document) -> Encoded:
        seed = zlib.crc32("|".join((self.id, document.title, *document.sentences)).encode())
        random = np.random.default_rng(seed)
        vectors = random.normal(size=(len(document.sentences) + 1, self.dimension)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        facets = random.dirichlet(np.ones(len(FACETS)), len(document.sentences)).astype(np.float32)
        return Encoded(vectors[1:], vectors[0], facets)

    def encode(
        self, documents: Iterable[Document], progress: Callable[[int], None] | None = None
    ) -> Iterator[Encoded]:
        for document in documents:
            time.sleep(self.seconds)
            self.encoded += 1
            yield self.encode_one(document)
            if progress:
                progress(1)


if __name__ == "__main__":  # a build to be killed: says when it begins
    print("begun", flush=True)
    build(Path(sys.argv[1]), encoder=RandomEncoder(seconds=0.001))
