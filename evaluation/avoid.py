"""`python -m evaluation avoid`: what “same method, different problem” is worth, and how much avoiding weighs.

`avoid_pools.jsonl` beside this file holds ids and grades, never texts: for each query paper its candidates'
grades by method and, judged apart, by background, both by reading (docs/studies/judging.md). A candidate is
wanted as far as its method is more like the query's than its problem is. One half of the queries, by the
checksum of their ids, is for tuning.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluation.collection_files import read_records
from evaluation.engine_under_test import open_built
from evaluation.graded_pools import first_half
from evaluation.metrics import ndcg, ranked
from evaluation.results import write_json
from evaluation.significance import compare
from evaluation.tables import table
from search.engine import Engine
from search.errors import InputError
from search.query.choosing import choose_facet
from search.ranking.scoring import AVOID, CHANCE
from search.types import Choice, Facet, Query

JUDGED = Path(__file__).parent / "avoid_pools.jsonl"
WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
FIRST = 5
"""Results whose likeness is averaged."""
Grades = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Pool:
    query: str
    method: Grades
    background: Grades

    def wanted(self, paper: str) -> int:
        return max(self.method[paper] - self.background[paper], 0)


@dataclass(frozen=True, slots=True)
class Answered:
    """A pool with what the search finds of each candidate: how near it is, and how like what is avoided."""

    pool: Pool
    near: dict[str, float]
    avoided: dict[str, float]

    def order(self, weight: float, chance: float) -> list[str]:
        return ranked(
            {paper: near - weight * max(self.avoided[paper] - chance, 0) for paper, near in self.near.items()}
        )


@dataclass(frozen=True, slots=True)
class Value:
    method: float
    """NDCG of the grades by method, in percent; not a number where no candidate has one above 0."""
    wanted: float
    """The same of what is wanted."""
    background_of_first: float
    """Mean grade by background of the first results."""
    method_of_first: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corpus", type=Path, required=True, help="a built corpus that has the papers")
    parser.add_argument("--judgements", type=Path, default=JUDGED, help="graded pools (default: the shipped)")
    parser.add_argument("--encoder", default="default", help="that of the corpus (default: default)")
    parser.add_argument("--weights", type=float, nargs="+", default=list(WEIGHTS))
    parser.add_argument(
        "--chance", type=float, default=CHANCE, help=f"cosine that is not held against it (default: {CHANCE})"
    )
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures there")


def run(args: argparse.Namespace) -> int:
    engine = open_built(args.corpus, args.encoder)
    answered = list(answer(engine, read_pools(args.judgements)))
    halves = {
        "tuned on": [each for each in answered if first_half(each.pool.query)],
        "confirmed on": [each for each in answered if not first_half(each.pool.query)],
        "all": answered,
    }
    rows = [row for title, some in halves.items() if some for row in _rows(title, some, args)]
    heads = [
        "pools (something wanted)",
        "weight",
        "method NDCG",
        "wanted NDCG",
        "against now",
        "background of 5",
        "method of 5",
    ]
    print(table(rows, heads))
    if args.json:
        write_json(args.json, {"heads": heads, "rows": rows})
    return 0


def read_pools(file: Path) -> list[Pool]:
    pools = []
    for number, record in enumerate(read_records(file), start=1):
        try:
            pool = Pool(record["query"], dict(record["grades"]), dict(record["beside"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"Pool {number} of {file} needs a query, grades and, beside them, grades of the background "
                f"({error!r}): write it with `annotate grades --beside`."
            ) from None
        if pool.method.keys() != pool.background.keys():
            raise InputError(f"Pool {number} of {file} must grade the same papers twice: complete it.")
        pools.append(pool)
    return pools


def answer(engine: Engine, pools: Sequence[Pool]) -> Iterator[Answered]:
    """Each pool ranked as “this method elsewhere” asks; queries with nothing to avoid are left out."""
    for pool in pools:
        paper = choose_facet(engine.example(pool.query), Facet.METHOD, avoid=Facet.BACKGROUND)
        if not any(sentence.choice is Choice.AVOID for sentence in paper.sentences):
            continue
        scored = engine.rank_pool(Query((paper,)), list(pool.method))
        avoided = {one.paper_id: one.evidence.avoided for one in scored}
        held = {paper: AVOID * max(likeness - CHANCE, 0) for paper, likeness in avoided.items()}
        yield Answered(pool, {one.paper_id: one.score + held[one.paper_id] for one in scored}, avoided)


def value(answered: Answered, weight: float, chance: float) -> Value:
    pool, order = answered.pool, answered.order(weight, chance)
    method, background = ([grades[paper] for paper in order] for grades in (pool.method, pool.background))
    wanted = [pool.wanted(paper) for paper in order]
    return Value(
        100 * ndcg(method, len(order)) if any(method) else np.nan,
        100 * ndcg(wanted, len(order)) if any(wanted) else np.nan,
        float(np.mean(background[:FIRST])),
        float(np.mean(method[:FIRST])),
    )


def _rows(title: str, answered: Sequence[Answered], args: argparse.Namespace) -> Iterator[list[str]]:
    """A row for each weight: its values, and how far and how surely it differs from today's weight."""
    some = [each for each in answered if not np.isnan(value(each, AVOID, CHANCE).wanted)]
    now = [value(each, AVOID, CHANCE).wanted for each in some]
    for weight in args.weights:
        found = [value(each, weight, args.chance) for each in answered]
        test = compare([value(each, weight, args.chance).wanted for each in some], now)
        yield [
            f"{title}, {len(answered)} ({len(some)})",
            f"{weight:g}",
            f"{np.nanmean([each.method for each in found]):.1f}",
            f"{np.nanmean([each.wanted for each in found]):.1f}",
            f"{test.difference:+.1f}, p = {test.p_value:.3f}",
            f"{np.mean([each.background_of_first for each in found]):.2f}",
            f"{np.mean([each.method_of_first for each in found]):.2f}",
        ]
