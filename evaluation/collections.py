"""Collections judged in pools: query papers, the papers judged for each, and their grades.

Two layouts are read, both of JSON files: CSFCube's (one pool per query and facet) and the one ASPIRE
uses for RELISH and TREC-COVID-RF (one pool per query, no facets).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.collection_files import read_abstracts, read_json
from evaluation.metrics import Found, Scores, Values, mean_of_folds, pool_values
from search.errors import InputError
from search.types import PANELS, Facet, Paper

OFFICIAL_FOLDS = {"dev": ("fold1_dev",), "test": ("fold1_test", "fold2_test")}
"""As in CSFCube's own evaluation: the second dev fold is the first test fold, so dev takes one."""


@dataclass(frozen=True, slots=True)
class PoolQuery:
    id: str
    """The paper's id, with "_facet" where the query has one: as in the split files."""
    paper_id: str
    facet: Facet | None
    grades: Mapping[str, int]
    """Candidate -> grade; the query itself is left out."""


@dataclass(frozen=True, slots=True)
class Collection:
    name: str
    folder: Path
    papers: Mapping[str, Paper]
    """With the sentences and facets the collection gives."""
    queries: Mapping[str, PoolQuery]
    folds: Mapping[str, tuple[tuple[str, ...], ...]]
    """Split -> folds of query ids."""
    relevant_from: int
    missing: tuple[str, ...] = ()
    """What the files name but do not hold, in words."""
    corpus: str = ""
    """The collection whose corpus this one is searched in, where it has none of its own."""
    built: Path | None = None
    """A built corpus that is searched as it is, where the papers come from one."""

    def chosen(self, split: str) -> tuple[tuple[PoolQuery, ...], ...]:
        """The folds of a split, of those queries that are judged."""
        if split == "all":
            return (tuple(self.queries.values()),)
        folds = (
            tuple(self.queries[query] for query in fold if query in self.queries)
            for fold in self.folds.get(split, ())
        )
        return tuple(fold for fold in folds if fold)

    def absent(self, split: str) -> tuple[str, ...]:
        """Queries a split names but that are not judged here."""
        return tuple(
            query for fold in self.folds.get(split, ()) for query in fold if query not in self.queries
        )


def read_csfcube(folder: Path) -> Collection:
    """The official release, or a part of it: abstracts, judgements by facet, folds."""
    papers = {paper.id: paper for paper in read_abstracts(folder / "abstracts-csfcube-preds.jsonl")}
    queries: dict[str, PoolQuery] = {}
    missing: list[str] = []
    for facet in PANELS:
        file = folder / f"test-pid2anns-csfcube-{facet}.json"
        if file.exists():
            queries |= _queries(read_json(file), facet, papers, missing)
        else:
            missing.append(f"no judgements of the facet {facet}: there is no {file.name}")
    splits = folder / "evaluation_splits.json"
    folds = _folds(read_json(splits)) if splits.exists() else {}
    return Collection("csfcube", folder, papers, queries, folds, 2, tuple(missing))


def read_aspire(folder: Path, name: str) -> Collection:
    """`relish` (grades 0-2, relevant is 2) or `treccovid` (grades 0-1) as ASPIRE lays them out."""
    papers = {paper.id: paper for paper in read_abstracts(folder / f"abstracts-{name}.jsonl")}
    missing: list[str] = []
    queries = _queries(read_json(folder / f"test-pid2anns-{name}.json"), None, papers, missing)
    splits = folder / f"{name}-evaluation_splits.json"
    folds = {split: (tuple(ids),) for split, ids in read_json(splits).items()} if splits.exists() else {}
    return Collection(name, folder, papers, queries, folds, 1 if name == "treccovid" else 2, tuple(missing))


def facet_positions(paper: Paper, facet: Facet | None) -> tuple[int, ...]:
    """Which sentences of a query paper are asked about: those of its facet, or all where it has none."""
    wanted = tuple(
        place for place, sentence in enumerate(paper.sentences) if facet and sentence.panel is facet
    )
    return wanted or tuple(range(len(paper.sentences)))


