"""evaluation merging: what it counts, and that the import joins and keeps apart what it can tell."""

from __future__ import annotations

from evaluation.merging import OTHERS, SAME, Labelled, join, make, measure
from search.types import Paper

SUBJECTS = "rain snow hail wind fog frost heat storm cloud dew mist drought flood".split()


def _papers(count: int) -> list[Paper]:
    return [
        Paper(
            f"p{number}",
            f"The {SUBJECTS[number % 13]} of region {number} and how {SUBJECTS[number * 5 % 13]} changes it",
            " ".join(f"{SUBJECTS[(number + step) % 13]}{number * step}" for step in range(30)) + ".",
            (f"Family{number}, Given", f"Second{number}, Given"),
            2000 + number % 20,
        )
        for number in range(count)
    ]


def test_pairs_are_counted():
    records = [Labelled(Paper(f"{n}-a", "t"), n // 2, "") for n in range(4)]
    all_right = measure(records, ["a", "a", "b", "b"])
    assert (all_right.precision, all_right.recall) == (1, 1)
    all_in_one = measure(records, ["a", "a", "a", "a"])
    assert (all_in_one.precision, all_in_one.recall) == (2 / 6, 1)


def test_the_import_joins_the_same_and_no_others():
    records = make(_papers(4 * len(SAME | OTHERS)))
    at_import, _ = join(records)
    found = measure(records, at_import)
    assert found.precision == 1
    assert all(found.joined[name] == 0 for name in OTHERS)
    sure = ("initials, no DOI", "capitals and stops, no DOI", "same DOI, letter lost", "no DOI, no abstract")
    assert all(found.joined[name] == 1 for name in sure)
