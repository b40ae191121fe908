"""`python -m evaluation graded-pools`: faceted search on pools of our own, beyond CSFCube's field.

`graded_pools.jsonl` beside this file holds ids and grades, never texts: 679 papers on learning, vision,
robotics, databases and language, each asked for one facet. A language model graded them
(docs/studies/judging.md); nothing was trained on them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evaluation import runner as pool_run
from evaluation.collection_files import read_records
from evaluation.collections import Collection, PoolQuery
from evaluation.large_pools import CORPUS, read_citations
from evaluation.levels import LEAST
from evaluation.methods import PRODUCT
from search.errors import InputError
from search.text.sentences import split_paper
from search.types import Facet, Paper

JUDGED = Path(__file__).parent / "graded_pools.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pool_run.add_arguments(parser)
    parser.add_argument("--judgements", type=Path, default=JUDGED, help="graded pools (default: the shipped)")
    parser.set_defaults(split="all", method=list(PRODUCT))


def run(args: argparse.Namespace) -> int:
    return pool_run.evaluate(read_judged(args.data, args.judgements), args)


def read_judged(folder: Path, judgements: Path = JUDGED) -> Collection:
    """The pools over the papers of a citation collection, whose whole corpus is searched."""
    papers = dict(read_citations(folder).papers)
    queries: dict[str, PoolQuery] = {}
    missing = []
    for number, record in enumerate(read_records(judgements), start=1):
        try:
            asked, facet = record["query"], Facet(record["facet"])
            places, grades = tuple(record["sentences"]), dict(record["grades"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"Pool {number} of {judgements} needs a query, a facet, sentences and grades ({error!r})."
            ) from None
        query = f"{asked}_{facet}"
        known = {paper: grade for paper, grade in grades.items() if paper in papers}
        if asked not in papers or not known:
            missing.append(f"query {query}: its abstract or its candidates are not in the collection")
            continue
        papers[asked] = _marked(papers[asked], facet, places)
        queries[query] = PoolQuery(query, asked, facet, known)
    return Collection("graded-pools", folder, papers, queries, {}, LEAST["similar"], tuple(missing), CORPUS)


def _marked(paper: Paper, facet: Facet, places: Sequence[int]) -> Paper:
    """With the facet at the sentences that were asked about."""
    sentences = list(split_paper(paper).sentences)
    for place in places:
        if not 0 <= place < len(sentences):
            raise InputError(
                f"The pool of {paper.id!r} asks about sentence {place + 1}, but its abstract has "
                f"{len(sentences)}: it was graded on another text."
            )
        sentences[place] = replace(sentences[place], facet=facet)
    return replace(paper, sentences=tuple(sentences))
