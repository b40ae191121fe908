"""Graded pools over a corpus: pools to learn from, held-out pools, and CSFCube's development queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.collections import facet_positions, read_csfcube
from search.errors import InputError
from search.types import Document
from training.corpus import Corpus, MakeCorpus, Words
from training.judgements import Graded, read_judged
from training.vector_cache import Encode, Vectors


@dataclass(frozen=True, slots=True)
class Pool:
    """A query and its graded candidates, as numbers of papers in a corpus."""

    id: str
    facet: str
    query: int
    sentences: tuple[int, ...]
    """The sentences of the query that were asked about."""
    candidates: tuple[int, ...]
    grades: tuple[int, ...]
    words: NDArray[np.float32]
    """[c]: BM25 of each candidate, from 0 to 1, as search counts it."""
    in_panel: tuple[NDArray[np.float32], ...]
    """For each candidate [n]: 1 where its sentence belongs to the facet that was asked about."""


@dataclass(frozen=True, slots=True)
class PoolSet:
    """Pools and the corpus their papers are in."""

    corpus: Corpus
    pools: list[Pool]


def make_pools(graded: Sequence[Graded], corpus: Corpus, words: Words, labelled: Vectors) -> list[Pool]:
    """Pools over a corpus, without papers that it lacks, and without pools whose grades are all the same.

    `labelled` has the facets of all sentences of the corpus.
    """
    pools = []
    for one in graded:
        kept = [paper for paper in one.grades if corpus.has(paper)]
        grades = tuple(one.grades[paper] for paper in kept)
        if corpus.has(one.query) and len(set(grades)) > 1:
            query, candidates = corpus.place[one.query], tuple(corpus.place[paper] for paper in kept)
            found = words.likeness(corpus.documents[query], one.sentences, kept)
            in_panel = tuple(labelled.in_panel(paper, one.facet) for paper in candidates)
            pools.append(Pool(one.id, one.facet, query, one.sentences, candidates, grades, found, in_panel))
    return pools


@dataclass(frozen=True, slots=True)
class Round:
    """One round of judgements."""

    learned: PoolSet
    held_out: PoolSet
    """Only scored."""


def graded_round(
    data: Path, make_corpus: MakeCorpus, label: Encode, graded: Sequence[Graded], zeros: int
) -> Round:
    """The pools of a round; those to learn from get at most `zeros` unrelated candidates.

    Papers of CSFCube are left out.
    """
    graded = [one if one.held_out else one.with_zeros(zeros) for one in graded]
    documents = read_judged(data, graded)
    corpus, words = make_corpus(documents), Words(documents)
    labelled = label(corpus.documents)
    learned, held_out = (
        make_pools([one for one in graded if one.held_out == apart], corpus, words, labelled)
        for apart in (False, True)
    )
    return Round(PoolSet(corpus, learned), PoolSet(corpus, held_out))


def development_pools(data: Path, make_corpus: MakeCorpus, label: Encode) -> PoolSet:
    """CSFCube's development queries, only for scoring."""
    collection = read_csfcube(data / "csfcube")
    documents = {
        paper.id: Document(paper.title, tuple(one.text for one in paper.sentences))
        for paper in collection.papers.values()
    }
    graded = [
        Graded(
            query.paper_id,
            str(query.facet),
            facet_positions(collection.papers[query.paper_id], query.facet),
            query.grades,
        )
        for fold in collection.chosen("dev")
        for query in fold
    ]
    if not graded:
        raise InputError(f"{data / 'csfcube'} has no development queries: fetch evaluation_splits.json, too.")
    needed = {paper for one in graded for paper in (one.query, *one.grades)}
    corpus = make_corpus({paper: documents[paper] for paper in documents if paper in needed})
    return PoolSet(corpus, make_pools(graded, corpus, Words(documents), label(corpus.documents)))
