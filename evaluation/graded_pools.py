"""`python -m evaluation graded-pools`: faceted search on pools of our own, beyond CSFCube's field.

`graded_pools.jsonl` beside this file holds ids and grades, never texts: 679 papers on learning, vision,
robotics, databases and language, each asked for one facet. `arxiv_pools.jsonl` (physics, mathematics,
statistics, economics) and `medline_pools.jsonl` (medicine, biology) are the same over a built corpus that has
the papers. A language model graded them (docs/studies/judging.md); nothing was trained on them.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluation import runner as pool_run
from evaluation.collection_files import read_records
from evaluation.collections import Collection, PoolQuery
from evaluation.engine_under_test import open_built, unlabelled
from evaluation.large_pools import CORPUS, read_citations
from evaluation.levels import LEAST
from evaluation.methods import PRODUCT
from search.errors import InputError
from search.text.sentences import split_paper
from search.types import Facet, Paper

JUDGED = Path(__file__).parent / "graded_pools.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pool_run.add_arguments(parser, data_required=False)
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="a built corpus, searched in place of --data"
    )
    parser.add_argument("--judgements", type=Path, default=JUDGED, help="graded pools (default: the shipped)")
    parser.add_argument("--field", help="with --corpus: only query papers whose first field this is")
    parser.set_defaults(split="all", method=list(PRODUCT))


def run(args: argparse.Namespace) -> int:
    if (args.data is None) == (args.corpus is None):
        raise InputError("Give either --data, a citation collection, or --corpus, a built corpus.")
    if args.data:
        return pool_run.evaluate(read_judged(args.data, args.judgements), args)
    return pool_run.evaluate(read_built(args.corpus, args.judgements, args.encoder, args.field), args)


def read_judged(folder: Path, judgements: Path = JUDGED) -> Collection:
    """The pools over the papers of a citation collection, whose whole corpus is searched."""
    papers = dict(read_citations(folder).papers)
    collection = Collection("graded-pools", folder, papers, {}, {}, LEAST["similar"], corpus=CORPUS)
    return _with_pools(collection, papers, read_records(judgements), judgements)


def read_built(
    corpus: Path, judgements: Path, encoder: str = "default", field: str | None = None
) -> Collection:
    """The pools over the papers of a built corpus, which is searched as it is."""
    records = list(read_records(judgements))
    named = (str(id) for each in records for id in (each.get("query"), *(each.get("grades") or ())))
    known = open_built(corpus, encoder).store.papers(list(dict.fromkeys(named)))
    others = {paper.id for paper in known if field and paper.fields[:1] != (field,)}
    papers = {paper.id: unlabelled(paper) for paper in known}
    name = judgements.stem.replace("_", "-")
    collection = Collection(name, corpus, papers, {}, {}, LEAST["similar"], built=corpus)
    asked = (each for each in records if each.get("query") not in others)
    return _with_pools(collection, papers, asked, judgements)


def first_half(paper_id: str) -> bool:
    """Whether a query is of the half that may be tuned on, by the checksum of its id."""
    return hashlib.sha256(paper_id.encode()).digest()[0] % 2 == 0


def _with_pools(
    collection: Collection, papers: dict[str, Paper], records: Iterable[dict[str, Any]], judgements: Path
) -> Collection:
    """The collection with those pools whose papers it has, one half of them as `dev`, the other as `test`."""
    queries: dict[str, PoolQuery] = {}
    missing = []
    for number, record in enumerate(records, start=1):
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
    halves = {
        split: (tuple(query.id for query in queries.values() if first_half(query.paper_id) is first),)
        for split, first in (("dev", True), ("test", False))
    }
    return replace(collection, papers=papers, queries=queries, folds=halves, missing=tuple(missing))


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
