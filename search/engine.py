"""Engine.open(corpus), Engine.search(query): the stages in order."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search import duplicates, fusion, matching
from search import manifest as manifests
from search import query as queries
from search.asked import Asked, AskedPaper, ask
from search.candidates import DEPTH, PER_RESULT, Candidates, Indices, Probe, find_candidates
from search.encoding import Encoder, load_encoder
from search.errors import InputError
from search.explanation import Place, Words, find_pairs, give_reason
from search.lexical import TOKENIZER, LexicalIndex, tokenize, weigh_terms
from search.manifest import Manifest
from search.reading import CorpusVectors, Reader
from search.settings import Settings
from search.store import Snapshot
from search.types import (
    PANELS,
    Facet,
    Filters,
    Matcher,
    Paper,
    Point,
    Query,
    QueryPaper,
    QuerySentence,
    Result,
    Results,
    Scored,
)
from search.vectors import VectorFile, VectorIndex

Floats = NDArray[np.float32]
Rows = NDArray[np.integer]

SPARE = 10
"""Papers read beyond those asked for: some may be records of the same paper."""


class Engine:
    """A corpus opened for searching. Safe to use from many threads."""

    def __init__(self, build: Path, manifest: Manifest, encoder: Encoder) -> None:
        self.manifest = manifest
        self.encoder = encoder
        self.store = Snapshot.open(build / manifests.STORE)
        self.sentence_vectors = VectorFile(build / manifests.SENTENCE_VECTORS)
        self.paper_vectors = _map(build / manifests.PAPER_VECTORS)
        self.lexical = LexicalIndex.open(build / manifests.LEXICAL)
        self.indices = Indices(
            sentences=VectorIndex.open(build / manifests.SENTENCE_INDEX).search,
            papers=VectorIndex.open(build / manifests.PAPER_INDEX).search,
            words=self.lexical.scores,
            offsets=self.store.sentence_offsets(),
        )
        self.panels = self.store.sentence_panels()
        corpus = CorpusVectors(self.sentence_vectors, self.paper_vectors, self.indices.offsets)
        self.reader = Reader(self.store, corpus, encoder)
        rarest = math.log(1 + manifest.papers)
        self.words = Words(tokenize, self.lexical.idf, common=min(1.5, rarest / 3))

    @classmethod
    def open(cls, corpus: Path, settings: Settings | None = None) -> Engine:
        """The current build of a corpus folder, with the encoder that made it."""
        settings = settings or Settings()
        build = manifests.current_build(corpus)
        manifest = manifests.check(build)
        encoder = load_encoder(settings.encoder, settings.device or None)
        manifest.require_encoder(encoder.id, settings.encoder)
        manifest.require_tokenizer(TOKENIZER)
        return cls(build, manifest, encoder)

    # -- making a query

    def read_text(self, text: str) -> QueryPaper:
        """A query from whatever was pasted: a title and abstract, a sentence, a question, keywords."""
        return self.reader.read_text(text)

    def read(self, title: str, abstract: str) -> QueryPaper:
        """A query from a title and abstract, either may be empty: every sentence is to be matched."""
        return self.reader.read(title, abstract)

    def example(self, paper_id: str) -> QueryPaper:
        """A query from a paper of the corpus."""
        return self.reader.example(paper_id)

    def restore(self, query: Query) -> Query:
        """The query of a link, its papers of the corpus with their texts again."""
        return self.reader.restore(query)

    # -- answering it

    def search(self, query: Query) -> Results:
        """The papers nearest to what is ticked, with the evidence for each."""
        clock = _Clock()
        queries.check(query)
        asked = self._ask(query)
        clock.lap("encode")
        probe = Probe(asked.match, asked.whole, asked.terms)
        depth = max(DEPTH, PER_RESULT * query.top)
        found = find_candidates(self.indices, probe, self.store.paper_rows(query.filters), depth)
        clock.lap("candidates")
        scores = self._score(asked, found, query.matcher)
        clock.lap("matching")
        results = self._best(query, asked, found.rows, scores)
        clock.lap("explanation")
        return Results(query, results, self.manifest.build_id, len(found.rows), clock.seconds())

    def rank_pool(self, query: Query, paper_ids: Sequence[str]) -> list[Scored]:
        """The papers of a pool by the same score as in a search, best first."""
        queries.check(query)
        asked = self._ask(query)
        rows = self.store.rows_of(paper_ids)
        if (rows < 0).any():
            missing = paper_ids[int(rows.argmin())]
            raise InputError(
                f"The pool names {missing!r}, which is not in this corpus: build it with that paper."
            )
        scores = self._score(asked, Candidates(rows, self.lexical.scores(asked.terms)[rows]), query.matcher)
        order = np.argsort(-scores.total, kind="stable")
        return [Scored(paper_ids[k], float(scores.total[k]), scores.evidence(k)) for k in order]

    def triptych(self, paper: QueryPaper, filters: Filters, top: int = 20) -> dict[Facet, Results]:
        """The nearest by each panel that the paper has sentences of."""
        panels = {sentence.facet.panel for sentence in paper.sentences if sentence.facet}
        return {
            panel: self.search(Query((queries.choose_facet(paper, panel),), filters=filters, top=top))
            for panel in PANELS
            if panel in panels
        }

    def plane(self, query: Query, results: Results) -> list[Point]:
        """How near each result is to the query's background, method and result, whatever is ticked."""
        rows = self.store.rows_of([result.paper.id for result in results.results])
        found = Candidates(rows, np.zeros(len(rows), np.float32))
        likeness = {panel: self._likeness(query, panel, found) for panel in PANELS}
        return [
            Point(result.paper.id, *(float(likeness[panel][place]) for panel in PANELS))
            for place, result in enumerate(results.results)
        ]

    def _likeness(self, query: Query, panel: Facet, found: Candidates) -> Floats:
        """[C] the mean of best matches of the query's sentences of one panel."""
        papers = [paper for paper in query.papers if any(_panel(each) is panel for each in paper.sentences)]
        if not papers:
            return np.zeros(len(found.rows), np.float32)
        asked = self._ask(
            replace(query, papers=tuple(queries.choose_facet(paper, panel) for paper in papers))
        )
        return self._score(asked, found, Matcher.BEST).sentences.clip(0, 1)

    # -- the steps of it

    def _ask(self, query: Query) -> Asked:
        return ask(query, [self.reader.vectors(paper) for paper in query.papers], weigh_terms)

    def _score(self, asked: Asked, found: Candidates, matcher: Matcher | None) -> fusion.Scores:
        """Every candidate in full: its sentences, the whole of it, its words."""
        matcher = matcher or fusion.MATCHER
        lengths = np.diff(self.indices.offsets)[found.rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        sentences = self.indices.sentences_of(found.rows)
        vectors, panels = matching.widen(self.sentence_vectors[sentences]), self.panels[sentences]

        def match(paper: AskedPaper) -> Floats:
            similarity = matching.similarities(paper.match, vectors)
            favoured = fusion.favour_same_role(similarity, paper.panels, panels)
            return matching.score(matcher, favoured, offsets, paper.weights)

        avoided = np.zeros_like(found.words)
        if len(asked.avoid):
            similarity = matching.similarities(asked.avoid, vectors)
            avoided = matching.score(Matcher.BEST, similarity, offsets)
        return fusion.fuse(
            sentences=np.stack([match(paper) for paper in asked.papers]),
            whole=matching.similarities(asked.whole, self.paper_vectors[found.rows]),
            words=found.words / max(self._most_words(asked), 1),
            avoided=avoided,
            weight=fusion.weight_of_words(self.manifest.encoder),
            entire=[paper.entire and matcher is fusion.MATCHER for paper in asked.papers],
        )

    def _most_words(self, asked: Asked) -> float:
        """What BM25 would give a paper that is full of every word of the query."""
        return sum(weight * self.lexical.idf(term) for term, weight in asked.terms.items())

    def _best(self, query: Query, asked: Asked, rows: Rows, scores: fusion.Scores) -> tuple[Result, ...]:
        """The best papers explained, records of one paper together, the query's own left out."""
        order = np.argsort(-scores.total, kind="stable")
        own = [Paper(paper.paper_id, paper.title) for paper in query.papers]
        papers: list[Paper] = []
        groups: list[list[int]] = []
        while len(groups) < query.top and len(papers) < len(order):
            papers += self.store.papers_by_row(rows[order[len(papers) :][: query.top + SPARE]])
            groups = duplicates.group(papers, own)
        return tuple(
            self._explain(query, asked, rows, scores, int(order[group[0]]), [papers[each] for each in group])
            for group in groups[: query.top]
        )

    def _explain(
        self, query: Query, asked: Asked, rows: Rows, scores: fusion.Scores, place: int, records: list[Paper]
    ) -> Result:
        """One paper with its evidence; `place` is its place among the candidates, `records` begin with it."""
        row = rows[place]
        near = asked.papers[scores.nearest[place]]
        sentences = slice(self.indices.offsets[row], self.indices.offsets[row + 1])
        similarity = matching.similarities(near.match, self.sentence_vectors[sentences])
        favoured = fusion.favour_same_role(similarity, near.panels, self.panels[sentences])
        shares = matching.shares(query.matcher or fusion.MATCHER, favoured, near.weights)
        places = [Place(near.number, position) for position in near.positions]
        pairs = find_pairs(query, places, records[0], similarity, shares, self.words)
        score = fusion.readable(float(scores.total[place]))
        return Result(
            paper=records[0],
            score=score,
            likeness=fusion.in_words(score),
            reason=give_reason(query, pairs),
            pairs=pairs,
            evidence=scores.evidence(place),
            duplicates=tuple(record.id for record in records[1:]),
        )


def _map(path: Path) -> NDArray[np.float16]:
    """The array in a file, read as it is needed; a plain view, whose slices cost less than a memmap's."""
    return np.asarray(np.load(path, mmap_mode="r"))


def _panel(sentence: QuerySentence) -> Facet | None:
    return sentence.facet.panel if sentence.facet else None


class _Clock:
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
