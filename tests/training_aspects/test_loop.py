"""Plans, scores, and a tiny run from end to end."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from search.fusion import WORDS as WORDS_OF_SEARCH
from tests.training_aspects.made import CPU, DOCUMENTS, random_vectors, say_nothing, upper
from training import aspect_loop
from training import aspect_losses as losses
from training.aspect_data import Aligned, Corpus, Graded, Pool, Words, ask_more, make_pools
from training.aspect_loop import AspectTrainer, Checks, CocitedTest, TrainingSet, train
from training.aspect_model import UpperLayers, interpolated
from training.aspect_plan import AspectRecipe, make_plan


def test_a_plan_is_fixed_by_seed_and_sizes_and_takes_every_pool_once_an_epoch() -> None:
    recipe = AspectRecipe(epochs=3, pairs=4, single=1.0)
    plan = make_plan(recipe, pools=5, pairs=9)
    assert plan == make_plan(recipe, 5, 9)
    assert plan != make_plan(replace(recipe, seed=8), 5, 9)
    orders = [[step.pool for step in plan if step.epoch == epoch] for epoch in range(3)]
    assert all(sorted(order) == list(range(5)) for order in orders)
    assert len(set(map(tuple, orders))) > 1
    assert all(len(set(step.pairs)) == 4 and set(step.pairs) <= set(range(9)) for step in plan)
    assert [step.number for step in plan] == list(range(15))
    assert [step.progress for step in plan] == pytest.approx(np.arange(15) / 15)


@pytest.mark.parametrize(
    ("recipe", "pairs", "count"),
    [
        (AspectRecipe(pairs=4, single=1.0), 2, 2),
        (AspectRecipe(pairs=4, single=1.0), 0, 0),
        (AspectRecipe(single=0, multi=0, whole=0), 9, 0),
    ],
)
def test_a_step_takes_the_pairs_there_are_and_none_where_no_loss_needs_them(
    recipe: AspectRecipe, pairs: int, count: int
) -> None:
    assert {len(step.pairs) for step in make_plan(recipe, 3, pairs)} == {count}


def some_pools(corpus: Corpus, words: Words) -> list[Pool]:
    random = np.random.default_rng(6)
    graded = []
    for query, facet in (("p00", "background"), ("p05", "method"), ("p09", "result")):
        chosen = random.choice([id for id in list(DOCUMENTS)[:16] if id != query], 7, replace=False)
        grades = dict(zip(map(str, chosen), (3, 2, 2, 1, 0, 0, 0), strict=True))
        graded.append(Graded(query, facet, (0, 1), grades))
    return make_pools(graded, corpus, words, random_vectors(corpus.documents))


def test_pools_are_scored_by_match_whole_and_words(bert: Path, corpus: Corpus, words: Words) -> None:
    model = upper(bert).eval()
    pool = some_pools(corpus, words)[0]
    vectors = aspect_loop.encode(model, corpus, [pool.query, *pool.candidates], CPU)
    asked, whole = vectors[pool.query][0][:2], vectors[pool.query][1]
    candidates = zip(pool.candidates, pool.roles, strict=True)
    match = np.array(
        [(asked @ vectors[paper][0].T + 0.05 * role).max(axis=1).mean() for paper, role in candidates]
    )
    assert any(role.any() for role in pool.roles)
    wholes = np.array([whole @ vectors[paper][1] for paper in pool.candidates])
    expected = match + aspect_loop.WHOLE * wholes + aspect_loop.WORDS_LEARNED * pool.words
    with torch.inference_mode():
        seen = aspect_loop.see(model, corpus, [pool.query, *pool.candidates], CPU)
    found = aspect_loop.pool_scores(seen, pool).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert pool.words.max() > 0
    # Graded in the very order of what search would give, a pool is ranked without a mistake.
    found = match + WORDS_OF_SEARCH * pool.words
    best = replace(pool, grades=tuple((found.argsort().argsort() // 2).tolist()))
    assert aspect_loop.score_pools(model, corpus, [best], CPU)["all"] == [100, 100]
    worst = replace(pool, grades=tuple(((-found).argsort().argsort() // 2).tolist()))
    assert max(aspect_loop.score_pools(model, corpus, [worst], CPU)["background"]) < 90


def test_pools_nobody_graded_ask_for_another_facet_and_hold_the_teachers_nearest(
    corpus: Corpus, words: Words
) -> None:
    labelled, teacher = random_vectors(corpus.documents), corpus.teacher
    assert teacher is not None
    pools = some_pools(corpus, words)
    made = ask_more(pools, corpus, words, labelled, 3)
    assert made
    assert [pool.id for pool in made] == [pool.id for pool in ask_more(pools, corpus, words, labelled, 3)]
    facets = {pool.query: pool.facet for pool in pools}
    for pool in made:
        assert pool.grades == ()
        assert pool.facet != facets[pool.query]
        assert all(labelled.roles(pool.query, pool.facet)[list(pool.sentences)] == 1)
        assert pool.query not in pool.candidates
        assert len(set(pool.candidates)) == len(pool.candidates)
        assert all(corpus.window[paper] >= 0 for paper in pool.candidates)
        asked = teacher.of(pool.query)[list(pool.sentences)]
        found = words.likeness(corpus.documents[pool.query], pool.sentences, list(corpus.place))
        total = [(asked @ teacher.of(paper).T).max(1).mean() + found[paper] for paper in range(16)]
        total[pool.query] = -1
        assert set(np.argsort(total)[-5:]) <= set(pool.candidates)
        assert len(pool.candidates) == len(pool.words) == len(pool.roles)
        np.testing.assert_allclose(pool.words, found[list(pool.candidates)])


def test_a_teacher_ranks_pools_nobody_graded(
    bert: Path, corpus: Corpus, words: Words, tmp_path: Path
) -> None:
    pools = ask_more(some_pools(corpus, words), corpus, words, random_vectors(corpus.documents), 3)
    trainer = fresh(bert, AspectRecipe(epochs=10, rate=3e-3, ranked=1.0, dropout=0.0))
    train(trainer, TrainingSet([(corpus, pool) for pool in pools]), Checks({}, None), tmp_path, say_nothing)
    lost = [entry["losses"] for entry in trainer.history[1:]]
    assert set(lost[0]) == {"ranked"}
    assert lost[-1]["ranked"] < 0.9 * lost[0]["ranked"]


def test_cocited_papers_are_ranked_among_those_that_are_not(bert: Path, corpus: Corpus) -> None:
    """Neither the query itself nor another paper it is co-cited with is a mistake before the right one."""
    model, pool = upper(bert).eval(), [3, 0, 8, 5, 2, 11]
    queries = [(0, 8), (5, 3), (7, 11)]
    vectors = aspect_loop.encode(model, corpus, range(16), CPU)
    orders = {}
    for query, _ in queries:
        total = {
            paper: (vectors[query][0] @ vectors[paper][0].T).max(axis=1).mean()
            + aspect_loop.WHOLE * (vectors[query][1] @ vectors[paper][1])
            for paper in pool
            if paper != query
        }
        orders[query] = sorted(total, key=lambda paper: -total[paper])
    alone = {query: {right} for query, right in queries}
    before = {query: {right, *orders[query][: orders[query].index(right)]} for query, right in queries}
    assert before != alone
    for partners in (alone, before):
        ranks = [
            [paper for paper in orders[query] if paper == right or paper not in partners[query]].index(right)
            + 1
            for query, right in queries
        ]
        expected = 100 * np.mean(1 / np.array(ranks))
        known = {query: frozenset(some) for query, some in partners.items()}
        found = aspect_loop.score_cocited(model, CocitedTest(corpus, queries, pool, known), CPU)
        assert found == pytest.approx(expected, abs=0.006)
        assert (found == 100) == (partners is before)


RECIPE = AspectRecipe(
    epochs=3,
    rate=3e-3,
    average=0.5,
    pairs=3,
    ranked=1.0,
    relations=1.0,
    directions=1.0,
    single=0.5,
    multi=0.5,
    whole=0.25,
    share=1.0,
)
"""Every loss, and all the way."""


@pytest.fixture(scope="module")
def everything(corpus: Corpus, words: Words) -> tuple[TrainingSet, Checks]:
    """Pools of a corpus with a teacher and co-cited pairs: every loss takes part."""
    pools = some_pools(corpus, words)
    pairs = [Aligned(1, 4, 0, 1), Aligned(2, 6, 1, 0), Aligned(12, 13, 0, 0), Aligned(10, 1, 1, 1)]
    negatives = [[3, 7], [8], [], [14, 15]]
    data = TrainingSet([(corpus, pool) for pool in pools], corpus, pairs, negatives)
    test = CocitedTest(corpus, [(1, 4), (2, 6)], [4, 6, 8, 9], {1: frozenset({4}), 2: frozenset({6})})
    return data, Checks({"dev": (corpus, pools)}, test)


def fresh(bert: Path, recipe: AspectRecipe = RECIPE) -> AspectTrainer:
    mapping = torch.randn(32, 24, generator=torch.Generator().manual_seed(5))
    return AspectTrainer(recipe, upper(bert, recipe.dropout), mapping, CPU)


def folder_in(path: Path, name: str) -> Path:
    (path / name).mkdir()
    return path / name


def assert_same_weights(one: UpperLayers, other: UpperLayers) -> None:
    for name, value in one.state_dict().items():
        torch.testing.assert_close(value, other.state_dict()[name])


def differ(one: UpperLayers, other: UpperLayers) -> bool:
    theirs = other.state_dict()
    return any(not torch.allclose(value, theirs[name]) for name, value in one.state_dict().items())


def stop_at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that ends before this step, with a checkpoint after every one before it."""
    advance = AspectTrainer.advance

    def one_less(trainer: AspectTrainer, *given: Any) -> dict[str, float]:
        if trainer.step == number:
            raise KeyboardInterrupt
        return advance(trainer, *given)

    monkeypatch.setattr(aspect_loop, "SECONDS_BETWEEN_CHECKPOINTS", -1.0)
    monkeypatch.setattr(AspectTrainer, "advance", one_less)


