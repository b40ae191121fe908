"""Short forms of the campaigns, and that a failure is counted, named and gives another exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaign import disk, hostile, load
from tests.campaign.__main__ import CAMPAIGNS, main
from tests.campaign.tally import Effort, Tally, repeat
from tests.campaign.visitors import Journey

ROOT = Path(__file__).resolve().parents[2]
needs_unix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")


def test_failures_are_counted_and_named_by_the_seed_that_repeats_them(tmp_path: Path) -> None:
    def attempt(seed: int) -> tuple[str, str]:
        if seed == 12:
            raise ValueError("could not be tried")
        return ("odd", "it is odd") if seed % 2 else ("even", "")

    tally = repeat("numbers", Effort(4, 10, tmp_path), attempt)
    assert tally.failures == [
        "seed 11 (odd): it is odd",
        "seed 12 (broken): ValueError('could not be tried')",
        "seed 13 (odd): it is odd",
    ]
    assert "| numbers | 4 | 3 |" in str(tally)
    assert "broken 1, even 1, odd 2" in str(tally)
    assert repeat("numbers", Effort(4, 10, tmp_path, minutes=-1), attempt).tries.total() == 0
    assert repeat("numbers", Effort(1, 11, tmp_path), attempt).failures == tally.failures[:1]


def test_the_exit_code_says_whether_anything_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Tally("hostile")
    monkeypatch.setattr(hostile, "run_uploads", lambda effort: found)
    assert main(["hostile"]) == 0
    found.failures.append("seed 3: broken")
    assert main(["hostile"]) == 1
    assert "seed 3: broken" in capsys.readouterr().out


def test_a_sentence_of_any_other_kind_is_a_failure() -> None:
    def wrong() -> None:
        raise KeyError("x")

    assert hostile.told(wrong) == "KeyError: 'x'"
    assert hostile.told(lambda: None) == ""


def test_percentiles() -> None:
    assert load.percentile([1.0], 0.95) == 1.0
    assert load.percentile([float(n) for n in range(101)], 0.95) == 95.0
    assert "2 visitors, 1.00 served a second" in load._in_words(2, [Journey(1.0, [2.0])] * 2, 2.0)


@pytest.mark.slow
def test_links(tmp_path: Path) -> None:
    assert hostile.run_links(Effort(40, 1, tmp_path)).failures == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["kill", "--times", "5"], marks=needs_unix),
        ["flip", "--times", "10"],
        ["hostile", "--times", "30"],
        ["load", "--visitors", "1,3"],
        pytest.param(["soak", "--minutes", "0.05"], marks=needs_unix),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_short_form_finds_nothing(arguments: list[str]) -> None:
    """In a process of its own, as it is used: a browser test that ran in this one leaves an event loop."""
    assert arguments[0] in CAMPAIGNS
    command = [sys.executable, "-m", "tests.campaign", *arguments, "--seed", "100"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"| {arguments[0]} |" in done.stdout


@pytest.mark.slow
def test_a_disk_that_gets_full(tmp_path: Path) -> None:
    try:
        with disk.small_disk(tmp_path / "disk"):
            pass
    except (OSError, disk.subprocess.CalledProcessError):
        pytest.skip("may not mount a small disk")
    assert disk.run(Effort(1, 101, tmp_path)).failures == []
