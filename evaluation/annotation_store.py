"""A test collection of one's own: pools from several methods, grades of two judges, an adjudicator's word.

Everything lives in one folder as plain JSON:
  papers.jsonl             the papers in question, in the layout of CSFCube's abstracts
  pools/QUERY_FACET.json   {"query", "facet", "candidates"}: shuffled, without a word on where each came from
  keys/QUERY_FACET.json    candidate -> the methods that brought it, for after the judging
  grades/JUDGE.json        {"QUERY_FACET": {candidate: grade}}; the adjudicator is a judge of that name
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.collection_files import read_abstracts, read_json
from evaluation.results import write_json
from search.errors import InputError
from search.types import PANELS, Facet, Paper

ADJUDICATOR = "adjudicator"
GRADES = {
    3: "near identical: the same problem, method or finding, at most in other words",
    2: "similar: a clear match in what matters, some difference in scope or detail",
    1: "related: the same area or a shared ingredient, but you would not call it alike",
    0: "unrelated in this facet, however alike the papers are otherwise",
}
GUIDELINES = {
    Facet.BACKGROUND: "Judge the problem: which question, task or gap is it about, and why does it matter?",
    Facet.METHOD: "Judge how it is done: the mechanism, model, data or proof. The problem may differ.",
    Facet.RESULT: "Judge what was found: the claim and what it is about. Another way to it may be as good.",
}

Judged = dict[str, dict[str, int]]
"""Pool -> candidate -> grade."""


@dataclass(frozen=True, slots=True)
class Pool:
    query: str
    facet: Facet
    candidates: tuple[str, ...]

    @property
    def id(self) -> str:
        return f"{self.query}_{self.facet}"

    @property
    def file_name(self) -> str:
        """Ids may hold slashes and colons."""
        return re.sub(r"[^\w.-]", "_", self.id)


@dataclass(frozen=True, slots=True)
class Project:
    """A folder of judging, read and written file by file so that judges can work side by side."""

    folder: Path

    def add(self, pool: Pool, key: Mapping[str, Sequence[str]], papers: Iterable[Paper]) -> None:
        content = {"query": pool.query, "facet": pool.facet, "candidates": list(pool.candidates)}
        write_json(self.folder / "pools" / f"{pool.file_name}.json", content)
        write_json(self.folder / "keys" / f"{pool.file_name}.json", key)
        self._add_papers(papers)

    def _add_papers(self, papers: Iterable[Paper]) -> None:
        known = self.papers() | {paper.id: paper for paper in papers}
        self.folder.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(to_record(paper), ensure_ascii=False) for paper in known.values()]
        (self.folder / "papers.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def papers(self) -> dict[str, Paper]:
        file = self.folder / "papers.jsonl"
        return {paper.id: paper for paper in read_abstracts(file)} if file.exists() else {}

    def pools(self) -> tuple[Pool, ...]:
        records = (read_json(file) for file in sorted((self.folder / "pools").glob("*.json")))
        return tuple(
            Pool(record["query"], Facet(record["facet"]), tuple(record["candidates"])) for record in records
        )

    def judges(self) -> tuple[str, ...]:
        return tuple(sorted(file.stem for file in (self.folder / "grades").glob("*.json")))

    def grades(self, judge: str) -> Judged:
        file = self._grades_file(judge)
        return {pool: dict(found) for pool, found in read_json(file).items()} if file.exists() else {}

    def grade(self, judge: str, pool: Pool, candidate: str, grade: int) -> None:
        """Keep one grade; a later one replaces it."""
        self.take(judge, {pool.id: {candidate: grade}})

    def take(self, judge: str, judged: Mapping[str, Mapping[str, int]]) -> int:
        """Keep the grades of a judge after checking each; returns how many."""
        pools = {pool.id: pool for pool in self.pools()}
        kept = self.grades(judge)
        for pool_id, found in judged.items():
            for candidate, grade in found.items():
                if pool_id not in pools or candidate not in pools[pool_id].candidates:
                    raise InputError(f"{candidate!r} is not in a pool {pool_id!r}: check the file of grades.")
                if grade not in GRADES:
                    raise InputError(
                        f"The grade of {candidate!r} in {pool_id!r} is {grade!r}: give 0, 1, 2 or 3."
                    )
                kept.setdefault(pool_id, {})[candidate] = grade
        write_json(self._grades_file(judge), kept)
        return sum(map(len, judged.values()))

    def take_back(self, judge: str, pool: Pool, candidate: str) -> None:
        """Forget one grade."""
        kept = self.grades(judge)
        kept.get(pool.id, {}).pop(candidate, None)
        write_json(self._grades_file(judge), kept)

    def _grades_file(self, judge: str) -> Path:
        if not re.fullmatch(r"[\w-]{1,40}", judge):
            raise InputError(f"The judge's name {judge!r} must be one word of letters, digits, - or _.")
        return self.folder / "grades" / f"{judge}.json"


def make_pool(
    query: str, facet: Facet, rankings: Mapping[str, Sequence[str]], depth: int, seed: int = 0
) -> tuple[Pool, dict[str, list[str]]]:
    """The first `depth` of every method, shuffled so that no place tells a method, and the key to it."""
    key: dict[str, list[str]] = {}
    for method, ranking in rankings.items():
        for paper in [paper for paper in ranking if paper != query][:depth]:
            key.setdefault(paper, []).append(method)
    candidates = sorted(key)
    random.Random(f"{seed} {query} {facet}").shuffle(candidates)
    return Pool(query, facet, tuple(candidates)), key


def waiting(pool: Pool, grades: Judged) -> tuple[str, ...]:
    """What a judge has still to grade, in the order of the pool."""
    return tuple(paper for paper in pool.candidates if paper not in grades.get(pool.id, {}))


def disputed(pool: Pool, first: Judged, second: Judged) -> tuple[str, ...]:
    """Candidates that two judges grade differently."""
    ours, theirs = first.get(pool.id, {}), second.get(pool.id, {})
    return tuple(
        paper
        for paper in pool.candidates
        if paper in ours and paper in theirs and ours[paper] != theirs[paper]
    )


def adjudicate(pool: Pool, first: Judged, second: Judged, last_word: Judged) -> dict[str, int]:
    """The grade both give, else the adjudicator's; candidates without either are left out."""
    ours, theirs, decided = (judged.get(pool.id, {}) for judged in (first, second, last_word))
    grades: dict[str, int] = {}
    for paper in pool.candidates:
        if paper in decided:
            grades[paper] = decided[paper]
        elif paper in ours and ours[paper] == theirs.get(paper):
            grades[paper] = ours[paper]
    return grades


