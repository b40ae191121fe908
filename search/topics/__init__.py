"""A topic in words, answered by facet: who works on which problem, how, and with what result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from search.corpus import duplicates
from search.corpus.served import Sentences
from search.ranking.calibration import LEVELS
from search.text.tokenizer import tokenize
from search.topics import clusters, terms
from search.topics.phrases import find_phrases
from search.topics.values import Cluster, Hit, Term, Topic
from search.types import PANELS, Facet, Filters, Paper, Query

if TYPE_CHECKING:
    from search.engine import Engine

__all__ = ["UNNAMED", "Cluster", "Hit", "Term", "Topic", "explore"]

Floats = NDArray[np.float32]
READ = 300
"""Papers of a topic that are read: their sentences, terms and clusters are shown. By hand, for speed."""
COMPARED = 1000
"""About how many papers each kind of evidence brings in; where as many are related, there may be more."""
FEWEST = 12
"""Papers that are shown even where fewer are related to the topic. Chosen by hand."""
RELATED = LEVELS[-1][0]
"""The score from which a paper belongs to a topic: that of the word "related"."""
LARGE = 5 * READ
"""Papers from which a corpus is large enough to tell which words are common outside the topic."""
UNNAMED = "Other papers"
SIDES = (Facet.BACKGROUND, Facet.METHOD)
MOST_OF_SIDE = 6
"""Clusters by problem and by method at most: rows and columns of a table that fits a page. By hand."""
EMPTY = Topic(
    (), 0, False, dict.fromkeys(PANELS, ()), dict.fromkeys(PANELS, ()), (), dict.fromkeys(SIDES, ()), ()
)


def explore(engine: Engine, text: str, filters: Filters | None = None) -> Topic:
    """The papers of a topic: their sentences by panel, their terms, and the clusters they fall into."""
    return engine.answered(lambda sound: _explore(sound, text, filters or Filters()))


def _explore(engine: Engine, text: str, filters: Filters) -> Topic:
    asked = engine.read_text(text)
    rows, scores = engine.nearest(Query((asked,), filters=filters), COMPARED)
    related = int((np.round(scores, 2) >= RELATED).sum())
    rows = rows[: min(max(related, FEWEST), READ)]
    records = engine.store.papers_by_row(rows)
    first = [group[0] for group in duplicates.group(records, apart=engine.store.apart)]
    papers, rows = [records[place] for place in first], rows[first]
    if not papers:
        return EMPTY
    vectors = engine.store.whole_vectors(rows).astype(np.float32)
    groups = clusters.group(vectors)
    phrases = terms.worth_showing(find_phrases(papers), len(papers), tokenize(text), _usual(engine))
    sentences = engine.store.sentences(rows)
    hits = find_hits(papers, _likeness(sentences, engine.reader.vectors(asked).whole))
    everywhere = {place: int(number) for place, number in enumerate(groups)}
    return Topic(
        papers=tuple(papers),
        related=related,
        bounded=related >= COMPARED,
        hits=hits,
        terms=terms.terms_of_panels(phrases),
        clusters=named_clusters(vectors, groups, terms.names_of_clusters(phrases, everywhere)),
        sides={panel: _side(papers, sentences, hits[panel], phrases) for panel in SIDES},
        places=tuple((float(x), float(y)) for x, y in clusters.spread(vectors, groups)),
    )


def _side(
    papers: Sequence[Paper],
    sentences: Sentences,
    hits: Sequence[Hit],
    phrases: Sequence[terms.Weighed],
) -> tuple[Cluster, ...]:
    """Clusters by the sentences of one panel."""
    if not hits:
        return ()
    position = {hit.paper.id: hit.position for hit in hits}
    places = [place for place, paper in enumerate(papers) if paper.id in position]
    chosen = sentences.offsets[places] + np.array([position[papers[place].id] for place in places])
    vectors = sentences.vectors[chosen].astype(np.float32)
    groups = clusters.group(vectors, MOST_OF_SIDE)
    by_place = dict(zip(places, groups.tolist(), strict=True))
    names = terms.names_of_clusters(phrases, by_place, PANELS.index(hits[0].facet))
    return tuple(
        replace(cluster, papers=tuple(places[place] for place in cluster.papers))
        for cluster in named_clusters(vectors, groups, names)
    )


def _usual(engine: Engine) -> terms.Usual:
    """The share of the corpus that uses a term, as far as that says something."""
    # In a small corpus the topic is most of the papers, so counts over the corpus say nothing about the rest.
    large = engine.manifest.papers >= LARGE
    return lambda term: math.exp(-engine.idf(term)) if large else 0.0


def find_hits(
    papers: Sequence[Paper], likeness: Sequence[NDArray[np.float32]]
) -> dict[Facet, tuple[Hit, ...]]:
    """The sentence of each panel of each paper that is nearest to the topic, by panel, the nearest first."""
    found: dict[Facet, list[Hit]] = {panel: [] for panel in PANELS}
    for paper, own in zip(papers, likeness, strict=True):
        for panel in PANELS:
            mine = [n for n, sentence in enumerate(paper.sentences) if sentence.panel is panel]
            if mine:
                best = max(mine, key=own.__getitem__)
                found[panel].append(Hit(paper, best, panel, float(own[best])))
    return {panel: tuple(sorted(hits, key=lambda hit: -hit.likeness)) for panel, hits in found.items()}


def _likeness(sentences: Sentences, topic: Floats) -> list[Floats]:
    """The cosines of the topic and the sentences of each paper."""
    return np.split(sentences.vectors.astype(np.float32) @ topic, sentences.offsets[1:-1])


def named_clusters(vectors: Floats, groups: clusters.Groups, names: Sequence[str]) -> tuple[Cluster, ...]:
    """The clusters with their names, the largest first; those without a name come last, as one."""
    named = [number for number, name in enumerate(names) if name]
    if not named or len(names) == 1:
        return ()
    found = [Cluster(names[number], clusters.most_central(vectors, groups, number)) for number in named]
    rest = ~np.isin(groups, named)
    if rest.any():
        found.append(Cluster(UNNAMED, clusters.most_central(vectors, rest.astype(np.int64), 1)))
    return tuple(found)