def read_ranked(collection: Collection, name: str) -> Found:
    """An official ranked-pool file (`test-pid2pool-csfcube-NAME-FACET-ranked.json`) as scores by rank.

    The files hold distances from some methods and likenesses from others: only their order is read.
    """
    found: Found = {}
    for facet in PANELS:
        file = collection.folder / f"test-pid2pool-csfcube-{name}-{facet}-ranked.json"
        for paper_id, pairs in read_json(file).items() if file.exists() else ():
            query = collection.queries.get(f"{paper_id}_{facet}")
            if query:
                order = [paper for paper, _ in pairs if paper in query.grades]
                found[query.id] = {paper: -float(rank) for rank, paper in enumerate(order)}
    return found


def ranked_files(collection: Collection) -> tuple[str, ...]:
    """The methods whose official rankings lie beside the collection."""
    found = {
        file.name.removeprefix("test-pid2pool-csfcube-").rsplit("-", 2)[0]
        for file in collection.folder.glob("test-pid2pool-csfcube-*-ranked.json")
    }
    return tuple(sorted(found))


def summarise(
    collection: Collection, split: str, scores: Scores
) -> tuple[dict[str, dict[str, float]], Values]:
    """Measures over all queries and by facet (the mean of the folds' means), and of each query."""
    folds = [[query for query in fold if query.id in scores] for fold in collection.chosen(split)]
    grades = {query.id: query.grades for fold in folds for query in fold}
    values = pool_values({query: scores[query] for query in grades}, grades, collection.relevant_from)
    groups: dict[str, list[list[str]]] = {"all": [[query.id for query in fold] for fold in folds]}
    for facet in PANELS:
        groups[facet] = [[query.id for query in fold if query.facet is facet] for fold in folds]
    kept = {name: [fold for fold in group if fold] for name, group in groups.items()}
    return {name: mean_of_folds(values, group) for name, group in kept.items() if group}, values


def data_hash(papers: Iterable[Paper], grades: Iterable[PoolQuery] = ()) -> str:
    """What a figure was measured on: sixteen hex digits over ids, texts and grades."""
    digest = hashlib.sha256()
    for paper in papers:
        digest.update(f"{paper.id}\0{paper.title}\0{paper.abstract}\0".encode())
    for query in grades:
        digest.update(json.dumps([query.id, sorted(query.grades.items())]).encode())
    return digest.hexdigest()[:16]


def _queries(
    judged: Mapping[str, Any], facet: Facet | None, papers: Mapping[str, Paper], missing: list[str]
) -> dict[str, PoolQuery]:
    queries: dict[str, PoolQuery] = {}
    for paper_id, pool in judged.items():
        query_id = f"{paper_id}_{facet}" if facet else paper_id
        if paper_id not in papers:
            missing.append(f"query {query_id}: its abstract is not in the collection")
            continue
        try:
            grades = dict(zip(pool["cands"], map(int, pool["relevance_adju"]), strict=True))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"The judgements of {query_id} are not in CSFCube's layout ({error!r})."
            ) from None
        # Some pools hold the query itself; official rankings leave it out, so it is not judged here either.
        known = {paper: grade for paper, grade in grades.items() if paper in papers and paper != paper_id}
        if lost := len(grades) - len(known) - (paper_id in grades):
            missing.append(f"query {query_id}: {lost} of {len(grades)} candidates have no abstract")
        if known:
            queries[query_id] = PoolQuery(query_id, paper_id, facet, known)
    return queries


def _folds(splits: Mapping[str, Mapping[str, list[str]]]) -> dict[str, tuple[tuple[str, ...], ...]]:
    groups = [splits["all"]] if "all" in splits else list(splits.values())
    merged: dict[str, tuple[str, ...]] = {}
    for group in groups:
        for fold, ids in group.items():
            merged[fold] = merged.get(fold, ()) + tuple(ids)
    return {
        split: tuple(merged[fold] for fold in folds if fold in merged)
        for split, folds in OFFICIAL_FOLDS.items()
    }
