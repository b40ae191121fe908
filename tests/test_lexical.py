"""The word index: terms of scientific text, and scores that agree with rank_bm25."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from search.corpus.arrays import ReadArray
from search.corpus.bm25 import LexicalIndex, best
from search.corpus.postings import PostingsWriter
from search.errors import CorpusError
from search.text.tokenizer import tokenize, weigh_terms

TEXTS = [
    "Pre-training of language models on noisy labels improves parsing.",
    "We parse sentences with a transition system; parsing is fast.",
    "β-carotene and H₂O in poly(methyl methacrylate) films",
    "A language model for code: torch.nn.Linear, C++ and word2vec.",
    "Pretraining with labels of images, images and more images",
    "",
    "Noise in labels: a study of studies",
]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("pre-training", ["pre", "training", "pretraining"]),
        ("TGFβ1 and TGF-beta1", ["tgfbeta1", "tgf", "beta1", "tgfbeta1"]),
        ("1,2-dichloroethane", ["1", "2", "dichloroethane", "12dichloroethane"]),
        ("N,N-dimethylformamide", ["n", "n", "dimethylformamide", "nndimethylformamide"]),
        ("Fe₂O₃ films, naïve ﬁelds", ["fe2o3", "film", "naive", "field"]),
        ("torch.nn.Linear, x_train", ["torch", "nn", "linear", "torchnnlinear", "x", "train", "xtrain"]),
        ("C++ or C#, GPT-3.5", ["c++", "c#", "gpt", "3.5", "gpt3.5"]),
        ("1,000 papers (92.3%) in 2019–2021.", ["1000", "paper", "92.3", "2019", "2021"]),
        ("the model's corpus of studies", ["model", "corpus", "study"]),
        ("自然言語", ["自", "然", "言", "語"]),
        ("… – !", []),
    ],
)
def test_terms_of_scientific_text(text: str, terms: list[str]) -> None:
    assert tokenize(text) == terms


@given(st.text())
def test_terms_of_any_text_are_plain_words(text: str) -> None:
    for term in tokenize(text):
        assert term
        assert not term.isspace()
        assert term == term.lower()


class LuceneOkapi(BM25Okapi):
    """rank_bm25 with Lucene's idf; its tf part is (k1 + 1) times ours, a constant."""

    def _calc_idf(self, nd: dict[str, int]) -> None:
        self.idf = {word: math.log(1 + (self.corpus_size - df + 0.5) / (df + 0.5)) for word, df in nd.items()}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> LexicalIndex:
    path = tmp_path_factory.mktemp("words") / "lexical"
    LexicalIndex.build(TEXTS, path, k1=1.6, b=0.6)
    return LexicalIndex.open(path)


@pytest.mark.parametrize("query", [*TEXTS, "parsing parsing unknownword images"])
def test_scores_equal_rank_bm25(index: LexicalIndex, query: str) -> None:
    oracle = LuceneOkapi([tokenize(text) for text in TEXTS], k1=1.6, b=0.6)
    expected = oracle.get_scores(tokenize(query)) / (1.6 + 1)
    np.testing.assert_allclose(index.scores(weigh_terms([(query, 1.0)])), expected, rtol=1e-5)
    assert all(index.idf(term) == pytest.approx(oracle.idf[term]) for term in oracle.idf)


def test_order_equals_rank_bm25_on_real_abstracts(shared_data: Path, tmp_path: Path) -> None:
    import gzip
    import json

    with gzip.open(shared_data / "acl_anthology.jsonl.gz", "rt", encoding="utf-8") as lines:
        papers = [json.loads(next(lines)) for _ in range(300)]
    texts = [f"{paper['title']} {paper['abstract']}" for paper in papers]
    LexicalIndex.build(texts, tmp_path, k1=1.2, b=0.75)
    index = LexicalIndex.open(tmp_path)
    oracle = LuceneOkapi([tokenize(text) for text in texts], k1=1.2, b=0.75)
    for paper in papers[:20]:
        expected = oracle.get_scores(tokenize(paper["title"])) / 2.2
        scores, rows = index.search(weigh_terms([(paper["title"], 1.0)]), 20)
        np.testing.assert_allclose(scores, np.sort(expected)[::-1][: len(scores)], rtol=1e-4)
        np.testing.assert_allclose(scores, expected[rows], rtol=1e-4)


