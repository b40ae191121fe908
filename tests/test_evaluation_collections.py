"""Reading collections judged in pools, and the baselines' matching, on lists small enough to check."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from evaluation import encoder_baselines, error_report, word_baselines
from evaluation.collection_files import find_file, read_abstracts, read_papers, read_records, to_paper
from evaluation.collections import facet_positions, ranked_files, read_csfcube, read_ranked, summarise
from evaluation.transformer import Reader
from search.encoder.pretrained import find_weights
from search.errors import InputError
from search.types import Document, Facet

LINES = [
    {
        "paper_id": "a",
        "title": "Otters",
        "abstract": ["Otters are rare.", " ", "We count otters.", "There are nine otters."],
        "pred_labels": ["objective_label", "other_label", "method_label", "result_label"],
        "metadata": {"year": "2001"},
    },
    {"paper_id": "b", "title": "Minks", "abstract": ["We count minks."], "pred_labels": ["method_label"]},
    {
        "paper_id": "c",
        "title": "Beavers",
        "abstract": ["Beavers build dams."],
        "pred_labels": ["result_label"],
    },
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = "\n".join(map(json.dumps, LINES))
    (tmp_path / "abstracts-csfcube-preds.jsonl").write_text(text, encoding="utf-8")
    judged = {
        "a": {"cands": ["c", "a", "b", "gone"], "relevance_adju": [0, 3, 2, 1]},
        "lost": {"cands": ["b"], "relevance_adju": [1]},
    }
    (tmp_path / "test-pid2anns-csfcube-method.json").write_text(json.dumps(judged))
    ranking = {"a": [["b", 0.2], ["a", 0.0], ["c", 7.5]]}
    (tmp_path / "test-pid2pool-csfcube-my-model-method-ranked.json").write_text(json.dumps(ranking))
    return tmp_path


def test_sentences_keep_their_spans_and_facets(folder: Path) -> None:
    paper = next(read_abstracts(folder / "abstracts-csfcube-preds.jsonl"))
    assert [paper.abstract[one.start : one.end] for one in paper.sentences] == [
        "Otters are rare.",
        "We count otters.",
        "There are nine otters.",
    ]
    assert paper.year == 2001
    # An objective is asked for as background; a facet without sentences means the whole abstract.
    assert facet_positions(paper, Facet.BACKGROUND) == (0,)
    assert facet_positions(paper, Facet.METHOD) == (1,)
    assert facet_positions(paper, None) == (0, 1, 2)


def test_the_query_is_left_out_and_gaps_are_told(folder: Path) -> None:
    collection = read_csfcube(folder)
    assert dict(collection.queries["a_method"].grades) == {"c": 0, "b": 2}
    told = "; ".join(collection.missing)
    assert "query a_method: 1 of 4 candidates have no abstract" in told
    assert "query lost_method: its abstract is not in the collection" in told
    assert "no judgements of the facet background" in told


def test_a_ranked_file_is_read_by_its_order(folder: Path) -> None:
    collection = read_csfcube(folder)
    assert ranked_files(collection) == ("my-model",)
    groups, _ = summarise(collection, "all", read_ranked(collection, "my-model"))
    assert groups["all"]["map"] == 100
    assert set(groups) == {"all", "method"}


def test_test_split_is_the_mean_of_two_folds(folder: Path) -> None:
    judged = {
        "a": {"cands": ["b", "c"], "relevance_adju": [2, 0]},
        "b": {"cands": ["a", "c"], "relevance_adju": [0, 2]},
        "c": {"cands": ["a", "b"], "relevance_adju": [0, 2]},
    }
    (folder / "test-pid2anns-csfcube-method.json").write_text(json.dumps(judged))
    folds = {"fold1_test": ["a_method"], "fold2_test": ["b_method", "c_method"], "fold1_dev": ["b_method"]}
    (folder / "evaluation_splits.json").write_text(json.dumps({"method": folds}))
    collection = read_csfcube(folder)
    scores = {
        "a_method": {"b": 1.0, "c": 0.0},
        "b_method": {"a": 1.0, "c": 0.0},
        "c_method": {"a": 1.0, "b": 0.0},
    }
    groups, _ = summarise(collection, "test", scores)
    assert groups["method"]["map"] == pytest.approx((100 + (50 + 50) / 2) / 2)
    assert summarise(collection, "all", scores)[0]["method"]["map"] == pytest.approx((100 + 50 + 50) / 3)
    assert [query.id for fold in collection.chosen("dev") for query in fold] == ["b_method"]


def test_broken_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"id": 1}\nnot json\n')
    with pytest.raises(InputError, match="Line 2 of"):
        list(read_records(tmp_path / "x.jsonl"))
    (tmp_path / "y.jsonl").write_text('{"title": "no id"}\n')
    with pytest.raises(InputError, match="every paper needs an id"):
        list(read_papers(tmp_path / "y.jsonl"))
    (tmp_path / "z.jsonl").write_text(
        '{"paper_id": "p", "title": "t", "abstract": ["s"], "pred_labels": ["odd"]}'
    )
    with pytest.raises(InputError, match="The paper p of"):
        list(read_abstracts(tmp_path / "z.jsonl"))
    with pytest.raises(InputError, match=r"There is no corpus\.jsonl"):
        find_file(tmp_path, "corpus.jsonl")


def test_matching_worked_by_hand() -> None:
    query = np.array([[0.0, 0.0], [3.0, 0.0]], np.float32)
    candidate = np.array([[0.0, 4.0]], np.float32)  # distances 4 and 5
    assert encoder_baselines.nearest_pair(query, candidate) == pytest.approx(-4)
    weights = np.exp([-4.0, -5.0]) / np.exp([-4.0, -5.0]).sum()
    assert encoder_baselines.attention(query, candidate) == pytest.approx(-(weights @ [4, 5]))
    # One sentence takes all the mass, so the plan is the query's own distribution.
    assert encoder_baselines.transport(query, candidate) == pytest.approx(-(weights @ [4, 5]))
    assert encoder_baselines.largest_cosine(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 1.0]])) == (
        pytest.approx(2**-0.5)
    )


def test_transport_moves_every_sentence_to_its_twin() -> None:
    points = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    assert encoder_baselines.transport(points, points[::-1]) == pytest.approx(0)


def test_a_transformer_is_read_as_its_authors_do() -> None:
    """Against the model called by hand on one text; padding and order must not matter."""
    folder = find_weights("default").folder
    reader = Reader(folder)
    title, first, second = "Otters", "We count otters.", "There are nine of them in the river."
    ids = [reader.tokenizer(text, add_special_tokens=False)["input_ids"] for text in (title, first, second)]
    cls, sep = reader.tokenizer.cls_token_id, reader.tokenizer.sep_token_id
    joined = [cls, *ids[0], sep, *ids[1], *ids[2], sep]
    with torch.inference_mode():
        states = reader.model(torch.tensor([joined])).last_hidden_state[0].numpy()
    begin = 2 + len(ids[0])
    documents = [Document(title, (first, second)), Document("", ("Minks.",))]
    (sentences, opening), (_, other) = reader.read(documents)
    assert opening == pytest.approx(states[0], abs=1e-4)
    assert sentences[0] == pytest.approx(states[begin : begin + len(ids[1])].mean(axis=0), abs=1e-4)
    assert len(sentences) == 2
    assert not np.allclose(opening, other)
    long, _ = reader.read([Document(title, (first * 300, second))])[0]
    assert long.shape == (2, len(opening))


def test_word_baselines_prefer_shared_words(folder: Path, tmp_path: Path) -> None:
    collection = read_csfcube(folder)
    queries = list(collection.queries.values())
    for method in (word_baselines.bm25, word_baselines.tfidf):
        scores = method(collection, queries)["a_method"]
        assert scores["b"] > scores["c"]
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("3 2\nwe 1 0\ncount 1 0.1\nbuild 0 1\n")
    scores = word_baselines.cbow(collection, queries, weighted=False, vectors=vectors)["a_method"]
    assert scores["b"] == pytest.approx(1, abs=1e-6)
    assert scores["c"] == 0
    with pytest.raises(InputError, match="no vector for any word"):
        word_baselines.read_vectors(vectors, ["unseen"])


def test_cbow_is_trained_on_the_papers() -> None:
    pytest.importorskip("gensim")
    texts = ["Otters swim in rivers.", "Rivers carry otters."]
    papers = [to_paper(str(turn), f"day {turn}", texts, [None, None], {}) for turn in range(30)]
    table = word_baselines.train_vectors(papers, ["otters", "unseen"])
    assert table.shape == (2, word_baselines.DIMENSION)
    assert np.abs(table[0]).sum() > 0
    assert np.abs(table[1]).sum() == 0


def test_error_tags_follow_their_rules(folder: Path) -> None:
    collection = read_csfcube(folder)
    weights = error_report.Weights(collection)
    asked = [collection.papers["a"].sentences[1]]
    tags = error_report.find_tags(True, Facet.METHOD, asked, collection.papers["c"].sentences, weights)
    assert tags == ["other words", "facet absent", "needs context"]
    near = error_report.find_tags(False, Facet.METHOD, asked, collection.papers["b"].sentences, weights)
    assert "facet absent" not in near
    report = error_report.report(
        collection, list(collection.queries.values()), "mine", {"a_method": {"c": 1.0, "b": 0.0}}
    )
    assert "missed: rank 2 of 2, grade 2, b: Minks" in report
    assert "false hit: rank 1 of 2, grade 0, c: Beavers" in report
