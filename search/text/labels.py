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
    """The likeliest label; what a paper says of its own doing is an objective, never its background.

    A doubtful method that is announced, but not in words that say how ("We show that ..."), is none.
    """
    order = sorted(range(len(FACETS)), key=lambda place: -probabilities[place])
    doubtful = probabilities[order[0]] < SURE
    says_how = names_method(text, probabilities[FACETS.index(Facet.METHOD)])
    if FACETS[order[0]] is Facet.METHOD and doubtful and announces(text) and not says_how:
        order = order[1:]
    likeliest, next_one = (FACETS[place] for place in order[:2])
    facet = Facet.OBJECTIVE if likeliest is Facet.BACKGROUND and announces(text) else likeliest
    if facet is not Facet.METHOD and may_announce(text) and says_how:
        return Label(facet, Facet.METHOD)
    other = likeliest if next_one is facet else next_one
    return Label(facet, other if doubtful else None)
