"""What is known of a topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from search.types import Facet, Paper


@dataclass(frozen=True, slots=True)
class Hit:
    """The sentence of one panel of a paper that is nearest to the topic."""

    paper: Paper
    position: int
    facet: Facet
    """One of PANELS."""
    likeness: float
    """Cosine of the sentence and the topic."""

    @property
    def text(self) -> str:
        return self.paper.sentences[self.position].text


@dataclass(frozen=True, slots=True)
class Term:
    """A phrase as the papers write it, and the places in `Topic.papers` of those that use it."""

    text: str
    papers: frozenset[int]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Papers of a topic that are alike."""

    name: str
    papers: tuple[int, ...]
    """Places in `Topic.papers`, the most central first."""


@dataclass(frozen=True, slots=True)
class Topic:
    papers: tuple[Paper, ...]
    """Those that were read, the nearest first."""
    related: int
    """How many papers of the corpus are at least related to the topic, among those that were compared."""
    bounded: bool
    """Whether there may be more: as many are related as were looked for."""
    hits: Mapping[Facet, tuple[Hit, ...]]
    """For each of PANELS, the nearest to the topic first."""
    terms: Mapping[Facet, tuple[Term, ...]]
    """For each of PANELS, the most characteristic first."""
    clusters: tuple[Cluster, ...]
    """The largest first; each paper is in one, unless there are too few for any."""
    sides: Mapping[Facet, tuple[Cluster, ...]]
    """Clusters of the papers by their problem and by their method alone: by the sentence of BACKGROUND and of
    METHOD that is nearest to the topic. Papers without such a sentence are in none."""
    places: tuple[tuple[float, float], ...]
    """Of each paper on the map, both from -1 to 1."""
