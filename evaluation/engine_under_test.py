"""The product under test: a collection built as a real corpus and ranked by the engine users search with.

The corpus stays in the cache, so a second run only reads it. Sentences are those the collection gives,
but their facets are the product's own; only a query's facet sentences are taken as the collection marks
them, as a user ticks them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.array_cache import evaluation_folder
from evaluation.collections import Collection, PoolQuery, data_hash, facet_positions
from evaluation.metrics import Found
from index_build.steps import build
from search.corpus import layout
from search.corpus.store import Store
from search.engine import Engine
from search.query.choosing import choose_sentences
from search.settings import Settings
from search.text.sentences import split_paper
from search.text.tokenizer import weigh_terms
from search.types import Document, Paper, Progress, Query, QueryPaper, QuerySentence

BATCH = 2000
"""Papers stored in one transaction; chosen by hand."""


def open_engine(
    name: str, papers: Mapping[str, Paper], encoder: str = "default", progress: Progress | None = None
) -> Engine:
    """The engine over a corpus of exactly these papers, built on first use."""
    slug = re.sub(r"[^\w.-]+", "_", encoder)
    folder = evaluation_folder() / "corpora" / f"{name}-{data_hash(papers.values())}-{slug}"
    if not (folder / layout.STORE).exists():
        fill_store(folder / layout.STORE, papers.values())
    return _opened(folder, encoder, progress)


@lru_cache(maxsize=2)
def _opened(folder: Path, encoder: str, progress: Progress | None) -> Engine:
    """Built and opened once for all methods of a run."""
    settings = Settings(corpus=folder, encoder=encoder)
    build(folder, settings, progress)
    return Engine.open(folder, settings)


@lru_cache(maxsize=2)
def open_built(folder: Path, encoder: str = "default") -> Engine:
    """The engine over a corpus that was built before, as it is."""
    return Engine.open(folder, Settings(corpus=folder, encoder=encoder))


def fill_store(file: Path, papers: Iterable[Paper]) -> None:
    """A working store of these papers; a broken-off try leaves none."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.unlink(missing_ok=True)
    with Store.create(part) as store:
        stream = iter(papers)
        while some := list(islice(stream, BATCH)):
            store.add([unlabelled(split_paper(paper)) for paper in some])
    part.replace(file)


def unlabelled(paper: Paper) -> Paper:
    """The paper as a user's corpus has it: sentences whose facets the product must find."""
    return replace(paper, sentences=tuple(replace(one, facet=None, hinted=False) for one in paper.sentences))


def to_query(paper: Paper, positions: Sequence[int], top: int = 20) -> Query:
    """A search with these sentences of a paper."""
    asked = QueryPaper(
        paper.title, tuple(QuerySentence(one.text, one.facet) for one in paper.sentences), paper.id
    )
    return Query((choose_sentences(asked, positions),), top=top)


def rank(engine: Engine, collection: Collection, queries: Sequence[PoolQuery]) -> Found:
    """Each pool by the score of a user's search."""
    found: Found = {}
    for query in queries:
        paper = collection.papers[query.paper_id]
        asked = to_query(paper, facet_positions(paper, query.facet))
        found[query.id] = {one.paper_id: one.score for one in engine.rank_pool(asked, list(query.grades))}
    return found


def rank_dense(engine: Engine, queries: Sequence[PoolQuery]) -> Found:
    """Each pool by the cosine of whole-paper vectors: the same encoder without sentences, words or facets."""
    found: Found = {}
    for query in queries:
        rows = engine.store.rows_of([query.paper_id, *query.grades])
        vectors = engine.store.whole_vectors(rows).astype(np.float32)
        found[query.id] = dict(zip(query.grades, map(float, vectors[1:] @ vectors[0]), strict=True))
    return found


def rank_words(engine: Engine, collection: Collection, queries: Sequence[PoolQuery]) -> Found:
    """Each pool by the product's BM25 on the query's title and whole abstract."""
    found: Found = {}
    for query in queries:
        paper = collection.papers[query.paper_id]
        words = engine.store.words(weigh_terms([(paper.title, 1.0), (paper.abstract, 1.0)]))
        likeness = words.of(engine.store.rows_of(list(query.grades)))
        found[query.id] = dict(zip(query.grades, map(float, likeness), strict=True))
    return found


def records_by_row(engine: Engine, papers: Mapping[str, Paper]) -> dict[int, list[str]]:
    """Which of a collection's papers each row of the corpus stands for: a store keeps a paper once."""
    found: dict[int, list[str]] = {}
    for record, row in zip(papers, engine.store.rows_of(list(papers)), strict=True):
        found.setdefault(int(row), []).append(record)
    return found


def same_paper(engine: Engine, papers: Mapping[str, Paper]) -> dict[str, list[str]]:
    """For each paper of a collection, all its records there, itself included."""
    return {record: records for records in records_by_row(engine, papers).values() for record in records}


def whole_vector(engine: Engine, paper: QueryPaper) -> NDArray[np.float32]:
    """The whole-paper vector [d] of a query that need not be in the corpus."""
    texts = tuple(sentence.text for sentence in paper.sentences)
    return engine.encoder.encode_one(Document("" if texts == (paper.title,) else paper.title, texts)).paper
