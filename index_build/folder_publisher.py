"""A build in a folder: its new segment is written, those of the build before it are taken over."""

from __future__ import annotations

import secrets
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np

from index_build.growth import Growth, take_over
from index_build.memory import Memory
from index_build.publish import prune, seal, serve
from index_build.publisher import Batch
from index_build.segment_writer import INDICES, SegmentWriter
from index_build.verify import check_segment
from search.corpus import layout
from search.corpus.arrays import write_array
from search.corpus.manifest import Manifest, Segment
from search.corpus.store.identity import Apart
from search.errors import CorpusError
from search.types import Progress


class FolderPublisher:
    """A context manager. The caller holds the corpus for writing (`only_writer`)."""

    def __init__(
        self, corpus: Path, memory: Memory, growth: Growth | None = None, report: Progress | None = None
    ) -> None:
        """`growth` says which segments of the served build stay; without it, none do."""
        self._corpus, self._memory, self._growth = corpus, memory, growth
        self._report = report or (lambda step, done, total: None)
        self._open = ExitStack()
        self._writer: SegmentWriter | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def begin(self, planned: Manifest, apart: Apart) -> int:
        self._planned, self._build = self._new_folder(planned)
        kept = self._growth.kept if self._growth else ()
        if self._growth:
            take_over(self._growth, self._build)
        self._segment = self._build / str(len(kept)) if kept else self._build
        if not kept or (self._growth and len(self._growth.added.numbers)):  # else papers only went
            writer = SegmentWriter(self._segment, planned, apart, self._memory)
            self._writer = self._open.enter_context(writer)
        return 0

    def _new_folder(self, planned: Manifest) -> tuple[Manifest, Path]:
        """A folder that no build had before; builds of one moment, here or elsewhere, get different names."""
        while True:
            named = replace(planned, build_id=f"{planned.build_id}-{secrets.token_hex(2)}")
            folder = self._corpus / layout.BUILDS / named.build_id
            with suppress(FileExistsError):
                folder.mkdir(parents=True)
                return named, folder

    def add(self, batch: Batch) -> None:
        assert self._writer is not None
        if batch.first + len(batch.papers) > self._writer.papers:  # else it came before
            self._writer.add(batch)

    def seal(self, papers: int, sentences: int) -> Manifest:
        """`papers` and `sentences` count those that were added."""
        growth, kept = self._growth, self._growth.kept if self._growth else ()
        average = growth.average_terms if growth and kept else 0.0
        segments = [each.segment for each in kept]
        if self._writer:
            average = average or self._writer.average
            new = replace(self._write(self._writer, average), folder=str(len(kept)) if kept else "")
            if (new.papers, new.sentences) != (papers, sentences):
                raise CorpusError(
                    f"The build holds {new.papers} papers and {new.sentences} sentences instead of {papers} "
                    f"and {sentences}: run the command again."
                )
            segments.append(new)
        alone = len(segments) == 1 and not segments[0].removed
        complete = replace(
            self._planned,
            papers=sum(each.papers - each.removed for each in segments),
            sentences=sum(each.sentences for each in segments) - self._sentences_removed(),
            average_terms=average,
            segments=() if alone else tuple(segments),
        )
        # Nothing that cannot be opened is ever served; what was taken over was checked when it was new.
        for problem in check_segment(self._build, complete, segments[-1]) if self._writer else ():
            raise CorpusError(f"The build came out wrong ({problem}): run the command again.")
        return seal(self._build, complete, growth.base if growth and kept else None)

    def _write(self, writer: SegmentWriter, average: float) -> Segment:
        self._report("index", 0, INDICES)
        new = writer.finish(average, lambda done: self._report("index", done, INDICES))
        if self._growth:
            stamps = np.stack([self._growth.added.keys, self._growth.added.stamps], axis=1)
            write_array(self._segment / layout.STAMPS, stamps.astype(np.uint64))
        return new

    def _sentences_removed(self) -> int:
        total = 0
        for each in self._growth.kept if self._growth else ():
            offsets = np.load(self._build / each.segment.folder / layout.OFFSETS, mmap_mode="r")
            total += int((offsets[each.removed.rows + 1] - offsets[each.removed.rows]).sum())
        return total

    def publish(self, sealed: Manifest) -> None:
        serve(self._corpus, sealed.build_id)

    def prune(self, keep: int) -> None:
        prune(self._corpus, keep)
