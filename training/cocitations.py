"""Trains the upper layers of an encoder from co-cited papers, with the citing sentence as guidance (ASPIRE).

Papers that one sentence cites have something in common, and the sentence says what. Every step takes some
pairs of such papers and tells the partners from other papers. Held-out pairs are scored before and after.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from training import base_encoder
from training.base_encoder import BaseEncoder, choose_recipe
from training.cocited_pairs import DATA_FORMAT, CitationData, CocitedPairs, cocited_test, pairs_to_learn
from training.pair_matching import PairMatching, PairRecipe
from training.papers import read_titles
from training.progress import say

RECIPES = {"default": PairRecipe(), "quality": PairRecipe(upper=4, rank=16, rate=3e-4)}
"""By preset; the layers, the rank and `quality`'s rate are those of `python -m training encoder`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = DATA_FORMAT
    parser.add_argument("--data", type=Path, required=True, help="folder with the files described below")
    parser.add_argument(
        "--exclude",
        type=Path,
        nargs="+",
        default=[],
        help="JSON lines with titles of papers never to learn from, such as a test collection's",
    )
    base_encoder.add_arguments(parser, RECIPES, "cocitations")


def run(args: argparse.Namespace) -> int:
    recipe = choose_recipe(args, RECIPES)
    data = CitationData.read(args.data)
    excluded = {title for file in args.exclude for title in read_titles(file)}
    base = BaseEncoder.load(args, recipe)
    test = cocited_test(data, base.make_corpus)
    pairs = CocitedPairs(test.corpus, (), ())
    if recipe.epochs:
        pairs = pairs_to_learn(data, base.make_corpus, base.encode, excluded, recipe.mined)
    task = PairMatching(pairs, test, recipe)
    say(f"{task.examples} pairs to learn from, {len(test.queries)} to score among {len(test.pool)} papers")
    base.train(task)
    history = base.trainer.history
    before, after = (history[place]["scores"]["cocited_mrr"] for place in (0, -1))
    say(f"mean reciprocal rank of the partner: {before} before, {after} after")
    return 0
