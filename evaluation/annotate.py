"""`python -m evaluation annotate`: make pools, carry grades in and out, measure agreement, export."""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from evaluation.agreement import measure_agreement
from evaluation.annotation_store import ADJUDICATOR, GRADES, Judged, Pool, Project, export, make_pool
from evaluation.annotation_texts import OFFICIAL, draw_calibration, read_numbered_grades, write_brief
from evaluation.collection_files import read_json, read_text
from evaluation.collections import facet_positions, read_csfcube
from evaluation.engine_under_test import whole_vector
from evaluation.tables import table
from search.corpus import duplicates
from search.engine import Engine
from search.engine.answering import SPARE
from search.errors import InputError
from search.query.choosing import choose_facet
from search.ranking.candidates import DEPTH, PER_RESULT
from search.settings import load_settings
from search.text.tokenizer import weigh_terms
from search.types import PANELS, Choice, Facet, Paper, Query, QueryPaper

DEEP = 240
"""Rank down to which the method "deeper" takes papers, at equal distances; chosen by hand."""
HEADS = ("query", "facet", "paper", "title", "abstract", "grade")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(dest="step", required=True)
    make = steps.add_parser("make", help="pools for papers of a corpus, from several methods")
    make.add_argument("--corpus", type=Path, help="a built corpus (default: that of the settings)")
    asked = make.add_mutually_exclusive_group(required=True)
    asked.add_argument("--query", nargs="+", metavar="ID", help="papers of the corpus to ask with")
    asked.add_argument("--random", type=int, metavar="N", help="N papers at random, a facet of each in turn")
    make.add_argument(
        "--facet", nargs="+", choices=[str(facet) for facet in PANELS], help="default: all it has"
    )
    make.add_argument("--field", help="with --random: only papers whose first field this is")
    make.add_argument("--method", nargs="+", choices=tuple(METHODS), default=list(METHODS))
    make.add_argument(
        "--ranking", nargs="*", default=[], metavar="NAME=FILE", help='more methods: {"QUERY_FACET": [ids]}'
    )
    make.add_argument("--depth", type=int, default=20, help="papers taken from each method (default: 20)")
    make.add_argument("--seed", type=int, default=0)
    sheet = steps.add_parser("sheet", help="a table to grade in, for those who prefer a spreadsheet")
    sheet.add_argument("--out", type=Path, required=True, metavar="CSV")
    take = steps.add_parser("import", help="grades from such a table")
    take.add_argument("--judge", required=True, help=f"one word; {ADJUDICATOR!r} for the last word")
    take.add_argument("--sheet", type=Path, required=True, metavar="CSV")
    brief = steps.add_parser("brief", help="a readable text per pool, candidates by number")
    brief.add_argument("--out", type=Path, required=True, metavar="DIR")
    brief.add_argument(
        "--beside", choices=[str(facet) for facet in PANELS], help="a second facet to grade, marked with <"
    )
    numbered = steps.add_parser("numbered", help='grades by such numbers: {"QUERY_FACET": {"1": 0, …}}')
    numbered.add_argument("--judge", required=True, help="one word")
    numbered.add_argument("--grades", type=Path, nargs="+", required=True, metavar="JSON")
    draw = steps.add_parser("calibrate", help="pairs of a judged collection, to grade again and compare")
    draw.add_argument("--data", type=Path, required=True, help="folder of a collection in CSFCube's layout")
    draw.add_argument("--split", choices=("dev", "test", "all"), default="dev")
    draw.add_argument("--each", type=int, default=50, help="pairs of each facet (default: 50)")
    draw.add_argument("--seed", type=int, default=0)
    grades = steps.add_parser("grades", help="ids and grades without any text, a line per pool")
    grades.add_argument("--judge", required=True)
    grades.add_argument("--again", help="a second judge of some of them, kept beside the first")
    grades.add_argument("--beside", metavar="JUDGE", help="a judge who graded a second facet of them")
    grades.add_argument("--out", type=Path, required=True, metavar="JSONL")
    agree = steps.add_parser("agreement", help="how far two judges agree")
    out = steps.add_parser("export", help="a collection in CSFCube's layout")
    out.add_argument("--out", type=Path, required=True, metavar="DIR")
    for step in (make, sheet, take, brief, numbered, draw, grades, agree, out):
        step.add_argument("--project", type=Path, default=Path("judging"), help="folder (default: judging)")
    for step in (agree, out):
        step.add_argument("--judges", nargs=2, metavar=("A", "B"), help="default: the two there are")


def run(args: argparse.Namespace) -> int:
    project = Project(args.project)
    print(STEPS[args.step](project, args))
    return 0


