"""Avoiding, measured: the pools, the order that a weight gives, and the command on a small corpus."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evaluation.__main__ import main
from evaluation.avoid import JUDGED, Answered, Pool, answer, read_pools, value
from evaluation.engine_under_test import open_built
from search.errors import InputError
from tests.miniature import METHODS, PROBLEMS, build_miniature

POOL = Pool("q", {"both": 2, "method": 2, "none": 0}, {"both": 2, "method": 0, "none": 0})


def write(file: Path, *records: dict[str, object]) -> Path:
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return file


def test_what_is_near_and_avoided_falls_as_the_weight_grows() -> None:
    answered = Answered(
        POOL, {"both": 1.0, "method": 0.8, "none": 0.1}, {"both": 0.9, "method": 0.4, "none": 0}
    )
    assert answered.order(0, 0.4) == ["both", "method", "none"]
    assert answered.order(1, 0.4) == ["method", "both", "none"]
    assert answered.order(1, 0.9) == ["both", "method", "none"]
    before, after = value(answered, 0, 0.4), value(answered, 1, 0.4)
    assert POOL.wanted("method") == 2 > POOL.wanted("both") == 0
    assert (before.method, after.method) == (100, 100)
    assert (before.wanted, after.wanted) == (100, 100)  # ranks 1 and 2 weigh the same
    last = value(answered, 9, 0.4)
    assert last.method < 100 == last.wanted


def test_a_pool_without_wanted_papers_has_no_value_for_them() -> None:
    pool = Pool("q", {"a": 1, "b": 0}, {"a": 1, "b": 1})
    found = value(Answered(pool, {"a": 1.0, "b": 0.5}, {"a": 0.0, "b": 0.0}), 1, 0.4)
    assert np.isnan(found.wanted)
    assert found.background_of_first == 1
    assert found.method_of_first == 0.5


def test_pools_must_grade_the_same_papers_twice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Pool 1 of .* needs a query, grades and"):
        read_pools(write(tmp_path / "pools.jsonl", {"query": "q", "grades": {}}))
    with pytest.raises(InputError, match="must grade the same papers twice"):
        read_pools(write(tmp_path / "pools.jsonl", {"query": "q", "grades": {"a": 1}, "beside": {"b": 1}}))


def test_the_shipped_pools_hold_ids_and_grades_alone() -> None:
    pools = read_pools(JUDGED)
    assert len({pool.query for pool in pools}) == len(pools) >= 60
    for pool in pools:
        assert pool.query not in pool.method
        assert {*pool.method.values(), *pool.background.values()} <= {0, 1, 2, 3}
    assert {key for line in JUDGED.read_text().splitlines() for key in json.loads(line)} == {
        "query", "facet", "sentences", "grades", "beside",
    }  # fmt: skip


@pytest.mark.slow
def test_the_command_says_what_avoiding_is_worth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = build_miniature(tmp_path / "corpus")
    ids = [f"{problem}-{method}" for problem in PROBLEMS for method in METHODS]
    records = [
        {
            "query": query,
            "grades": {id: 3 * (id.split("-")[1] == query.split("-")[1]) for id in ids if id != query},
            "beside": {id: 3 * (id.split("-")[0] == query.split("-")[0]) for id in ids if id != query},
        }
        for query in ids[:6]
    ]
    judged = write(tmp_path / "pools.jsonl", *records)
    answered = list(answer(open_built(corpus), read_pools(judged)))
    near, far = (
        np.mean([value(each, weight, 0.4).background_of_first for each in answered]) for weight in (0.0, 1.0)
    )
    assert far < near or far == near == 0
    assert main(["avoid", "--corpus", str(corpus), "--judgements", str(judged), "--weights", "0", "1"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("all, ")]
    assert [row[3] for row in rows] == ["0", "1"]
