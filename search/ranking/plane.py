"""Between same problem and same method: likeness of background and of method, and mixes of the two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from search.errors import InputError
from search.types import Choice, Facet, Paper, Point, Query, QueryPaper, QuerySentence

AXES = (Facet.BACKGROUND, Facet.METHOD)
"""What is drawn across and up."""
EVEN = 0.5
"""The share of the method where both count the same."""
NEIGHBOURS = 10
"""Papers nearest by background that tell the field of a pasted text; chosen by hand."""


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of the plane, both ends included."""

    background: tuple[float, float]
    method: tuple[float, float]

    def holds(self, point: Point) -> bool:
        return (
            self.background[0] <= point.background <= self.background[1]
            and self.method[0] <= point.method <= self.method[1]
        )


def by_panel(query: Query, panel: Facet) -> Query:
    """The query with the sentences of one panel to be matched; InputError where it has none."""
    papers = tuple(paper for paper in query.papers if _weight(paper, panel))
    if not papers:
        raise InputError(
            f"No sentence of your text is labelled {panel}, so there is no likeness of {panel} to draw: "
            f"set the label of a sentence to {panel.capitalize()} first."
        )
    return replace(query, papers=tuple(_weighed(paper, {panel: 1.0}) for paper in papers))


def by_mix(query: Query, share: float) -> Query:
    """Background and method to be matched; `share` of all weight is the method's, however many sentences."""
    shares = {Facet.BACKGROUND: 1 - share, Facet.METHOD: share}
    return replace(
        query,
        papers=tuple(
            _weighed(paper, {p: s / _weight(paper, p) for p, s in shares.items() if _weight(paper, p)})
            for paper in query.papers
        ),
    )


def _weight(paper: QueryPaper, panel: Facet) -> float:
    return sum(sentence.weight for sentence in paper.sentences if sentence.serves(panel))


def _weighed(paper: QueryPaper, factors: dict[Facet, float]) -> QueryPaper:
    """The sentences of these panels to be matched, their weights multiplied; the others are context."""

    def weighed(sentence: QuerySentence) -> QuerySentence:
        factor = sum(factor for panel, factor in factors.items() if sentence.serves(panel))
        if not factor:
            return replace(sentence, choice=Choice.IGNORE)
        return replace(sentence, choice=Choice.MATCH, weight=sentence.weight * factor)

    return replace(paper, sentences=tuple(map(weighed, paper.sentences)))


def mix(point: Point, share: float) -> float:
    """One likeness from the two, of which `share` is the method's."""
    return (1 - share) * point.background + share * point.method


def order(points: Iterable[Point], share: float) -> list[Point]:
    """The nearest by the mix first."""
    return sorted(points, key=lambda point: -mix(point, share))


def fields_of(known: Sequence[Paper], points: Sequence[Point]) -> frozenset[str]:
    """The fields of the example, where they are known; else those of its problem's neighbours.

    Of the NEIGHBOURS papers nearest by background, a field that half of them have counts; where there is no
    such field, the most frequent one does.
    """
    if fields := frozenset(field for paper in known for field in paper.fields):
        return fields
    near = order(points, 0)[:NEIGHBOURS]
    counts = Counter(field for point in near for field in set(point.paper.fields))
    often = frozenset(field for field, count in counts.items() if 2 * count >= len(near))
    return often or frozenset(sorted(counts, key=lambda field: (-counts[field], field))[:1])


def from_other_fields(points: Iterable[Point], fields: frozenset[str]) -> list[Point]:
    """Papers whose fields are known and are all other ones."""
    return [point for point in points if point.paper.fields and fields.isdisjoint(point.paper.fields)]


def purpose(paper: Paper) -> str:
    """What the paper uses its method for, in its own words: its first background sentence."""
    wanted = (Facet.BACKGROUND, Facet.OBJECTIVE)
    found = (each.text for facet in wanted for each in paper.sentences if each.facet is facet)
    return next(found, "") if paper.abstract else ""
