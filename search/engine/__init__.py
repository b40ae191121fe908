"""Engine.open(corpus), Engine.search(query): everything that is asked of an opened corpus."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from search.corpus.checksums import DamagedError
from search.corpus.places import corpus_at
from search.corpus.served import Corpus, Served
from search.encoder import Encoder
from search.engine import answering, planes
from search.engine.opening import Origin, open_sound
from search.engine.stages import Stages
from search.errors import TriptychError
from search.query import choosing
from search.query.vectorised import Vectors
from search.settings import Settings
from search.types import (
    PANELS,
    Facet,
    Filters,
    Matcher,
    Plane,
    Point,
    Progress,
    Query,
    QueryPaper,
    Results,
    Scored,
)

Floats = NDArray[np.float32]
Rows = NDArray[np.integer]
T = TypeVar("T")


class Engine:
    """A corpus opened for searching. Safe to use from many threads."""

    def __init__(
        self, store: Served, encoder: Encoder, origin: Origin | None = None, notice: str = ""
    ) -> None:
        self.store = store
        self.manifest = store.manifest
        self.encoder = encoder
        self.health = store.health
        self.notice = notice
        """What users should know: that this build stands in for a damaged one."""
        self.stages = Stages(store, encoder)
        self.reader = self.stages.reader
        self.idf = self.stages.idf
        self._origin = origin
        self._stand_in: Engine | None = None
        self._switching = threading.Lock()

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
        return cls._open(Origin(corpus, settings, {}), progress)

    @classmethod
    def _open(cls, origin: Origin, progress: Progress | None = None) -> Engine:
        opened = open_sound(origin, progress)
        return cls(opened.store, opened.encoder, opened.origin, opened.notice)

    # -- another build where this one is damaged

    def in_service(self) -> Engine:
        """This engine, or one on another build since a file of this one turned out to be damaged."""
        if not self.health.damage:
            return self
        if self._origin is None:
            raise DamagedError(self.health.damage)
        with self._switching:
            if self._stand_in is None:
                damage = self._origin.damage | {self.manifest.build_id: self.health.damage}
                self._stand_in = self._open(replace(self._origin, damage=damage))
        return self._stand_in.in_service()

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

    def vectors_of(self, row: int) -> Vectors:
        """The vectors of a paper of the corpus."""
        return self.stages.vectors_of(row)

    # -- answering it

    def search(self, query: Query) -> Results:
        """The papers nearest to what is chosen, with the evidence for each."""
        return self.answered(lambda engine: answering.search(engine.stages, query))

    def nearest(self, query: Query, depth: int) -> tuple[Rows, Floats]:
        """The rows of all candidates and their scores as they are shown, the nearest first."""
        return answering.nearest(self.stages, query, depth)

    def rank_pool(self, query: Query, paper_ids: Sequence[str]) -> list[Scored]:
        """The papers of a pool by the same score as in a search, best first."""
        return answering.rank_pool(self.stages, query, paper_ids)

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
        """All candidates by their likeness to the query's background and to its method."""
        return self.answered(lambda engine: planes.find_plane(engine.stages, query))

    def explain(self, query: Query, points: Sequence[Point], share: float) -> Results:
        """These points of the query's plane as results, in this order; `share` of the mix is method."""
        return self.answered(lambda engine: planes.explain_points(engine.stages, query, points, share))
