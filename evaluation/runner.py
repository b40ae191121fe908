"""One run over a collection judged in pools: rank with every method, measure, describe, write."""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluation.collections import Collection, PoolQuery, data_hash, summarise
from evaluation.error_report import report
from evaluation.levels import count_levels, describe_levels, read_levels
from evaluation.methods import Options, default_methods, rank
from evaluation.metrics import POOL_MEASURES, Found, Values
from evaluation.results import save, write_json
from evaluation.significance import compare
from evaluation.tables import SHORT, number, table
from search.encoder.loading import load_encoder
from search.errors import InputError, TriptychError
from search.types import PANELS

TESTED = ("map", "ndcg_pct20")


@dataclass(slots=True)
class Measured:
    """What came of a run, method by method."""

    scores: dict[str, Found] = field(default_factory=dict)
    groups: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    values: dict[str, Values] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)


def add_arguments(parser: argparse.ArgumentParser, data_required: bool = True) -> None:
    """The options every collection judged in pools has."""
    parser.add_argument("--data", type=Path, required=data_required, help="folder of the collection")
    parser.add_argument("--method", nargs="+", metavar="NAME", help="only these (default: all that run here)")
    parser.add_argument("--split", choices=("dev", "test", "all"), default="dev")
    parser.add_argument("--encoder", default="default", help="preset, hub name or folder (default: default)")
    parser.add_argument("--word-vectors", type=Path, help="word2vec text file for the CBOW baselines")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures there")
    parser.add_argument("--per-query", type=Path, metavar="CSV", help="write every query's values there")
    parser.add_argument("--save", action="store_true", help="write a result file for the Quality page")
    parser.add_argument(
        "--compare", nargs=2, metavar=("A", "B"), help="randomisation test between two methods"
    )
    parser.add_argument("--errors", action="store_true", help="show each query's worst misses and false hits")
    parser.add_argument(
        "--levels", action="store_true", help="how papers of each level of likeness were judged"
    )


def evaluate(collection: Collection, args: argparse.Namespace, most: int | None = None) -> int:
    """Rank, print, write; `most` limits the queries for a quick look."""
    queries = [query for fold in collection.chosen(args.split) for query in fold][:most]
    for line in (*collection.missing, *_absences(collection, args.split)):
        print(f"missing: {line}", file=sys.stderr)
    if not queries:
        raise InputError(
            f"{collection.folder} has no judged query of the split {args.split!r}: try --split all."
        )
    options = Options(args.encoder, args.word_vectors, show_progress)
    names = args.method or default_methods(collection, options)
    names = tuple(dict.fromkeys([*names, *(args.compare or ())]))
    measured = measure(names, collection, queries, args.split, options)
    if not measured.groups:
        raise InputError("No method could run; the reasons are above.")
    print(describe(measured, f"{collection.name} {args.split}, {len(queries)} queries"))
    if args.compare:
        print("\n" + describe_comparison(measured.values, *args.compare))
    if args.errors:
        shown = "triptych" if "triptych" in measured.scores else next(iter(measured.scores))
        print("\n" + report(collection, queries, shown, measured.scores[shown]))
    if args.levels and "triptych" in measured.scores:
        print("\n" + describe_levels(read_levels(queries, measured.scores["triptych"], collection.papers)))
    write(args, measured, collection, queries)
    return 0


def measure(
    names: Sequence[str], collection: Collection, queries: Sequence[PoolQuery], split: str, options: Options
) -> Measured:
    """Every method that can run; the reason for each that cannot."""
    measured = Measured()
    for name in names:
        try:
            scores = rank(name, collection, queries, options)
        except TriptychError as error:
            measured.skipped[name] = str(error)
            print(f"skipped {name}: {error}", file=sys.stderr)
            continue
        lost = [query.id for query in queries if query.id not in scores]
        if len(lost) == len(queries):
            measured.skipped[name] = "It ranks none of these queries."
            continue
        if lost:
            print(f"{name} does not rank {len(lost)} queries: {', '.join(lost)}", file=sys.stderr)
        measured.scores[name] = scores
        measured.groups[name], measured.values[name] = summarise(collection, split, scores)
    return measured


