"""One score from the kinds of evidence.

    total = match + weight · words - AVOID · max(avoided - CHANCE, 0)

Match and avoided are cosines, and match adds a little for sentences of the same panel; words is BM25 divided
by the highest score the query could reach. Where a whole abstract is asked for, half of match is the cosine
of the whole papers; in searches by facet that cosine helped with neither encoder, so it is left out. No part
depends on the other candidates, so a paper has the same score in a pool of ten as in a search of a million.
Each constant below says where its value comes from; the development queries of CSFCube were searched by
facet, with the default encoder, and the weight of words was chosen again for the `quality` preset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.types import NO_PANEL, Evidence, Matcher

Floats = NDArray[np.float32]
Panels = NDArray[np.uint8]
"""Codes as in `search.types.PANEL_CODES`."""

MATCHER = Matcher.BEST
"""The best matcher on the development queries of CSFCube."""
WORDS = 1.0
"""Weight of the words part beside the match; chosen on the development queries of CSFCube."""
AVOID = 1.0
"""Weight of the avoided part; chosen by hand, and the best of eight on both halves of the queries of
`python -m evaluation avoid`."""
WHOLE = 0.5
"""Share of the whole-paper cosine in the match when a whole abstract is asked for; chosen on papers that are
cited together."""
SAME_PANEL = 0.05
"""Cosine added to a pair of sentences of the same panel, such as method and method; chosen on the development
queries of CSFCube."""
CHANCE = 0.4
"""Mean cosine of avoided sentences up to which nothing is subtracted; chosen by hand. Of 20,000 random pairs
of papers of the demo corpus, with the default encoder, 98 % stay below it; the median is 0.17."""
NEAREST = 3
"""With several query papers, a candidate is scored by the mean over its nearest ones, at most this many.
Chosen by hand: a candidate need not be near to every paper of a long list."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The evidence for each candidate and what it comes to, [C] each."""

    sentences: Floats
    whole: Floats
    words: Floats
    avoided: Floats
    nearest: NDArray[np.int64]
    """Which of the query papers the candidate is nearest to."""
    asked: Floats
    """How near it is to what is asked for, before anything is held against it."""
    total: Floats
    """The same less what is avoided: the order of the results."""
    entire: NDArray[np.bool_]
    """Whether the whole papers count."""

    def evidence(self, place: int) -> Evidence:
        sentences, whole, words, avoided = (
            float(part[place]) for part in (self.sentences, self.whole, self.words, self.avoided)
        )
        return Evidence(sentences, whole, words, avoided, bool(self.entire[place]))


def favour_same_panel(similarity: Floats, ours: Panels, theirs: Panels) -> Floats:
    """Similarities [m, S] with SAME_PANEL added where a pair's panels, [m] and [S], are the same."""
    same = (ours[:, None] == theirs) & (ours[:, None] != NO_PANEL)
    return similarity + SAME_PANEL * same.astype(np.float32)


def fuse(
    sentences: Floats,
    whole: Floats,
    words: Floats,
    avoided: Floats,
    weight: float = WORDS,
    entire: Sequence[bool] = (),
) -> Scores:
    """Scores from `sentences` and `whole`, both [k, C] by query paper, and `words` and `avoided`, both [C].

    `weight` is the weight of the words. `entire` says for each query paper whether its whole abstract is
    asked for; left out, it is false for all.
    """
    asked = np.array(entire or [False] * len(sentences))
    near = np.where(asked[:, None], (1 - WHOLE) * sentences + WHOLE * whole, sentences)
    order = np.argsort(-near, axis=0)[:NEAREST]
    sentences, whole, near = (
        np.take_along_axis(part, order, axis=0).mean(axis=0) for part in (sentences, whole, near)
    )
    wanted = near + weight * words
    total = wanted - AVOID * np.maximum(avoided - CHANCE, 0)
    return Scores(sentences, whole, words, avoided, order[0], wanted, total, np.any(asked[order], axis=0))
