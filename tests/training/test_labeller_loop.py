"""The labeller learns, goes on after a stop, and keeps averaged weights."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from search.encoder.labeller import FacetLabeller, Shape, load_labeller
from tests.training.made import CPU, fresh_labeller, say_nothing
from training.hidden_states import Batch
from training.labeller import Prepared
from training.labeller_loop import loss_of, train
from training.labeller_plan import RECIPES, Recipe, Stage, make_plan, variant


def test_it_learns(prepared: Prepared, recipe: Recipe, word_bert: Path, tmp_path: Path) -> None:
    trainer = fresh_labeller(recipe, word_bert)
    train(trainer, prepared.corpora, prepared.checks, tmp_path, say_nothing)
    run = json.loads((tmp_path / "run.json").read_text())
    losses = [entry["loss"] for entry in run["history"]]
    assert losses[-1] < losses[0]
    last = run["history"][-1]
    assert last["dev"]["micro_f1"] > 90
    assert set(last) >= {"held_out", "held_out_titled", "medline_held_out"}
    assert run["recipe"]["seed"] == recipe.seed
    assert load_labeller(tmp_path).layer == 1


def test_words_are_weighed_after_training(prepared: Prepared, word_bert: Path, tmp_path: Path) -> None:
    stage = Stage("all", 2, 1e-2, 1e-2, {"csabstruct": 1.0})
    light = replace(RECIPES["shipped"], stages=(stage,), tokens=256, average=0.5)
    trainer = fresh_labeller(light, word_bert)
    train(trainer, prepared.corpora, prepared.checks, tmp_path, say_nothing)
    assert trainer.averaged().pool.weight.abs().max() > 1e-3
    assert trainer.history[-1]["loss"] < trainer.history[0]["loss"]


def test_a_stopped_run_ends_like_one_that_was_not(
    prepared: Prepared, recipe: Recipe, word_bert: Path, tmp_path: Path
) -> None:
    given = prepared.corpora, prepared.checks
    (tmp_path / "whole").mkdir()
    (tmp_path / "stopped").mkdir()
    whole = train(fresh_labeller(recipe, word_bert), *given, tmp_path / "whole", say_nothing)

    def stop(line: str) -> None:
        if line.startswith("csabstruct epoch 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(fresh_labeller(recipe, word_bert), *given, tmp_path / "stopped", stop)
    said: list[str] = []
    resumed = train(fresh_labeller(recipe, word_bert), *given, tmp_path / "stopped", said.append)
    assert said[0].startswith("going on at step")
    for ours, theirs in zip(whole.parameters(), resumed.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_the_average_of_a_stage_begins_with_it(
    prepared: Prepared, recipe: Recipe, word_bert: Path, tmp_path: Path
) -> None:
    """At first the kept weights are the mean of all steps of the stage, none of those before."""
    trainer = fresh_labeller(recipe, word_bert)
    plan = make_plan(recipe, prepared.corpora)
    first = next(number for number, step in enumerate(plan) if step.stage == 1)
    seen = []
    for step in plan[: first + 3]:
        states = variant(prepared.corpora[step.corpus], step.stage + step.epoch)
        trainer.advance(step, states.batch(list(step.numbers), CPU))
        seen.append({name: value.clone() for name, value in trainer.labeller.state_dict().items()})
    for name, value in trainer.averaged().state_dict().items():
        torch.testing.assert_close(value, torch.stack([one[name] for one in seen[first:]]).mean(0))


def test_loss_by_hand() -> None:
    """An even guess costs log 5 whatever the weights, and a sentence without a target costs nothing."""
    labeller = FacetLabeller(Shape(layer=1, layers=1, hidden=16, heads=4, inner=32))
    torch.nn.init.zeros_(labeller.head.weight)
    torch.nn.init.zeros_(labeller.head.bias)
    wanted = torch.zeros(1, 2, 5)
    wanted[0, 0, 2] = 0.3
    owners = torch.tensor([[[0, 1, 0, 0.0], [0, 0, 1, 0]]])
    batch = Batch(torch.randn(1, 4, 16), torch.ones(1, 4), owners, wanted)
    assert float(loss_of(labeller, batch).detach()) == pytest.approx(np.log(5))