@pytest.mark.parametrize("number", [4, 6])  # within an epoch, and where one begins
def test_a_stopped_run_ends_like_one_that_was_not(
    bert: Path,
    everything: tuple[TrainingSet, Checks],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    whole = fresh(bert)
    ended = train(whole, *everything, folder_in(tmp_path, "whole"), say_nothing)
    stopped = folder_in(tmp_path, "stopped")
    with monkeypatch.context() as patch:
        stop_at(number, patch)
        with pytest.raises(KeyboardInterrupt):
            train(fresh(bert), *everything, stopped, say_nothing)
    said: list[str] = []
    resumed = fresh(bert)
    assert_same_weights(train(resumed, *everything, stopped, said.append), ended)
    assert_same_weights(resumed.model, whole.model)
    torch.testing.assert_close(resumed.mapping, whole.mapping)
    assert said[0] == f"going on at step {number} of 9"
    assert [entry["scores"] for entry in resumed.history] == [entry["scores"] for entry in whole.history]
    assert differ(ended, upper(bert))


def test_a_run_writes_down_what_it_did(
    bert: Path, everything: tuple[TrainingSet, Checks], tmp_path: Path
) -> None:
    trainer = fresh(bert)
    train(trainer, *everything, tmp_path, say_nothing)
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["recipe"]["rate"] == RECIPE.rate
    assert [entry["step"] for entry in run["history"]] == [0, 3, 6, 9]
    expected = {"graded", "ranked", "relations", "directions", "single", "multi", "whole"}
    assert all(set(entry["losses"]) == expected for entry in run["history"][1:])
    assert set(run["history"][0]["scores"]["dev"]) >= {"all", "background", "method", "result"}
    assert 0 < run["history"][-1]["scores"]["cocited_mrr"] <= 100
    train(fresh(bert), *everything, folder_in(tmp_path, "later"), say_nothing, score_first=False)
    later = json.loads((tmp_path / "later" / "run.json").read_text())
    assert [entry["epoch"] for entry in later["history"]] == [1, 2, 3]


def test_it_learns_to_rank_the_pools(
    bert: Path, everything: tuple[TrainingSet, Checks], tmp_path: Path
) -> None:
    data, checks = everything
    untaught = TrainingSet([(replace(corpus, teacher=None), pool) for corpus, pool in data.pools])
    recipe = replace(RECIPE, epochs=8, dropout=0.0, single=0, multi=0, whole=0)
    trainer = fresh(bert, recipe)
    train(trainer, untaught, checks, tmp_path, say_nothing)
    lost = [entry["losses"]["graded"] for entry in trainer.history[1:]]
    assert lost[-1] < lost[0] / 2
    first, last = (trainer.history[place]["scores"]["dev"]["all"] for place in (0, -1))
    assert last[0] > first[0]


def test_pools_with_and_without_a_teacher_train_together(
    bert: Path, everything: tuple[TrainingSet, Checks], tmp_path: Path
) -> None:
    """A loss that only some steps have is the mean over those."""
    (corpus, pool), *others = everything[0].pools
    bare = [(replace(one, teacher=None), other) for one, other in others]
    trainer = fresh(bert, replace(RECIPE, epochs=1, rate=0.0, dropout=0.0))
    train(trainer, TrainingSet([(corpus, pool), *bare]), Checks({}, None), tmp_path, say_nothing)
    alone = fresh(bert, replace(RECIPE, epochs=1, rate=0.0, dropout=0.0))
    train(alone, TrainingSet([(corpus, pool)]), Checks({}, None), folder_in(tmp_path, "alone"), say_nothing)
    mixed, single = (one.history[-1]["losses"] for one in (trainer, alone))
    assert mixed["relations"] == pytest.approx(single["relations"], abs=1e-3)
    assert mixed["graded"] != pytest.approx(single["graded"], abs=1e-3)


@pytest.mark.parametrize("name", ["ranked", "relations", "directions", "single", "multi", "whole"])
def test_each_loss_falls_when_it_is_learned_alone(
    bert: Path, everything: tuple[TrainingSet, Checks], tmp_path: Path, name: str
) -> None:
    data, _ = everything
    names = ("graded", "ranked", "relations", "directions", "single", "multi", "whole")
    others = dict.fromkeys(names, 0.0)
    recipe = replace(RECIPE, epochs=10, dropout=0.0, pairs=4, **(others | {name: 1.0}))
    trainer = fresh(bert, recipe)
    train(trainer, data, Checks({}, None), tmp_path, say_nothing)
    lost = [entry["losses"][name] for entry in trainer.history[1:]]
    assert lost[-1] < 0.9 * lost[0]


def test_a_pair_of_citing_and_cited_carries_no_single_match(
    bert: Path, everything: tuple[TrainingSet, Checks], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, _ = everything
    bare = [Aligned(one.first, one.second) for one in data.pairs]
    rows: list[int] = []
    contrast = losses.contrast

    def counting(scores: torch.Tensor, *given: Any) -> torch.Tensor:
        rows.append(len(scores))
        return contrast(scores, *given)

    monkeypatch.setattr(losses, "contrast", counting)
    recipe = replace(RECIPE, epochs=1, stop=1, pairs=4)
    for pairs, learned, counted in (
        ([*data.pairs[:3], bare[3]], {"single", "multi", "whole"}, [3, 4, 4]),
        (bare, {"multi", "whole"}, [4, 4]),
    ):
        rows.clear()
        trainer = fresh(bert, recipe)
        out = folder_in(tmp_path, str(len(learned)))
        train(trainer, replace(data, pairs=pairs), Checks({}, None), out, say_nothing, score_first=False)
        assert learned == {"single", "multi", "whole"} & set(trainer.history[-1]["losses"])
        assert rows == counted


def test_the_share_says_how_far_the_result_moves(
    bert: Path, everything: tuple[TrainingSet, Checks], tmp_path: Path
) -> None:
    made = {}
    for share in (0.0, 0.5, 1.0):
        trainer = fresh(bert, replace(RECIPE, epochs=1, share=share))
        made[share] = train(trainer, *everything, folder_in(tmp_path, str(share)), say_nothing)
    assert_same_weights(made[0.0], upper(bert))
    start, half, end = (made[share].tensors() for share in made)
    for name, tensor in interpolated(start, end, 0.5).items():
        torch.testing.assert_close(half[name], tensor)
    assert differ(made[1.0], made[0.0])


def test_a_run_can_be_broken_off_at_a_step(
    bert: Path, everything: tuple[TrainingSet, Checks], tmp_path: Path
) -> None:
    trainer = fresh(bert, replace(RECIPE, stop=4))
    train(trainer, *everything, tmp_path, say_nothing, score_first=False)
    assert trainer.step == 4
    assert [entry["step"] for entry in trainer.history] == [3, 4]


def test_the_average_of_all_steps_at_first(bert: Path, everything: tuple[TrainingSet, Checks]) -> None:
    """Until the average is as long as the recipe says, start and steps count alike."""
    data, _ = everything
    trainer = fresh(bert, replace(RECIPE, average=0.99))
    seen = [{name: value.clone() for name, value in trainer.model.state_dict().items()}]
    for step in make_plan(trainer.recipe, len(data.pools), len(data.pairs))[:4]:
        trainer.advance(step, data)
        seen.append({name: value.clone() for name, value in trainer.model.state_dict().items()})
    for name, value in trainer.averaged().state_dict().items():
        torch.testing.assert_close(value, torch.stack([one[name] for one in seen]).mean(0))
