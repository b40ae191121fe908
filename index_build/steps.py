"""From the working store to a served build: snapshot, encode what is new, label, index, publish."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from index_build.cache import KEY_BYTES, Keys, VectorCache, cache_folder, keys_of
from index_build.prewarm import Shipped, load_shipped
from index_build.publish import only_writer, publish, remove_unfinished
from index_build.verify import check_parts, verify
from search import __version__
from search.corpus import layout
from search.corpus.arrays import map_array, writing_rows
from search.corpus.bm25 import LexicalBuilder
from search.corpus.faiss_index import build_index
from search.corpus.manifest import SCHEMA, Manifest, read_manifest, served
from search.corpus.store import Snapshot, Store
from search.encoder import ModelFolders, load_encoder
from search.encoder.pretrained import PACKAGES
from search.errors import CorpusError
from search.settings import Settings
from search.text.tokenizer import TOKENIZER
from search.types import FACETS, Document, Encoded, Progress

BLOCK = 2048
"""Papers whose keys are looked up in the cache together; as many as `Snapshot.documents` reads at a time."""
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
) -> Manifest:
    """Serve what the working store of `corpus` holds now; readers keep their build until they reopen.

    When papers, models and settings are those of the served build and it is sound, it stays. A run that was
    killed goes on where it stopped, because whatever it encoded is in the cache.
    """
    settings = settings or Settings()
    report = progress or (lambda step, done, total: None)
    with only_writer(corpus):
        remove_unfinished(corpus)
        try:
            return _build(corpus, settings, report, encoder or _load_encoder(settings, report))
        except BaseException:
            remove_unfinished(corpus)  # also to free a full disk
            raise


def _build(corpus: Path, settings: Settings, report: Progress, encoder: Encodes) -> Manifest:
    with Store.open(corpus / layout.STORE) as store:
        planned = _plan(store, settings, encoder)
        current = served(corpus)
        if current and current.fingerprint == planned.fingerprint and not verify(corpus):
            return current
        planned, folder = _new_folder(corpus, planned)
        store.snapshot(folder / layout.STORE)
    with Snapshot.open(folder / layout.STORE, read_only=False) as snapshot:
        counts = snapshot.counts()
        if not counts.papers:
            raise CorpusError(f"There are no papers in {corpus} yet; add some, then build.")
        words = LexicalBuilder()
        with VectorCache(cache_folder(corpus, encoder.id), encoder.dimension) as cache:
            keys = _encode(snapshot, cache, encoder, words, report)
            _collect(folder, snapshot, cache, keys)
        _index(folder, words, settings, report)
    complete = replace(planned, papers=counts.papers, sentences=counts.sentences, average_terms=words.average)
    for problem in check_parts(folder, complete):  # nothing that cannot be opened is ever served
        raise CorpusError(f"The build came out wrong ({problem}): run the command again.")
    return publish(corpus, folder, complete, settings.keep_builds)


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


def _plan(store: Store, settings: Settings, encoder: Encodes) -> Manifest:
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


def _new_folder(corpus: Path, planned: Manifest) -> tuple[Manifest, Path]:
    """A folder that no build had before; builds of one moment, here or elsewhere, get different names."""
    while True:
        named = replace(planned, build_id=f"{planned.build_id}-{secrets.token_hex(2)}")
        folder = corpus / layout.BUILDS / named.build_id
        with suppress(FileExistsError):
            folder.mkdir(parents=True)
            return named, folder


def _load_encoder(settings: Settings, report: Progress) -> Encodes:
    folders = ModelFolders(settings.pretrained, settings.fine_tuned, settings.labeller)
    return load_encoder(settings.encoder, settings.device, folders, report)


def _encode(
    snapshot: Snapshot, cache: VectorCache, encoder: Encodes, words: LexicalBuilder, report: Progress
) -> Keys:
    """Fill the cache with what it lacks and take in the words, in one pass over the papers.

    Returns the key of every paper in row order.
    """
    papers = snapshot.counts().papers
    keys = np.empty(papers, f"S{KEY_BYTES}")
    shipped = load_shipped(encoder.id)
    waiting: deque[tuple[int, bytes]] = deque()
    """Row and key of the papers that are being encoded, in order."""

    def missing() -> Iterator[Document]:
        documents = snapshot.documents()
        while block := list(islice(documents, BLOCK)):
            rows = slice(block[0].paper_row, block[-1].paper_row + 1)
            keys[rows] = keys_of(block)
            for document in block:
                words.add(" ".join((document.title, *document.sentences)))
            for place in _not_there(keys[rows], cache, shipped):
                waiting.append((block[place].paper_row, bytes(keys[rows][place])))
                yield Document(block[place].title, block[place].sentences)

    report("encode", 0, papers)
    encoded = encoder.encode(missing())
    while batch := list(islice(encoded, BATCH)):
        done = [waiting.popleft() for _ in batch]
        cache.append(np.array([key for _, key in done], keys.dtype), batch)
        report("encode", done[-1][0] + 1, papers)
    report("encode", papers, papers)
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


def _collect(folder: Path, snapshot: Snapshot, cache: VectorCache, keys: Keys) -> None:
    """Vectors from the cache in row order into files, facets into the snapshot."""
    offsets = snapshot.sentence_offsets()
    count, size = int(offsets[-1]), cache.dimension
    facets = np.empty((count, len(FACETS)), np.float32)
    with (
        writing_rows(folder / layout.SENTENCE_VECTORS, np.float16, (count, size)) as sentences,
        writing_rows(folder / layout.PAPER_VECTORS, np.float16, (len(keys), size)) as papers,
    ):
        for row, item in enumerate(cache.get(keys)):
            papers.write(item.paper.astype(np.float16).tobytes())
            sentences.write(item.sentences.astype(np.float16).tobytes())
            facets[offsets[row] : offsets[row + 1]] = item.facets
    snapshot.set_facets(facets)


def _index(folder: Path, words: LexicalBuilder, settings: Settings, report: Progress) -> None:
    report("index", 0, 3)
    words.write(folder / layout.LEXICAL, settings.bm25_k1, settings.bm25_b)
    report("index", 1, 3)
    build_index(_vectors(folder / layout.SENTENCE_VECTORS), folder / layout.SENTENCE_INDEX)
    report("index", 2, 3)
    build_index(_vectors(folder / layout.PAPER_VECTORS), folder / layout.PAPER_INDEX)
    report("index", 3, 3)


def _vectors(path: Path) -> NDArray[np.float16]:
    return map_array(path, np.float16, columns=True)
