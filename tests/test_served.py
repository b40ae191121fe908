"""The embedded build answers what the seam asks, the same as its parts do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from index_build.publisher import batches_of, terms_of
from index_build.steps import build
from search.corpus import layout
from search.corpus.bm25 import LexicalIndex
from search.corpus.folder import FolderBuild, FolderCorpus
from search.corpus.served import Corpus, Served
from search.corpus.store import Snapshot, Store
from search.types import Filters
from tests.miniature import all_papers
from tests.random_encoder import RandomEncoder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("served")
    with Store.create(made / layout.STORE) as store:
        store.add(all_papers())
    build(made, encoder=RandomEncoder())
    return made


@pytest.fixture(scope="module")
def opened(folder: Path) -> Iterator[FolderBuild]:
    corpus: Corpus = FolderCorpus(folder)
    name = corpus.builds()[0]
    served: Served = corpus.open(name, corpus.manifest(name))
    assert isinstance(served, FolderBuild)
    yield served
    served.close()


def test_the_sentences_of_a_paper_find_the_paper(opened: FolderBuild) -> None:
    rows = np.array([3, 20, 0])
    sentences = opened.sentences(rows)
    assert len(sentences.vectors) == len(sentences.panels) == sentences.offsets[-1]
    owners = np.repeat(rows, np.diff(sentences.offsets))
    scores, found = opened.near_sentences(sentences.vectors.astype(np.float32), 2)
    assert found[:, 0].tolist() == owners.tolist()
    assert scores[:, 0] == pytest.approx(1, abs=1e-2)
    found = opened.near_papers(opened.whole_vectors(rows).astype(np.float32), 1)[1]
    assert found[:, 0].tolist() == rows.tolist()


def test_filters_restrict_every_way_of_searching(opened: FolderBuild) -> None:
    filters = Filters(year_from=2012, year_to=2012)
    rows = opened.passing(filters, 100)
    assert rows is not None
    assert opened.count(filters) == len(rows) == 4
    assert opened.passing(filters, 3) is None
    assert opened.passing(Filters(), 100) is None
    vectors = opened.whole_vectors(np.arange(5)).astype(np.float32)
    for found in (opened.near_sentences(vectors, 9, filters), opened.near_papers(vectors, 9, filters)):
        assert set(found[1].ravel().tolist()) <= {*rows.tolist(), -1}
    assert set(opened.words({"study": 1.0}).best(9, filters)[1]) == set(rows)


def test_words_score_as_their_index_does(folder: Path, opened: FolderBuild) -> None:
    index = LexicalIndex.open(layout.current_build(folder) / layout.LEXICAL)
    terms = {"tumour": 1.0, "graph": 0.5}
    words = opened.words(terms)
    scores, rows = words.best(7)
    assert len(rows) == 7
    assert words.of(rows).tolist() == scores.tolist() == index.scores(terms)[rows].tolist()
    with_term = len(index.papers_with("graph"))
    assert opened.papers_with(["graph", "nowhere"]) == {"graph": with_term, "nowhere": 0}


def test_all_rows_one_after_another(opened: FolderBuild) -> None:
    assert opened.next_rows(-1, 4).tolist() == [0, 1, 2, 3]
    assert opened.next_rows(19, 4).tolist() == [20]
    assert opened.next_rows(20, 4).tolist() == []
    assert opened.spread(3).tolist() == [0, 10, 20]
    assert opened.spread(1000).tolist() == list(range(21))


def test_batches_hold_everything_and_go_on_where_they_stopped(folder: Path, opened: FolderBuild) -> None:
    batches = list(batches_of(opened, size=8))
    assert [each.first for each in batches] == [0, 8, 16]
    papers = [paper for batch in batches for paper in batch.papers]
    with Snapshot.open(layout.current_build(folder) / layout.STORE) as store:
        assert papers == store.papers_by_row(range(21))
    assert [ids for batch in batches for ids in batch.ids] == [(paper.id,) for paper in papers]
    vectors = np.concatenate([batch.sentences for batch in batches])
    assert np.array_equal(vectors, np.load(layout.current_build(folder) / layout.SENTENCE_VECTORS))
    mean = sum(sum(terms.values()) for batch in batches for terms in batch.terms) / len(papers)
    assert mean == pytest.approx(opened.manifest.average_terms)
    assert [each.first for each in batches_of(opened, first=16, size=8)] == [16]


def test_a_title_that_is_the_only_sentence_counts_once() -> None:
    bare = all_papers()[-1]
    assert not bare.abstract
    assert terms_of(bare)["bird"] == 1


def test_an_older_manifest_is_written_as_it_was(opened: FolderBuild) -> None:
    from dataclasses import replace

    assert "average_terms" in opened.manifest.text
    assert "average_terms" not in replace(opened.manifest, average_terms=0.0).text