def make_pools(project: Project, args: argparse.Namespace) -> str:
    settings = load_settings()
    engine = Engine.open(args.corpus or settings.corpus, settings)
    outside = {name: read_json(Path(file)) for name, file in map(_name_and_file, args.ranking)}
    made = []
    facets = [Facet(name) for name in args.facet or PANELS]
    for paper, facet in _draw(engine, args) if args.random is not None else _each(engine, args.query, facets):
        paper_id = str(paper.paper_id)
        asked = choose_facet(paper, facet)
        rankings = {name: METHODS[name](engine, asked, args.depth) for name in args.method}
        rankings |= {name: found.get(f"{paper_id}_{facet}", []) for name, found in outside.items()}
        pool, key = make_pool(paper_id, facet, rankings, args.depth, args.seed)
        project.add(pool, key, engine.store.papers([paper_id, *pool.candidates]))
        made.append([pool.id, str(len(pool.candidates))])
    return (
        table(made, ["annotate", "papers"])
        + f"\n\nGrade them on the page Judge, or with `annotate sheet`: {project.folder}"
    )


def _each(engine: Engine, ids: Sequence[str], facets: Sequence[Facet]) -> Iterator[tuple[QueryPaper, Facet]]:
    """Every facet that each of these papers has."""
    for paper_id in ids:
        paper = engine.example(paper_id)
        yield from ((paper, facet) for facet in facets if facet in _panels(paper))


def _draw(engine: Engine, args: argparse.Namespace) -> Iterator[tuple[QueryPaper, Facet]]:
    """Papers drawn at random from those with all panels, asked for background, method and result in turn."""
    drawn = 0
    facets = [Facet(name) for name in args.facet or PANELS]
    if args.random < 1:
        raise InputError(f"--random {args.random} draws no paper: ask for one at least.")
    for row in random.Random(args.seed).sample(range(engine.manifest.papers), engine.manifest.papers):
        (found,) = engine.store.papers_by_row([row])
        paper = engine.example(found.id)
        if args.field and found.fields[:1] != (args.field,):
            continue
        if set(PANELS) <= _panels(paper):
            yield paper, facets[drawn % len(facets)]
            drawn += 1
        if drawn == args.random:
            return
    of_field = f" of {args.field}" if args.field else ""
    raise InputError(
        f"Only {drawn} papers{of_field} of this corpus have all three panels: ask for at most {drawn}."
    )


def _panels(paper: QueryPaper) -> set[Facet]:
    return {sentence.panel for sentence in paper.sentences if sentence.panel}


def by_product(engine: Engine, asked: QueryPaper, depth: int) -> list[str]:
    """As in a search, without the evidence that a search gives for each result."""
    rows, _ = engine.nearest(Query((asked,), top=depth), max(DEPTH, PER_RESULT * depth))
    papers = engine.store.headings_by_row(rows[: depth + SPARE])
    own = Paper(asked.paper_id, asked.title)
    groups = duplicates.group(papers, [own], engine.store.apart)
    return [papers[group[0]].id for group in groups[:depth]]


def by_words(engine: Engine, asked: QueryPaper, depth: int) -> list[str]:
    """BM25 on the words of the facet's sentences."""
    chosen = [(each.text, 1.0) for each in asked.sentences if each.choice is Choice.MATCH]
    _, rows = engine.store.words(weigh_terms(chosen)).best(depth + 1)
    return [paper.id for paper in engine.store.papers_by_row(rows[rows >= 0])]


def by_vectors(engine: Engine, asked: QueryPaper, depth: int) -> list[str]:
    """Whole-paper vectors, whatever the facet."""
    _, rows = engine.store.near_papers(whole_vector(engine, asked)[None], depth + 1)
    return [paper.id for paper in engine.store.papers_by_row(rows[0][rows[0] >= 0])]


def by_facet_elsewhere(engine: Engine, asked: QueryPaper, depth: int) -> list[str]:
    """Near in the facet, away from the problem: what the question “this method elsewhere” asks."""
    others = [
        replace(each, choice=Choice.AVOID)
        if each.choice is Choice.IGNORE and each.surely(Facet.BACKGROUND)
        else each
        for each in asked.sentences
    ]
    return by_product(engine, replace(asked, sentences=tuple(others)), depth)


