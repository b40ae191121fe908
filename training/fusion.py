"""Chooses the weights that add up the parts of a score, on graded pools, and confirms them on other pools.

The parts are those of a search by facet (search/ranking/scoring.py): the match, with something added for
sentences of the same panel, the whole papers' cosine, and words. Weights are chosen by NDCG%20 with five-fold
cross-validation, one choice for all facets or one for each; what all folds together choose is then measured
once on pools that were left aside. docs/studies/questions.md has what came of it.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaluation.graded_pools import JUDGED
from evaluation.metrics import ndcg
from evaluation.significance import compare
from evaluation.tables import table
from search.ranking.scoring import SAME_PANEL, WORDS
from search.types import PANELS, Document
from training.corpus import Words
from training.judgements import JUDGEMENTS, SOURCE_MARK, Graded, read_graded, read_judged
from training.pool_ranking import RELEVANT_FROM
from training.vector_cache import Encode, cached_encoder

Floats = NDArray[np.float32]
Weights: TypeAlias = tuple[float, float, float]
"""What a sentence of the same panel gains, the share of whole papers in the match, the weight of words."""
GRID: tuple[Weights, ...] = tuple(
    product((0, 0.025, 0.05, 0.1, 0.15), (0, 0.1, 0.2, 0.3, 0.5), (0.25, 0.5, 0.75, 1.0, 1.25, 1.5))
)
TODAY = GRID.index((SAME_PANEL, 0, WORDS))
FOLDS = 5
MEASURES = ("MAP", "NDCG%20")


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        required=True,
        help="folder with acl_anthology.jsonl.gz, citations/papers.jsonl.gz and csfcube/",
    )
    parser.add_argument(
        "--judgements", type=Path, default=JUDGEMENTS, help="pools to choose on (default: the training pools)"
    )
    parser.add_argument(
        "--confirm", type=Path, default=JUDGED, help="pools to confirm on (default: those of graded-pools)"
    )
    parser.add_argument("--cache", type=Path, default=Path("build/training-cache"), help="folder for vectors")


def run(args: argparse.Namespace) -> int:
    encode = cached_encoder("default", args.cache / "vectors")
    chosen_on, confirmed_on = (read_graded(file) for file in (args.judgements, args.confirm))
    documents = read_judged(args.data, [*chosen_on, *confirmed_on])
    pools, others = (list(read_parts(some, documents, encode)) for some in (chosen_on, confirmed_on))
    print(table(report(pools, others), ["", "pools", *MEASURES, "against today", "p", "weights"]))
    return 0


def read_parts(
    graded: Sequence[Graded], documents: Mapping[str, Document], encode: Encode
) -> Iterator[Parts]:
    """The pools over the papers of each source; pools with one grade only are left out."""
    for cited in (False, True):
        mine = {id: one for id, one in documents.items() if (SOURCE_MARK in id) is cited}
        if mine:
            yield from _parts_of_source([one for one in graded if one.query in mine], mine, encode)


def _parts_of_source(
    graded: Iterable[Graded], documents: Mapping[str, Document], encode: Encode
) -> Iterator[Parts]:
    words, vectors = Words(documents), encode(list(documents.values()))
    place = {id: number for number, id in enumerate(documents)}
    for one in graded:
        kept = {id: grade for id, grade in one.grades.items() if id in place}
        if len(set(kept.values())) < 2:
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


def report(pools: Sequence[Parts], others: Sequence[Parts]) -> list[list[str]]:
    """A row for today's weights and for each way to choose, on the pools chosen on and on the others."""
    ours, theirs = (np.array([[one.values(w) for w in GRID] for one in some]) for some in (pools, others))
    rows = []
    for title, places in _groups(pools):
        mine = ours[places]
        folds = np.array([pools[place].fold for place in places])
        picked = np.array([_best(mine[folds != fold]) for fold in folds])
        crossed = mine[np.arange(len(mine)), picked]
        rows.append(_row(f"{title}: today", mine[:, TODAY], mine[:, TODAY], TODAY))
        rows.append(_row(f"{title}: chosen, crosswise", crossed, mine[:, TODAY], _best(mine)))
        facet = {pools[place].facet for place in places}
        held = [place for place, one in enumerate(others) if one.facet in facet]
        if held and "tenth" not in title:
            rows.append(_row("  other pools: today", theirs[held, TODAY], theirs[held, TODAY], TODAY))
            best = _best(mine)
            rows.append(_row("  other pools: chosen", theirs[held, best], theirs[held, TODAY], best))
    return rows


def _groups(pools: Sequence[Parts]) -> Iterator[tuple[str, list[int]]]:
    yield "all", list(range(len(pools)))
    yield "held-out tenth", [place for place, one in enumerate(pools) if one.held_out]
    for panel in PANELS:
        yield str(panel), [place for place, one in enumerate(pools) if one.facet == panel]


def _best(values: NDArray[np.float64]) -> int:
    """Which weights have the highest mean NDCG%20; values [pools, weights, 2]."""
    return int(values[:, :, 1].mean(axis=0).argmax())


def _row(title: str, values: NDArray[np.float64], today: NDArray[np.float64], weights: int) -> list[str]:
    means, differences = values.mean(axis=0), (values - today).mean(axis=0)
    against = " / ".join(f"{difference:+.2f}" for difference in differences)
    p_value = f"{compare(values[:, 1], today[:, 1]).p_value:.3f}"
    return [title, str(len(values)), *(f"{mean:.2f}" for mean in means), against, p_value, f"{GRID[weights]}"]
