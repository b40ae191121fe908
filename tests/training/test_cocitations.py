"""`python -m training cocitations`, end to end on a made citation collection and a tiny encoder."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from search.encoder.fine_tuned import read_fine_tuned
from tests.training.made import random_vectors, some_document, upper, write_citations, write_lines
from training import base_encoder
from training.__main__ import main
from training.cocited_pairs import is_held_out


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("citations")
    write_citations(folder)
    return folder


@pytest.fixture(autouse=True)
def _tiny(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tiny encoder stands for both presets, random vectors for the finished encoder."""
    monkeypatch.setattr(base_encoder, "find_weights", lambda name: SimpleNamespace(folder=bert))
    monkeypatch.setattr(base_encoder, "cached_encoder", lambda name, folder: random_vectors)


def train(data: Path, out: Path, *more: str) -> int:
    return main(
        [
            *("cocitations", "--data", str(data), "--out", str(out), "--cache", str(out / "cache")),
            *("--device", "cpu", "--threads", "1", "--upper", "2", *more),
        ]
    )


@pytest.mark.parametrize(
    ("match", "losses"), [("single", {"single"}), ("multi", {"multi"}), ("both", {"single", "multi"})]
)
def test_held_out_pairs_are_scored_before_and_after(
    bert: Path,
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    match: str,
    losses: set[str],
) -> None:
    assert train(data, tmp_path, "--match", match, "--rate", "3e-3", "--epochs", "2") == 0
    history = json.loads((tmp_path / "run.json").read_text())["history"]
    assert [entry["epoch"] for entry in history] == [0, 1, 2]
    assert all(set(entry["losses"]) == losses for entry in history[1:])
    before, after = (history[place]["scores"]["cocited_mrr"] for place in (0, -1))
    said = capsys.readouterr().out
    assert f"mean reciprocal rank of the partner: {before} before, {after} after" in said
    made, start = read_fine_tuned("default", tmp_path).tensors, upper(bert).tensors()
    assert made.keys() == start.keys()
    assert any(abs(made[name] - start[name].numpy()).max() > 1e-3 for name in made)


def test_no_epochs_only_score(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(data, tmp_path / "first", "--epochs", "1", "--rate", "3e-3") == 0
    after = json.loads((tmp_path / "first" / "run.json").read_text())["history"][-1]["scores"]["cocited_mrr"]
    capsys.readouterr()
    assert train(data, tmp_path / "again", "--epochs", "0", "--start", str(tmp_path / "first")) == 0
    assert f"{after} before, {after} after" in capsys.readouterr().out


def test_low_rank_additions_without_hard_negatives(data: Path, tmp_path: Path) -> None:
    options = ("--encoder", "quality", "--rank", "2", "--mined", "0", "--pairs", "5", "--contrast", "triplet")
    assert train(data, tmp_path, *options) == 0
    assert all(name.endswith((".down", ".up")) for name in read_fine_tuned("quality", tmp_path).tensors)


CONTEXT = [{"text": "we study graph search", "n": 2}]


@pytest.mark.parametrize(
    ("name", "lines", "words"),
    [
        ("papers.jsonl", None, "There is neither papers.jsonl nor papers.jsonl.gz in"),
        ("cocite_pairs.jsonl", None, "There is neither cocite_pairs.jsonl nor cocite_pairs.jsonl.gz in"),
        ("cocite_pairs.jsonl", [{"a": "c1", "b": "c2"}], "cocite_pairs.jsonl lacks 'contexts'"),
        ("cocite_pairs.jsonl", [{"a": "c1", "b": "x", "contexts": CONTEXT}], "held out to be scored"),
        ("cocite_pairs.jsonl", [], "None of the 0 co-cited pairs"),
        ("cite_pairs.jsonl", [{"citing": "c1"}], "cite_pairs.jsonl lacks 'cited'"),
        ("papers.jsonl", [{"id": "c1", "title": "t"}], "papers that are needed, such as"),
    ],
)
def test_bad_files_are_named_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, lines: list[dict] | None, words: str
) -> None:
    data = tmp_path / "data"
    write_citations(data)
    for file in data.glob(f"{name.split('.')[0]}.*"):
        file.unlink()
    if lines is not None:
        (data / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert train(data, tmp_path / "out") == 2
    said = capsys.readouterr().err
    assert words in said
    assert len(said.splitlines()) == 1


def test_pairs_of_held_out_papers_alone_cannot_be_learned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    pairs = write_citations(data)
    few = [pair for pair in pairs if is_held_out(pair["a"])]
    write_lines(data / "cocite_pairs.jsonl", [pair | {"contexts": CONTEXT} for pair in few])
    assert train(data, tmp_path / "out") == 2
    assert "co-cited pairs can be learned from: give more" in capsys.readouterr().err


def test_papers_of_other_files_are_not_learned_from(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    titles = [{"title": some_document(number).title.upper()} for number in range(60)]
    everything = write_lines(tmp_path / "titles.jsonl", titles)
    assert train(data, tmp_path / "out", "--exclude", str(everything)) == 2
    assert "All co-cited pairs are of papers in the files given with `--exclude`" in capsys.readouterr().err
    assert train(data, tmp_path / "out", "--exclude", "nowhere.jsonl") == 2
    assert "There is no file nowhere.jsonl" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--pairs", "0", "`--pairs` must be at least 1, but it is 0."),
        ("--share", "1.5", "`--share` must be from 0 to 1, but it is 1.5."),
        ("--upper", "9", "`--upper` is 9, but 'default' has 3 layers."),
    ],
)
def test_an_option_out_of_range_is_named(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, value: str, words: str
) -> None:
    assert train(data, tmp_path / "out", option, value) == 2
    assert capsys.readouterr().err.splitlines()[-1] == words


def test_the_help_gives_the_format_of_the_files(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["cocitations", "--help"])
    said = capsys.readouterr().out
    assert '{"a": "p1", "b": "p2", "contexts": [{"text": "the citing sentence", "n": 2}]}' in said
