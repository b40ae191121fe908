"""A reader of query and candidate at once: what it is given, how it starts, and that it learns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from search.encoder.loading import packer_of
from search.encoder.windows import Packer
from tests.training.made import CPU, DOCUMENTS, load, random_vectors, say_nothing
from training import close_reader
from training.close_reader import ASKED, FOUND, FOUND_IN_PANEL, MOST_FOUND, CloseReader, pair_up
from training.close_reading import ReaderRecipe, Reading, read_all, values
from training.fine_tuning import Trainer, train
from training.judgements import Graded
from training.reader import describe
from training.score_parts import GRID, TODAY, Parts, read_parts


@pytest.fixture(autouse=True)
def _in_full_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(close_reader, "autocast", lambda device: torch.autocast(device.type, enabled=False))


@pytest.fixture(scope="module")
def pools() -> list[Parts]:
    random = np.random.default_rng(6)
    graded = []
    for query, facet in (("p00", "background"), ("p05", "method"), ("p09", "result")):
        chosen = random.choice([id for id in DOCUMENTS if id != query], 8, replace=False)
        grades = dict(zip(map(str, chosen), (3, 2, 2, 1, 0, 0, 0, 0), strict=True))
        graded.append(Graded(query, facet, (1,), grades))
    return list(read_parts(graded, DOCUMENTS, random_vectors))


@pytest.fixture
def reader(bert: Path) -> CloseReader:
    torch.manual_seed(1)
    return CloseReader(load(bert), trained=1, dropout=0.0)


@pytest.fixture(scope="module")
def packer(bert: Path) -> Packer:
    return packer_of(bert, "[CLS]", "[SEP]", "[UNK]")


def test_the_query_stands_before_each_candidate(pools: list[Parts], packer: Packer) -> None:
    pool = pools[1]
    pairs = pair_up(pool, [2, 5], packer)
    words = packer.tokenizer.encode(pool.query.sentences[1], add_special_tokens=False).ids
    for row, place in enumerate((2, 5)):
        assert pairs.ids[row][pairs.marks[row] == ASKED].tolist() == words
        for number, text in enumerate(pool.papers[place].sentences[:2]):
            mine = pairs.sentences[row] == number
            whole = packer.tokenizer.encode(text, add_special_tokens=False).ids
            assert pairs.ids[row][mine].tolist() == whole[: int(mine.sum())]
            mark = FOUND_IN_PANEL if pool.in_panel[place][number] else FOUND
            assert set(pairs.marks[row][mine].tolist()) == {mark}
    assert pairs.ids.shape[1] <= close_reader.MOST_ASKED + MOST_FOUND


def test_nothing_is_added_at_first(pools: list[Parts], reader: CloseReader, packer: Packer) -> None:
    for pool, added in zip(pools, read_all(reader, pools, packer), strict=True):
        assert added.tolist() == [0.0] * len(pool.grades)


def test_pads_and_company_make_no_difference(pools: list[Parts], reader: CloseReader, packer: Packer) -> None:
    torch.nn.init.normal_(reader.out.weight)
    together, alone = (reader.eval()(pair_up(pools[0], some, packer)) for some in ([0, 1, 2], [1]))
    torch.testing.assert_close(together[1], alone[0], atol=1e-4, rtol=1e-4)


def test_it_learns_what_search_does_not_know(
    pools: list[Parts], reader: CloseReader, packer: Packer, tmp_path: Path
) -> None:
    recipe = ReaderRecipe(epochs=25, rate=3e-3, average=0.5, noise=0.0, dropout=0.0)
    task = Reading(pools, pools, packer, recipe)
    before = values(pools, read_all(reader, pools, packer), 1)
    lower = {name: one.clone() for name, one in reader.layers[0].state_dict().items()}
    trained = train(Trainer(recipe, reader, CPU), task, tmp_path, say_nothing)
    after = values(pools, read_all(trained, pools, packer), 1)
    assert after[:, 0].mean() > before[:, 0].mean() + 10
    for name, one in trained.layers[0].state_dict().items():
        torch.testing.assert_close(one, lower[name])
    said = describe({"held out": pools, "others": pools}, trained, packer).splitlines()
    assert said[0].startswith("added by")
    assert [line.split()[0] for line in said[3:]] == ["held"] * 4 + ["others,"] * 4


def test_it_learns_from_the_best_and_from_what_search_puts_first(pools: list[Parts], packer: Packer) -> None:
    task = Reading(pools, pools, packer, ReaderRecipe(related=2, zeros=1))
    pool = pools[2]
    chosen = task.choose(pool, np.random.default_rng(0))
    scores = pool.scores(GRID[TODAY])
    zeros = sorted((place for place, grade in enumerate(pool.grades) if not grade), key=lambda k: -scores[k])
    assert sorted(pool.grades[place] for place in chosen[:2]) == [2, 3]
    assert chosen[2] in zeros[:2]
