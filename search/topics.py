"""A topic in words, answered by facet: who works on which problem, how, and with what result."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from search.encoding import Document
from search.lexical import tokenize
from search.types import PANELS, Facet, Filters, Paper, Query

if TYPE_CHECKING:
    from search.engine import Engine

Floats = NDArray[np.float32]
PAPERS = 200
"""How many papers make up a topic."""
TERMS = 12
FEWEST_PAPERS = 3
"""Papers that must use a term before it can be characteristic."""
OFTEN = 0.07
"""A term in more abstracts of the corpus than this tells nothing."""
LARGE = 5 * PAPERS
LIFT = 2.0
"""How many times as often as in the corpus a topic must use a term of its own."""


@dataclass(frozen=True, slots=True)
class Hit:
    """The sentence of one panel of a paper that speaks most of the topic."""

    paper: Paper
    position: int
    facet: Facet
    """One of PANELS."""
    likeness: float
    """Cosine of the sentence and the topic."""
    x: float = 0.0
    y: float = 0.0
    """Its place on the map."""

    @property
    def text(self) -> str:
        return self.paper.sentences[self.position].text


@dataclass(frozen=True, slots=True)
class Topic:
    papers: tuple[Paper, ...]
    """The nearest first."""
    hits: Mapping[Facet, tuple[Hit, ...]]
    """For each of PANELS, the most telling first."""
    terms: Mapping[Facet, tuple[str, ...]]


def explore(engine: Engine, text: str, filters: Filters | None = None, papers: int = PAPERS) -> Topic:
    """The papers of a topic and, for each panel, their sentences that speak of it."""
    asked = engine.read_text(text)
    results = engine.search(Query((asked,), filters=filters or Filters(), top=papers)).results
    found = tuple(result.paper for result in results)
    asked_terms = set(tokenize(text))
    # In a small corpus the topic is most of it: nothing is more usual outside than inside.
    large = engine.manifest.papers >= LARGE

    def usual(term: str) -> float:
        return float(term in asked_terms) or (math.exp(-engine.lexical.idf(term)) if large else 0.0)

    topic = engine.encoder.encode_one(
        Document(asked.title, tuple(each.text for each in asked.sentences))
    ).paper
    hits, vectors = find_hits(found, sentence_vectors(engine, found), topic)
    placed = [replace(hit, x=float(x), y=float(y)) for hit, (x, y) in zip(hits, spread(vectors), strict=True)]
    return Topic(
        papers=found,
        hits={facet: tuple(hit for hit in placed if hit.facet is facet) for facet in PANELS},
        terms=characteristic_terms(
            {facet: [tokenize(hit.text) for hit in hits if hit.facet is facet] for facet in PANELS},
            usual=usual,
        ),
    )


def sentence_vectors(engine: Engine, papers: Sequence[Paper]) -> list[Floats]:
    """For each paper the vectors of its sentences, [n, d]."""
    rows = engine.store.rows_of([paper.id for paper in papers])
    offsets = engine.store.sentence_offsets()
    return [engine.sentence_vectors[offsets[row] : offsets[row + 1]].astype(np.float32) for row in rows]


def find_hits(papers: Sequence[Paper], vectors: Sequence[Floats], topic: Floats) -> tuple[list[Hit], Floats]:
    """The sentence of each panel of each paper nearest to the topic [d] by cosine; their vectors [h, d]."""
    found: list[tuple[Hit, Floats]] = []
    for paper, rows in zip(papers, vectors, strict=True):
        likeness = rows @ topic
        for facet in PANELS:
            own = [n for n, sentence in enumerate(paper.sentences) if _panel(sentence.facet) is facet]
            if own:
                best = max(own, key=lambda n: float(likeness[n]))
                found.append((Hit(paper, best, facet, float(likeness[best])), rows[best]))
    found.sort(key=lambda pair: -pair[0].likeness)
    stacked = np.stack([vector for _, vector in found]) if found else np.empty((0, len(topic)), np.float32)
    return [hit for hit, _ in found], stacked


def _panel(facet: Facet | None) -> Facet | None:
    return facet.panel if facet else None


def spread(vectors: Floats) -> Floats:
    """Vectors [n, d] on a plane [n, 2]: U S of the first two principal components, each within [-1, 1].

    The sign of a component is free; it is fixed so that its largest entry is positive.
    """
    if len(vectors) < 3:
        return np.zeros((len(vectors), 2), np.float32)
    left, scale, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    places = left[:, :2] * scale[:2]
    widest = np.abs(places).argmax(axis=0)
    places *= np.sign(places[widest, [0, 1]])
    return np.asarray(places / np.maximum(np.abs(places).max(axis=0), 1e-9), np.float32)


def characteristic_terms(
    texts: Mapping[Facet, Sequence[Sequence[str]]], usual: Callable[[str], float] = lambda term: 0.0
) -> dict[Facet, tuple[str, ...]]:
    """Terms and pairs of terms that one facet's sentences use and the others' do not.

    Log-odds with an informative Dirichlet prior (Monroe, Colaresi and Quinn 2008): with y counts in the
    facet, z counts in the others, n and m their sums and a the prior (all counts together),
    d = log((y+a)/(n+A-y-a)) - log((z+a)/(m+A-z-a)), ranked by d / sqrt(1/(y+a) + 1/(z+a)).
    `usual` is the share of the corpus that uses a term: every field writes "however" and "we propose".
    """
    used = {f: Counter(t for text in each for t in _phrases(text, usual)) for f, each in texts.items()}
    total = sum(used.values(), Counter())
    papers = max(map(len, texts.values()), default=0)
    expected = {term: LIFT * papers * min(map(usual, term.split())) for term in total}
    often = [term for term, count in total.items() if count >= max(FEWEST_PAPERS, expected[term])]
    terms = sorted(often, key=lambda term: (-term.count(" "), term))  # of equals, pairs first
    if not terms:
        return dict.fromkeys(texts, ())
    prior = np.array([total[term] for term in terms], float)
    return {facet: _rank(terms, prior, used[facet]) for facet in texts}


def _phrases(text: Sequence[str], usual: Callable[[str], float]) -> set[str]:
    """Each once per sentence, so that no single abstract makes a term characteristic."""
    words = [word if word.isalpha() and len(word) > 2 and usual(word) < OFTEN else "" for word in text]
    pairs = {f"{a} {b}" for a, b in pairwise(words) if a and b and a != b}
    return pairs | {word for word in words if word}


def _rank(terms: Sequence[str], prior: NDArray[np.float64], own: Counter[str]) -> tuple[str, ...]:
    y = np.array([own[term] for term in terms], float)
    z = prior - y
    everything = prior.sum()

    def log_odds(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.log((counts + prior) / (counts.sum() + everything - counts - prior + 1e-9)))

    score = (log_odds(y) - log_odds(z)) / np.sqrt(1 / (y + prior) + 1 / (z + prior))
    best = [terms[k] for k in np.argsort(-score, kind="stable") if score[k] > 0]
    # "neural network" says what "neural" says: a word that a better ranked pair holds is left out.
    kept: list[str] = []
    for term in best:
        if not any(set(term.split()) & set(other.split()) for other in kept):
            kept.append(term)
        if len(kept) == TERMS:
            break
    return tuple(kept)
