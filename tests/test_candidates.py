"""Candidates against looking at every paper, on real indices."""

from __future__ import annotations

import numpy as np
import pytest

from search.corpus.bm25 import LexicalIndex, best
from search.corpus.faiss_index import VectorIndex
from search.corpus.faiss_making import build_index
from search.ranking.candidates import Either, Probe, find_candidates
from search.types import Filters

PAPERS, DIMENSION = 400, 16
NONE = np.array([], dtype=np.int64)


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


class Corpus:
    """Real indices with every paper allowed, or only those of `allowed`; filters stand for nothing."""

    def __init__(self, sentences, papers, words, offsets, allowed=None) -> None:
        self.sentences, self.papers, self.words_index = sentences, papers, words
        self.offsets, self.allowed = offsets, allowed
        self.asked: list[int] = []

    def among(self, allowed) -> Corpus:
        return Corpus(self.sentences, self.papers, self.words_index, self.offsets, allowed)

    def near_sentences(self, vectors, k, filters):
        self.asked.append(len(vectors))
        spans = [] if self.allowed is None else [range(*self.offsets[row : row + 2]) for row in self.allowed]
        rows = None if self.allowed is None else np.array([each for span in spans for each in span])
        scores, found = self.sentences.search(vectors, k, rows)
        return scores, np.searchsorted(self.offsets, found, side="right") - 1

    def near_papers(self, vectors, k, filters):
        return self.papers.search(vectors, k, self.allowed)

    def passing(self, filters, most):
        return self.allowed if self.allowed is not None and len(self.allowed) <= most else None

    def words(self, terms):
        return Words(self.words_index.scores(terms), self.allowed)


class Words:
    def __init__(self, scores, allowed) -> None:
        self.scores, self.allowed = scores, allowed

    def best(self, k, filters):
        return best(self.scores, k, self.allowed)

    def of(self, rows):
        return self.scores[rows]


def find(corpus: Corpus, probe: Probe, terms=None, depth: int = 400):
    return find_candidates(corpus, corpus.words(terms or {}), probe, Filters(), depth)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Indices of random papers; every paper has a word of its own and the word of its tens."""
    folder = tmp_path_factory.mktemp("indices")
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 9, PAPERS)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    sentences, papers = (
        unit(rng.normal(size=(offsets[-1], DIMENSION))),
        unit(rng.normal(size=(PAPERS, DIMENSION))),
    )
    build_index(sentences, folder / "sentences")
    build_index(papers, folder / "papers")
    LexicalIndex.build((f"own{row} tens{row // 10}" for row in range(PAPERS)), folder / "words")
    opened = Corpus(
        VectorIndex.open(folder / "sentences"),
        VectorIndex.open(folder / "papers"),
        LexicalIndex.open(folder / "words"),
        offsets,
    )
    return opened, sentences, papers


def owner(offsets: np.ndarray, sentence: int) -> int:
    return next(row for row in range(PAPERS) if offsets[row] <= sentence < offsets[row + 1])


def test_each_kind_of_evidence_brings_its_nearest(corpus):
    opened, sentences, papers = corpus
    probe = Probe(sentences[[5, 900]], papers[[7]])
    found = find(opened, probe, {"own123": 1.0}, depth=1).rows
    assert {owner(opened.offsets, 5), owner(opened.offsets, 900), 7, 123} <= set(found)


def test_only_allowed_papers_are_found_and_all_when_they_are_few(corpus):
    opened, sentences, papers = corpus
    probe = Probe(sentences[:3], papers[:1])
    few = np.array([11, 200, 305])
    assert find(opened.among(few), probe, {"tens0": 1.0}).rows.tolist() == few.tolist()
    even = np.arange(0, PAPERS, 2)
    found = find(opened.among(even), probe, {"tens0": 1.0}, depth=30).rows
    assert len(found) >= 30
    assert set(found) <= set(even.tolist())
    assert {0, 2, 4, 6, 8} <= set(found), "the words find their even papers"


def test_nothing_allowed_gives_nothing(corpus):
    opened, sentences, papers = corpus
    assert len(find(opened.among(NONE), Probe(sentences[:1], papers[:1])).rows) == 0


def test_word_scores_belong_to_their_rows(corpus):
    opened, sentences, papers = corpus
    found = find(opened, Probe(sentences[:1], papers[:1]), {"own42": 2.0})
    assert found.rows[found.words > 0].tolist() == [42]


def test_either_takes_the_higher_score_of_two_questions(corpus):
    opened, _, _ = corpus
    one, other = opened.words({"own42": 2.0, "tens4": 0.5}), opened.words({"own43": 1.0, "tens4": 1.0})
    scores, rows = Either(one, other).best(3, Filters())
    higher = np.maximum(one.scores, other.scores)
    assert set(rows[:2]) == {42, 43}
    assert scores.tolist() == sorted(higher.tolist(), reverse=True)[:3]
    assert Either(one, other).of(rows).tolist() == higher[rows].tolist()


def test_hundreds_of_sentences_are_looked_up_in_groups(corpus):
    opened, sentences, papers = corpus
    opened.asked.clear()
    find(opened, Probe(sentences[:500], papers[:1]))
    assert opened.asked == [32]
