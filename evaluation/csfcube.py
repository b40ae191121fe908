"""`python -m evaluation csfcube`: faceted search on CSFCube, the product beside the papers' baselines."""

from __future__ import annotations

import argparse

from evaluation import runner as pool_run
from evaluation.collections import read_csfcube


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pool_run.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    return pool_run.evaluate(read_csfcube(args.data), args)
