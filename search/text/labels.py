"""From probabilities and words to the label of a sentence, and the one it may have instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from search.text.announcements import announces, may_announce, names_method
from search.types import FACETS, Facet

SURE = 0.5
"""Probability below which a label is doubtful: all others together are then more likely. On CSAbstruct's
development file every second label below it is wrong, and 60 % of the wrong ones lie there
(`python -m evaluation facets`)."""


@dataclass(frozen=True, slots=True)
class Label:
    facet: Facet
    or_facet: Facet | None = None
    """What it may be instead, or as well: an announcement that says how may be the method."""


def decide(text: str, probabilities: Sequence[float]) -> Label:
    """The label of a sentence, and the one it may have instead."""
    likeliest, next_one = sorted(range(len(FACETS)), key=lambda place: -probabilities[place])[:2]
    facet = facet_of(text, probabilities)
    if facet is Facet.METHOD:
        other = FACETS[next_one]
    elif may_announce(text) and names_method(text, probabilities[FACETS.index(Facet.METHOD)]):
        return Label(facet, Facet.METHOD)
    else:
        other = FACETS[next_one] if FACETS[next_one] is not facet else FACETS[likeliest]
    return Label(facet, other if probabilities[likeliest] < SURE else None)


def facet_of(text: str, probabilities: Sequence[float]) -> Facet:
    """The likeliest label; what a paper says of its own doing is an objective, never its background."""
    found = list(probabilities)  # may be an array
    facet = FACETS[found.index(max(found))]
    return Facet.OBJECTIVE if facet is Facet.BACKGROUND and announces(text) else facet
