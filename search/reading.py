"""Queries out of pasted text and out of papers of the corpus, and the vectors of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from search.asked import Vectors
from search.cleaning import clean_text, has_words
from search.encoding import Document, Encoder
from search.errors import InputError
from search.query import MOST_CHARACTERS, NOTHING
from search.sentences import parse_pasted, split
from search.store import Snapshot
from search.types import FACETS, Paper, Query, QueryPaper, QuerySentence
from search.vectors import VectorFile


@dataclass(frozen=True, slots=True)
class CorpusVectors:
    """All sentences [S, d] and papers [P, d]; paper p has the sentences offsets[p]:offsets[p + 1]."""

    sentences: VectorFile
    papers: NDArray[np.float16]
    offsets: NDArray[np.int64]

    def of(self, row: int) -> Vectors:
        mine = slice(self.offsets[row], self.offsets[row + 1])
        return Vectors(self.sentences[mine].astype(np.float32), self.papers[row].astype(np.float32))


@dataclass(frozen=True, slots=True)
class Known:
    """A paper of the corpus and its row."""

    paper: Paper
    row: int


class Reader:
    """Remembers what it has read: the same text is encoded once for any number of searches."""

    def __init__(self, store: Snapshot, vectors: CorpusVectors, encoder: Encoder) -> None:
        self._store, self._corpus = store, vectors
        self._encode = lru_cache(maxsize=256)(encoder.encode_one)
        self._known = lru_cache(maxsize=1024)(self._look_up)

    def read_text(self, text: str) -> QueryPaper:
        return self._read(*parse_pasted(clean_text(text, MOST_CHARACTERS)))

    def read(self, title: str, abstract: str) -> QueryPaper:
        return self._read(clean_text(title, MOST_CHARACTERS), clean_text(abstract, MOST_CHARACTERS))

    def _read(self, title: str, abstract: str) -> QueryPaper:
        title = " ".join(title.split())
        if not has_words(title + abstract):
            raise InputError(NOTHING)
        texts = [sentence.text for sentence in split(abstract)] or [title]
        paper = QueryPaper(title, tuple(QuerySentence(text) for text in texts))
        labels = self._encode(_document(paper)).facets.argmax(axis=1)
        labelled = zip(paper.sentences, labels, strict=True)
        return replace(paper, sentences=tuple(replace(each, facet=FACETS[label]) for each, label in labelled))

    def example(self, paper_id: str) -> QueryPaper:
        known = self._known(paper_id)
        if known is None:
            raise InputError(f"No paper of this corpus has the id {paper_id!r}: look it up by its title.")
        sentences = tuple(QuerySentence(sentence.text, sentence.facet) for sentence in known.paper.sentences)
        return QueryPaper(known.paper.title, sentences, known.paper.id)

    def _look_up(self, paper_id: str) -> Known | None:
        row = int(self._store.rows_of([paper_id])[0])
        return None if row < 0 else Known(self._store.papers_by_row([row])[0], row)

    def restore(self, query: Query) -> Query:
        return replace(query, papers=tuple(self._restore(paper) for paper in query.papers))

    def _restore(self, paper: QueryPaper) -> QueryPaper:
        if not paper.paper_id or any(sentence.text for sentence in paper.sentences):
            return paper
        now = self.example(paper.paper_id)
        if len(now.sentences) != len(paper.sentences):
            raise InputError(f"The abstract of {paper.paper_id!r} has changed since: start from it again.")
        pairs = zip(now.sentences, paper.sentences, strict=True)
        return replace(now, sentences=tuple(replace(then, text=here.text) for here, then in pairs))

    def vectors(self, paper: QueryPaper) -> Vectors:
        """From the corpus if the paper is in it word for word, else encoded."""
        known = self._known(paper.paper_id) if paper.paper_id else None
        if known and _texts(known.paper) == _texts(paper):
            return self._corpus.of(known.row)
        encoded = self._encode(_document(paper))
        return Vectors(encoded.sentences, encoded.paper)


def _texts(paper: Paper | QueryPaper) -> tuple[str, ...]:
    return paper.title, *(sentence.text for sentence in paper.sentences)


def _document(paper: QueryPaper) -> Document:
    """What is encoded: a title that is the only sentence is not read twice."""
    texts = tuple(sentence.text for sentence in paper.sentences)
    return Document("" if texts == (paper.title,) else paper.title, texts)
