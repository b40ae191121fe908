"""Queries out of pasted text and out of papers of the corpus, and the vectors of both."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from search.errors import InputError
from search.query.choosing import MOST_CHARACTERS, MOST_SENTENCES, NOTHING
from search.query.vectorised import Vectors
from search.text.cleaning import clean_text, has_words
from search.text.headings import without_headings
from search.text.labels import decide
from search.text.pasted import parse_pasted
from search.text.sentences import is_sentence, parts_of, split_paper
from search.types import Document, Encoded, Paper, Query, QueryPaper, QuerySentence, Sentence

log = logging.getLogger("triptych.query")


@dataclass(frozen=True, slots=True)
class Known:
    """A paper of the corpus and its row."""

    paper: Paper
    row: int


class Reader:
    """Remembers what it has read: the same text is encoded once for any number of searches."""

    def __init__(
        self,
        encode: Callable[[Document], Encoded],
        look_up: Callable[[str], Known | None],
        vectors_of: Callable[[int], Vectors],
    ) -> None:
        """`look_up` finds a paper of the corpus by its id, `vectors_of` gives the vectors of its row."""
        self._encode = lru_cache(maxsize=256)(encode)
        self.known = lru_cache(maxsize=1024)(look_up)
        self._vectors_of = vectors_of

    def read_text(self, text: str) -> QueryPaper:
        return self._read(*parse_pasted(_clean(text)))

    def read(self, title: str, abstract: str) -> QueryPaper:
        return self._read(_clean(title), _clean(abstract))

    def _read(self, title: str, abstract: str) -> QueryPaper:
        title = " ".join(title.split())
        if not has_words(title + abstract):
            raise InputError(NOTHING)
        text, sections = without_headings(abstract)
        given = split_paper(Paper("", "", text, sections=sections)).sentences
        if len(given) < 2 and not (title and given):  # a title, a question, keywords: no part of an abstract
            return QueryPaper(title, (QuerySentence(given[0].text if given else title),))
        if len(given) > MOST_SENTENCES:
            log.warning("The text has %d sentences: its first %d are read.", len(given), MOST_SENTENCES)
            given = given[:MOST_SENTENCES]
        paper = QueryPaper(title, tuple(QuerySentence(sentence.text) for sentence in given))
        if not any(map(is_sentence, _texts(paper)[1:])):
            return paper
        labels = iter(read_labels(_texts(paper)[1:], self._facets(paper, parts_of(text, given))))
        labelled = (
            QuerySentence(sentence.text, sentence.facet) if sentence.hinted else label
            for sentence, label in zip(given, labels, strict=True)
        )
        return replace(paper, sentences=tuple(labelled))

    def _facets(self, paper: QueryPaper, parts: Sequence[slice]) -> list[Sequence[float]]:
        """The labels of a text that is longer than an abstract are read part by part."""
        documents = (replace(paper, sentences=paper.sentences[part]) for part in parts)
        return [row for each in documents for row in self._encode(_document(each)).facets]

    def example(self, paper_id: str) -> QueryPaper:
        known = self.known(paper_id)
        if known is None:
            raise InputError(f"No paper of this corpus has the id {paper_id!r}: look it up by its title.")
        paper = known.paper
        return QueryPaper(paper.title, tuple(map(_of_corpus, paper.sentences)), paper.id)

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
        known = self.known(paper.paper_id) if paper.paper_id else None
        if known and _texts(known.paper) == _texts(paper):
            return self._vectors_of(known.row)
        encoded = self._encode(_document(paper))
        return Vectors(encoded.sentences, encoded.paper)


def _clean(text: str) -> str:
    """The text, cleaned; of a long one the beginning, and the log says so."""
    if len(text) > MOST_CHARACTERS:
        log.warning("The text has %d characters: its first %d are read.", len(text), MOST_CHARACTERS)
    return clean_text(text, MOST_CHARACTERS)


def read_labels(texts: Sequence[str], probabilities: Iterable[Sequence[float]]) -> tuple[QuerySentence, ...]:
    """The sentences of a query with the labels that the model gives them."""
    labels = map(decide, texts, probabilities)
    return tuple(
        QuerySentence(text, label.facet, or_facet=label.or_facet)
        for text, label in zip(texts, labels, strict=True)
    )


def _of_corpus(sentence: Sentence) -> QuerySentence:
    """What a source says of its sentences is not doubted."""
    if sentence.hinted or not sentence.probabilities:
        return QuerySentence(sentence.text, sentence.facet)
    label = decide(sentence.text, sentence.probabilities)
    return QuerySentence(sentence.text, label.facet, or_facet=label.or_facet)


def _texts(paper: Paper | QueryPaper) -> tuple[str, ...]:
    return paper.title, *(sentence.text for sentence in paper.sentences)


def _document(paper: QueryPaper) -> Document:
    """What is encoded: a title that is the only sentence is not read twice."""
    texts = tuple(sentence.text for sentence in paper.sentences)
    return Document("" if texts == (paper.title,) else paper.title, texts)
