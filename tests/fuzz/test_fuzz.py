"""A short run over damaged files, and that reading takes work in proportion to the file."""

from __future__ import annotations

import random

import pytest

from index_build.sources import FORMATS, Reason, Reject, detect
from search.types import Paper
from tests.fuzz import long_lines
from tests.fuzz.checks import ALONE, TITLES, read_whole, run, work_of
from tests.fuzz.damage import damage
from tests.fuzz.files import make_files


def test_the_whole_files_are_read_whole() -> None:
    files = make_files()
    assert set(files) == set(FORMATS) - {"pdf"} | {"answer", "ovid fields"}
    for kind, file in files.items():
        assert detect(file, "file") == kind.replace("answer", "jsonl").replace("ovid fields", "ovid")
        items = read_whole(file, "file")
        rejects = [item.reason for item in items if isinstance(item, Reject)]
        assert rejects == ([Reason.NO_ABSTRACTS] if kind == "dblp" else [])
        titles = tuple(item.title for item in items if isinstance(item, Paper))
        assert titles == (TITLES[:1] if kind in ALONE else TITLES)


@pytest.mark.slow
def test_damaged_files_do_no_harm() -> None:
    findings = run(count=900, seed=1)
    assert findings.faults == []
    assert findings.files == 900
    assert findings.papers > 900


@pytest.mark.parametrize("kind", make_files())
def test_work_grows_with_the_file(kind: str) -> None:
    dice = random.Random(kind)
    file = make_files()[kind]
    for data in (file, damage(file, dice), damage(file, dice)):
        few, many = work_of(data * 20), work_of(data * 80)
        assert many < 5 * few + 20_000


def test_long_lines_of_every_kind_are_read_or_named() -> None:
    rows = list(long_lines.measure(sizes=(2_000, 4_000)))
    assert len(rows) == len(long_lines.FIELDS) * len(long_lines.FILLS)
    assert all(len(row.seconds) == 2 for row in rows)
    assert not long_lines.Row("title", "words", (0.1, 0.4)).is_linear
