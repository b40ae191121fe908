"""The graded pools that ship, and which of them are learned from."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from search.errors import InputError
from tests.training.made import record, some_document, write_lines
from training.cocited_pairs import is_held_out
from training.judgements import JUDGEMENTS, SOURCE_MARK, Graded, choose_rounds, read_graded, read_judged
from training.papers import ACL, CITED, CSFCUBE

ROUNDS = {1: 300, 2: 300, 3: 300, 4: 300, 5: 892}
"""Pools by round."""


def test_the_shipped_judgements_are_complete() -> None:
    lines = [json.loads(line) for line in JUDGEMENTS.read_text(encoding="utf-8").splitlines()]
    assert Counter(line["round"] for line in lines) == ROUNDS
    graded = read_graded()
    assert len(graded) == len({(one.round, one.id) for one in graded}) == 2_092
    assert sum(len(one.grades) for one in graded) == 31_915
    assert {grade for one in graded for grade in one.grades.values()} == {0, 1, 2, 3}
    assert {one.facet for one in graded} == {"background", "method", "result"}
    assert all(one.sentences and one.query not in one.grades for one in graded)


def test_no_shipped_pool_asks_for_a_paper_of_the_co_citation_test() -> None:
    cited = {paper for one in read_graded() for paper in (one.query, *one.grades) if SOURCE_MARK in paper}
    assert cited
    assert not [paper for paper in cited if is_held_out(paper)]


def test_the_shipped_rounds_are_those_that_can_be_chosen() -> None:
    graded = read_graded()
    assert list(choose_rounds(graded)) == list(ROUNDS)
    for number, count in ROUNDS.items():
        (chosen,) = choose_rounds(graded, [number]).items()
        assert (chosen[0], len(chosen[1])) == (number, count)
    with pytest.raises(InputError, match="There is no round 6 in the judgements; choose from 1, 2, 3, 4, 5"):
        choose_rounds(graded, [6])


def test_only_ids_of_the_citation_collection_name_a_source() -> None:
    marked = {
        one.round: {SOURCE_MARK in paper for paper in (one.query, *one.grades)} for one in read_graded()
    }
    assert marked == {1: {False}, 2: {False}, 3: {False}, 4: {False}, 5: {True}}


def test_judgements_are_read_line_by_line(tmp_path: Path) -> None:
    line = {"query": "q", "facet": "method", "sentences": [1, 2], "grades": {"a": 3}, "again": {"a": 1}}
    first, second = read_graded(write_lines(tmp_path / "j.jsonl", [line, {"round": 2} | line]))
    assert first == Graded("q", "method", (1, 2), {"a": 3}, 1)
    assert second == Graded("q", "method", (1, 2), {"a": 3}, 2)
    broken = write_lines(tmp_path / "broken.jsonl", [line, {"query": "q"}])
    with pytest.raises(InputError, match=r"Line 2 of .*broken\.jsonl lacks 'sentences'"):
        read_graded(broken)


def test_rounds_come_in_the_order_they_are_asked_for() -> None:
    graded = [Graded(f"q{number}", "method", (0,), {"a": 1}, 1 + number % 3) for number in range(6)]
    chosen = choose_rounds(graded, [3, 2])
    assert [(number, [one.query for one in some]) for number, some in chosen.items()] == [
        (3, ["q2", "q5"]),
        (2, ["q1", "q4"]),
    ]


def test_few_unrelated_candidates_are_kept_always_the_same() -> None:
    grades = {f"p{number}": number % 4 for number in range(20)}
    one = Graded("q", "method", (0,), grades)
    few = one.with_zeros(2)
    assert {paper: grade for paper, grade in few.grades.items() if grade} == {
        paper: grade for paper, grade in grades.items() if grade
    }
    assert sum(grade == 0 for grade in few.grades.values()) == 2
    assert few == one.with_zeros(2)
    assert one.with_zeros(5).grades == grades
    assert set(few.grades) < set(one.with_zeros(3).grades)


def test_what_is_held_out_depends_on_the_id_alone() -> None:
    def held_out_with(grades: dict[str, int]) -> list[str]:
        some = [Graded(f"paper{number}", "method", (0,), grades) for number in range(2000)]
        return [one.id for one in some if one.held_out]

    held_out = held_out_with({"a": 1})
    assert held_out == held_out_with({"b": 0, "c": 3})
    assert 0.08 < len(held_out) / 2000 < 0.12
    # Written down: pools that were trained on once may never be scored as unseen.
    assert held_out[:4] == [f"paper{number}_method" for number in (7, 18, 19, 28)]


def test_graded_papers_come_from_the_file_that_has_them(tmp_path: Path) -> None:
    write_lines(tmp_path / ACL, [record(id, some_document(1), f"In one, {id}") for id in ("p0", "p1")])
    others = [record(id, some_document(2), f"In other, {id}") for id in ("s:c0", "s:c1")]
    write_lines(tmp_path / CITED, others)
    write_lines(tmp_path / CSFCUBE, [{"title": "in other s c1"}])

    def read(query: str, *others: str) -> dict[str, str]:
        graded = Graded(query, "method", (0,), dict.fromkeys(others, 1))
        return {id: document.title for id, document in read_judged(tmp_path, [graded]).items()}

    assert read("p0", "s:c0", "s:c1") == {"p0": "In one, p0", "s:c0": "In other, s:c0"}
    (tmp_path / CITED).unlink()
    assert read("p0", "p1") == {"p0": "In one, p0", "p1": "In one, p1"}
    with pytest.raises(InputError, match="There is no file"):
        read("p0", "s:c0")
