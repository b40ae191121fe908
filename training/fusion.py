"""Chooses the weights that add up the parts of a score, on graded pools, and confirms them on other pools.

The parts are those of a search by facet (search/ranking/scoring.py): the match, with something added for
sentences of the same panel, the whole papers' cosine, and words. Weights are chosen by NDCG%20 with five-fold
cross-validation, one choice for all facets or one for each; what all folds together choose is then measured
once on pools that were left aside. docs/studies/questions.md has what came of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.graded_pools import JUDGED
from evaluation.significance import compare
from evaluation.tables import table
from search.types import PANELS
from training.judgements import JUDGEMENTS, read_graded, read_judged
from training.score_parts import GRID, TODAY, Parts, read_parts
from training.vector_cache import cached_encoder

Values = NDArray[np.float64]


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
    print(describe(pools, others))
    return 0


@dataclass(frozen=True, slots=True)
class Choice:
    """Weights, as places in GRID, for each pool that was chosen on and for each that confirms."""

    title: str
    pools: NDArray[np.int64]
    others: NDArray[np.int64]


def choose(
    title: str, pools: Sequence[Parts], others: Sequence[Parts], values: Values, alone: bool
) -> Choice:
    """The best by NDCG%20: for a pool those of the other folds, for the others those of all.

    `alone`: by the pools of the same facet only.
    """

    def best(for_one: Parts, but: int = -1) -> int:
        kin = [not alone or one.facet == for_one.facet for one in pools]
        there = [one.fold != but for one in pools]
        return int(values[np.array(kin) & np.array(there), :, 1].mean(axis=0).argmax())

    known: dict[tuple[str, int], int] = {}
    for one in pools:
        known.setdefault((one.facet, one.fold), best(one, one.fold))
    final = {one.facet: best(one) for one in (*pools, *others)}
    return Choice(
        title,
        np.array([known[one.facet, one.fold] for one in pools]),
        np.array([final[one.facet] for one in others]),
    )


def describe(pools: Sequence[Parts], others: Sequence[Parts]) -> str:
    """Each choice held against today's weights: on all pools, on those the encoder has not seen, by facet."""
    ours, theirs = (np.array([[one.values(w) for w in GRID] for one in some]) for some in (pools, others))
    choices = [choose("one choice", pools, others, ours, alone=False)]
    choices += [choose("by facet", pools, others, ours, alone=True)]
    rows = []
    groups = [(name, ours[mine], [one.pools[mine] for one in choices]) for name, mine in _groups(pools)]
    held = [place for place, one in enumerate(pools) if one.held_out]
    if held:
        groups.insert(1, ("held out from the encoder", ours[held], [one.pools[held] for one in choices]))
    groups += [
        (f"others: {name}", theirs[mine], [one.others[mine] for one in choices])
        for name, mine in _groups(others)
    ]
    for name, values, picked in groups:
        today = values[:, TODAY]
        rows.append(_row(name, "today", today, today))
        for choice, weights in zip(choices, picked, strict=True):
            rows.append(_row("", choice.title, values[np.arange(len(values)), weights], today))
    lines = [table(rows, ["pools", "weights", "number", "MAP", "NDCG%20", "against today", "p"]), ""]
    for choice in choices:
        found = {one.facet: GRID[weights] for one, weights in zip(others, choice.others, strict=True)}
        lines += [f"{choice.title}: {facet} {weights}" for facet, weights in found.items()]
    return "\n".join(lines)


def _groups(pools: Sequence[Parts]) -> Iterator[tuple[str, list[int]]]:
    """Names of groups and the places of their pools."""
    yield "all", list(range(len(pools)))
    for panel in PANELS:
        if mine := [place for place, one in enumerate(pools) if one.facet == panel]:
            yield str(panel), mine


def _row(group: str, title: str, values: Values, today: Values) -> list[str]:
    """Means of values [pools, 2], and what they gain over today's."""
    means, differences = values.mean(axis=0), (values - today).mean(axis=0)
    against = " / ".join(f"{difference:+.2f}" for difference in differences)
    p_value = f"{compare(values[:, 1].tolist(), today[:, 1].tolist()).p_value:.3f}"
    return [group, title, str(len(values)), *(f"{mean:.2f}" for mean in means), against, p_value]
