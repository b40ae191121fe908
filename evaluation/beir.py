"""`python -m evaluation beir`: search over a whole corpus in BEIR's layout, whole abstracts or free text.

Thakur et al.: BEIR (NeurIPS 2021). SciDocs, SciFact and TREC-COVID come this way: `corpus.jsonl`,
`queries.jsonl` (with `title` where the query is a paper) and `qrels/*.tsv`, each plain or `.gz`.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluation import engine_under_test as product
from evaluation.collection_files import find_file, read_records, read_text
from evaluation.collections import data_hash
from evaluation.metrics import BEIR_MEASURES, Found, mean, trec_values
from evaluation.results import save, write_json
from evaluation.tables import method_table
from index_build.sources import read
from search.engine import Engine
from search.errors import InputError
from search.text.cleaning import has_words
from search.text.tokenizer import weigh_terms
from search.types import Paper, Query

DEPTH = 1000
"""Results looked at; BEIR's own MAP stops there too."""


@dataclass(frozen=True, slots=True)
class Asked:
    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Task:
    name: str
    papers: Mapping[str, Paper]
    queries: tuple[Asked, ...]
    """Those with judgements."""
    grades: Mapping[str, Mapping[str, int]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, help="folder with corpus, queries and qrels")
    parser.add_argument("--split", default="test", help="which file of qrels/ (default: test)")
    parser.add_argument("--method", nargs="+", choices=tuple(METHODS), default=list(METHODS))
    parser.add_argument("--encoder", default="default", help="preset, hub name or folder (default: default)")
    parser.add_argument("--queries", type=int, metavar="N", help="only the first N queries")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures there")
    parser.add_argument("--save", action="store_true", help="write a result file for the Quality page")


def run(args: argparse.Namespace) -> int:
    task = read_task(args.data, args.split, args.queries)
    engine = product.open_engine(f"beir-{task.name}", task.papers, args.encoder)
    methods = {name: measure(task, METHODS[name](engine, task)) for name in args.method}
    print(f"{task.name} {args.split}: {len(task.papers)} papers, {len(task.queries)} queries\n")
    print(method_table(methods, list(BEIR_MEASURES), best_by="ndcg_10"))
    figures = {"collection": "beir", "name": task.name, "split": args.split, "methods": methods}
    if args.json:
        write_json(args.json, figures)
    if args.save:
        facts = engine.manifest.encoder, data_hash(task.papers.values())
        grouped = {name: {"all": found} for name, found in methods.items()}
        more = {"queries": len(task.queries), "methods": grouped}
        save(f"beir-{task.name}-{args.split}", figures | more, *facts)
    return 0


def measure(task: Task, found: Found) -> dict[str, float]:
    """A paper that is its own query is left out, as BEIR does."""
    others = {
        query: {paper: score for paper, score in papers.items() if paper != query}
        for query, papers in found.items()
    }
    return mean(trec_values(others, task.grades, BEIR_MEASURES), list(others))


def read_task(folder: Path, split: str, most: int | None = None) -> Task:
    papers: dict[str, Paper] = {}
    for item in read(find_file(folder, "corpus.jsonl")):
        if isinstance(item, Paper):
            papers[item.id] = item
        else:
            print(f"left out: {item.place} of {item.source}: {item.reason}", file=sys.stderr)
    grades = read_qrels(find_file(folder / "qrels", f"{split}.tsv"))
    asked = []
    for record in read_records(find_file(folder, "queries.jsonl")):
        query = Asked(str(record.get("_id")), record.get("title") or "", record.get("text") or "")
        if grades.get(query.id) and has_words(query.title + query.text):
            asked.append(query)
    if not papers or not asked:
        raise InputError(
            f"{folder} has {len(papers)} papers and {len(asked)} judged queries: check its files."
        )
    return Task(folder.resolve().name, papers, tuple(asked[:most]), grades)


def read_qrels(file: Path) -> dict[str, dict[str, int]]:
    """Judgements: query, paper and grade per line, under a line of heads."""
    grades: dict[str, dict[str, int]] = {}
    for row in csv.reader(read_text(file).splitlines(), delimiter="\t"):
        if len(row) >= 3 and row[2].lstrip("-").isdigit():
            grades.setdefault(row[0], {})[row[1]] = int(row[2])
    return grades


def by_product(engine: Engine, task: Task) -> Found:
    """The search a user gets: whole abstract where the query has a title, else free text."""
    records = product.same_paper(engine, task.papers)
    found: Found = {}
    for asked in task.queries:
        results = engine.search(Query((engine.read(asked.title, asked.text),), top=DEPTH)).results
        ids = [
            (paper, -float(rank))
            for rank, one in enumerate(results)
            for paper in (one.paper.id, *one.duplicates)
        ]
        found[asked.id] = {record: score for paper, score in ids for record in records[paper]}
    return found


def by_words(engine: Engine, task: Task) -> Found:
    """BM25 on title and abstract alone."""
    return _by_rows(
        engine,
        task,
        lambda asked: engine.store.words(weigh_terms([(asked.title, 1.0), (asked.text, 1.0)])).best(DEPTH),
    )


def by_vectors(engine: Engine, task: Task) -> Found:
    """Whole-paper vectors alone."""

    def nearest(asked: Asked) -> tuple[np.ndarray, np.ndarray]:
        vector = product.whole_vector(engine, engine.read(asked.title, asked.text))
        scores, rows = engine.store.near_papers(vector[None], DEPTH)
        return scores[0], rows[0]

    return _by_rows(engine, task, nearest)


METHODS: dict[str, Callable[[Engine, Task], Found]] = {
    "triptych": by_product,
    "bm25": by_words,
    "dense": by_vectors,
}


def _by_rows(engine: Engine, task: Task, search: Callable[[Asked], tuple[np.ndarray, np.ndarray]]) -> Found:
    by_row = product.records_by_row(engine, task.papers)
    found: Found = {}
    for asked in task.queries:
        scores, rows = search(asked)
        found[asked.id] = {
            record: float(score)
            for score, row in zip(scores, rows, strict=True)
            if row >= 0
            for record in by_row[int(row)]
        }
    return found
