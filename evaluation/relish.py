"""`python -m evaluation relish`: whole-abstract search on RELISH or TREC-COVID-RF, in ASPIRE's layout."""

from __future__ import annotations

import argparse

from evaluation import runner as pool_run
from evaluation.collections import read_aspire
from search.errors import InputError

NAMES = ("relish", "treccovid")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pool_run.add_arguments(parser)
    parser.add_argument(
        "--queries", type=int, metavar="N", help="only the first N (TREC-COVID-RF has large pools)"
    )


def run(args: argparse.Namespace) -> int:
    """Which of the two it is, the files in the folder say."""
    found = [name for name in NAMES if (args.data / f"test-pid2anns-{name}.json").exists()]
    if not found:
        raise InputError(
            f"{args.data} has neither test-pid2anns-relish.json nor test-pid2anns-treccovid.json: "
            "give the folder of one of the two collections."
        )
    for name in found:
        pool_run.evaluate(read_aspire(args.data, name), args, args.queries)
    return 0