def by_product_deeper(engine: Engine, asked: QueryPaper, depth: int) -> list[str]:
    """Papers at equal distances down to rank DEEP: those the product finds less good."""
    step = max(DEEP // depth, 1)
    return by_product(engine, asked, step * depth)[step - 1 :: step]


METHODS: dict[str, Callable[[Engine, QueryPaper, int], list[str]]] = {
    "triptych": by_product,
    "bm25": by_words,
    "dense": by_vectors,
    "elsewhere": by_facet_elsewhere,
    "deeper": by_product_deeper,
}


def write_sheet(project: Project, args: argparse.Namespace) -> str:
    papers = project.papers()
    with args.out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(HEADS)
        for pool in project.pools():
            for candidate in pool.candidates:
                paper = papers[candidate]
                writer.writerow([pool.query, pool.facet, candidate, paper.title, paper.abstract, ""])
    scale = "\n".join(f"  {grade}  {meaning}" for grade, meaning in GRADES.items())
    return f"Fill the last column of {args.out} with\n{scale}"


def import_sheet(project: Project, args: argparse.Namespace) -> str:
    judged: Judged = {}
    for number, row in enumerate(csv.DictReader(read_text(args.sheet).splitlines(keepends=True)), start=2):
        try:
            if row["grade"].strip():
                judged.setdefault(f"{row['query']}_{row['facet']}", {})[row["paper"]] = int(row["grade"])
        except (KeyError, AttributeError, ValueError):
            raise InputError(
                f"Line {number} of {args.sheet} has no whole number as grade, or columns are missing: "
                f"keep the heads {', '.join(HEADS)}."
            ) from None
    return f"{project.take(args.judge, judged)} grades of {args.judge} taken"


def write_briefs(project: Project, args: argparse.Namespace) -> str:
    papers = project.papers()
    beside = Facet(args.beside) if args.beside else None
    files = [write_brief(pool, papers, args.out, beside) for pool in project.pools()]
    return f"{len(files)} pools to read in {args.out}; grade them by docs/studies/judging.md"


def import_numbered(project: Project, args: argparse.Namespace) -> str:
    judged = [read_numbered_grades(project, file) for file in args.grades]  # all are checked first
    taken = sum(project.take(args.judge, found) for found in judged)
    return f"{taken} grades of {args.judge} taken"


def draw_pairs(project: Project, args: argparse.Namespace) -> str:
    drawn = draw_calibration(project, read_csfcube(args.data), args.split, args.each, args.seed)
    return (
        f"{drawn} pairs drawn; `annotate brief` writes them out, their own grades are those of {OFFICIAL!r}"
    )


def write_grades(project: Project, args: argparse.Namespace) -> str:
    papers, first = project.papers(), project.grades(args.judge)
    more = {name: project.grades(judge) for name in ("again", "beside") if (judge := getattr(args, name))}
    lines = []
    for pool in (pool for pool in project.pools() if pool.id in first):
        line = {
            "query": pool.query,
            "facet": pool.facet,
            "sentences": facet_positions(papers[pool.query], pool.facet),
            "grades": first.get(pool.id, {}),
        }
        line |= {name: found[pool.id] for name, found in more.items() if pool.id in found}
        lines.append(json.dumps(line))
    args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"{sum(map(len, first.values()))} grades of {len(lines)} pools in {args.out}"


def show_agreement(project: Project, args: argparse.Namespace) -> str:
    """By facet and over all, on what both have graded."""
    names = _judges(project, args.judges)
    first, second = (project.grades(name) for name in names)
    rows = []
    for title, pools in _groups(project.pools()):
        pairs = [
            (first[pool.id][paper], second[pool.id][paper])
            for pool in pools
            for paper in pool.candidates
            if paper in first.get(pool.id, {}) and paper in second.get(pool.id, {})
        ]
        if len(pairs) > 1:
            found = measure_agreement(*zip(*pairs, strict=True))
            numbers = (found.same, found.spearman, found.alpha, found.kappa)
            rows.append([title, str(found.papers), *(f"{value:.2f}" for value in numbers)])
    if not rows:
        raise InputError(f"{names[0]} and {names[1]} have graded no two papers in common yet.")
    return table(rows, [" and ".join(names), "papers", "same grade", "Spearman", "alpha", "kappa"])


def write_collection(project: Project, args: argparse.Namespace) -> str:
    count = export(project, args.out, *_judges(project, args.judges))
    return f"{count} queries in {args.out}; try `python -m evaluation csfcube --data {args.out} --split all`"


STEPS: dict[str, Callable[[Project, argparse.Namespace], str]] = {
    "make": make_pools,
    "sheet": write_sheet,
    "import": import_sheet,
    "brief": write_briefs,
    "numbered": import_numbered,
    "calibrate": draw_pairs,
    "grades": write_grades,
    "agreement": show_agreement,
    "export": write_collection,
}


def _groups(pools: Sequence[Pool]) -> list[tuple[str, list[Pool]]]:
    by_facet = [(str(facet), [pool for pool in pools if pool.facet is facet]) for facet in PANELS]
    return [("all", list(pools)), *by_facet]


def _judges(project: Project, given: Sequence[str] | None) -> tuple[str, str]:
    names = tuple(given or (judge for judge in project.judges() if judge != ADJUDICATOR))
    if len(names) != 2:
        raise InputError(
            f"Two judges are needed, there are {len(names)} ({', '.join(names)}): name two with --judges."
        )
    return names[0], names[1]


def _name_and_file(text: str) -> tuple[str, str]:
    name, sign, file = text.partition("=")
    if not sign:
        raise InputError(f"{text!r} is not NAME=FILE: give a name for the method and its file of rankings.")
    return name, file
