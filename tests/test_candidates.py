"""Candidates against looking at every paper, on real indices."""

from __future__ import annotations

import numpy as np
import pytest

from search.corpus.bm25 import LexicalIndex
from search.corpus.faiss_index import VectorIndex, build_index
from search.ranking.candidates import Indices, Probe, find_candidates

PAPERS, DIMENSION = 400, 16
NONE = np.array([], dtype=np.int64)


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


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
    indices = Indices(
        VectorIndex.open(folder / "sentences").search,
        VectorIndex.open(folder / "papers").search,
        LexicalIndex.open(folder / "words").scores,
        offsets,
    )
    return indices, sentences, papers


def owner(offsets: np.ndarray, sentence: int) -> int:
    return next(row for row in range(PAPERS) if offsets[row] <= sentence < offsets[row + 1])


def test_each_kind_of_evidence_brings_its_nearest(corpus):
    indices, sentences, papers = corpus
    probe = Probe(sentences[[5, 900]], papers[[7]], {"own123": 1.0})
    found = find_candidates(indices, probe, depth=1).rows
    assert {owner(indices.offsets, 5), owner(indices.offsets, 900), 7, 123} <= set(found)


def test_sentences_and_papers_agree_on_who_owns_what(corpus):
    indices, _, _ = corpus
    rows = np.array([3, 399, 0, 57])
    slow = np.concatenate([np.arange(indices.offsets[row], indices.offsets[row + 1]) for row in rows])
    assert indices.sentences_of(rows).tolist() == slow.tolist()
    assert indices.papers_of(slow).tolist() == [owner(indices.offsets, sentence) for sentence in slow]
    assert indices.sentences_of(NONE).tolist() == []


def test_only_allowed_papers_are_found_and_all_when_they_are_few(corpus):
    indices, sentences, papers = corpus
    probe = Probe(sentences[:3], papers[:1], {"tens0": 1.0})
    few = np.array([11, 200, 305])
    assert find_candidates(indices, probe, few).rows.tolist() == few.tolist()
    even = np.arange(0, PAPERS, 2)
    found = find_candidates(indices, probe, even, depth=30).rows
    assert len(found) >= 30
    assert set(found) <= set(even.tolist())
    assert {0, 2, 4, 6, 8} <= set(found), "the words find their even papers"


def test_nothing_allowed_gives_nothing(corpus):
    indices, sentences, papers = corpus
    probe = Probe(sentences[:1], papers[:1], {})
    assert len(find_candidates(indices, probe, NONE).rows) == 0


def test_word_scores_belong_to_their_rows(corpus):
    indices, sentences, papers = corpus
    found = find_candidates(indices, Probe(sentences[:1], papers[:1], {"own42": 2.0}))
    assert found.rows[found.words > 0].tolist() == [42]


def test_hundreds_of_sentences_are_looked_up_in_groups(corpus):
    indices, sentences, papers = corpus
    asked: list[int] = []

    def counting(vectors, k, allowed):
        asked.append(len(vectors))
        return indices.sentences(vectors, k, allowed)

    watched = Indices(counting, indices.papers, indices.words, indices.offsets)
    find_candidates(watched, Probe(sentences[:500], papers[:1], {}))
    assert asked == [32]
