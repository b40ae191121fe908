"""Searches of a large corpus: how long they take, alone, with filters, many at once; what they find."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.speed_memory import recall_of, resident_megabytes
from evaluation.speed_search import AT_ONCE, Task, ask, choose, sample
from search.corpus.layout import current_build
from search.corpus.manifest import read_manifest
from search.corpus.served import Rows, Sentences, Served
from search.engine import Engine
from search.ranking import matching
from search.ranking.candidates import Candidates
from search.settings import load_settings
from search.types import Filters, Query

QUERIES, FILTERED, EXHAUSTIVE, TOP = 200, 40, 100, 20
"""Searches that are timed; with each filter; compared with scoring every paper. Results compared."""
BLOCK = 4096
"""Papers that are scored together where all are."""


def serve(corpus: Path) -> dict[str, Any]:
    """Open and search as the app does."""
    started = time.perf_counter()
    engine = open_built(corpus)
    figures: dict[str, Any] = {
        "open_seconds": time.perf_counter() - started,
        "opened_megabytes": resident_megabytes(),
    }
    tasks = sample(engine, QUERIES)
    started = time.perf_counter()
    asked = [ask(engine, task) for task in tasks]
    figures["per_second_alone"] = len(asked) / (time.perf_counter() - started)
    for stage in ("encode", "candidates", "matching", "explanation", "total"):
        for percent in (50, 95):
            values = [each[stage] for each in asked]
            figures[f"{stage}_p{percent}_ms"] = 1000 * float(np.percentile(values, percent))
    figures |= _filtered(engine, tasks[:FILTERED])
    started = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda task: ask(engine, task), sample(engine, QUERIES, seed=5)))
    figures[f"per_second_{AT_ONCE}_at_once"] = QUERIES / (time.perf_counter() - started)
    return figures | {"searched_megabytes": resident_megabytes()}


def open_built(corpus: Path) -> Engine:
    encoder = read_manifest(current_build(corpus)).encoder_name
    return Engine.open(corpus, replace(load_settings(), encoder=encoder))


def _filtered(engine: Engine, tasks: Sequence[Task]) -> dict[str, float]:
    """Times as long as a search without a filter, each search beside its own; the encoding is left out."""
    years, fields = engine.store.year_counts(), engine.store.field_counts()
    found = {}
    if years:
        year = max(years, key=years.__getitem__)
        found["one_year_times"] = _slower(engine, tasks, Filters(year_from=year, year_to=year))
    if fields:
        found["rare_field_times"] = _slower(
            engine, tasks, Filters(fields=(min(fields, key=fields.__getitem__),))
        )
    return found


def _slower(engine: Engine, tasks: Iterable[Task], filters: Filters) -> float:
    ratios = []
    for task in tasks:
        query = choose(engine.example(task.paper.id), task.facet)
        engine.search(query)
        seconds = [engine.search(replace(query, filters=each)).seconds for each in (Filters(), filters)]
        ratios.append(seconds[1]["total"] / seconds[0]["total"])
    return float(np.median(ratios))


def agree(grown: Path, anew: Path) -> dict[str, Any]:
    """How much of the best results of a corpus built anew one that grew finds, on average and at worst."""
    engines = open_built(grown), open_built(anew)
    ids = [each.id for each in engines[1].store.headings_by_row(engines[1].store.spread(QUERIES))]
    shares = []
    for id in ids:
        query = Query((engines[1].example(id),), top=TOP)
        found = [{result.paper.id for result in engine.search(query).results} for engine in engines]
        shares.append(len(found[0] & found[1]) / max(len(found[1]), 1))
    return {"top_20_overlap": float(np.mean(shares)), "least_overlap": float(np.min(shares))}


def compare(corpus: Path) -> dict[str, Any]:
    """How much of the true best 20, from scoring every paper, searches find; and of the nearest sentences."""
    engine = open_built(corpus)
    queries = [choose(engine.example(task.paper.id), task.facet) for task in sample(engine, EXHAUSTIVE)]
    shares = []
    for query, every in zip(queries, _best_of_all(engine, queries), strict=True):
        results = engine.search(query).results
        found = {id for result in results for id in (result.paper.id, *result.duplicates)}
        true = [id for id in every if id != query.papers[0].paper_id][: len(found)]
        shares.append(len(found & set(true)) / max(len(true), 1))
    figures = {"top_20_of_all": float(np.mean(shares)), "least_of_all": float(np.min(shares))}
    return figures | recall_of(corpus)


def _best_of_all(engine: Engine, queries: Sequence[Query]) -> list[list[str]]:
    """The ids of the best papers for each query; all are scored, a block at a time."""
    stages = copy.copy(engine.stages)
    asked = [stages.ask(query) for query in queries]
    words = [stages.store.words(each.terms) for each in asked]
    scores, rows = (np.empty((len(queries), 0), kind) for kind in (np.float32, np.int64))
    everything = engine.store.spread(engine.manifest.papers)
    for start in range(0, len(everything), BLOCK):
        block = everything[start : start + BLOCK]
        stages.store = _Block(engine.store, block)  # type: ignore[assignment]
        mine = [
            stages.match(each, Candidates(block, its.of(block)), None).scores.total
            for each, its in zip(asked, words, strict=True)
        ]
        scores = np.concatenate([scores, np.stack(mine)], axis=1)
        rows = np.concatenate([rows, np.tile(block, (len(queries), 1))], axis=1)
        best = np.argsort(-scores, axis=1, kind="stable")[:, : 3 * TOP]
        scores, rows = np.take_along_axis(scores, best, axis=1), np.take_along_axis(rows, best, axis=1)
    return [[paper.id for paper in engine.store.headings_by_row(each)] for each in rows]


class _Block:
    """Some papers whose vectors are read once, for all queries."""

    def __init__(self, store: Served, rows: Rows) -> None:
        found = store.sentences(rows)
        # Wide enough already, so that no query widens them again.
        self._sentences = replace(found, vectors=matching.widen(found.vectors))  # type: ignore[arg-type]
        self._whole = matching.widen(store.whole_vectors(rows))

    def sentences(self, rows: Rows) -> Sentences:
        return self._sentences

    def whole_vectors(self, rows: Rows) -> NDArray[np.floating]:
        return self._whole
