"""Trains the upper layers of an encoder to rank graded pools: so the shipped weights were made.

Every step ranks one pool as it was graded. docs/studies/encoder.md has the data and the figures.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from search.encoder.pretrained import MPNET, WORD_WEIGHTS
from search.errors import InputError
from training import base_encoder
from training.base_encoder import BaseEncoder, choose_recipe
from training.judgements import JUDGEMENTS, choose_rounds, read_graded
from training.pool_ranking import PoolRanking, PoolRecipe
from training.pools import development_pools, graded_round
from training.progress import say

RECIPES = {
    "default": PoolRecipe(),
    "quality": PoolRecipe(upper=4, rank=16, zeros=4, rate=3e-4, words=WORD_WEIGHTS[MPNET], share=1.0),
}
"""By preset."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        required=True,
        help="folder with acl_anthology.jsonl.gz, citations/papers.jsonl.gz and csfcube/",
    )
    parser.add_argument(
        "--judgements",
        type=Path,
        default=JUDGEMENTS,
        help="graded pools (default: training/judgements.jsonl)",
    )
    parser.add_argument(
        "--rounds", type=int, nargs="+", help="rounds of the judgements, in this order (default: all)"
    )
    parser.add_argument("--pools", type=int, help="learn from only the first N pools of these rounds")
    parser.add_argument("--no-first-score", action="store_true", help="do not score before training")
    base_encoder.add_arguments(parser, RECIPES, "encoder")


def run(args: argparse.Namespace) -> int:
    recipe = choose_recipe(args, RECIPES)
    rounds = choose_rounds(read_graded(args.judgements), args.rounds)
    base = BaseEncoder.load(args, recipe)
    checks = {"dev": development_pools(args.data, base.make_corpus, base.encode)}
    pools = []
    for number, graded in rounds.items():
        made = graded_round(args.data, base.make_corpus, base.encode, graded, recipe.zeros)
        if made.held_out.pools:
            checks[f"held_out_{number}"] = made.held_out
        pools += [(made.learned.corpus, pool) for pool in made.learned.pools]
    task = PoolRanking(pools[: args.pools], checks, recipe.words)
    if not task.examples and recipe.epochs:
        raise InputError(
            f"No pool of {args.judgements} can be learned from: choose more `--rounds` or `--pools`."
        )
    say(f"{task.examples} pools to learn from")
    base.train(task, not args.no_first_score)
    return 0
