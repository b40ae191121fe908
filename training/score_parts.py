"""Graded pools as search sees them: what each candidate's score is made of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics import ndcg
from search.ranking.scoring import SAME_PANEL, WORDS
from search.types import Document
from training.corpus import Words
from training.judgements import SOURCE_MARK, Graded
from training.pool_ranking import RELEVANT_FROM
from training.vector_cache import Encode

Floats = NDArray[np.float32]
Weights: TypeAlias = tuple[float, float, float]
"""What a sentence of the same panel gains, the share of whole papers in the match, the weight of words."""
GRID: tuple[Weights, ...] = tuple(
    product((0, 0.025, 0.05, 0.1, 0.15), (0, 0.1, 0.2, 0.3, 0.5), (0.25, 0.5, 0.75, 1.0, 1.25, 1.5))
)
TODAY = GRID.index((SAME_PANEL, 0, WORDS))
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Parts:
    """A pool as search sees it: what each candidate's score is made of, and its grade."""

    id: str
    facet: str
    held_out: bool
    """Whether the encoder was not trained on it."""
    match: Mapping[float, Floats]
    """By what the same panel gains, [c]."""
    whole: Floats
    words: Floats
    grades: tuple[int, ...]

    @property
    def fold(self) -> int:
        return hashlib.sha256(self.id.encode()).digest()[1] % FOLDS

    def values(self, weights: Weights) -> tuple[float, float]:
        """Average precision and NDCG%20 in percent."""
        same_panel, whole, words = weights
        scores = (1 - whole) * self.match[same_panel] + whole * self.whole + words * self.words
        gains = [self.grades[place] for place in np.argsort(-scores, kind="stable")]
        places = 1 + np.flatnonzero(np.array(gains) >= RELEVANT_FROM)
        precision = float(np.mean(np.arange(1, len(places) + 1) / places)) if len(places) else 0.0
        return 100 * precision, 100 * ndcg(gains, len(gains) // 5)


def read_parts(
    graded: Sequence[Graded], documents: Mapping[str, Document], encode: Encode
) -> Iterator[Parts]:
    """The pools over the papers of each source; pools with one grade only are left out."""
    for cited in (False, True):
        mine = {id: one for id, one in documents.items() if (SOURCE_MARK in id) is cited}
        if mine:
            yield from _parts_of_source(graded, mine, encode)


def _parts_of_source(
    graded: Sequence[Graded], documents: Mapping[str, Document], encode: Encode
) -> Iterator[Parts]:
    words, vectors = Words(documents), encode(list(documents.values()))
    place = {id: number for number, id in enumerate(documents)}
    for one in graded:
        kept = {id: grade for id, grade in one.grades.items() if id in place}
        if one.query not in place or len(set(kept.values())) < 2:
            continue
        asked = vectors.of(place[one.query])[list(one.sentences)]
        papers = [place[id] for id in kept]
        cosines = [(asked @ vectors.of(paper).T, vectors.in_panel(paper, one.facet)) for paper in papers]
        match = {
            gain: np.array([(cosine + gain * same).max(1).mean() for cosine, same in cosines], np.float32)
            for gain in {weights[0] for weights in GRID}
        }
        whole = vectors.papers[papers].astype(np.float32) @ vectors.papers[place[one.query]].astype(
            np.float32
        )
        lexical = words.likeness(documents[one.query], one.sentences, list(kept))
        yield Parts(one.id, one.facet, one.held_out, match, whole, lexical, tuple(kept.values()))
