"""One score from the kinds of evidence, and what the score means in words.

    total = match + weight · words - AVOID · max(avoided - CHANCE, 0)

Match and avoided are cosines, match with a little more for sentences of the same panel; words is BM25 over
the most the query could reach. Where a whole abstract is asked for, half of match is the cosine of the papers
as wholes, chosen on papers that are cited together; searched by facet, adding it helped neither encoder. No
part depends on the other candidates, so a paper has the same score in a pool of ten as in a search of a
million. Weights and levels were chosen on the development queries of CSFCube, searched by facet, with the
default encoder; the weight of words once more with the `quality` preset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.presets import MPNET
from search.types import NO_PANEL, Evidence, Likeness, Matcher

Floats = NDArray[np.float32]
Panels = NDArray[np.uint8]
"""Codes as in `search.types.PANEL_CODES`."""

MATCHER = Matcher.BEST
WORDS, AVOID = 1.0, 1.0
WORDS_WITH = {MPNET: 0.75}
"""Chosen beside that encoder on the development queries; the others take WORDS."""
WHOLE = 0.5
"""The part of match that is the cosine of the wholes, where a whole abstract is asked for."""
ROLE = 0.05
"""What a pair of sentences gains when both stand in the same panel: method beside method."""
CHANCE = 0.4
"""How near most unrelated papers come by chance: so much is not held against a paper."""
NEAREST = 3
"""With several query papers, a candidate counts by the mean over this many of them it is nearest to."""

LEVELS = (
    (0.75, 1.15, Likeness.NEAR_IDENTICAL),
    (0.50, 0.91, Likeness.SIMILAR),
    (0.25, 0.62, Likeness.RELATED),
)
"""Where a word begins: the score shown, the total behind it. About a third of the judged papers with a total
near 0.62 were found related or better (a word as strong as "unrelated" asks for more doubt than even odds),
half of those near 0.91 similar or better (`python -m evaluation csfcube --levels`; by the encoders trained
since, near 0.61 and 0.90). Hardly a paper lay above 1.15: take that level as a guess."""
MOST = 1.6
"""The total of a paper with itself."""
CAVEAT = (
    "Scores are calibrated on judged abstracts of computer science: in another field, or with another "
    "encoder, trust the order more than the words."
)


@dataclass(frozen=True, slots=True)
class Scores:
    """The evidence for each candidate and what it comes to, [C] each."""

    sentences: Floats
    whole: Floats
    words: Floats
    avoided: Floats
    nearest: NDArray[np.int64]
    """Which of the query papers the candidate is nearest to."""
    total: Floats
    entire: NDArray[np.bool_]
    """Whether the whole papers count."""

    def evidence(self, place: int) -> Evidence:
        sentences, whole, words, avoided = (
            float(part[place]) for part in (self.sentences, self.whole, self.words, self.avoided)
        )
        return Evidence(sentences, whole, words, avoided, bool(self.entire[place]))


def favour_same_role(similarity: Floats, ours: Panels, theirs: Panels) -> Floats:
    """Similarities [m, S] with ROLE added where a pair's panels, [m] and [S], are the same."""
    same = (ours[:, None] == theirs) & (ours[:, None] != NO_PANEL)
    return similarity + ROLE * same.astype(np.float32)


def weight_of_words(encoder: str) -> float:
    """Beside the cosines of the encoder with this id."""
    return next((weight for name, weight in WORDS_WITH.items() if encoder.startswith(name)), WORDS)


def fuse(
    sentences: Floats,
    whole: Floats,
    words: Floats,
    avoided: Floats,
    weight: float = WORDS,
    entire: Sequence[bool] = (),
) -> Scores:
    """Sentences and whole are [k, C] by query paper, words, which count by the weight, and avoided [C].

    `entire` says for each query paper whether all of it is asked for; none where it is left out.
    """
    asked = np.array(entire or [False] * len(sentences))
    near = np.where(asked[:, None], (1 - WHOLE) * sentences + WHOLE * whole, sentences)
    order = np.argsort(-near, axis=0)[:NEAREST]
    sentences, whole, near = (
        np.take_along_axis(part, order, axis=0).mean(axis=0) for part in (sentences, whole, near)
    )
    total = near + weight * words - AVOID * np.maximum(avoided - CHANCE, 0)
    return Scores(sentences, whole, words, avoided, order[0], total, np.any(asked[order], axis=0))


def readable(total: float) -> float:
    """The score from 0 to 1 that is shown: straight lines between the levels, so the order stays."""
    shown, totals, _ = zip(*reversed(LEVELS), strict=True)
    return float(np.interp(total, (0, *totals, MOST), (0, *shown, 1)))


def in_words(score: float) -> Likeness:
    """What a readable score means, as it is shown with two digits."""
    return next((word for least, _, word in LEVELS if round(score, 2) >= least), Likeness.UNRELATED)
