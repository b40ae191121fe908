"""The demo corpus' vectors and facets as they come with the software, in 8 bits: the demo opens in seconds.

Vectors are not text, so they may be shipped where the abstracts may not. They are found by the hash of the
text and used only by the encoder that made them; everything else is encoded as usual. Made again with
`python -m index_build prewarm CORPUS` whenever the default weights change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index_build.cache import Keys, VectorCache, cache_folder, find, keys_of
from index_build.publish import only_writer
from search.corpus import layout
from search.corpus.manifest import check_build
from search.corpus.store import Snapshot
from search.types import Encoded

SHIPPED = Path(__file__).parent / "demo_vectors.npz"


@dataclass(frozen=True, slots=True)
class Shipped:
    """Vectors of P papers and their S sentences; row p of a paper's vectors is followed by its sentences."""

    encoder: str
    keys: Keys
    """[P], sorted."""
    starts: NDArray[np.int64]
    """[P + 1] into the rows below."""
    vectors: NDArray[np.int8]
    """[P + S, d]; times the row's scale they are within half a scale of the truth."""
    scales: NDArray[np.float32]
    """[P + S]"""
    facets: NDArray[np.uint8]
    """[P + S, 5] probabilities times 255; the papers' own rows mean nothing."""

    def has(self, keys: Keys) -> NDArray[np.bool_]:
        return find(self.keys, keys) >= 0

    def get(self, keys: Keys) -> Iterator[Encoded]:
        """What the encoder gave for these keys, in order, to 8 bits; all must be there."""
        for place in find(self.keys, keys):
            rows = slice(self.starts[place], self.starts[place + 1])
            vectors = self.vectors[rows] * self.scales[rows, None]
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            facets = self.facets[rows][1:].astype(np.float32)
            yield Encoded(vectors[1:], vectors[0], facets / facets.sum(axis=1, keepdims=True))


_NAMES = tuple(field.name for field in fields(Shipped))


def load_shipped(encoder_id: str, path: Path | None = None) -> Shipped | None:
    """The shipped vectors, or None where there are none of this encoder."""
    path = path or SHIPPED
    if not path.is_file():
        return None
    with np.load(path) as file:
        if str(file["encoder"]) != encoder_id:
            return None
        return Shipped(encoder_id, *(file[name] for name in _NAMES[1:]))


def prewarm(corpus: Path, path: Path = SHIPPED) -> int:
    """Write the vectors of a built corpus as the shipped ones; returns the file's size in bytes."""
    folder = layout.current_build(corpus)
    manifest = check_build(folder)
    found = []
    for segment in manifest.parts:
        with Snapshot.open(folder / segment.folder / layout.STORE) as snapshot:
            found.append(keys_of(snapshot.documents()))
    keys = np.unique(np.concatenate(found))
    with (
        only_writer(corpus),
        VectorCache(cache_folder(corpus, manifest.encoder), manifest.dimension) as cache,
    ):
        shipped = compress(manifest.encoder, keys, list(cache.get(keys)))
    arrays: dict[str, Any] = {name: np.asarray(getattr(shipped, name)) for name in _NAMES}
    np.savez(path, **arrays)
    return path.stat().st_size


def compress(encoder: str, keys: Keys, encoded: list[Encoded]) -> Shipped:
    """Each vector in steps of its largest part over 127, each probability in steps of 1/255."""
    vectors = np.concatenate([np.vstack([item.paper, item.sentences]) for item in encoded])
    facets = np.concatenate([np.vstack([np.zeros(item.facets.shape[1]), item.facets]) for item in encoded])
    starts = np.cumsum([0, *(1 + len(item.sentences) for item in encoded)])
    scales = (np.abs(vectors).max(axis=1) / 127).astype(np.float32)
    steps = np.rint(vectors / scales[:, None]).astype(np.int8)
    return Shipped(encoder, keys, starts, steps, scales, np.rint(facets * 255).astype(np.uint8))
