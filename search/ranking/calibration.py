"""What a score means in words: levels set on graded papers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from search.types import Likeness

LEVELS = (
    (0.75, 1.15, Likeness.NEAR_IDENTICAL),
    (0.50, 0.91, Likeness.SIMILAR),
    (0.25, 0.62, Likeness.RELATED),
)
"""Where each word begins: the score that is shown, and its total in `search.ranking.scoring`.

From the development queries of CSFCube (`python -m evaluation csfcube --levels`): about a third of the papers
with a total near 0.62 were graded related or better, and half of those near 0.91 similar or better. A third
is enough for "related", because "unrelated" is a strong word to be wrong about. With the encoders trained
since, the two totals are 0.61 and 0.90. Very few papers had a total above 1.15, so that level is a guess."""
RELATED_FROM = {"Physics": 0.36, "Mathematics": 0.36}
"""The score from which a paper of such a field is called related. It stands for a total of 0.75: near it a
third of the physics and mathematics papers in one half of `evaluation/arxiv_pools.jsonl` were graded so, in
the other half near 0.74 (`python -m evaluation graded-pools --levels`)."""
MOST = 1.6
"""The total that is shown as 1: about that of a paper compared with itself."""
CAVEAT = (
    "The words are calibrated on judged abstracts of computer science, medicine, statistics, physics and "
    "mathematics: in other fields, or with another encoder, trust the order more."
)


def readable(total: float) -> float:
    """The score from 0 to 1 that is shown: straight lines between the levels, so the order stays."""
    return float(all_readable(np.array([total]))[0])


def all_readable(totals: NDArray[np.floating]) -> NDArray[np.float32]:
    """The same for many papers at once."""
    shown, levels, _ = zip(*reversed(LEVELS), strict=True)
    return np.interp(totals, (0, *levels, MOST), (0, *shown, 1)).astype(np.float32)


def in_words(score: float, fields: Sequence[str] = ()) -> Likeness:
    """What a readable score means, as it is shown with two digits, for a paper of these fields."""
    shown = round(score, 2)
    if any(shown < RELATED_FROM.get(field, 0) for field in fields[:1]):
        return Likeness.UNRELATED
    return next((word for least, _, word in LEVELS if shown >= least), Likeness.UNRELATED)