def export(project: Project, folder: Path, first: str, second: str) -> int:
    """Write a collection in CSFCube's layout, one fold of all queries; returns how many queries it has."""
    judged = [project.grades(judge) for judge in (first, second, ADJUDICATOR)]
    by_facet: dict[Facet, dict[str, object]] = {facet: {} for facet in PANELS}
    for pool in project.pools():
        final = adjudicate(pool, *judged)
        if lacking := [paper for paper in pool.candidates if paper not in final]:
            raise InputError(
                f"{len(lacking)} papers of {pool.id!r} have no agreed grade yet: both judges must grade them "
                "and the adjudicator those in dispute."
            )
        both = [
            [grades.get(pool.id, {}).get(paper, final[paper]) for paper in final] for grades in judged[:2]
        ]
        by_facet[pool.facet][pool.query] = {
            "cands": list(pool.candidates),
            "relevance_adju": [final[paper] for paper in pool.candidates],
            "relevance_max": [max(pair) for pair in zip(*both, strict=True)],
            "relevance_min": [min(pair) for pair in zip(*both, strict=True)],
        }
    splits: dict[str, dict[str, list[str]]] = {
        facet: {"fold1_dev": [f"{query}_{facet}" for query in by_facet[facet]]} for facet in PANELS
    }
    splits["all"] = {"fold1_dev": [query for facet in PANELS for query in splits[facet]["fold1_dev"]]}
    for facet in PANELS:
        write_json(folder / f"test-pid2anns-csfcube-{facet}.json", by_facet[facet])
    write_json(folder / "evaluation_splits.json", splits)
    papers = (project.folder / "papers.jsonl").read_text(encoding="utf-8")
    (folder / "abstracts-csfcube-preds.jsonl").write_text(papers, encoding="utf-8")
    return len(splits["all"]["fold1_dev"])


def to_record(paper: Paper) -> dict[str, object]:
    """A paper as a line of CSFCube's abstracts file."""
    return {
        "paper_id": paper.id,
        "title": paper.title,
        "abstract": [sentence.text for sentence in paper.sentences],
        "pred_labels": [f"{sentence.facet or Facet.OTHER}_label" for sentence in paper.sentences],
        "metadata": {"year": paper.year},
    }
