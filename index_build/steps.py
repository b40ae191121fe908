"""From the working store to a served build: encode what is new, label, index, publish, block by block."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from index_build.cache import KEY_BYTES, Keys, VectorCache, cache_folder, keys_of
from index_build.folder_publisher import FolderPublisher
from index_build.growth import plan_growth
from index_build.memory import disk_needed, memory_of, require_disk
from index_build.prewarm import Shipped, load_shipped
from index_build.publish import only_writer, remove_unfinished
from index_build.publisher import Batch, terms_of
from index_build.verify import verify
from search import __version__
from search.corpus import layout
from search.corpus.manifest import SCHEMA, Manifest, read_manifest, served
from search.corpus.store import Store
from search.corpus.store.snapshot import document_of
from search.encoder import ModelFolders, load_encoder
from search.encoder.pretrained import PACKAGES
from search.errors import CorpusError
from search.settings import Settings
from search.text.tokenizer import TOKENIZER
from search.types import FACETS, Document, Encoded, Paper, Progress

BATCH = 256
"""Documents written to the cache together. A killed run loses at most these and those the encoder is
working on. Chosen by hand."""


class Encodes(Protocol):
    """What a build asks of an encoder: `search.encoder.Encoder`, or one that needs no model."""

    id: str
    facets_id: str
    dimension: int

    def encode(self, documents: Iterable[Document]) -> Iterator[Encoded]: ...


def build(
    corpus: Path,
    settings: Settings | None = None,
    progress: Progress | None = None,
    encoder: Encodes | None = None,
    whole: bool = False,
) -> Manifest:
    """Serve what the working store of `corpus` holds now; readers keep their build until they reopen.

    When papers, models and settings are those of the served build and it is sound, it stays. Where the corpus
    is large and little has changed, only that is indexed and put beside the rest; `whole` makes all anew,
    as one segment. A run that was killed goes on where it stopped, because all it encoded is in the cache.
    """
    settings = settings or Settings()
    report = progress or (lambda step, done, total: None)
    with only_writer(corpus):
        remove_unfinished(corpus)
        try:
            return _build(corpus, settings, report, encoder or encoder_of(settings, report), whole)
        except BaseException:
            remove_unfinished(corpus)  # also to free a full disk
            raise


def compact(
    corpus: Path,
    settings: Settings,
    progress: Progress | None = None,
    encoder: Encodes | None = None,
) -> Manifest:
    """Make one segment of all that the store holds; a build that is one already stays."""
    current = served(corpus)
    return build(corpus, settings, progress, encoder, whole=bool(current and current.segments))


def _build(corpus: Path, settings: Settings, report: Progress, encoder: Encodes, whole: bool) -> Manifest:
    memory = memory_of(settings.build_memory_mb)
    with Store.open(corpus / layout.STORE, memory_limit=f"{memory.database}MB") as store:
        planned = plan(store, settings, encoder)
        current = served(corpus)
        if current and current.fingerprint == planned.fingerprint and not whole:
            if not verify(corpus):
                return current
            whole = True  # nothing of a damaged build is taken over
        now = store.stamps()
        if not len(now.keys):
            raise CorpusError(f"There are no papers in {corpus} yet; add some, then build.")
        growth = plan_growth(corpus, current, planned, now, whole)
        with (
            VectorCache(cache_folder(corpus, encoder.id), encoder.dimension) as cache,
            FolderPublisher(corpus, memory, growth, report) as publisher,
        ):
            added = growth.added.numbers
            _require_disk(corpus, store, len(added), len(cache), encoder.dimension)
            keys = encode(store, added, cache, encoder, report)
            publisher.begin(planned, store.apart())
            papers = sentences = 0
            report("store", 0, len(added))
            for batch in batches(store, added, cache, keys):
                publisher.add(batch)
                papers, sentences = papers + len(batch.papers), sentences + len(batch.sentences)
                report("store", papers, len(added))
            sealed = publisher.seal(papers, sentences)
            publisher.publish(sealed)
            publisher.prune(settings.keep_builds)
    return sealed


def _require_disk(corpus: Path, store: Store, papers: int, cached: int, dimension: int) -> None:
    counts = store.counts()
    sentences = papers * counts.sentences // max(counts.papers, 1)
    require_disk(corpus, disk_needed(papers, sentences, dimension, cached >= counts.papers))


def as_built(settings: Settings) -> Settings:
    """The settings with the encoder that made the served build, to add papers to it as it is.

    A corpus may come from a stranger: its manifest chooses among the presets, not which folder or which
    model of the hub is loaded.
    """
    named = read_manifest(layout.current_build(settings.corpus)).encoder_name
    if named not in PACKAGES and named != settings.encoder:
        raise CorpusError(
            f"The corpus {settings.corpus} names the encoder {named!r}, which is no preset: if you trust it, "
            f"name it yourself with `--encoder {named}` or the setting `encoder`, then try again."
        )
    return replace(settings, encoder=named)


def plan(store: Store, settings: Settings, encoder: Encodes) -> Manifest:
    """The manifest as far as it is known before the work."""
    now = datetime.now(UTC)
    inputs = [SCHEMA, store.fingerprint(), encoder.id, TOKENIZER, settings.bm25_k1, settings.bm25_b]
    fingerprint = hashlib.sha256(json.dumps(inputs).encode()).hexdigest()
    return Manifest(
        schema=SCHEMA,
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


def encoder_of(settings: Settings, report: Progress) -> Encodes:
    folders = ModelFolders(settings.pretrained, settings.fine_tuned, settings.labeller)
    return load_encoder(settings.encoder, settings.device, folders, report)


def encode(
    store: Store, numbers: NDArray[np.int64], cache: VectorCache, encoder: Encodes, report: Progress
) -> Keys:
    """Fill the cache with what it lacks of these papers; returns the key of each, in order."""
    keys = np.empty(len(numbers), f"S{KEY_BYTES}")
    shipped = load_shipped(encoder.id)
    waiting: deque[tuple[int, bytes]] = deque()
    """Place and key of the papers that are being encoded, in order."""

    def missing() -> Iterator[Document]:
        first = 0
        for block in store.blocks(numbers):
            documents = [document_of(first + place, each.paper) for place, each in enumerate(block)]
            places = slice(first, first + len(block))
            keys[places] = keys_of(documents)
            for place in _not_there(keys[places], cache, shipped):
                waiting.append((first + place, bytes(keys[first + place])))
                yield Document(documents[place].title, documents[place].sentences)
            first += len(block)
            report("encode", waiting[0][0] if waiting else first, len(numbers))

    report("encode", 0, len(numbers))
    encoded = encoder.encode(missing())
    while batch := list(islice(encoded, BATCH)):
        done = [waiting.popleft() for _ in batch]
        cache.append(np.array([key for _, key in done], keys.dtype), batch)
        report("encode", done[-1][0] + 1, len(numbers))
    report("encode", len(numbers), len(numbers))
    cache.refresh()
    return keys


def _not_there(keys: Keys, cache: VectorCache, shipped: Shipped | None) -> list[int]:
    """Which of these papers are still to be encoded; what comes with the software goes into the cache."""
    missing = cache.missing(keys)
    if shipped is not None and len(missing):
        there = shipped.has(keys[missing])
        ready = keys[missing[there]]
        cache.append(ready, list(shipped.get(ready)))
        missing = missing[~there]
    return [int(place) for place in missing]


def batches(store: Store, numbers: NDArray[np.int64], cache: VectorCache, keys: Keys) -> Iterator[Batch]:
    """Everything that is stored of these papers, a block at a time."""
    first = 0
    for block in store.blocks(numbers):
        encoded = list(cache.get(keys[first : first + len(block)]))
        papers = tuple(labelled(each.paper, found.facets) for each, found in zip(block, encoded, strict=True))
        yield Batch(
            first,
            papers,
            tuple(each.ids for each in block),
            np.stack([found.paper for found in encoded]).astype(np.float16),
            np.concatenate([found.sentences for found in encoded]).astype(np.float16),
            tuple(map(terms_of, papers)),
        )
        first += len(block)


def labelled(paper: Paper, facets: NDArray[np.floating]) -> Paper:
    """The paper with labelled sentences: `facets` [n, 5] in the order of FACETS; hints of the source win."""
    labels = np.array(facets, np.float32)
    for place, sentence in enumerate(paper.sentences):
        if sentence.hinted and sentence.facet:
            labels[place] = np.eye(len(FACETS))[FACETS.index(sentence.facet)]
    likeliest = labels.argmax(axis=1).tolist()
    sentences = (
        replace(sentence, facet=FACETS[best], probabilities=tuple(row))
        for sentence, best, row in zip(paper.sentences, likeliest, labels.tolist(), strict=True)
    )
    return replace(paper, sentences=tuple(sentences))
