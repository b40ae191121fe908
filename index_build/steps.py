"""From the working store to a served build: snapshot, encode what is new, label, index, publish."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from index_build.cache import Keys, VectorCache, cache_folder, keys_of
from index_build.prewarm import load_shipped
from index_build.publish import only_writer, publish, remove_unfinished, served
from index_build.report import verify
from search import __version__
from search import manifest as layout
from search.encoding import Document, Encoded, load_encoder
from search.errors import CorpusError
from search.lexical import TOKENIZER, LexicalIndex
from search.manifest import Manifest
from search.settings import Settings
from search.store import Snapshot, Store
from search.types import FACETS
from search.vectors import build_index

Progress = Callable[[str, int, int], None]
"""Called with a step ("encode", "index"), how much of it is done, and how much there is."""

BATCH = 256
"""Documents that reach the cache together: what a killed run loses at most, beside the encoder's own."""


class Encodes(Protocol):
    """What a build asks of an encoder: `search.encoding.Encoder`, or one that needs no model."""

    id: str
    facets_id: str
    dimension: int

    def encode(self, documents: Iterable[Document]) -> Iterator[Encoded]: ...


def build(
    corpus: Path,
    settings: Settings | None = None,
    progress: Progress | None = None,
    encoder: Encodes | None = None,
) -> Manifest:
    """Serve what the working store of `corpus` holds now; readers keep their build until they reopen.

    When papers, models and settings are those of the served build and it is sound, it stays. A run that was
    killed goes on where it stopped, because whatever it encoded is in the cache.
    """
    settings = settings or Settings()
    report = progress or (lambda step, done, total: None)
    with only_writer(corpus):
        remove_unfinished(corpus)
        encoder = encoder or load_encoder(settings.encoder, settings.device or None)
        with Store.open(corpus / layout.STORE) as store:
            planned = _plan(store, settings, encoder)
            current = served(corpus)
            if current and current.fingerprint == planned.fingerprint and not verify(corpus):
                return current
            folder = corpus / layout.BUILDS / planned.build_id
            folder.mkdir(parents=True)
            store.snapshot(folder / layout.STORE)
        with Snapshot.open(folder / layout.STORE, read_only=False) as snapshot:
            counts = snapshot.counts()
            if not counts.papers:
                raise CorpusError(f"There are no papers in {corpus} yet; add some, then build.")
            with VectorCache(cache_folder(corpus, encoder.id), encoder.dimension) as cache:
                keys = _encode(snapshot, cache, encoder, report)
                _collect(folder, snapshot, cache, keys)
            _index(folder, snapshot, settings, report)
        complete = replace(planned, papers=counts.papers, sentences=counts.sentences)
        return publish(corpus, folder, complete, settings.keep_builds)


def _plan(store: Store, settings: Settings, encoder: Encodes) -> Manifest:
    """The manifest as far as it is known before the work."""
    now = datetime.now(UTC)
    inputs = [layout.SCHEMA, store.fingerprint(), encoder.id, TOKENIZER, settings.bm25_k1, settings.bm25_b]
    fingerprint = hashlib.sha256(json.dumps(inputs).encode()).hexdigest()
    return Manifest(
        schema=layout.SCHEMA,
        package=__version__,
        build_id=f"{now:%Y%m%d-%H%M%S-%f}"[:-3],
        created=now.isoformat(timespec="seconds"),
        fingerprint=fingerprint,
        encoder_name=settings.encoder,
        encoder=encoder.id,
        facets=encoder.facets_id,
        tokenizer=TOKENIZER,
        dimension=encoder.dimension,
        bm25_k1=settings.bm25_k1,
        bm25_b=settings.bm25_b,
        papers=0,
        sentences=0,
        files=(),
    )


def _encode(snapshot: Snapshot, cache: VectorCache, encoder: Encodes, report: Progress) -> Keys:
    """Fill the cache with what it lacks; returns the key of every paper in row order."""
    keys = keys_of(snapshot.documents())
    missing = _take_shipped(keys, cache, encoder.id)
    wanted = set(missing.tolist())
    documents = (
        Document(each.title, each.sentences) for each in snapshot.documents() if each.paper_row in wanted
    )
    encoded = encoder.encode(documents)
    for start in range(0, len(missing), BATCH):
        report("encode", start, len(missing))
        batch = missing[start : start + BATCH]
        cache.append(keys[batch], list(islice(encoded, len(batch))))
    report("encode", len(missing), len(missing))
    cache.refresh()
    return keys


def _take_shipped(keys: Keys, cache: VectorCache, encoder_id: str) -> NDArray[np.int64]:
    """Move what comes with the software into the cache; returns the rows that are still to be encoded."""
    missing = cache.missing(keys)
    shipped = load_shipped(encoder_id) if len(missing) else None
    if shipped is None:
        return missing
    there = shipped.has(keys[missing])
    ready = keys[missing[there]]
    cache.append(ready, list(shipped.get(ready)))
    return missing[~there]


def _collect(folder: Path, snapshot: Snapshot, cache: VectorCache, keys: Keys) -> None:
    """Vectors from the cache in row order as memory-mapped files, facets into the snapshot."""
    offsets = snapshot.sentence_offsets()
    size = cache.dimension
    sentences = open_memmap(folder / layout.SENTENCE_VECTORS, "w+", np.float16, (int(offsets[-1]), size))
    papers = open_memmap(folder / layout.PAPER_VECTORS, "w+", np.float16, (len(keys), size))
    facets = np.empty((int(offsets[-1]), len(FACETS)), np.float32)
    for row, item in enumerate(cache.get(keys)):
        rows = slice(offsets[row], offsets[row + 1])
        papers[row], sentences[rows], facets[rows] = item.paper, item.sentences, item.facets
    sentences.flush()
    papers.flush()
    snapshot.set_facets(facets)


def _index(folder: Path, snapshot: Snapshot, settings: Settings, report: Progress) -> None:
    report("index", 0, 3)
    texts = (" ".join((document.title, *document.sentences)) for document in snapshot.documents())
    LexicalIndex.build(texts, folder / layout.LEXICAL, settings.bm25_k1, settings.bm25_b)
    report("index", 1, 3)
    build_index(np.load(folder / layout.SENTENCE_VECTORS, mmap_mode="r"), folder / layout.SENTENCE_INDEX)
    report("index", 2, 3)
    build_index(np.load(folder / layout.PAPER_VECTORS, mmap_mode="r"), folder / layout.PAPER_INDEX)
    report("index", 3, 3)
