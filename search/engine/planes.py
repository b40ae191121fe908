"""Same problem against same method: all candidates by both likenesses, and some of them as results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from search.corpus import duplicates
from search.engine.answering import own
from search.engine.evidence import explain
from search.engine.stages import Clock, Stages
from search.query import choosing
from search.ranking import calibration, plane
from search.ranking.candidates import Candidates, Either, Probe, find_candidates
from search.types import Plane, Point, Query, Results

Floats = NDArray[np.float32]
Rows = NDArray[np.integer]


def find_plane(stages: Stages, query: Query) -> Plane:
    """All candidates by their likeness to the query's background and to its method, whatever is chosen.

    Each likeness is the score that the paper has in a search by that panel alone.
    """
    choosing.check_size(query)
    asked = {panel: stages.ask(plane.by_panel(query, panel)) for panel in plane.AXES}
    words = {panel: stages.store.words(asked[panel].terms) for panel in plane.AXES}
    both = stages.ask(plane.by_mix(query, plane.EVEN))
    probe = Probe(both.match, both.whole)
    rows = find_candidates(stages.store, Either(*words.values()), probe, query.filters).rows
    found = {panel: Candidates(rows, words[panel].of(rows)) for panel in plane.AXES}
    scores = {
        panel: stages.match(asked[panel], found[panel], query.matcher).scores.asked for panel in plane.AXES
    }
    likenesses = (calibration.all_readable(scores[panel]) for panel in plane.AXES)
    points = _points(stages, query, rows, *likenesses)
    named = [stages.reader.known(paper.paper_id) for paper in query.papers if paper.paper_id]
    fields = plane.fields_of([known.paper for known in named if known], points)
    return Plane(points, fields, stages.manifest.build_id)


def _points(
    stages: Stages, query: Query, rows: Rows, background: Floats, method: Floats
) -> tuple[Point, ...]:
    """Nearest first; records of one paper are joined, the query's own are left out."""
    order = np.argsort(-(background + method), kind="stable")
    papers = stages.store.headings_by_row(rows[order])
    return tuple(
        Point(
            papers[group[0]],
            float(background[order[group[0]]]),
            float(method[order[group[0]]]),
            tuple(papers[each].id for each in group[1:]),
        )
        for group in duplicates.group(papers, own(query), stages.store.apart)
    )


def explain_points(stages: Stages, query: Query, points: Sequence[Point], share: float) -> Results:
    """These points of the query's plane as results, in this order; `share` of the mix is method."""
    clock = Clock()
    mixed = plane.by_mix(query, share)
    asked = stages.ask(mixed)
    known = stages.store.rows_of([point.paper.id for point in points]).astype(np.int64)
    # Another build may answer than the one that the points come from.
    points = [point for point, row in zip(points, known, strict=True) if row >= 0]
    rows = known[known >= 0]
    found = Candidates(rows, stages.store.words(asked.terms).of(rows))
    matched = stages.match(asked, found, query.matcher)
    clock.lap("matching")
    papers = stages.store.papers_by_row(rows)
    results = []
    for place, (point, paper) in enumerate(zip(points, papers, strict=True)):
        score = plane.mix(point, share)
        results.append(
            replace(
                explain(stages, mixed, asked, matched, place, [paper]),
                score=score,
                likeness=calibration.in_words(score, paper.fields),
                duplicates=point.duplicates,
                held_back=0.0,
                held_by=(),
            )
        )
    clock.lap("explanation")
    return Results(query, tuple(results), stages.manifest.build_id, len(points), clock.seconds())
