"""Graded pools over a corpus, and what may not be trained on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from search.types import Document
from tests.training.made import (
    DOCUMENTS,
    no_progress,
    random_vectors,
    record,
    some_document,
    write_lines,
)
from training.corpus import Corpus, Words, make_corpus
from training.hidden_states import LowerLayers
from training.judgements import Graded, read_graded
from training.papers import ACL, CSFCUBE
from training.pools import graded_round, make_pools


def test_pools_leave_out_papers_the_corpus_lacks(corpus: Corpus, words: Words) -> None:
    graded = [
        Graded("p00", "method", (0, 1), {"p03": 2, "nowhere": 3, "p16": 1, "p01": 0}),
        Graded("p02", "method", (0,), {"p03": 2, "p04": 2}),  # one grade only
        Graded("p16", "method", (0,), {"p03": 2, "p04": 0}),  # the query is too long
    ]
    labelled = random_vectors(corpus.documents)
    (pool,) = make_pools(graded, corpus, words, labelled)
    assert (pool.id, pool.facet, pool.query, pool.sentences) == ("p00_method", "method", 0, (0, 1))
    assert (pool.candidates, pool.grades) == ((3, 1), (2, 0))
    np.testing.assert_array_equal(pool.words, words.likeness(DOCUMENTS["p00"], (0, 1), ["p03", "p01"]))
    for paper, belongs in zip(pool.candidates, pool.in_panel, strict=True):
        np.testing.assert_array_equal(belongs, labelled.in_panel(paper, "method"))


def test_no_paper_of_the_test_collection_is_graded(lower: LowerLayers, tmp_path: Path) -> None:
    records = [record(f"p{number}", some_document(number), f"Paper number {number}") for number in range(5)]
    write_lines(tmp_path / ACL, records)
    write_lines(tmp_path / CSFCUBE, [{"title": "PAPER  number-2!"}])
    line = {"query": "p0", "facet": "method", "sentences": [0]}
    line |= {"grades": {"p1": 2, "p2": 3, "p3": 0, "p4": 0}}
    asked = line | {"query": "p2", "grades": {"p1": 2, "p3": 0}}
    judgements = write_lines(tmp_path / "judgements.jsonl", [line, asked])

    def corpus_of(documents: Mapping[str, Document]) -> Corpus:
        return make_corpus(documents, lower, tmp_path / "cache", no_progress)

    made = graded_round(tmp_path, corpus_of, random_vectors, read_graded(judgements), zeros=1)
    corpus, (pool,) = made.learned.corpus, made.learned.pools
    assert not corpus.has("p2")
    assert pool.id == "p0_method"
    assert pool.grades == (2, 0)  # one of two unrelated candidates
    assert pool.candidates[0] == corpus.place["p1"]
    assert not made.held_out.pools
