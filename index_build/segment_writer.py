"""One segment, written batch by batch into a folder: store, vectors, words, then the indices."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Self

import numpy as np

from index_build.memory import Memory
from index_build.publisher import Batch
from search.corpus import layout
from search.corpus.arrays import GrowingArray, write_array
from search.corpus.faiss_making import build_index
from search.corpus.manifest import Manifest, Segment
from search.corpus.postings import PostingsWriter
from search.corpus.store.identity import Apart
from search.corpus.store.writer import SnapshotWriter
from search.corpus.vector_file import VectorFile
from search.errors import CorpusError
from search.types import NO_PANEL, PANEL_CODES

INDICES = 3


class SegmentWriter:
    """A context manager: what is not finished is given up."""

    def __init__(self, folder: Path, planned: Manifest, apart: Apart, memory: Memory) -> None:
        folder.mkdir(exist_ok=True)
        self._folder, self._planned, self._memory = folder, planned, memory
        self._store = SnapshotWriter(folder / layout.STORE, apart, memory_limit=f"{memory.database}MB")
        self._words = PostingsWriter(folder / "postings", memory.postings)
        self._sentences = GrowingArray(folder / layout.SENTENCE_VECTORS, np.float16, planned.dimension)
        self._papers = GrowingArray(folder / layout.PAPER_VECTORS, np.float16, planned.dimension)
        self._panels = GrowingArray(folder / layout.PANELS, np.uint8)
        self._counts: list[int] = []
        """Sentences of each paper."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()
        for array in (self._sentences, self._papers, self._panels):
            array.close()

    @property
    def papers(self) -> int:
        return self._store.papers

    @property
    def average(self) -> float:
        """Terms of a paper."""
        return self._words.average

    def add(self, batch: Batch) -> None:
        if batch.first != self.papers:
            raise CorpusError(
                f"Paper {batch.first} does not follow the {self.papers} before it: build again."
            )
        counts = [len(paper.sentences) for paper in batch.papers]
        if (sum(counts), len(counts)) != (len(batch.sentences), len(batch.whole)):
            raise CorpusError(f"{sum(counts)} sentences have {len(batch.sentences)} vectors: build again.")
        self._store.add(batch.papers, batch.ids)
        self._words.add(batch.terms)
        self._sentences.append(batch.sentences)
        self._papers.append(batch.whole)
        facets = (sentence.facet for paper in batch.papers for sentence in paper.sentences)
        self._panels.append(np.array([PANEL_CODES[each] if each else NO_PANEL for each in facets], np.uint8))
        self._counts += counts

    def finish(self, average: float, report: Callable[[int], None]) -> Segment:
        """Write out and index; `report` hears how many of the INDICES are done."""
        folder, planned = self._folder, self._planned
        self._store.finish()
        for array in (self._sentences, self._papers, self._panels):
            array.close()
        write_array(folder / layout.OFFSETS, np.cumsum([0, *self._counts], dtype=np.int64))
        self._words.write(folder / layout.LEXICAL, planned.bm25_k1, planned.bm25_b, average)
        report(1)
        build_index(VectorFile(folder / layout.SENTENCE_VECTORS), folder / layout.SENTENCE_INDEX)
        report(2)
        build_index(VectorFile(folder / layout.PAPER_VECTORS), folder / layout.PAPER_INDEX)
        report(3)
        # DuckDB's own folder for what did not fit into memory.
        shutil.rmtree(folder / f"{layout.STORE}.tmp", ignore_errors=True)
        return Segment(folder.name, self._store.papers, self._store.sentences)
