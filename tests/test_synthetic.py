"""Corpora made large for measuring: as many papers as asked, near the real ones, sound like any build."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evaluation.synthetic import SENTENCES_PER_PAPER, make_corpus
from index_build.steps import build
from index_build.verify import verify
from search.corpus import layout
from search.corpus.faiss_index import VectorIndex
from search.corpus.store import Store
from search.text.sentences import split_paper
from search.types import Paper
from tests.random_encoder import RandomEncoder


def test_a_small_corpus_becomes_a_large_one(tmp_path: Path) -> None:
    base, out = tmp_path / "base", tmp_path / "out"
    papers = [
        Paper(f"p{n}", f"A paper with number {n}", f"Case {n} is open. We close it.") for n in range(30)
    ]
    with Store.create(base / layout.STORE) as store:
        store.add([split_paper(paper) for paper in papers])
    real = build(base, encoder=RandomEncoder(dimension=128))

    made = make_corpus(base, out, 100)
    assert made.papers == 100
    assert (made.encoder, made.dimension) == (real.encoder, 128)
    assert 3 < made.sentences / made.papers <= SENTENCES_PER_PAPER
    assert verify(out) == []
    assert make_corpus(base, out, 100) == made

    whole = np.load(layout.current_build(base) / layout.PAPER_VECTORS)
    scores, rows = VectorIndex.open(layout.current_build(out) / layout.PAPER_INDEX).search(whole, 3)
    assert (rows % 30 == np.arange(30)[:, None]).all()
    assert 0.95 < scores[:, 0].min() < scores.max() < 0.999
