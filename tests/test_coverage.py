"""How much a corpus has on a query: from evidence to a probability, and what people and agents are told."""

from __future__ import annotations

from dataclasses import replace

from evaluation.coverage import BELONGS, Asked, Outcome, summarise
from evaluation.strange_texts import nonsense
from pages.ui.verdict import NOTHING, verdict
from search.ranking.coverage import ELSEWHERE, cover, observe
from search.types import Evidence, Filters, Lacking, Likeness, Paper, Query, Result, Results

FOUND = Result(Paper("a", "A"), 0.3, Likeness.RELATED, "", (), Evidence(0.7, 0.6, 0.4))
EVERYTHING = Filters()
DISTANT = replace(FOUND, evidence=Evidence(0.2, 0.1, 0.0), likeness=Likeness.UNRELATED)


def answer(covered: float, *likenesses: Likeness, filters: Filters = EVERYTHING) -> Results:
    found = tuple(replace(FOUND, likeness=likeness) for likeness in likenesses)
    return Results(Query((), filters=filters), found, "build", 100, covered=covered)


def test_what_is_near_in_every_way_is_covered_and_what_is_distant_is_not() -> None:
    assert cover([FOUND] * 5, Lacking()) > 0.9
    assert cover([DISTANT] * 5, Lacking(unknown=0.9)) < 0.05
    assert cover([], Lacking()) == 0


def test_unknown_words_count_against_and_only_the_nearest_are_looked_at() -> None:
    assert cover([FOUND] * 5, Lacking(unknown=0.8)) < cover([FOUND] * 5, Lacking())
    near, far = observe([FOUND] * 5, Lacking()), observe([FOUND] * 5 + [DISTANT] * 9, Lacking())
    assert near == far
    assert observe([FOUND, DISTANT], Lacking(unknown=0.5))[1:] == (0.35, 0.2, 0.5)


def test_the_verdict_says_that_a_text_is_off_the_map() -> None:
    unrelated, related, similar = Likeness.UNRELATED, Likeness.RELATED, Likeness.SIMILAR
    assert verdict(answer(ELSEWHERE / 2, unrelated)) == NOTHING
    assert verdict(answer(ELSEWHERE / 2, related, unrelated)) == NOTHING
    assert "1 related" in verdict(answer(2 * ELSEWHERE, related, unrelated))
    assert "1 close" in verdict(answer(ELSEWHERE / 2, similar))


def test_filters_may_be_why_nothing_is_near() -> None:
    assert "fewer filters" in verdict(answer(0.0, Likeness.UNRELATED, filters=Filters(year_from=2020)))


def test_a_table_tells_how_often_what_belongs_is_told_from_the_rest() -> None:
    outcomes = [
        Outcome(Asked("c", kind, "title", f"{kind} {number}"), (), covered)
        for number in range(20)
        for kind, covered in ((BELONGS, 0.9 if number else 0.1), ("nonsense", 0.2))
    ]
    first = summarise(outcomes)[0]
    assert first == ["all", "40", "0.950", "95 of those that belong, 0 of the others"]
    assert nonsense(3) == nonsense(3) != nonsense(3, seed=1)
