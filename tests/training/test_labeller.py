"""`python -m training labeller`: what it copies, what it learns from, and its teacher."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from search.encoder.labeller import FacetLabeller, load_labeller, save_labeller
from search.types import FACETS
from tests.tiny_models import make_mpnet
from tests.training.made import CPU, fresh_labeller, load, no_progress, say_nothing
from training import labeller
from training.__main__ import main
from training.hidden_states import LowerLayers
from training.labelled_abstracts import read_csabstruct
from training.labeller import Prepared, Taught, ask_teacher, prepare
from training.labeller_loop import train
from training.labeller_plan import Recipe, Stage

ROOT = Path(__file__).resolve().parent.parent.parent


def test_copied_layers_compute_what_the_encoder_computes(word_bert: Path, recipe: Recipe) -> None:
    encoder = load(word_bert).eval()
    made = fresh_labeller(recipe, word_bert).labeller.eval()
    output = encoder(torch.tensor([[2, 5, 6, 7, 8, 3]]), output_hidden_states=True)
    layer = made.words[0](output.hidden_states[1], torch.zeros(1, 1, 1, 6))
    torch.testing.assert_close(layer, output.last_hidden_state, rtol=1e-4, atol=1e-5)


def test_the_held_out_tenth_is_not_trained_on(prepared: Prepared, labelled_data: Path) -> None:
    everything = read_csabstruct(labelled_data / "csabstruct/train.jsonl")
    held_out = [example for example in everything if example.held_out]
    assert 0 < len(held_out) < len(everything) / 2
    assert len(prepared.corpora["csabstruct"][0]) == len(everything) - len(held_out)
    assert len(prepared.checks["held_out"]) == len(held_out)


# -- the teacher


@pytest.fixture
def asked(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[FacetLabeller, Taught]:
    """A teacher over the tiny encoder, and what it says about the papers of a file of judgements."""
    monkeypatch.setattr(labeller, "_load", lambda name: (bert, load(bert)))
    (tmp_path / "judgements.jsonl").write_text(
        json.dumps({"query": "a1", "facet": "method", "sentences": [0], "grades": {"a2": 1, "a3": 0}}) + "\n"
    )
    monkeypatch.setattr(labeller, "JUDGEMENTS", tmp_path / "judgements.jsonl")
    texts = ["We study a new method. It is fast on large data.", "We show results.", "A graph. The data."]
    with gzip.open(tmp_path / "acl_anthology.jsonl.gz", "wt") as file:
        for number, text in enumerate([*texts, "Not asked for."], start=1):
            record = {"id": f"a{number}", "title": f"Paper {number}", "abstract": text}
            file.write(json.dumps(record) + "\n")
    (tmp_path / "csfcube").mkdir()
    (tmp_path / "csfcube" / "abstracts-csfcube-preds.jsonl").write_text('{"title": "PAPER: 3"}\n')
    teacher = fresh_labeller(Recipe(), bert).averaged()
    torch.nn.init.normal_(teacher.head.weight)
    save_labeller(teacher, tmp_path / "teacher")
    return teacher, ask_teacher(tmp_path / "teacher", tmp_path, tmp_path / "states", CPU)


def test_a_teacher_labels_papers_nobody_labelled(
    asked: tuple[FacetLabeller, Taught], bert: Path, tmp_path: Path
) -> None:
    teacher, taught = asked
    assert [document.title for document in taught.documents] == ["Paper 1", "Paper 2"]
    assert [len(each) for each in taught.facets] == [2, 1]
    lower = LowerLayers.cut(load(bert), bert, teacher.layer)
    batch = lower.states(taught.documents, tmp_path / "again", no_progress).batch([0, 1], CPU)
    found = teacher(batch.hidden, batch.mask, batch.assignment).detach().numpy()
    np.testing.assert_allclose(taught.facets[0], found[0], atol=0.02)
    np.testing.assert_allclose(taught.facets[1], found[1, :1], atol=0.02)


def test_a_teacher_is_asked_once(
    asked: tuple[FacetLabeller, Taught], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that goes on reads what it said; another teacher is asked itself."""
    monkeypatch.setattr(labeller, "predict", None)
    again = ask_teacher(tmp_path / "teacher", tmp_path, tmp_path / "states", CPU)
    for before, after in zip(asked[1].facets, again.facets, strict=True):
        np.testing.assert_array_equal(before, after)
    other = asked[0]
    torch.nn.init.normal_(other.head.weight)
    save_labeller(other, tmp_path / "teacher")
    with pytest.raises(TypeError, match="not callable"):
        ask_teacher(tmp_path / "teacher", tmp_path, tmp_path / "states", CPU)


def test_what_a_teacher_says_is_learned(
    asked: tuple[FacetLabeller, Taught], labelled_data: Path, word_bert: Path, recipe: Recipe, tmp_path: Path
) -> None:
    lower = LowerLayers.cut(load(word_bert), word_bert, 1)
    made = prepare(labelled_data, lower, recipe, tmp_path / "s", say_nothing, asked[1])
    np.testing.assert_array_equal(made.corpora["taught"][0].targets[0], asked[1].facets[0])
    stage = Stage("taught", 30, 3e-3, 1e-2, {"taught": 1.0})
    trainer = fresh_labeller(replace(recipe, stages=(stage,)), word_bert)
    train(trainer, made.corpora, made.checks, tmp_path, say_nothing)
    assert trainer.history[-1]["loss"] < 0.9 * trainer.history[0]["loss"]


# -- the command


def arguments(data: Path, out: Path, encoder: Path) -> list[str]:
    return ["labeller", "--data", str(data), "--out", str(out), "--encoder", str(encoder), "--device", "cpu"]


@pytest.mark.parametrize(("option", "layers", "parts"), [((), 0, 4), (("--thorough",), 1, 0)])
def test_command_line(
    option: tuple[str, ...],
    layers: int,
    parts: int,
    labelled_data: Path,
    word_bert: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What ships weighs words and has no layers of its own; its teacher has those above the branch."""
    assert main([*arguments(labelled_data, tmp_path, word_bert), *option]) == 0
    assert "min left" in capsys.readouterr().out
    made = load_labeller(tmp_path)
    assert len(FACETS) == made.head.out_features
    assert (made.shape.layers, made.shape.pooling) == (layers, parts)


def test_missing_data_is_named(word_bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(tmp_path, tmp_path, word_bert)) == 2
    assert "train.jsonl" in capsys.readouterr().err


def test_an_encoder_of_another_kind_is_refused(
    labelled_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mpnet = make_mpnet(tmp_path / "mpnet")
    assert main(arguments(labelled_data, tmp_path / "out", mpnet)) == 2
    assert "is of the type 'mpnet': give `--encoder default`" in capsys.readouterr().err


@pytest.mark.slow
def test_two_workers_train_together(labelled_data: Path, word_bert: Path, tmp_path: Path) -> None:
    """Started by torchrun, the workers share each batch, and the first writes the files."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += ["-m", "training", *arguments(labelled_data, tmp_path, word_bert), "--threads", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    history = json.loads((tmp_path / "run.json").read_text())["history"]
    assert len(history) == sum(stage.epochs for stage in Recipe().stages)
    assert history[-1]["loss"] < history[0]["loss"]
