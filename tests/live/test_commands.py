"""`fetch` and `update` as people and cron run them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from index_build import steps
from index_build.__main__ import main
from search.corpus.layout import current_name
from tests.live import world
from tests.live.client import Servers
from tests.random_encoder import RandomEncoder

Run = Callable[..., int]


@pytest.fixture
def run(servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command with sources that are ours, into one corpus, with an encoder that needs no model."""
    for name, value in servers.environment(most=1000).items():
        monkeypatch.setenv(name, value)
    build = steps.build
    monkeypatch.setattr(
        steps, "build", lambda corpus, settings, progress: build(corpus, settings, progress, RandomEncoder())
    )
    servers.reset(records=20)

    def command(*words: str, **variables: str) -> int:
        for name, value in variables.items():
            monkeypatch.setenv(f"TRIPTYCH_{name.upper()}", value)
        return main(
            [*words, "--out", str(tmp_path / "corpus"), *(["--quiet"] if "--list" not in words else [])]
        )

    return command


def test_count_first_then_fetch_then_serve(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("fetch", "crossref", "rivers", "--count") == 0
    told = capsys.readouterr().out
    assert "Sent to 127.0.0.1" in told
    assert "20 records in about 3 requests" in told
    assert not (tmp_path / "corpus").exists()
    assert run("fetch", "crossref", "rivers", "--yes") == 0
    told = capsys.readouterr().out
    assert "20 records of 20 announced came in 4 requests: 20 papers added" in told
    assert "serves 20 papers" in told
    assert current_name(tmp_path / "corpus")


def test_without_yes_nothing_is_fetched(
    run: Run, servers: Servers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("fetch", "crossref", "rivers") == 2
    assert "add --yes" in capsys.readouterr().err
    assert len(servers.asked("crossref")) == 1
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: "n")
    assert run("fetch", "crossref", "rivers") == 2


def test_the_cost_is_told_beforehand(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fetch", "openalex", "rivers", "--count") == 0
    told = capsys.readouterr().out
    assert "0.0030 US dollars" in told
    assert "openalex_key" in told


def test_update_in_one_line_and_only_when_something_is_new(
    run: Run, servers: Servers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("update") == 3
    assert "Nothing was fetched into" in capsys.readouterr().err
    run("fetch", "crossref", "rivers", "--yes")
    run("fetch", "arxiv", "--category", "cs.CL", "--yes")
    build = current_name(tmp_path / "corpus")
    capsys.readouterr()
    assert run("update") == 0
    assert current_name(tmp_path / "corpus") == build
    assert "2 of 2 fetches up to date: 0 papers added, 0 changed" in capsys.readouterr().out
    servers.reset(records=20, late=[2])
    assert run("update") == 0
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert "2 changed, 0 withdrawn, 0 gaps; serves 20 papers." in line
    assert current_name(tmp_path / "corpus") != build


def test_update_says_what_fails_and_goes_on(
    run: Run, servers: Servers, capsys: pytest.CaptureFixture[str]
) -> None:
    run("fetch", "crossref", "rivers", "--yes")
    run("fetch", "openalex", "rivers", "--yes")
    servers.reset(records=22, key="wanted")
    assert run("update") == 5
    told = capsys.readouterr()
    assert "OpenAlex, rivers: OpenAlex (127.0.0.1" in told.err
    assert "1 of 2 fetches up to date" in told.out


def test_what_is_kept_up_to_date_is_listed_and_forgotten(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run("fetch", "crossref", "rivers", "--yes")
    capsys.readouterr()
    assert run("update", "--list") == 0
    line = capsys.readouterr().out
    assert "Crossref, rivers: 20 records, of 20" in line
    assert run("update", "--forget", line.split()[0]) == 0
    assert "Nothing is kept" in capsys.readouterr().out
    assert run("update", "--forget", "zzz") == 2


def test_kept_answers_again(run: Run, servers: Servers, capsys: pytest.CaptureFixture[str]) -> None:
    run("fetch", "crossref", "rivers", "--yes")
    asked = len(servers.asked("crossref"))
    assert run("update", "--from-raw") == 0
    assert "20 kept records were read again" in capsys.readouterr().out
    assert len(servers.asked("crossref")) == asked


def test_a_list_in_any_mixture(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = world.make(20)
    path = tmp_path / "list.txt"
    path.write_text(
        f"1. see https://doi.org/{records[0].doi.upper()}, and doi: {records[1].doi};\n"
        f"[2] arXiv:{records[2].arxiv_id}v1 PMID: {records[3].pmid}\n10.5555/nobody\n"
    )
    assert run("fetch", "doi", str(path), "--yes", "--json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["added"] == 4
    assert found["missing"]["10.5555/nobody"] == "no source knows it"
    assert run("fetch", "doi", str(tmp_path / "none.txt")) == 2


def test_where_the_host_forbids_it(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fetch", "crossref", "rivers", "--yes", allow_fetch="false") == 2
    assert "allow_fetch" in capsys.readouterr().err


def test_a_source_that_is_down(run: Run, servers: Servers, capsys: pytest.CaptureFixture[str]) -> None:
    servers.reset(always="500")
    assert run("fetch", "crossref", "rivers", "--yes") == 5
    assert "gave no usable answer" in capsys.readouterr().err


def test_a_gap_is_named_and_changes_the_exit_code(
    run: Run, servers: Servers, capsys: pytest.CaptureFixture[str]
) -> None:
    servers.reset(records=20, always="more")
    assert run("fetch", "crossref", "rivers", "--yes") == 1
    assert "Missing: Crossref: 23 announced, 20 came." in capsys.readouterr().out


def test_a_build_that_was_stopped_is_made_by_the_next_update(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(steps, "build", stopped)
        assert run("fetch", "crossref", "rivers", "--yes") == 130
    assert not current_name(tmp_path / "corpus")
    assert run("update") == 0
    assert "serves 20 papers" in capsys.readouterr().out
    build = current_name(tmp_path / "corpus")
    assert run("update") == 0
    assert current_name(tmp_path / "corpus") == build
