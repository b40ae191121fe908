"""`python -m training encoder`, end to end on made papers and a tiny encoder."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from search.encoder.fine_tuned import read_fine_tuned
from search.encoder.weight_files import MODELS
from tests.training.made import DOCUMENTS, random_vectors, record, write_lines
from training import base_encoder, encoder
from training.__main__ import main
from training.judgements import Graded
from training.papers import ACL, CSFCUBE

QUERIES = [f"p{number:02}" for number in range(16)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Judgements in two rounds, the papers they name, and a miniature of CSFCube."""
    folder = tmp_path / "data"
    papers = [record(id, one, f"Paper {id}") for id, one in DOCUMENTS.items() if id in QUERIES]
    write_lines(folder / ACL, papers)
    random = np.random.default_rng(4)
    lines = []
    for number, query in enumerate(QUERIES):
        others = random.permutation([id for id in QUERIES if id != query])[:6]
        grades = dict(zip(map(str, others), (3, 2, 1, 0, 0, 0), strict=True))
        lines.append(
            {"round": 1 + number % 2, "query": query, "facet": "method", "sentences": [0], "grades": grades}
        )
    write_lines(folder / "judgements.jsonl", lines)
    labels = ["background_label", "method_label", "result_label"]
    abstracts = [
        {
            "paper_id": f"t{number}",
            "title": f"Test {number}",
            "abstract": ["we study a graph", "a new method", "it is fast"],
            "pred_labels": labels,
        }
        for number in range(4)
    ]
    write_lines(folder / CSFCUBE, abstracts)
    pool = {"t0": {"cands": ["t1", "t2", "t3"], "relevance_adju": [3, 0, 1]}}
    (folder / "csfcube" / "test-pid2anns-csfcube-method.json").write_text(json.dumps(pool))
    (folder / "csfcube" / "evaluation_splits.json").write_text(
        json.dumps({"all": {"fold1_dev": ["t0_method"]}})
    )
    return folder


@pytest.fixture(autouse=True)
def _tiny(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tiny encoder stands for both presets, random vectors for the finished encoder."""
    monkeypatch.setattr(base_encoder, "find_weights", lambda name: SimpleNamespace(folder=bert))
    monkeypatch.setattr(base_encoder, "cached_encoder", lambda name, folder: random_vectors)


def train(data: Path, out: Path, *more: str) -> int:
    return main(
        [
            *("encoder", "--data", str(data), "--judgements", str(data / "judgements.jsonl")),
            *("--out", str(out), "--cache", str(data / "cache"), "--device", "cpu", "--threads", "1"),
            *("--upper", "2", *more),
        ]
    )


def test_a_run_scores_learns_and_writes_weights(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(data, tmp_path / "out", "--rate", "3e-3", "--epochs", "2") == 0
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    learned = sum(not Graded(query, "method", (), {}).held_out for query in QUERIES)
    assert 0 < learned < 16
    assert [entry["step"] for entry in run["history"]] == [0, learned, 2 * learned]
    assert set(run["history"][0]["scores"]) == {"dev", "held_out_1", "held_out_2"}
    assert run["recipe"] | {"upper": 3, "rate": 5e-5, "epochs": 1} == recipe_of("encoder")
    made = read_fine_tuned("default", tmp_path / "out")
    assert {name.split(".")[2] for name in made.tensors} == {"1", "2"}
    assert f"{learned} pools to learn from" in capsys.readouterr().out


def recipe_of(stem: str) -> dict[str, float]:
    """The recipe on the card of shipped weights, without settings of losses that are gone."""
    recipe = json.loads((MODELS / f"{stem}.json").read_text())["recipe"]
    gone = {"pairs", "citing", "graded", "ranked", "relations", "directions", "single", "multi", "whole"}
    return {name: value for name, value in recipe.items() if name not in gone | {"contrast"}}


@pytest.mark.parametrize(("preset", "stem"), [("default", "encoder"), ("quality", "encoder-quality")])
def test_the_recipes_are_those_of_the_shipped_weights(preset: str, stem: str) -> None:
    recipe = encoder.RECIPES[preset]
    assert {name: getattr(recipe, name) for name in recipe_of(stem)} == recipe_of(stem)


def test_rounds_and_pools_can_be_chosen(data: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    options = ("--encoder", "quality", "--rank", "2", "--no-first-score")
    assert train(data, first, *options, "--rounds", "1", "--stop", "3") == 0
    assert train(data, second, *options, "--rounds", "2", "1", "--pools", "4", "--start", str(first)) == 0
    runs = [json.loads((folder / "run.json").read_text())["history"] for folder in (first, second)]
    assert [[entry["step"] for entry in run] for run in runs] == [[3], [4]]
    assert [set(run[0]["scores"]) for run in runs] == [
        {"dev", "held_out_1"},
        {"dev", "held_out_1", "held_out_2"},
    ]
    made = read_fine_tuned("quality", second)
    assert all(name.endswith((".down", ".up")) for name in made.tensors)


def test_missing_development_queries_are_named(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (data / "csfcube" / "evaluation_splits.json").unlink()
    assert train(data, tmp_path / "out") == 2
    assert "csfcube has no development queries: fetch evaluation_splits.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--pools", "0"), "judgements.jsonl can be learned from: choose more `--rounds` or `--pools`."),
        (("--rounds", "7"), "There is no round 7 in the judgements; choose from 1, 2."),
        (("--start", "nowhere"), "The fine-tuned weights in nowhere cannot be read"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], words: str
) -> None:
    assert train(data, tmp_path / "out", *more) == 2
    said = capsys.readouterr().err
    assert words in said
    assert len(said.splitlines()) == 1
