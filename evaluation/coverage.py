"""`python -m evaluation coverage`: whether a corpus knows what it has something on.

Queries that belong to a corpus (papers of its field that are not in it, as abstracts, titles and single
sentences) against queries that do not: papers of other fields in the same three forms, other languages,
everyday topics, nonsense. The measure is the area under the ROC curve: how often a query that belongs has the
higher `covered` of a random pair.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from evaluation.strange_texts import LANGUAGES, TOPICS, nonsense
from evaluation.tables import table
from index_build import sources
from index_build.filters import csfcube
from search.engine import Engine
from search.errors import InputError
from search.ranking.coverage import observe
from search.settings import load_settings
from search.text.sentences import split_paper
from search.types import Paper, Query

FORMS = ("abstract", "title", "sentence")
BELONGS = "belongs"


@dataclass(frozen=True, slots=True)
class Asked:
    corpus: str
    kind: str
    """BELONGS, or in which way it does not."""
    form: str
    text: str

    @property
    def tuned_on(self) -> bool:
        return hashlib.sha256(self.text.encode()).digest()[0] % 2 == 0


@dataclass(frozen=True, slots=True)
class Outcome:
    asked: Asked
    observed: tuple[float, ...]
    covered: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corpus", type=Path, nargs="+", required=True, help="built corpora")
    parser.add_argument(
        "--near", type=Path, nargs="+", required=True, help="for each corpus a file of papers of its field"
    )
    parser.add_argument(
        "--far", type=Path, nargs="+", required=True, help="for each corpus a file of papers of other fields"
    )
    parser.add_argument("--each", type=int, default=40, help="papers of each file (default: 40)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--csv", type=Path, metavar="OUT", help="write what was observed of each query there")


def run(args: argparse.Namespace) -> int:
    if not len(args.corpus) == len(args.near) == len(args.far):
        raise InputError(
            f"There are {len(args.corpus)} corpora, {len(args.near)} --near and {len(args.far)} --far: give "
            f"one "
            "file of each for every corpus."
        )
    outcomes: list[Outcome] = []
    for corpus, near, far in zip(args.corpus, args.near, args.far, strict=True):
        engine = Engine.open(corpus, load_settings())
        asked = draw(engine, corpus.name, near, far, args.each, args.seed)
        outcomes += [measure(engine, each) for each in asked]
    print(table(summarise(outcomes), ["against", "queries", "AUC", "called covered, in percent"]))
    if args.csv:
        _write(args.csv, outcomes)
    return 0


def draw(engine: Engine, name: str, near: Path, far: Path, each: int, seed: int) -> Iterator[Asked]:
    for kind, file in ((BELONGS, near), ("other fields", far)):
        for paper in draw_papers(engine, file, each, seed):
            texts = (f"{paper.title}\n\n{paper.abstract}", paper.title, _middle(paper))
            yield from (Asked(name, kind, form, text) for form, text in zip(FORMS, texts, strict=True))
    strange = (
        ("other languages", LANGUAGES),
        ("everyday topics", TOPICS),
        ("nonsense", nonsense(28, seed)),
    )
    for kind, written in strange:
        yield from (Asked(name, kind, "text", text) for text in written)


def draw_papers(engine: Engine, file: Path, count: int, seed: int) -> list[Paper]:
    """Papers of a file at random that the corpus does not have."""
    read = (each for each in sources.read(file) if isinstance(each, Paper) and each.abstract)
    papers = [paper for paper in map(split_paper, read) if not csfcube(paper)]
    known = engine.store.rows_of([paper.id for paper in papers])
    papers = [paper for paper, row in zip(papers, known, strict=True) if row < 0]
    if len(papers) < count:
        raise InputError(f"{file} has {len(papers)} papers that the corpus does not have: ask for fewer.")
    return random.Random(seed).sample(papers, count)


def _middle(paper: Paper) -> str:
    return paper.sentences[len(paper.sentences) // 2].text


def measure(engine: Engine, asked: Asked) -> Outcome:
    results = engine.search(Query((engine.read_text(asked.text),)))
    return Outcome(asked, tuple(observe(results.results, results.lacking)), results.covered)


def summarise(outcomes: Sequence[Outcome]) -> list[list[str]]:
    """AUC over all, over each half, by corpus, form and kind; one half of the queries was tuned on."""
    confirmed = [each for each in outcomes if not each.asked.tuned_on]
    groups = {
        "all": outcomes,
        "all, tuned on": [each for each in outcomes if each.asked.tuned_on],
        "all, confirmed on": confirmed,
    }
    for corpus in dict.fromkeys(each.asked.corpus for each in outcomes):
        groups[f"{corpus}, confirmed on"] = [each for each in confirmed if each.asked.corpus == corpus]
    for form in FORMS:
        groups[f"{form}s, confirmed on"] = [each for each in confirmed if each.asked.form == form]
    for kind in dict.fromkeys(each.asked.kind for each in outcomes if each.asked.kind != BELONGS):
        mine = [each for each in confirmed if each.asked.kind in (kind, BELONGS)]
        groups[f"{kind}, confirmed on"] = mine
    return [_row(title, some) for title, some in groups.items() if _kinds(some) == 2]


def _kinds(outcomes: Sequence[Outcome]) -> int:
    """2 where there are queries that belong and others."""
    return len({each.asked.kind == BELONGS for each in outcomes})


def _row(title: str, outcomes: Sequence[Outcome]) -> list[str]:
    belongs = np.array([each.asked.kind == BELONGS for each in outcomes])
    covered = np.array([each.covered for each in outcomes])
    auc = roc_auc_score(belongs, covered)
    called = 100 * np.array([(covered[belongs] >= 0.5).mean(), (covered[~belongs] >= 0.5).mean()])
    shares = f"{called[0]:.0f} of those that belong, {called[1]:.0f} of the others"
    return [title, str(len(outcomes)), f"{auc:.3f}", shares]


def _write(file: Path, outcomes: Sequence[Outcome]) -> None:
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        for each in outcomes:
            asked = each.asked
            writer.writerow([asked.corpus, asked.kind, asked.form, int(asked.tuned_on), *each.observed])
