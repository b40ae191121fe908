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
    likeliest, next_one = _ranked(text, probabilities)[:2]
    facet = _shown(text, likeliest)
    if facet is not Facet.METHOD and may_announce(text) and _says_how(text, probabilities):
        return Label(facet, Facet.METHOD)
    other = likeliest if next_one is facet else next_one
    return Label(facet, other if max(probabilities) < SURE else None)


def facet_of(text: str, probabilities: Sequence[float]) -> Facet:
    """The label alone, for the many sentences that are only shown."""
    most = max(probabilities)
    likeliest = FACETS[list(probabilities).index(most)]
    if likeliest is Facet.METHOD and most < SURE:
        likeliest = _ranked(text, probabilities)[0]
    return _shown(text, likeliest)


def _ranked(text: str, probabilities: Sequence[float]) -> list[Facet]:
    """The labels, likeliest first.

    A doubtful method that is announced, but not in words that say how ("We show that ..."), is none.
    """
    order = sorted(range(len(FACETS)), key=lambda place: -probabilities[place])
    ranked = [FACETS[place] for place in order]
    doubtful = ranked[0] is Facet.METHOD and probabilities[order[0]] < SURE
    return ranked[1:] if doubtful and announces(text) and not _says_how(text, probabilities) else ranked


def _says_how(text: str, probabilities: Sequence[float]) -> bool:
    return names_method(text, probabilities[FACETS.index(Facet.METHOD)])


def _shown(text: str, likeliest: Facet) -> Facet:
    """What a paper says of its own doing is an objective, never its background."""
    return Facet.OBJECTIVE if likeliest is Facet.BACKGROUND and announces(text) else likeliest
