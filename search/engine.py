"""Engine.open(corpus), Engine.search(query): the stages in order."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from search.corpus import duplicates
from search.corpus.bm25 import idf
from search.corpus.checksums import DamagedError
from search.corpus.places import corpus_at
from search.corpus.served import Corpus, Served
from search.encoder import Encoder, ModelFolders, load_encoder
from search.encoder.pretrained import word_weight
from search.errors import CorpusError, InputError, TriptychError
from search.query import choosing
from search.query.reader import Known, Reader
from search.query.vectorised import Asked, AskedPaper, Vectors, ask
from search.ranking import calibration, matching, plane, scoring
from search.ranking.candidates import DEPTH, PER_RESULT, Candidates, Either, Probe, find_candidates
from search.ranking.coverage import cover, find_lacking
from search.ranking.explanation import COMMON, Place, Words, find_pairs, give_reason
from search.settings import Settings
from search.text.tokenizer import TOKENIZER, tokenize, weigh_terms
from search.types import (
    PANELS,
    Choice,
    Facet,
    Filters,
    Lacking,
    Matcher,
    Paper,
    Plane,
    Point,
    Progress,
    Query,
    QueryPaper,
    Result,
    Results,
    Scored,
)

Floats = NDArray[np.float32]
Rows = NDArray[np.integer]
T = TypeVar("T")

SPARE = 10
"""Papers read in addition to those asked for: some may be records of the same paper. Chosen by hand."""
REMEMBERED = 100_000
"""Terms whose rarity is remembered: those of queries and of the papers that are shown."""
PATIENCE = 0.5
"""Seconds that opening a corpus waits for the look at its files, which goes on in the background: enough for
some hundred megabytes, and the model takes longer to load. Chosen by hand."""
COMMON_DIVISOR = 3
"""In a small corpus even the rarest word has a low idf. There a word is too common to explain a match up to
the highest idf, ln(1 + papers), divided by this: it takes effect below about 90 papers. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where an engine comes from, to open another build of the same corpus."""

    corpus: Corpus
    settings: Settings
    damage: dict[str, str]
    """What is wrong with builds that were passed over, by their names."""


@dataclass(frozen=True, slots=True)
class _Matched:
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


class Engine:
    """A corpus opened for searching. Safe to use from many threads."""

    def __init__(self, store: Served, encoder: Encoder) -> None:
        self.store = store
        self.manifest = store.manifest
        self.encoder = encoder
        self.health = store.health
        self.notice = ""
        """What users should know: that this build stands in for a damaged one."""
        self._origin: _Origin | None = None
        self._stand_in: Engine | None = None
        self._switching = threading.Lock()
        self.idf = lru_cache(maxsize=REMEMBERED)(self._idf)
        self.reader = Reader(encoder.encode_one, self._look_up, self.vectors_of)
        highest_idf = math.log(1 + self.manifest.papers)
        self.words = Words(
            tokenize,
            self.idf,
            common=min(COMMON, highest_idf / COMMON_DIVISOR),
            likeness=encoder.word_vectors.likeness if encoder.word_vectors else None,
        )

    @classmethod
    def open(
        cls, corpus: Path | str | Corpus, settings: Settings | None = None, progress: Progress | None = None
    ) -> Engine:
        """The current build of a corpus, in a folder or at an address, with the encoder that made it.

        Where it is damaged, the build before it is opened instead, and `notice` says so.
        """
        settings = settings or Settings()
        if isinstance(corpus, Path | str):
            corpus = corpus_at(corpus, settings.milvus_token, settings.milvus_certificate)
        return cls._open_sound(_Origin(corpus, settings, {}), progress)

    @classmethod
    def _open_sound(cls, origin: _Origin, progress: Progress | None = None) -> Engine:
        """The first build that is not known to be damaged."""
        corpus, damage = origin.corpus, dict(origin.damage)
        builds = corpus.builds()
        for build in builds:
            if build in damage:
                continue
            try:
                engine = cls._open_build(corpus, build, origin.settings, progress)
            except DamagedError as error:
                damage[build] = str(error)
                continue
            except CorpusError:
                if not damage:
                    raise
                continue  # an older build of another encoder cannot stand in
            engine._origin = replace(origin, damage=damage)
            if damage and build != builds[0]:
                engine.notice = corpus.notice_of(next(iter(damage.values())), engine.manifest)
            return engine
        raise DamagedError(next(iter(damage.values())))

    @classmethod
    def _open_build(cls, corpus: Corpus, build: str, settings: Settings, progress: Progress | None) -> Engine:
        manifest = corpus.manifest(build)
        manifest.require_tokenizer(TOKENIZER)
        store = corpus.open(build, manifest)
        try:
            folders = ModelFolders(settings.pretrained, settings.fine_tuned, settings.labeller)
            encoder = load_encoder(settings.encoder, settings.device, folders, progress)
            manifest.require_encoder(encoder.id, settings.encoder)
            store.health.wait(PATIENCE)
            if store.health.damage:
                raise DamagedError(store.health.damage)
            return cls(store, encoder)
        except BaseException:
            store.close()
            raise

    def in_service(self) -> Engine:
        """This engine, or one on another build since a file of this one turned out to be damaged."""
        if not self.health.damage:
            return self
        if self._origin is None:
            raise DamagedError(self.health.damage)
        with self._switching:
            if self._stand_in is None:
                damage = self._origin.damage | {self.manifest.build_id: self.health.damage}
                self._stand_in = self._open_sound(replace(self._origin, damage=damage))
        return self._stand_in.in_service()

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
        """The papers nearest to what is chosen, with the evidence for each."""
        return self.answered(lambda engine: engine._search(query))

    def answered(self, work: Callable[[Engine], T]) -> T:
        """What `work` comes to on a sound build; done again on another where damage is found meanwhile."""
        engine = self.in_service()
        try:
            answer = work(engine)
        except DamagedError as error:
            engine.health.tell(str(error))
        except TriptychError:
            raise
        except Exception:  # damage that was not noticed yet can show in any way
            engine.health.wait()
            if not engine.health.damage:
                raise
        return self.answered(work) if engine.health.damage else answer

    def _search(self, query: Query) -> Results:
        clock = _Clock()
        choosing.check(query)
        asked = self._ask(query)
        clock.lap("encode")
        depth = max(DEPTH, PER_RESULT * query.top)
        found = self._candidates(asked, query.filters, depth)
        clock.lap("candidates")
        matched = self._match(asked, found, query.matcher)
        clock.lap("matching")
        results = self._best(query, asked, found.rows, matched)
        lacking = self._lacking(query)
        clock.lap("explanation")
        return Results(
            query,
            results,
            self.manifest.build_id,
            len(found.rows),
            clock.seconds(),
            lacking,
            cover(results, lacking),
            self.store.count(query.filters),
        )

    def nearest(self, query: Query, depth: int) -> tuple[Rows, Floats]:
        """The rows of all candidates and their scores as they are shown, the nearest first."""
        choosing.check(query)
        asked = self._ask(query)
        found = self._candidates(asked, query.filters, depth)
        total = self._match(asked, found, query.matcher).scores.total
        order = np.argsort(-total, kind="stable")
        return found.rows[order], calibration.all_readable(total[order])

    def rank_pool(self, query: Query, paper_ids: Sequence[str]) -> list[Scored]:
        """The papers of a pool by the same score as in a search, best first."""
        choosing.check(query)
        asked = self._ask(query)
        rows = self.store.rows_of(paper_ids)
        if (rows < 0).any():
            missing = paper_ids[int(rows.argmin())]
            raise InputError(
                f"The pool names {missing!r}, which is not in this corpus: build it with that paper."
            )
        found = Candidates(rows, self.store.words(asked.terms).of(rows))
        scores = self._match(asked, found, query.matcher).scores
        order = np.argsort(-scores.total, kind="stable")
        return [Scored(paper_ids[k], float(scores.total[k]), scores.evidence(k)) for k in order]

    def triptych(
        self, paper: QueryPaper, filters: Filters, top: int = 20, matcher: Matcher | None = None
    ) -> dict[Facet, Results]:
        """The nearest by each panel that the paper has sentences of."""
        panels = {sentence.panel for sentence in paper.sentences}
        return {
            panel: self.search(Query((choosing.choose_facet(paper, panel),), matcher, filters, top))
            for panel in PANELS
            if panel in panels
        }

    def plane(self, query: Query) -> Plane:
        """All candidates by their likeness to the query's background and to its method, whatever is chosen.

        Each likeness is the score that the paper has in a search by that panel alone.
        """
        return self.answered(lambda engine: engine._plane(query))

    def _plane(self, query: Query) -> Plane:
        choosing.check_size(query)
        asked = {panel: self._ask(plane.by_panel(query, panel)) for panel in plane.AXES}
        words = {panel: self.store.words(asked[panel].terms) for panel in plane.AXES}
        both = self._ask(plane.by_mix(query, plane.EVEN))
        probe = Probe(both.match, both.whole)
        rows = find_candidates(self.store, Either(*words.values()), probe, query.filters).rows
        found = {panel: Candidates(rows, words[panel].of(rows)) for panel in plane.AXES}
        scores = {
            panel: self._match(asked[panel], found[panel], query.matcher).scores.asked for panel in plane.AXES
        }
        points = self._points(query, rows, *(calibration.all_readable(scores[panel]) for panel in plane.AXES))
        named = [self.reader.known(paper.paper_id) for paper in query.papers if paper.paper_id]
        fields = plane.fields_of([known.paper for known in named if known], points)
        return Plane(points, fields, self.manifest.build_id)

    def _points(self, query: Query, rows: Rows, background: Floats, method: Floats) -> tuple[Point, ...]:
        """Nearest first; records of one paper are joined, the query's own are left out."""
        order = np.argsort(-(background + method), kind="stable")
        papers = self.store.headings_by_row(rows[order])
        return tuple(
            Point(
                papers[group[0]],
                float(background[order[group[0]]]),
                float(method[order[group[0]]]),
                tuple(papers[each].id for each in group[1:]),
            )
            for group in duplicates.group(papers, _own(query), self.store.apart)
        )

    def explain(self, query: Query, points: Sequence[Point], share: float) -> Results:
        """These points of the query's plane as results, in this order; `share` of the mix is method."""
        return self.answered(lambda engine: engine._explain_points(query, points, share))

    def _explain_points(self, query: Query, points: Sequence[Point], share: float) -> Results:
        clock = _Clock()
        mixed = plane.by_mix(query, share)
        asked = self._ask(mixed)
        known = self.store.rows_of([point.paper.id for point in points]).astype(np.int64)
        # Another build may answer than the one that the points come from.
        points = [point for point, row in zip(points, known, strict=True) if row >= 0]
        rows = known[known >= 0]
        found = Candidates(rows, self.store.words(asked.terms).of(rows))
        matched = self._match(asked, found, query.matcher)
        clock.lap("matching")
        papers = self.store.papers_by_row(rows)
        results = []
        for place, (point, paper) in enumerate(zip(points, papers, strict=True)):
            score = plane.mix(point, share)
            result = self._explain(mixed, asked, matched, place, [paper])
            results.append(
                replace(
                    result,
                    score=score,
                    likeness=calibration.in_words(score),
                    duplicates=point.duplicates,
                    held_back=0.0,
                )
            )
        clock.lap("explanation")
        return Results(query, tuple(results), self.manifest.build_id, len(points), clock.seconds())

    # -- the steps of it

    def _ask(self, query: Query) -> Asked:
        return ask(query, [self.reader.vectors(paper) for paper in query.papers], weigh_terms)

    def _candidates(self, asked: Asked, filters: Filters, depth: int) -> Candidates:
        words = self.store.words(asked.terms)
        return find_candidates(self.store, words, Probe(asked.match, asked.whole), filters, depth)

    def _match(self, asked: Asked, found: Candidates, matcher: Matcher | None) -> _Matched:
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
        return _Matched(scores, vectors, panels, offsets)

    def _most_words(self, asked: Asked) -> float:
        """The limit of BM25 for this query: a paper that repeats every word of it without end."""
        return sum(weight * self.idf(term) for term, weight in asked.terms.items())

    def _lacking(self, query: Query) -> Lacking:
        sentences = (sentence for paper in query.papers for sentence in paper.sentences)
        texts = (sentence.text for sentence in sentences if sentence.choice is Choice.MATCH)
        return find_lacking(texts, self.words, self.store.papers_with)

    def _best(self, query: Query, asked: Asked, rows: Rows, matched: _Matched) -> tuple[Result, ...]:
        """The best papers with evidence; records of one paper are joined, the query's own are left out."""
        order = np.argsort(-matched.scores.total, kind="stable")
        papers: list[Paper] = []
        groups: list[list[int]] = []
        while len(groups) < query.top and len(papers) < len(order):
            papers += self.store.papers_by_row(rows[order[len(papers) :][: query.top + SPARE]])
            groups = duplicates.group(papers, _own(query), self.store.apart)
        return tuple(
            self._explain(query, asked, matched, int(order[group[0]]), [papers[each] for each in group])
            for group in groups[: query.top]
        )

    def _explain(
        self, query: Query, asked: Asked, matched: _Matched, place: int, records: list[Paper]
    ) -> Result:
        """One paper with its evidence; `place` is its place among the candidates, `records` begin with it."""
        near = asked.papers[matched.scores.nearest[place]]
        similarity, favoured = matched.similarities(near, place)
        shares = matching.shares(query.matcher or scoring.MATCHER, favoured, near.weights)
        places = [Place(near.number, position) for position in near.positions]
        pairs = find_pairs(query, places, records[0], similarity, shares, self.words)
        score = calibration.readable(float(matched.scores.asked[place]))
        counted = calibration.readable(float(matched.scores.total[place]))
        return Result(
            paper=records[0],
            score=score,
            likeness=calibration.in_words(score),
            reason=give_reason(query, pairs, self.words),
            pairs=pairs,
            evidence=matched.scores.evidence(place),
            duplicates=tuple(record.id for record in records[1:]),
            held_back=score - counted,
        )


def _own(query: Query) -> list[Paper]:
    """The papers that were asked with, as far as they can be told from others."""
    return [Paper(paper.paper_id, paper.title) for paper in query.papers]


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
