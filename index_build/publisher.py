"""How a build is made, wherever it will lie: papers in batches, sealed, then served in one step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from search.corpus.manifest import Manifest
from search.corpus.served import Served
from search.corpus.store.identity import Apart
from search.text.tokenizer import tokenize
from search.types import Paper

BATCH = 2048
"""Papers that are stored together: some 30 MB with their vectors. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some papers of a build with all that is stored of them; their rows follow one another from `first`."""

    first: int
    papers: tuple[Paper, ...]
    """[P] with labelled sentences."""
    ids: tuple[tuple[str, ...], ...]
    """[P] of all records of each paper."""
    whole: NDArray[np.float16]
    """[P, d]"""
    sentences: NDArray[np.float16]
    """[S, d] of one paper after another."""
    terms: tuple[Mapping[str, int], ...]
    """[P] how often each paper has each of its terms."""


class Publisher(Protocol):
    """Makes one build. What is served meanwhile stays as it is until `publish`."""

    def begin(self, planned: Manifest, apart: Apart) -> int:
        """Make room for the build; how many of its papers are there already, from a run that was killed.

        `planned` is the manifest as far as it is known before; `apart` are pairs of papers that stay apart.
        """
        ...

    def add(self, batch: Batch) -> None:
        """Store some papers. The same batch again changes nothing."""
        ...

    def seal(self, papers: int, sentences: int) -> Manifest:
        """Write out, index, load, and compare the counts: a CorpusError where there are others."""
        ...

    def publish(self, sealed: Manifest) -> None:
        """Serve the build from now on, in one step."""
        ...

    def prune(self, keep: int) -> None:
        """Keep the served build and the newest others, `keep` in all."""
        ...


def terms_of(paper: Paper) -> Counter[str]:
    """How often a paper has each term: of its title, and of the sentences of its abstract."""
    title = paper.title if paper.abstract else ""
    return Counter(tokenize(" ".join((title, *(sentence.text for sentence in paper.sentences)))))


def batches_of(build: Served, first: int = 0, size: int = BATCH) -> Iterator[Batch]:
    """The papers of an opened build for another publisher, without the first so many; rows have no gaps."""
    done, after = 0, -1
    while len(rows := build.next_rows(after, size)):
        after = int(rows[-1])
        if done >= first:
            papers = tuple(build.papers_by_row(rows))
            yield Batch(
                done,
                papers,
                tuple(build.ids_of(rows)),
                build.whole_vectors(rows),
                build.sentences(rows).vectors,
                tuple(map(terms_of, papers)),
            )
        done += len(rows)
