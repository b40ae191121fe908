"""Pools as texts to read and grade: a file per pool, candidates by number, grades back by these numbers."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

from evaluation.annotation_store import Judged, Pool, Project
from evaluation.collection_files import read_json
from evaluation.collections import Collection, facet_positions
from search.errors import InputError
from search.types import PANELS, Facet, Paper

OFFICIAL = "official"
"""The judge whose grades a collection came with."""


def write_brief(pool: Pool, papers: Mapping[str, Paper], folder: Path, beside: Facet | None = None) -> Path:
    """The query with its facet marked, then every candidate; nothing tells where a candidate came from.

    The sentences of a second facet, `beside`, are marked in another way, to be graded apart.
    """
    query = papers[pool.query]
    asked = f"{pool.facet} (>) and, apart from it, {beside} (<)" if beside else str(pool.facet)
    lines = [f"# {pool.id}", "", f"Facet to grade: {asked}", "", "## Query", query.title, ""]
    marks = dict.fromkeys(facet_positions(query, beside) if beside else (), "<")
    marks |= dict.fromkeys(facet_positions(query, pool.facet), ">")
    lines += [f"{marks.get(place, ' ')} {sentence.text}" for place, sentence in enumerate(query.sentences)]
    for number, candidate in enumerate(pool.candidates, start=1):
        paper = papers[candidate]
        lines += ["", f"## [{number}] {paper.title}", paper.abstract]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{pool.file_name}.md"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def read_numbered_grades(project: Project, file: Path) -> Judged:
    """Grades as `{"QUERY_FACET": {"1": 0, "2": 3, …}}`, numbered as in the briefs; each candidate has one."""
    pools = {pool.id: pool for pool in project.pools()}
    judged: Judged = {}
    found = read_json(file)
    if not (isinstance(found, dict) and all(isinstance(grades, dict) for grades in found.values())):
        raise InputError(f'{file} is not of the form {{"QUERY_FACET": {{"1": 0, …}}}}: correct it.')
    for name, grades in found.items():
        if name not in pools:
            raise InputError(f"{file} grades a pool {name!r} that this project does not have.")
        candidates = pools[name].candidates
        if set(grades) != {str(number) for number in range(1, len(candidates) + 1)}:
            raise InputError(
                f"{file} must grade the candidates 1 to {len(candidates)} of {name!r}, each once; "
                f"it has {len(grades)} grades."
            )
        judged[name] = {candidates[int(number) - 1]: grade for number, grade in grades.items()}
    return judged


def draw_calibration(project: Project, collection: Collection, split: str, each: int, seed: int) -> int:
    """Pairs of a judged collection drawn at random, `each` of a facet; the known grades become a judge's."""
    drawn = 0
    for facet in PANELS:
        queries = {q.id: q for fold in collection.chosen(split) for q in fold if q.facet is facet}
        pairs = [(query.id, paper) for query in queries.values() for paper in query.grades]
        chosen = random.Random(f"{seed} {facet}").sample(sorted(pairs), min(each, len(pairs)))
        for query_id in dict.fromkeys(query for query, _ in chosen):
            query = queries[query_id]
            pool = Pool(query.paper_id, facet, tuple(paper for owner, paper in chosen if owner == query_id))
            wanted = [query.paper_id, *pool.candidates]
            key = {paper: [OFFICIAL] for paper in pool.candidates}
            project.add(pool, key, [collection.papers[paper] for paper in wanted])
            project.take(OFFICIAL, {pool.id: {paper: query.grades[paper] for paper in pool.candidates}})
            drawn += len(pool.candidates)
    return drawn