def describe(measured: Measured, title: str) -> str:
    """All measures over all queries, then the two that are published by facet; the best method first."""
    order = sorted(measured.groups, key=lambda name: -measured.groups[name]["all"]["map"])
    facets = [facet for facet in PANELS if facet in measured.groups[order[0]]]
    heads = [title, *(SHORT[name] for name in POOL_MEASURES)]
    heads += [f"{facet[:4]} {SHORT[name]}" for facet in facets for name in TESTED]
    rows = []
    for name in order:
        groups = measured.groups[name]
        row = [name, *(number(groups["all"][each]) for each in POOL_MEASURES)]
        rows.append([*row, *(number(groups.get(facet, {}).get(each)) for facet in facets for each in TESTED)])
    return table(rows, heads)


def describe_comparison(values: Mapping[str, Values], first: str, second: str) -> str:
    lines = [f"{first} against {second}, paired randomisation test:"]
    for name, found in compare_methods(values, first, second).items():
        lines.append(f"  {SHORT[name]:8} {found['difference']:+.2f}, p = {found['p_value']:.4f}")
    return "\n".join(lines)


def compare_methods(values: Mapping[str, Values], first: str, second: str) -> dict[str, dict[str, float]]:
    """Difference and p-value of two methods over the queries both rank."""
    for name in (first, second):
        if name not in values:
            raise InputError(f"{name!r} did not run, so it cannot be compared.")
    shared = [query for query in values[first] if query in values[second]]
    found = {}
    for name in TESTED:
        ours, theirs = ([values[method][query][name] for query in shared] for method in (first, second))
        outcome = compare(ours, theirs)
        found[name] = {"difference": outcome.difference, "p_value": outcome.p_value}
    return found


def write(
    args: argparse.Namespace, measured: Measured, collection: Collection, queries: Sequence[PoolQuery]
) -> None:
    figures: dict[str, Any] = {
        "collection": collection.name,
        "split": args.split,
        "methods": measured.groups,
    }
    if args.json:
        write_json(args.json, figures)
    if args.per_query:
        write_values(args.per_query, measured.values)
    if args.save:
        against = {
            name: compare_methods(measured.values, "triptych", name)
            for name in measured.values
            if "triptych" in measured.values and name != "triptych"
        }
        more = {
            "preset": args.encoder,
            "queries": len(queries),
            "missing": list(collection.missing),
            "skipped": measured.skipped,
            "significance": against,
        }
        if "triptych" in measured.scores and any(query.facet for query in queries):
            more["levels"] = count_levels(
                read_levels(queries, measured.scores["triptych"], collection.papers)
            )
        slug = "" if args.encoder == "default" else "-" + re.sub(r"[^\w.]+", "-", args.encoder)
        name = f"{collection.name}-{args.split}{slug}"
        encoder, data = load_encoder(args.encoder).id, data_hash(collection.papers.values(), queries)
        print(f"saved {save(name, figures | more, encoder, data)}", file=sys.stderr)


def write_values(file: Path, values: Mapping[str, Values]) -> None:
    """A line per method and query."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["method", "query", *POOL_MEASURES])
        for method, queries in values.items():
            for query, mine in queries.items():
                writer.writerow([method, query, *(f"{mine[name]:.4f}" for name in POOL_MEASURES)])


def show_progress(step: str, done: int, total: int) -> None:
    print(f"\r{step} {done}/{total}", end="\n" if done == total else "", file=sys.stderr, flush=True)


def _absences(collection: Collection, split: str) -> list[str]:
    absent = collection.absent(split)
    return [f"{len(absent)} queries of {split} are not judged here: {', '.join(absent)}"] if absent else []
