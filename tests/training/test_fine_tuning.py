"""Plans, averages, checkpoints, and what a run writes down."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.training.made import CPU, differ, moved, say_nothing, some_pools, upper
from training import fine_tuning
from training.corpus import Corpus, Words
from training.fine_tuning import Recipe, Trainer, make_plan, slope, train
from training.pool_ranking import PoolRanking
from training.pools import PoolSet
from training.upper_layers import UpperLayers, interpolate

RECIPE = Recipe(epochs=3, rate=3e-3, average=0.5)


@pytest.fixture(scope="module")
def task(corpus: Corpus, words: Words) -> PoolRanking:
    pools = some_pools(corpus, words)
    return PoolRanking([(corpus, pool) for pool in pools], {"dev": PoolSet(corpus, pools)})


def fresh(bert: Path, recipe: Recipe = RECIPE) -> Trainer:
    return Trainer(recipe, upper(bert, recipe.dropout), CPU)


def folder_in(path: Path, name: str) -> Path:
    (path / name).mkdir()
    return path / name


def assert_same_weights(one: UpperLayers, other: UpperLayers) -> None:
    for name, value in one.state_dict().items():
        torch.testing.assert_close(value, other.state_dict()[name])


@pytest.mark.parametrize(("batch_size", "steps"), [(1, 5), (2, 3), (9, 1)])
def test_a_plan_is_fixed_by_seed_and_sizes_and_takes_every_example_once_an_epoch(
    batch_size: int, steps: int
) -> None:
    plan = make_plan(RECIPE, 5, batch_size)
    assert plan == make_plan(RECIPE, 5, batch_size)
    assert plan != make_plan(replace(RECIPE, seed=8), 5, batch_size)
    orders = [[n for step in plan if step.epoch == epoch for n in step.examples] for epoch in range(3)]
    assert all(sorted(order) == list(range(5)) for order in orders)
    assert len(set(map(tuple, orders))) > 1
    assert max(len(step.examples) for step in plan) <= batch_size
    assert [step.number for step in plan] == list(range(3 * steps))
    assert [step.progress for step in plan] == pytest.approx(np.arange(3 * steps) / (3 * steps))


def test_no_epochs_give_no_steps() -> None:
    assert make_plan(replace(RECIPE, epochs=0), 5) == []


def test_learning_rate_rises_and_falls() -> None:
    assert [slope(at, 0.1) for at in (0.0, 0.05, 0.1, 0.55, 1.0)] == pytest.approx([0, 0.5, 1, 0.5, 0])


def stop_at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that ends before this step, with a checkpoint after every one before it."""
    advance = Trainer.advance

    def one_less(trainer: Trainer, *given: Any) -> dict[str, float]:
        if trainer.step == number:
            raise KeyboardInterrupt
        return advance(trainer, *given)

    monkeypatch.setattr(fine_tuning, "SECONDS_BETWEEN_CHECKPOINTS", -1.0)
    monkeypatch.setattr(Trainer, "advance", one_less)


@pytest.mark.parametrize("number", [4, 6])  # within an epoch, and where one begins
def test_a_stopped_run_ends_like_one_that_was_not(
    bert: Path, task: PoolRanking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    whole = fresh(bert)
    ended = train(whole, task, folder_in(tmp_path, "whole"), say_nothing)
    stopped = folder_in(tmp_path, "stopped")
    with monkeypatch.context() as patch:
        stop_at(number, patch)
        with pytest.raises(KeyboardInterrupt):
            train(fresh(bert), task, stopped, say_nothing)
    said: list[str] = []
    resumed = fresh(bert)
    assert_same_weights(train(resumed, task, stopped, said.append), ended)
    assert_same_weights(resumed.model, whole.model)
    assert said[0] == f"going on at step {number} of 9"
    assert [entry["scores"] for entry in resumed.history] == [entry["scores"] for entry in whole.history]
    assert differ(ended, upper(bert))


def test_a_run_writes_down_what_it_did(bert: Path, task: PoolRanking, tmp_path: Path) -> None:
    train(fresh(bert), task, tmp_path, say_nothing)
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["recipe"]["rate"] == RECIPE.rate
    assert [entry["step"] for entry in run["history"]] == [0, 3, 6, 9]
    assert all(set(entry["losses"]) == {"graded"} for entry in run["history"][1:])
    assert set(run["history"][0]["scores"]["dev"]) >= {"all", "background", "method", "result"}
    train(fresh(bert), task, folder_in(tmp_path, "later"), say_nothing, score_first=False)
    later = json.loads((tmp_path / "later" / "run.json").read_text())
    assert [entry["epoch"] for entry in later["history"]] == [1, 2, 3]


def test_the_share_says_how_far_the_result_moves(bert: Path, task: PoolRanking, tmp_path: Path) -> None:
    made = {}
    for share in (0.0, 0.5, 1.0):
        trainer = fresh(bert, replace(RECIPE, epochs=1, share=share))
        made[share] = train(trainer, task, folder_in(tmp_path, str(share)), say_nothing)
    assert_same_weights(made[0.0], upper(bert))
    start, half, end = (made[share].tensors() for share in made)
    for name, tensor in interpolate(start, end, 0.5).items():
        torch.testing.assert_close(half[name], tensor)
    assert differ(made[1.0], made[0.0])


def test_a_run_can_be_ended_at_a_step(bert: Path, task: PoolRanking, tmp_path: Path) -> None:
    trainer = fresh(bert, replace(RECIPE, stop=4))
    train(trainer, task, tmp_path, say_nothing, score_first=False)
    assert trainer.step == 4
    assert [entry["step"] for entry in trainer.history] == [3, 4]


def test_the_average_of_all_steps_at_first(bert: Path, task: PoolRanking) -> None:
    """Until the average is as long as the recipe says, start and steps count alike."""
    trainer = fresh(bert, replace(RECIPE, average=0.99))
    seen = [{name: value.clone() for name, value in trainer.model.state_dict().items()}]
    for step in make_plan(trainer.recipe, task.examples)[:4]:
        trainer.advance(step, task)
        seen.append({name: value.clone() for name, value in trainer.model.state_dict().items()})
    for name, value in trainer.averaged().state_dict().items():
        torch.testing.assert_close(value, torch.stack([one[name] for one in seen]).mean(0))


@pytest.mark.parametrize("rank", [0, 2])
def test_training_goes_on_from_what_was_trained_before(bert: Path, rank: int) -> None:
    before = moved(upper(bert, rank=rank))
    trained = {name: tensor.numpy() for name, tensor in before.tensors().items()}
    trainer = Trainer(Recipe(rank=rank), upper(bert, rank=rank), CPU)
    untrained = {name: tensor.clone() for name, tensor in trainer.averaged().tensors().items()}
    trainer.begin_with(trained)
    for made in (trainer.model, trainer.averaged()):
        for name, tensor in made.tensors().items():
            torch.testing.assert_close(tensor, torch.from_numpy(trained[name]))
    trainer.recipe = replace(trainer.recipe, share=0.0)
    back = trainer.averaged().tensors()
    for name, tensor in untrained.items():
        if not name.endswith(".down"):
            torch.testing.assert_close(back[name], tensor)
