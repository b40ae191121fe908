"""Pools of our own: read over a citation collection and ranked as users search."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluation.__main__ import main
from evaluation.collection_files import read_records
from evaluation.collections import facet_positions
from evaluation.graded_pools import JUDGED, first_half, read_built, read_judged
from search.errors import InputError
from search.types import PANELS, Facet
from tests.miniature import build_miniature
from training.judgements import read_graded

ABSTRACTS = {
    "q": "Rare birds are hard to count. We listen with small microphones in the forest. They are more.",
    "near": "Whales are shy. We listen with small microphones in the sea. Their songs are long.",
    "far": "Bread rises slowly. We bake it in iron pots. The crust is thick.",
}


def lines(file: Path, records: list[dict[str, object]]) -> Path:
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return file


@pytest.fixture
def citations(tmp_path: Path) -> Path:
    papers = [{"id": id, "title": id, "abstract": text, "year": 2020} for id, text in ABSTRACTS.items()]
    lines(tmp_path / "papers.jsonl", papers)
    lines(tmp_path / "cite_pairs.jsonl", [])
    return tmp_path


def pool(**changes: object) -> dict[str, object]:
    return {"query": "q", "facet": "method", "sentences": [1], "grades": {"near": 2, "far": 0}} | changes


def test_the_sentences_that_were_asked_about_carry_the_facet(citations: Path) -> None:
    collection = read_judged(citations, lines(citations / "graded_pools.jsonl", [pool()]))
    assert collection.queries["q_method"].grades == {"near": 2, "far": 0}
    assert facet_positions(collection.papers["q"], Facet.METHOD) == (1,)
    assert collection.papers["q"].sentences[1].text == "We listen with small microphones in the forest."


def test_pools_without_their_papers_are_named_and_the_rest_is_read(citations: Path) -> None:
    pools = [
        pool(query="gone"),
        pool(grades={"gone": 1}),
        pool(facet="result", grades={"near": 1, "gone": 2}),
    ]
    collection = read_judged(citations, lines(citations / "graded_pools.jsonl", pools))
    assert [missing.split(":")[0] for missing in collection.missing] == [
        "query gone_method",
        "query q_method",
    ]
    assert {query.id: query.grades for query in collection.queries.values()} == {"q_result": {"near": 1}}


def test_a_sentence_that_the_abstract_does_not_have_is_an_error(citations: Path) -> None:
    with pytest.raises(InputError, match="asks about sentence 4, but its abstract has 3"):
        read_judged(citations, lines(citations / "graded_pools.jsonl", [pool(sentences=[3])]))


@pytest.mark.parametrize("change", [{"facet": "colour"}, {"grades": None}, {"sentences": None}])
def test_a_line_that_is_no_pool_is_named(citations: Path, change: dict[str, object]) -> None:
    file = lines(citations / "graded_pools.jsonl", [pool(), pool(**change)])
    with pytest.raises(InputError, match=r"Pool 2 of .*graded_pools\.jsonl needs a query, a facet"):
        read_judged(citations, file)


def test_pools_are_ranked_by_the_product_and_beside_it(
    citations: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIPTYCH_CACHE", str(citations / "cache"))
    judged = lines(citations / "graded_pools.jsonl", [pool()])
    assert main(["graded-pools", "--data", str(citations), "--judgements", str(judged), "--levels"]) == 0
    printed = capsys.readouterr().out
    assert "graded-pools all, 1 queries" in printed
    assert [line.split()[:2] for line in printed.splitlines()[2:3]] == [["triptych", "100.00"]]
    assert {"dense", "bm25"} <= {line.split()[0] for line in printed.splitlines() if line}


@pytest.mark.slow
def test_pools_over_a_built_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = build_miniature(tmp_path / "corpus")
    grades = {"fraud-graphs": 3, "traffic-trees": 0, "gone": 1}
    asked = [
        {"query": query, "facet": "method", "sentences": [1], "grades": grades}
        for query in ("proteins-graphs", "traffic-graphs", "gone")
    ]
    judged = lines(tmp_path / "pools.jsonl", asked)
    collection = read_built(corpus, judged)
    assert collection.name == "pools"
    assert len(collection.missing) == 1
    assert facet_positions(collection.papers["proteins-graphs"], Facet.METHOD) == (1,)
    halves = {
        split: [query.paper_id for fold in collection.chosen(split) for query in fold]
        for split in ("dev", "test")
    }
    assert sorted(halves["dev"] + halves["test"]) == ["proteins-graphs", "traffic-graphs"]
    assert all(map(first_half, halves["dev"]))
    assert not any(map(first_half, halves["test"]))
    assert read_built(corpus, judged, field="Alchemy").queries == {}
    assert main(["graded-pools", "--corpus", str(corpus), "--judgements", str(judged)]) == 0
    assert "triptych" in capsys.readouterr().out
    for given in ([], ["--corpus", str(corpus), "--data", str(tmp_path)]):
        assert main(["graded-pools", *given]) == 2
        assert "either --data" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["arxiv_pools.jsonl", "medline_pools.jsonl"])
def test_the_pools_of_other_fields_are_sound(name: str) -> None:
    shipped = list(read_records(JUDGED.with_name(name)))
    assert len({(record["query"], record["facet"]) for record in shipped}) == len(shipped) >= 150
    for record in shipped:
        assert record.keys() <= {"query", "facet", "sentences", "grades", "again"}
        assert record["query"] not in record["grades"]
        assert set(record["grades"].values()) <= {0, 1, 2, 3}


def test_the_shipped_pools_are_sound_and_nothing_learned_from_them() -> None:
    learned = {one.query for one in read_graded()}
    shipped = list(read_records(JUDGED))
    assert len({record["query"] for record in shipped}) == len(shipped) > 600
    for record in shipped:
        assert record["query"] not in learned
        assert record["facet"] in PANELS
        assert record["sentences"]
        assert record["query"] not in record["grades"]
        assert set(record["grades"].values()) <= {0, 1, 2, 3}
