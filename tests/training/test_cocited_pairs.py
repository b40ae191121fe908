"""Pairs of papers that one sentence cites: which are learned from, which are only scored."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from search.errors import InputError
from search.types import Document
from tests.training.made import CITED_IDS, no_progress, random_vectors, write_citations, write_lines
from training.cocited_pairs import (
    CitationData,
    CocitedPair,
    align,
    cocited_test,
    is_held_out,
    nearest_unlinked,
    pairs_to_learn,
)
from training.corpus import Corpus, MakeCorpus, make_corpus
from training.hidden_states import LowerLayers
from training.papers import Cocited, read_documents, same_title
from training.vector_cache import Vectors


@pytest.fixture
def corpus_of(lower: LowerLayers, tmp_path: Path) -> MakeCorpus:
    def made(documents: Mapping[str, Document]) -> Corpus:
        return make_corpus(documents, lower, tmp_path / "cache", no_progress)

    return made


def test_what_is_held_out_depends_on_the_id_alone() -> None:
    ids = [f"paper{number}_method" for number in range(2000)]
    assert 0.06 < sum(map(is_held_out, ids)) / len(ids) < 0.11
    # Written down: pairs that were trained on once may never be scored as unseen.
    assert [id for id in ids if is_held_out(id)][:4] == [
        f"paper{number}_method" for number in (0, 37, 44, 75)
    ]


def test_pairs_are_aligned_by_their_citing_sentence(corpus: Corpus) -> None:
    pairs = [Cocited(*ids, ("context",), 2) for ids in (("p01", "p16"), ("p04", "p02"), ("nowhere", "p02"))]
    nothing = np.zeros((3, 24), np.float16)
    random = np.random.default_rng(3).normal(size=(3, 24)).astype(np.float16)
    contexts = Vectors(random, nothing, nothing[:, :5], np.arange(4))
    sentences = random_vectors(corpus.documents)
    (found,) = align(pairs, corpus, contexts, sentences)
    nearest = [
        max(range(len(rows)), key=lambda place: float(rows[place] @ contexts.of(1)[0]))
        for rows in (sentences.of(4), sentences.of(2))
    ]
    assert found == CocitedPair(4, 2, *nearest)


def test_hard_negatives_are_near_and_not_linked() -> None:
    angles = np.linspace(0, 2, 30)
    papers = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    pair, linked = CocitedPair(0, 2, 0, 0), {(0, 2), (2, 0), (0, 5)}
    (near,) = nearest_unlinked([pair], lambda paper: papers @ papers[paper], linked)
    assert near == [1, 3, 4, 6, 7, 8, 9, 10, 11, 12]
    assert nearest_unlinked([pair], lambda paper: papers @ papers[paper], linked, 2) == [[1, 3]]


def test_held_out_papers_are_in_no_pair_to_learn_from(corpus_of: MakeCorpus, tmp_path: Path) -> None:
    pairs = write_citations(tmp_path)
    kept_out = [id for id in CITED_IDS if is_held_out(id)]
    data = CitationData.read(tmp_path)
    learned, test = pairs_to_learn(data, corpus_of, random_vectors), cocited_test(data, corpus_of)
    assert kept_out
    assert len(learned.pairs) == len(data.learned()) > 10
    assert not set(kept_out) & set(learned.corpus.place)
    # Also pairs of crowded sentences, which are not learned from, and citations are links.
    place = learned.corpus.place
    links = [(pair["a"], pair["b"]) for pair in pairs] + data.citations
    known = [(place[a], place[b]) for a, b in links if a in place and b in place]
    assert len(known) > len(learned.pairs)
    linked = {edge for a, b in known for edge in ((a, b), (b, a))}
    for pair, near in zip(learned.pairs, learned.negatives, strict=True):
        assert near
        assert not any((pair.first, paper) in linked or paper == pair.first for paper in near)
    assert test.queries
    assert {query for query, _ in test.queries} <= {test.corpus.place[id] for id in kept_out}
    assert {right for _, right in test.queries} <= set(test.pool)
    assert len(set(test.pool)) == len(test.pool)


def test_hard_negatives_can_be_left_out(corpus_of: MakeCorpus, tmp_path: Path) -> None:
    write_citations(tmp_path)
    learned = pairs_to_learn(CitationData.read(tmp_path), corpus_of, random_vectors, mined=0)
    assert {len(some) for some in learned.negatives} == {0}


def test_papers_of_a_test_collection_are_not_learned_from(corpus_of: MakeCorpus, tmp_path: Path) -> None:
    write_citations(tmp_path)
    data = CitationData.read(tmp_path)
    (one, *_) = data.learned()
    documents = read_documents(data.papers)
    learned = pairs_to_learn(data, corpus_of, random_vectors, {same_title(documents[one.first].title)})
    assert one.first not in learned.corpus.place
    assert 0 < len(learned.pairs) < len(data.learned())
    everything = {same_title(one.title) for one in documents.values()}
    with pytest.raises(InputError, match="All co-cited pairs are of papers in the files given with"):
        pairs_to_learn(data, corpus_of, random_vectors, everything)


def test_pairs_of_crowded_sentences_are_partners_and_nothing_else(tmp_path: Path) -> None:
    write_lines(tmp_path / "papers.jsonl", [])
    pairs = [("a", "b", 2), ("a", "c", 40)]
    write_lines(
        tmp_path / "cocite_pairs.jsonl",
        [{"a": a, "b": b, "contexts": [{"text": "as shown", "n": crowd}]} for a, b, crowd in pairs],
    )
    data = CitationData.read(tmp_path)
    assert dict(data.partners()) == {"a": {"b", "c"}, "b": {"a"}, "c": {"a"}}
    assert [(pair.first, pair.second) for pair in data.usable()] == [("a", "b")]


def test_a_held_out_paper_asks_for_the_other(tmp_path: Path) -> None:
    write_citations(tmp_path)
    held_out = CitationData.read(tmp_path).held_out()
    assert held_out
    assert all(is_held_out(pair.first) for pair in held_out)
