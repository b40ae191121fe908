"""A scored candidate as a result: its pairs of sentences, its score in words, the reason."""

from __future__ import annotations

from search.engine.stages import Matched, Stages
from search.query.vectorised import Asked
from search.ranking import calibration, matching, scoring
from search.ranking.explanation import HELD_BACK, Place, avoided_terms, find_pairs, give_reason
from search.types import Paper, Query, Result


def explain(
    stages: Stages, query: Query, asked: Asked, matched: Matched, place: int, records: list[Paper]
) -> Result:
    """One paper with its evidence; `place` is its place among the candidates, `records` begin with it."""
    near = asked.papers[matched.scores.nearest[place]]
    similarity, favoured = matched.similarities(near, place)
    shares = matching.shares(query.matcher or scoring.MATCHER, favoured, near.weights)
    places = [Place(near.number, position) for position in near.positions]
    pairs = find_pairs(query, places, records[0], similarity, shares, stages.words)
    score = calibration.readable(float(matched.scores.asked[place]))
    counted = calibration.readable(float(matched.scores.total[place]))
    return Result(
        paper=records[0],
        score=score,
        likeness=calibration.in_words(score, records[0].fields),
        reason=give_reason(query, pairs, stages.words),
        pairs=pairs,
        evidence=matched.scores.evidence(place),
        duplicates=tuple(record.id for record in records[1:]),
        held_back=score - counted,
        held_by=avoided_terms(query, records[0], stages.words) if score - counted >= HELD_BACK else (),
    )
