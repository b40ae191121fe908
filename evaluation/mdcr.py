"""`python -m evaluation mdcr`: which papers does a paper cite, in 19 fields, and in pools of growing size.

Medić, Šnajder: Large-scale Evaluation of Transformer-based Article Encoders on the Task of Citation
Recommendation (SDP 2022). The benchmark is `field -> query -> kind of candidate -> ids`, where the kind
"true" is what the query cites and the others say where a false candidate was found.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation import large_pools
from evaluation.collection_files import read_json, read_papers
from evaluation.collections import Collection, PoolQuery, data_hash
from evaluation.methods import Options, rank
from evaluation.metrics import MDCR_MEASURES, Found, mean, trec_values
from evaluation.results import save, write_json
from evaluation.runner import show_progress
from evaluation.tables import SHORT, method_table, number, table
from search.encoder.loading import load_encoder
from search.errors import InputError, TriptychError
from search.text.sentences import split_paper
from search.types import Paper

TRUE = "true"
METHODS = ("triptych", "bm25", "dense")


@dataclass(frozen=True, slots=True)
class Benchmark:
    fields: Mapping[str, tuple[str, ...]]
    """Field -> query ids, which are "field/paper"."""
    kinds: Mapping[str, Mapping[str, tuple[str, ...]]]
    """Query -> kind of candidate -> papers."""

    def grades(self, kind: str | None = None) -> dict[str, dict[str, int]]:
        """1 for what is cited, 0 for the rest, or for only one kind of the rest."""
        return {
            query: {
                paper: int(name == TRUE)
                for name in sorted(kinds, key=lambda name: name == TRUE)  # cited wins where a paper is both
                if kind in (None, name) or name == TRUE
                for paper in kinds[name]
            }
            for query, kinds in self.kinds.items()
        }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--benchmark", type=Path, help="mdcr_test.json or mdcr_val.json")
    parser.add_argument("--papers", type=Path, help="mdcr_test_data.jsonl: ids, titles and abstracts")
    parser.add_argument(
        "--scores", type=Path, help='JSON of "queryid_candidateid" -> score to measure as well'
    )
    parser.add_argument("--method", nargs="+", metavar="NAME", help=f"default: {' '.join(METHODS)}")
    parser.add_argument("--queries", type=int, metavar="N", help="only the first N queries of each field")
    parser.add_argument("--encoder", default="default", help="preset, hub name or folder (default: default)")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures there")
    parser.add_argument("--save", action="store_true", help="write a result file for the Quality page")
    large_pools.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    if args.large_pools:
        return large_pools.run(args)
    if not args.benchmark or not (args.papers or args.scores):
        raise InputError(
            "Give --benchmark with --papers or --scores, or --large-pools with a citation corpus."
        )
    benchmark = read_benchmark(args.benchmark, args.queries)
    found: dict[str, Found] = {}
    data = ""
    if args.papers:
        collection = to_collection(benchmark, read_papers(args.papers))
        found = rank_all(args.method or METHODS, collection, Options(args.encoder, progress=show_progress))
        data = data_hash(collection.papers.values(), collection.queries.values())
    if args.scores:
        found[args.scores.stem] = read_scores(args.scores, benchmark)
    if not found:
        raise InputError("No method could run; the reasons are above.")
    figures = {
        "collection": "mdcr",
        "split": args.benchmark.stem.removeprefix("mdcr_"),
        "methods": {name: measure(benchmark, scores) for name, scores in found.items()},
    }
    print(describe(figures["methods"]))
    if args.json:
        write_json(args.json, figures)
    if args.save:
        save(f"mdcr-{figures['split']}", figures, load_encoder(args.encoder).id, data)
    return 0


def rank_all(names: Iterable[str], collection: Collection, options: Options) -> dict[str, Found]:
    """Every method that can run; the reason for each that cannot is printed."""
    found: dict[str, Found] = {}
    for name in names:
        try:
            found[name] = rank(name, collection, list(collection.queries.values()), options)
        except TriptychError as error:
            print(f"skipped {name}: {error}", file=sys.stderr)
    return found


def read_benchmark(file: Path, most: int | None = None) -> Benchmark:
    fields: dict[str, tuple[str, ...]] = {}
    kinds: dict[str, dict[str, tuple[str, ...]]] = {}
    for field, queries in read_json(file).items():
        chosen = dict(list(queries.items())[:most])
        fields[field] = tuple(f"{field}/{paper}" for paper in chosen)
        for paper, found in chosen.items():
            kinds[f"{field}/{paper}"] = {kind: tuple(map(str, ids)) for kind, ids in found.items()}
    if not kinds or not all(TRUE in found for found in kinds.values()):
        raise InputError(
            f'{file} is not an MDCR benchmark: each query needs a list "{TRUE}" of what it cites.'
        )
    return Benchmark(fields, kinds)


def to_collection(benchmark: Benchmark, papers: Iterable[Paper]) -> Collection:
    """The benchmark as pools, with the papers it names; a candidate without text is left out."""
    grades = benchmark.grades()
    named = {paper for pool in grades.values() for paper in pool} | {
        query.split("/", 1)[1] for query in grades
    }
    known = {
        paper.id: split_paper(paper)
        for paper in papers
        if paper.id in named and (paper.title or paper.abstract)
    }
    queries = {
        query: PoolQuery(query, paper, None, {one: grade for one, grade in pool.items() if one in known})
        for query, pool in grades.items()
        if (paper := query.split("/", 1)[1]) in known
    }
    return Collection("mdcr", Path(), known, queries, {}, 1)


def read_scores(file: Path, benchmark: Benchmark) -> Found:
    """An external file of scores, keyed by query and candidate with an underscore between."""
    scores = read_json(file)
    try:
        return {
            query: {paper: float(scores[f"{query.split('/', 1)[1]}_{paper}"]) for paper in pool}
            for query, pool in benchmark.grades().items()
        }
    except KeyError as error:
        raise InputError(f"{file} has no score for {error}: it must rank every candidate.") from None


def measure(benchmark: Benchmark, found: Found) -> dict[str, Any]:
    """Means over fields, by field, and by kind of false candidate (only those beside what is cited)."""
    values = trec_values(found, benchmark.grades(), MDCR_MEASURES)
    fields = {
        field: mean(values, known) for field, ids in benchmark.fields.items() if (known := _in(ids, found))
    }
    figures: dict[str, Any] = {"all": _mean_of(fields), "fields": fields, "kinds": {}}
    for kind in sorted({kind for kinds in benchmark.kinds.values() for kind in kinds} - {TRUE}):
        grades = benchmark.grades(kind)
        only = {
            query: {paper: score for paper, score in scores.items() if paper in grades[query]}
            for query, scores in found.items()
        }
        values = trec_values(only, grades, MDCR_MEASURES)
        by_field = [mean(values, known) for ids in benchmark.fields.values() if (known := _in(ids, found))]
        figures["kinds"][kind] = _mean_of(dict(enumerate(by_field)))
    return figures


def describe(methods: Mapping[str, Mapping[str, Any]]) -> str:
    overall = method_table({name: found["all"] for name, found in methods.items()}, list(MDCR_MEASURES))
    parts = [overall]
    for group, title in (("fields", "by field"), ("kinds", "against one kind of false candidate")):
        names = list(next(iter(methods.values()))[group])
        heads = [title, *(f"{method} {SHORT[name]}" for method in methods for name in MDCR_MEASURES)]
        rows = [
            [
                each,
                *(number(found[group][each][name]) for found in methods.values() for name in MDCR_MEASURES),
            ]
            for each in names
        ]
        parts.append(table(rows, heads))
    return "\n\n".join(parts)


def _in(ids: Iterable[str], found: Found) -> list[str]:
    return [query for query in ids if query in found]


def _mean_of(rows: Mapping[Any, Mapping[str, float]]) -> dict[str, float]:
    return {name: sum(row[name] for row in rows.values()) / len(rows) for name in MDCR_MEASURES}
