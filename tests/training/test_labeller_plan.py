"""All batches of a run of the labeller are fixed by the seed."""

from __future__ import annotations

from dataclasses import replace

from training.labeller import Prepared
from training.labeller_plan import Recipe, Stage, make_plan


def test_the_same_seed_gives_the_same_plan(prepared: Prepared, recipe: Recipe) -> None:
    first, second = make_plan(recipe, prepared.corpora), make_plan(recipe, prepared.corpora)
    other = make_plan(replace(recipe, seed=8), prepared.corpora)
    assert [list(step.numbers) for step in first] == [list(step.numbers) for step in second]
    assert [list(step.numbers) for step in first] != [list(step.numbers) for step in other]
    assert next(step.progress for step in first if step.stage == 1) == 0


def test_an_epoch_sees_every_abstract_once(prepared: Prepared, recipe: Recipe) -> None:
    plan = make_plan(recipe, prepared.corpora)
    seen = [
        number
        for step in plan
        if (step.stage, step.epoch, step.corpus) == (1, 0, "csabstruct")
        for number in step.numbers
    ]
    assert sorted(seen) == list(range(len(prepared.corpora["csabstruct"][0])))


def test_a_corpus_that_is_not_there_is_left_out(prepared: Prepared, recipe: Recipe) -> None:
    stage = Stage("both", 1, 1e-3, 1e-3, {"csabstruct": 1.0, "taught": 1.0})
    plan = make_plan(replace(recipe, stages=(stage,)), prepared.corpora)
    assert {step.corpus for step in plan} == {"csabstruct"}