def test_weights_scale_terms(index: LexicalIndex) -> None:
    strong, weak = index.scores({"parsing": 1.0}), index.scores({"label": 1.0})
    both = index.scores(weigh_terms([("parsing", 1.0), ("labels", 0.25)]))
    np.testing.assert_allclose(both, strong + 0.25 * weak, rtol=1e-6)


def test_search_gives_the_best_first_and_only_papers_with_a_term(index: LexicalIndex) -> None:
    scores, rows = index.search(weigh_terms([("images of labels", 1.0)]), 10)
    assert list(rows) == [4, 0, 6] or list(rows) == [4, 6, 0]
    assert list(scores) == sorted(scores, reverse=True)
    assert len(index.search({"image": 1.0}, 10)[1]) == 1
    assert len(index.search({"label": 1.0}, 2)[1]) == 2


def test_allowed_rows_restrict_the_search_itself(index: LexicalIndex) -> None:
    everything = dict(zip(*reversed(index.search({"label": 1.0}, 10)), strict=True))
    scores, rows = index.search({"label": 1.0}, 1, allowed=np.array([1, 2, 6]))
    assert list(rows) == [6]
    assert scores[0] == everything[6]


@pytest.mark.parametrize("texts", [[""], ["only one paper"]])
def test_tiny_corpora_work(texts: list[str], tmp_path: Path) -> None:
    LexicalIndex.build(texts, tmp_path)
    index = LexicalIndex.open(tmp_path)
    assert index.paper_count == 1
    assert len(index.search({"paper": 1.0}, 5)[1]) == ("paper" in texts[0])


def test_a_missing_index_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="nothing-here"):
        LexicalIndex.open(tmp_path / "nothing-here")


def test_scores_are_those_of_bm25s_to_the_last_bit(shared_data: Path, tmp_path: Path) -> None:
    """However many runs they are sorted in."""
    import gzip
    import json

    with gzip.open(shared_data / "acl_anthology.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(next(lines))["abstract"] for _ in range(200)]
    terms = [tokenize(text) for text in texts]
    oracle = bm25s.BM25(k1=1.2, b=0.75, method="lucene", csc_backend="scipy")
    oracle.index(terms, create_empty_token=False, show_progress=False)
    writer = PostingsWriter(tmp_path / "runs", most=5000)
    for start in range(0, len(terms), 32):
        writer.add([Counter(each) for each in terms[start : start + 32]])
    assert len(writer._runs) > 1
    writer.write(tmp_path / "index", 1.2, 0.75, writer.average)
    assert not (tmp_path / "runs").exists()
    index = LexicalIndex.open(tmp_path / "index")
    starts = oracle.scores["indptr"]
    for term, column in oracle.vocab_dict.items():
        span = slice(starts[column], starts[column + 1])
        expected = np.zeros(len(texts), np.float32)
        expected[oracle.scores["indices"][span]] = oracle.scores["data"][span]
        assert np.array_equal(index.scores({term: 1.0}), expected)
        assert index.papers_with(term).tolist() == sorted(oracle.scores["indices"][span].tolist())


@pytest.mark.parametrize("many", [10, 1000, 30_000])
def test_the_best_of_many_scores_are_those_of_a_plain_sort(many: int) -> None:
    random = np.random.default_rng(many)
    scores = (random.random(many) * (random.random(many) < 0.7)).astype(np.float32)
    for k in (1, 50, 1200):
        plain = np.lexsort((np.arange(many), -scores))[:k]
        assert best(scores, k)[1].tolist() == plain[scores[plain] > 0].tolist()


def test_large_files_are_read_instead_of_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    LexicalIndex.build(TEXTS, tmp_path / "lexical")
    mapped = LexicalIndex.open(tmp_path / "lexical").scores({"label": 1.0, "parsing": 2.0})
    monkeypatch.setattr("search.corpus.arrays.MAPPED", 0)
    read = LexicalIndex.open(tmp_path / "lexical")
    assert isinstance(read._scores, ReadArray)
    np.testing.assert_array_equal(read.scores({"label": 1.0, "parsing": 2.0}), mapped)
    assert mapped.any()
    assert read.papers_with("nothing like it").tolist() == []
