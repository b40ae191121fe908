"""Corpora of any size for measuring speed and memory: a real one, again and again, its vectors jittered."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from math import floor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index_build.steps import build
from search.corpus import layout
from search.corpus.manifest import Manifest, check_build, served
from search.corpus.store import Snapshot, Store
from search.corpus.vector_file import VectorFile
from search.encoder.encoder import unit
from search.errors import InputError
from search.settings import Settings
from search.types import Document, Encoded, Paper, Progress, Sentence

SENTENCES_PER_PAPER = 450 / 65
"""The mean of the ACL Anthology: about 450 thousand sentences in 65 thousand papers."""
JITTER = 0.25
"""Length of the noise added to a unit vector: a copy has a cosine of about .97 to its original."""
BATCH = 2000
"""Papers stored in one transaction, and papers of the base read together; chosen by hand."""


def make_corpus(base: Path, out: Path, papers: int, progress: Progress | None = None) -> Manifest:
    """A corpus of this many papers in `out`, made from the built corpus `base`; kept if it is there.

    One that was interrupted goes on where it stopped.
    """
    pattern = Pattern(base)
    current = served(out)
    if current and (current.papers, current.encoder) == (papers, pattern.id):
        return current
    if current and (current.papers > papers or current.encoder != pattern.id):
        shutil.rmtree(out)
    fill(out, pattern, papers, progress)
    return build(out, Settings(encoder=pattern.encoder_name), progress, pattern)


def fill(out: Path, pattern: Pattern, papers: int, progress: Progress | None = None) -> None:
    """Store the papers of the pattern up to this many; those that are there stay."""
    path = out / layout.STORE
    with Store.open(path, read_only=False) if path.exists() else Store.create(path) as store:
        for start in range(store.counts().papers, papers, BATCH):
            store.add([pattern.paper(number) for number in range(start, min(start + BATCH, papers))])
            if progress:
                progress("import", min(start + BATCH, papers), papers)


class Pattern:
    """The papers of an endless corpus by their number, and the encoder that knows their vectors.

    Each is a paper of the base followed by sentences of another, as many as it takes for papers to have
    SENTENCES_PER_PAPER on average.
    """

    def __init__(self, base: Path) -> None:
        folder = layout.current_build(base)
        manifest = check_build(folder)
        if manifest.segments:
            raise InputError(
                f"The corpus {base} has {len(manifest.segments)} segments instead of one: run "
                f"`python -m index_build compact --out {base}` first."
            )
        self.id, self.facets_id, self.dimension = manifest.encoder, manifest.facets, manifest.dimension
        self.encoder_name = manifest.encoder_name
        self._snapshot = Snapshot.open(folder / layout.STORE)
        self._count = manifest.papers
        self._offsets = self._snapshot.sentence_offsets()
        self._facets = self._snapshot.probabilities()
        self._sentences = VectorFile(folder / layout.SENTENCE_VECTORS)
        self._whole = VectorFile(folder / layout.PAPER_VECTORS)
        self._more = max(0.0, SENTENCES_PER_PAPER - manifest.sentences / manifest.papers)
        self._block = lru_cache(maxsize=4)(self._read)

    def _read(self, block: int) -> list[Paper]:
        """Papers of the base, a block at a time: all of them would take a gigabyte."""
        rows = range(block * BATCH, min((block + 1) * BATCH, self._count))
        return self._snapshot.papers_by_row(rows)

    def _original(self, row: int) -> Paper:
        return self._block(row // BATCH)[row % BATCH]

    def _parts(self, number: int) -> tuple[int, int, int]:
        """Which paper of the base paper `number` is, which other goes on, and for how many sentences."""
        turn, own = divmod(number, self._count)
        other = (own + turn + 1) % self._count
        more = floor((number + 1) * self._more) - floor(number * self._more)
        return own, other, min(more, int(self._offsets[other + 1] - self._offsets[other]))

    def _rows(self, number: int) -> NDArray[np.int64]:
        """The rows of the base that the sentences of paper `number` are made of."""
        own, other, more = self._parts(number)
        mine = np.arange(self._offsets[own], self._offsets[own + 1])
        return np.concatenate([mine, self._offsets[other] + np.arange(more)])

    def paper(self, number: int) -> Paper:
        own, other, more = self._parts(number)
        base = self._original(own)
        texts = [each.text for each in (*base.sentences, *self._original(other).sentences[:more])]
        # Copies begin and are signed each in its own way: those that begin alike would all be compared.
        texts[0] = f"{number} {texts[0]}"
        sentences: list[Sentence] = []
        for text in texts:
            start = sentences[-1].end + 1 if sentences else 0
            sentences.append(Sentence(text, start, start + len(text)))
        return replace(
            base,
            id=str(number),
            title=f"{base.title} [{number}]",
            authors=(f"Author{number}",),
            abstract=" ".join(texts),
            sentences=tuple(sentences),
            doi="",
            arxiv_id="",
            pmid="",
        )

    def encode(
        self, documents: Iterable[Document], progress: Callable[[int], None] | None = None
    ) -> Iterator[Encoded]:
        for document in documents:
            number = int(document.title.rsplit("[", 1)[1].rstrip("]"))
            rows = self._rows(number)
            found = np.vstack([self._whole[number % self._count], self._sentences[rows]])
            vectors = jitter(found.astype(np.float32), np.random.default_rng(number))
            yield Encoded(vectors[1:], vectors[0], self._facets[rows])
            if progress:
                progress(1)


def jitter(vectors: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.float32]:
    """Unit vectors [n, d] moved a little, each in a direction of its own."""
    noise = random.standard_normal(vectors.shape, np.float32) * JITTER / np.sqrt(vectors.shape[1])
    return unit(vectors + noise)
