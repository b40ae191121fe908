"""A query answered, stage by stage: the best papers with evidence, all candidates, the papers of a pool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from search.corpus import duplicates
from search.engine.evidence import explain
from search.engine.stages import Clock, Matched, Stages
from search.errors import InputError
from search.query import choosing
from search.query.vectorised import Asked
from search.ranking import calibration
from search.ranking.candidates import DEPTH, PER_RESULT, Candidates
from search.ranking.coverage import cover, find_lacking
from search.types import Choice, Lacking, Paper, Query, Result, Results, Scored

Floats = NDArray[np.float32]
Rows = NDArray[np.integer]

SPARE = 3
"""Papers read in addition to those that are missing: some may be records of one paper. Chosen by hand."""


def search(stages: Stages, query: Query) -> Results:
    """The papers nearest to what is chosen, with the evidence for each."""
    clock = Clock()
    choosing.check(query)
    asked = stages.ask(query)
    clock.lap("encode")
    depth = max(DEPTH, PER_RESULT * query.top)
    found = stages.candidates(asked, query.filters, depth)
    clock.lap("candidates")
    matched = stages.match(asked, found, query.matcher)
    clock.lap("matching")
    results = _best(stages, query, asked, found.rows, matched)
    lacking = _lacking(stages, query)
    clock.lap("explanation")
    return Results(
        query,
        results,
        stages.manifest.build_id,
        len(found.rows),
        clock.seconds(),
        lacking,
        cover(results, lacking),
        stages.store.count(query.filters),
    )


def nearest(stages: Stages, query: Query, depth: int) -> tuple[Rows, Floats]:
    """The rows of all candidates and their scores as they are shown, the nearest first."""
    choosing.check(query)
    asked = stages.ask(query)
    found = stages.candidates(asked, query.filters, depth)
    total = stages.match(asked, found, query.matcher).scores.total
    order = np.argsort(-total, kind="stable")
    return found.rows[order], calibration.all_readable(total[order])


def rank_pool(stages: Stages, query: Query, paper_ids: Sequence[str]) -> list[Scored]:
    """The papers of a pool by the same score as in a search, best first."""
    choosing.check(query)
    asked = stages.ask(query)
    rows = stages.store.rows_of(paper_ids)
    if (rows < 0).any():
        missing = paper_ids[int(rows.argmin())]
        raise InputError(
            f"The pool names {missing!r}, which is not in this corpus: build it with that paper."
        )
    found = Candidates(rows, stages.store.words(asked.terms).of(rows))
    scores = stages.match(asked, found, query.matcher).scores
    order = np.argsort(-scores.total, kind="stable")
    return [Scored(paper_ids[k], float(scores.total[k]), scores.evidence(k)) for k in order]


def own(query: Query) -> list[Paper]:
    """The papers that were asked with, as far as they can be told from others."""
    return [Paper(paper.paper_id, paper.title) for paper in query.papers]


def _best(stages: Stages, query: Query, asked: Asked, rows: Rows, matched: Matched) -> tuple[Result, ...]:
    """The best papers with evidence; records of one paper are joined, the query's own are left out."""
    order = np.argsort(-matched.scores.total, kind="stable")
    papers: list[Paper] = []
    groups: list[list[int]] = []
    while len(groups) < query.top and len(papers) < len(order):
        more = query.top - len(groups) + SPARE
        papers += stages.store.papers_by_row(rows[order[len(papers) :][:more]])
        groups = duplicates.group(papers, own(query), stages.store.apart)
    return tuple(
        explain(stages, query, asked, matched, int(order[group[0]]), [papers[each] for each in group])
        for group in groups[: query.top]
    )


def _lacking(stages: Stages, query: Query) -> Lacking:
    sentences = (sentence for paper in query.papers for sentence in paper.sentences)
    texts = (sentence.text for sentence in sentences if sentence.choice is Choice.MATCH)
    return find_lacking(texts, stages.words, stages.store.papers_with)
