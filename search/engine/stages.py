"""The stages that every search shares: a query in numbers, its candidates, their scores."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from search.corpus.bm25 import idf
from search.corpus.served import Served
from search.encoder import Encoder
from search.encoder.pretrained import word_weight
from search.query.reader import Known, Reader
from search.query.vectorised import Asked, AskedPaper, Vectors, ask
from search.ranking import matching, scoring
from search.ranking.candidates import Candidates, Probe, find_candidates
from search.ranking.explanation import COMMON, Words
from search.text.tokenizer import tokenize, weigh_terms
from search.types import Filters, Matcher, Query

Floats = NDArray[np.float32]

REMEMBERED = 100_000
"""Terms whose rarity is remembered: those of queries and of the papers that are shown."""
COMMON_DIVISOR = 3
"""In a small corpus even the rarest word has a low idf. There a word is too common to explain a match up to
the highest idf, ln(1 + papers), divided by this: it takes effect below about 90 papers. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Matched:
    """All candidates: their scores, and the sentences that were read for them."""

    scores: scoring.Scores
    vectors: Floats
    """[S, d] the sentences of all candidates, one candidate after another."""
    panels: NDArray[np.uint8]
    """[S]"""
    offsets: NDArray[np.int64]
    """[C + 1]: candidate c has the sentences offsets[c]:offsets[c + 1]."""

    def similarities(self, paper: AskedPaper, place: int) -> tuple[Floats, Floats]:
        """Cosines [m, n] of an asked paper and the candidate at `place`, without and with SAME_PANEL."""
        mine = slice(self.offsets[place], self.offsets[place + 1])
        similarity = matching.similarities(paper.match, self.vectors[mine])
        return similarity, scoring.favour_same_panel(similarity, paper.panels, self.panels[mine])


class Stages:
    """One build and the encoder that made it. Safe to use from many threads."""

    def __init__(self, store: Served, encoder: Encoder) -> None:
        self.store = store
        self.manifest = store.manifest
        self.idf = lru_cache(maxsize=REMEMBERED)(self._idf)
        self.reader = Reader(encoder.encode_one, self._look_up, self.vectors_of)
        highest_idf = math.log(1 + self.manifest.papers)
        self.words = Words(
            tokenize,
            self.idf,
            common=min(COMMON, highest_idf / COMMON_DIVISOR),
            likeness=encoder.word_vectors.likeness if encoder.word_vectors else None,
        )

    def _look_up(self, paper_id: str) -> Known | None:
        row = int(self.store.rows_of([paper_id])[0])
        return None if row < 0 else Known(self.store.papers_by_row([row])[0], row)

    def vectors_of(self, row: int) -> Vectors:
        """The vectors of a paper of the corpus."""
        rows = np.array([row])
        sentences, whole = self.store.sentences(rows).vectors, self.store.whole_vectors(rows)[0]
        return Vectors(sentences.astype(np.float32), whole.astype(np.float32))

    def _idf(self, term: str) -> float:
        """How rare a term is in this corpus."""
        return idf(self.manifest.papers, self.store.papers_with((term,))[term])

    def ask(self, query: Query) -> Asked:
        return ask(query, [self.reader.vectors(paper) for paper in query.papers], weigh_terms)

    def candidates(self, asked: Asked, filters: Filters, depth: int) -> Candidates:
        words = self.store.words(asked.terms)
        return find_candidates(self.store, words, Probe(asked.match, asked.whole), filters, depth)

    def match(self, asked: Asked, found: Candidates, matcher: Matcher | None) -> Matched:
        """Score every candidate by its sentences, the whole paper and its words."""
        matcher = matcher or scoring.MATCHER
        sentences = self.store.sentences(found.rows)
        vectors, panels, offsets = matching.widen(sentences.vectors), sentences.panels, sentences.offsets

        def match(paper: AskedPaper) -> Floats:
            similarity = matching.similarities(paper.match, vectors)
            favoured = scoring.favour_same_panel(similarity, paper.panels, panels)
            return matching.score(matcher, favoured, offsets, paper.weights)

        avoided = np.zeros_like(found.words)
        if len(asked.avoid):
            similarity = matching.similarities(asked.avoid, vectors)
            avoided = matching.score(Matcher.BEST, similarity, offsets)
        scores = scoring.fuse(
            sentences=np.stack([match(paper) for paper in asked.papers]),
            whole=matching.similarities(asked.whole, self.store.whole_vectors(found.rows)),
            words=found.words / max(self._most_words(asked), 1),
            avoided=avoided,
            weight=word_weight(self.manifest.encoder),
            entire=[paper.entire and matcher is scoring.MATCHER for paper in asked.papers],
        )
        return Matched(scores, vectors, panels, offsets)

    def _most_words(self, asked: Asked) -> float:
        """The limit of BM25 for this query: a paper that repeats every word of it without end."""
        return sum(weight * self.idf(term) for term, weight in asked.terms.items())


class Clock:
    """The seconds of each stage."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self._laps[stage] = now - self._last
        self._last = now

    def seconds(self) -> dict[str, float]:
        return self._laps | {"total": self._last - self._start}
