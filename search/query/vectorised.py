"""A query in numbers: the vectors of the sentences to match and to avoid, and the words with weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.types import PANEL_CODES, Choice, Query, QueryPaper

Floats = NDArray[np.float32]

CONTEXT = 0.5
"""Weight of the words of the title and of ignored sentences; chosen sentences have 1. Chosen by hand."""
SHORTEST_ABSTRACT = 3
"""Sentences from which a text is compared as a whole paper; a question or a few words are not. Chosen by
hand; CSFCube, too, takes no abstracts of fewer than 3 sentences."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """One query paper as it was encoded: its sentences [n, d] and as a whole [d], unit length."""

    sentences: Floats
    whole: Floats


@dataclass(frozen=True, slots=True)
class AskedPaper:
    number: int
    """Position in `Query.papers`."""
    positions: tuple[int, ...]
    """The sentences to be matched."""
    match: Floats
    """[m, d]"""
    weights: Floats
    """[m]"""
    panels: NDArray[np.uint8]
    """[m] as in `search.types.PANEL_CODES`."""
    whole: Floats
    """[d]"""
    entire: bool
    """A whole abstract is to be matched, not some of its sentences."""


@dataclass(frozen=True, slots=True)
class Asked:
    papers: tuple[AskedPaper, ...]
    """Those with a sentence to be matched."""
    avoid: Floats
    """[a, d] the sentences to be avoided, of all papers."""
    terms: Mapping[str, float]

    @property
    def match(self) -> Floats:
        """[m, d] the sentences to be matched, of all papers."""
        return np.concatenate([paper.match for paper in self.papers])

    @property
    def whole(self) -> Floats:
        """[k, d] the papers as wholes."""
        return np.stack([paper.whole for paper in self.papers])


def ask(
    query: Query,
    vectors: Sequence[Vectors],
    weigh_terms: Callable[[list[tuple[str, float]]], dict[str, float]],
) -> Asked:
    """The query with the vectors of its papers, in their order."""
    papers = [
        _asked_paper(number, *pair) for number, pair in enumerate(zip(query.papers, vectors, strict=True))
    ]
    avoid = [
        each.sentences[_positions(paper, Choice.AVOID)]
        for paper, each in zip(query.papers, vectors, strict=True)
    ]
    texts = [text for paper in query.papers for text in _weighed_texts(paper)]
    return Asked(
        tuple(paper for paper in papers if paper.positions), np.concatenate(avoid), weigh_terms(texts)
    )


def _asked_paper(number: int, paper: QueryPaper, vectors: Vectors) -> AskedPaper:
    positions = _positions(paper, Choice.MATCH)
    weights = np.array([paper.sentences[position].weight for position in positions], dtype=np.float32)
    panels = np.array([PANEL_CODES[paper.sentences[place].facet] for place in positions], dtype=np.uint8)
    match = vectors.sentences[positions]
    entire = len(positions) == len(paper.sentences) >= SHORTEST_ABSTRACT
    return AskedPaper(number, tuple(positions), match, weights, panels, vectors.whole, entire)


def _positions(paper: QueryPaper, choice: Choice) -> list[int]:
    return [
        position
        for position, sentence in enumerate(paper.sentences)
        if sentence.choice is choice and sentence.weight > 0
    ]


def _weighed_texts(paper: QueryPaper) -> list[tuple[str, float]]:
    """Ticked sentences with their weights, title and ignored sentences with CONTEXT; no avoided ones."""
    texts = [(paper.title, CONTEXT)]
    for sentence in paper.sentences:
        if sentence.choice is Choice.MATCH:
            texts.append((sentence.text, sentence.weight))
        elif sentence.choice is Choice.IGNORE:
            texts.append((sentence.text, CONTEXT))
    return texts
