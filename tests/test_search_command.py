"""`python -m search`: what it prints, what it returns, and what it says when something is wrong."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys

import pytest

from search.__main__ import main, make_parser
from search.types import Matcher
from tests.conftest import ROOT
from tests.miniature import METHODS, PROBLEMS, build_miniature

ABSTRACT = f"My own work\n{PROBLEMS['fraud']} {METHODS['graphs']}"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> str:
    return str(build_miniature(tmp_path_factory.mktemp("corpus")))


@pytest.fixture
def run(corpus, capsys, monkeypatch):
    """Runs the command on the miniature corpus: exit code, what it printed, what it complained."""

    def run_it(*arguments: str, text: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        code = main(["--corpus", corpus, *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run_it


def ids(printed: str) -> list[str]:
    return [result["id"] for result in json.loads(printed)["results"]]


def test_a_file_gives_a_readable_list(run, tmp_path):
    file = tmp_path / "query.txt"
    file.write_text(ABSTRACT, encoding="utf-8")
    code, printed, complaint = run(str(file), "--top", "3")
    assert (code, complaint) == (0, "")
    assert "1. A study of fraud with graphs" in printed
    assert re.search(r"0\.\d\d (near identical|similar)", printed)
    assert re.search("Matches your .*, “.*”, with “.*”[.]", printed, re.DOTALL)
    assert "1 → 1" in printed
    assert "4. " not in printed


def test_standard_input_and_json(run):
    code, printed, _ = run("--json", "--top", "2", text=ABSTRACT)
    content = json.loads(printed)
    assert code == 0
    assert content["schema"] == 1
    assert len(content["results"]) == 2
    assert set(content) == {
        "schema",
        "build",
        "query",
        "candidates",
        "lacking",
        "covered",
        "seconds",
        "results",
    }
    first = content["results"][0]
    assert (first["rank"], first["id"]) == (1, "fraud-graphs")
    assert set(first["evidence"]) == {"sentences", "whole_paper", "words", "avoided", "whole_counts"}
    assert first["pairs"][0]["query_sentence"] in (1, 2), "counted from 1"
    assert first["pairs"][0]["sentence"] in (1, 2)


def test_every_field_of_the_json_is_documented(run):
    documented = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
    content = json.loads(run("--json", "--top", "1", text=ABSTRACT)[1])
    result = content["results"][0]
    names = {*content, *content["query"], *result, *result["evidence"], *result["pairs"][0]}
    assert not [name for name in names if f"`{name}`" not in documented]


def test_every_option_is_documented():
    documented = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
    options = [name for action in make_parser()._actions for name in action.option_strings if name != "-h"]
    assert not [name for name in options if f"`{name}" not in documented]


def test_by_id_and_facet(run):
    by_method = ids(run("--id", "fraud-trees", "--facet", "method", "--top", "4", "--json")[1])
    assert {each.split("-")[1] for each in by_method} == {"trees"}
    by_problem = ids(run("--id", "fraud-trees", "--facet", "background", "--top", "3", "--json")[1])
    assert {each.split("-")[0] for each in by_problem} == {"fraud"}


def test_sentences_and_avoid_by_number_or_facet(run):
    chosen = ("--id", "fraud-trees", "--top", "3", "--json")
    by_number = json.loads(run(*chosen, "--sentences", "1", "--avoid", "2-3")[1])
    states = [sentence["choice"] for sentence in by_number["query"]["papers"][0]["sentences"]]
    assert states == ["match", "avoid", "avoid"]
    by_facet = run(*chosen, "--facet", "background", "--avoid", "method")[1]
    assert set(ids(by_facet)) == {"fraud-graphs", "fraud-sampling", "fraud-agents"}


def test_the_rest_is_matched_when_only_something_to_avoid_is_given(run):
    content = json.loads(run("--id", "fraud-trees", "--avoid", "2", "--json")[1])
    states = [sentence["choice"] for sentence in content["query"]["papers"][0]["sentences"]]
    assert states == ["match", "avoid", "match"]


def test_several_ids_are_searched_together(run):
    found = ids(run("--id", "fraud-trees", "--id", "tumours-graphs", "--json")[1])
    assert not {"fraud-trees", "tumours-graphs"} & set(found)


def test_filters(run, tmp_path):
    assert {each.split("-")[0] for each in ids(run("--id", "bare", "--year-from", "2014", "--json")[1])} == {
        "fraud"
    }
    only = tmp_path / "ids.txt"
    only.write_text("fraud-trees\nproteins-agents\n", encoding="utf-8")
    assert set(ids(run("--id", "bare", "--only", str(only), "--json")[1])) == {
        "fraud-trees",
        "proteins-agents",
    }
    assert run("--id", "bare", "--year-from", "2090")[:2] == (
        1,
        "No paper passes these filters: widen the years or leave a filter out.\n",
    )


@pytest.mark.parametrize("matcher", Matcher)
def test_matchers(run, matcher):
    code, printed, _ = run("--id", "fraud-trees", "--matcher", matcher, "--json", "--top", "1")
    assert code == 0
    assert json.loads(printed)["query"]["matcher"] == matcher


def test_references_with_reasons(run):
    printed = run("--id", "fraud-trees", "--export", "bibtex", "--top", "2")[1]
    assert printed.count("@article{") == 2
    assert "note = {Matches your" in printed


def test_a_saved_query_runs_again(run, tmp_path):
    saved = tmp_path / "saved.json"
    first = run("--id", "fraud-trees", "--avoid", "1", "--top", "5", "--json", "--save-query", str(saved))[1]
    again = run(str(saved), "--json")[1]
    assert ids(again) == ids(first)
    assert len(ids(run(str(saved), "--top", "2", "--json")[1])) == 2


def test_a_record_says_what_was_done_and_runs_again(run, tmp_path):
    asked = ("--id", "fraud-trees", "--avoid", "1", "--year-from", "1990", "--top", "5", "--json")
    first = run(*asked, "--record", str(tmp_path / "record.json"))[1]
    assert ids(run(str(tmp_path / "record.json"), "--json")[1]) == ids(first)
    record = json.loads((tmp_path / "record.json").read_text())["record"]
    assert [each["id"] for each in record["results"]] == ids(first)
    stages = record["papers"]
    assert stages["in the corpus"] >= stages["after the filters"] >= stages["compared sentence by sentence"]
    assert stages["shown"] == len(ids(first))
    run(*asked, "--record", str(tmp_path / "record.md"))
    told = (tmp_path / "record.md").read_text()
    assert "1. (background, avoided) Stolen credit cards" in told
    assert "- year from: 1990" in told
    assert f"encoder: {record['models']['encoder']}" in told
    assert record["corpus"]["build_id"] in told


def test_sentences_are_listed_with_their_numbers(run):
    printed = run("--id", "fraud-trees", "--avoid", "1", "--list-sentences")[1]
    assert re.search(r"^-  1 background Stolen credit cards", printed, re.M)
    assert re.search(r"^\+  2 method     We grow", printed, re.M)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--id", "nobody"), "No paper of this corpus has the id 'nobody'"),
        (("/no/such/file",), "The query file /no/such/file cannot be read"),
        (("--id", "bare", "--sentences", "9"), "There is no sentence 9"),
        (("--id", "bare", "--avoid", "colour"), "--avoid takes numbers"),
        (("--id", "bare", "--top", "0"), "1 to 1000 results, not 0"),
        (("--id", "bare", "--facet", "method"), "labelled method"),
        (("--id", "bare", "--only", "/no/list"), "The list of ids /no/list cannot be read"),
        (("--id", "bare", "--save-query", "/no/such/folder/q"), "cannot be saved"),
        ((), "There is nothing to search for"),
    ],
)
def test_mistakes_get_one_sentence_and_code_2(run, arguments, says):
    code, printed, complaint = run(*arguments)
    assert code == 2
    assert says in complaint
    assert len(complaint.splitlines()) == 1
    assert printed == ""


def test_a_missing_corpus_is_said_in_a_process_of_its_own(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "search", "--corpus", str(tmp_path)],
        input=b"\xff\xfe\x00binary",
        capture_output=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 3
    assert b"There is no built corpus" in done.stderr
    assert b"Traceback" not in done.stderr


def test_wrong_options_are_refused(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--matcher", "magic"])
    assert stopped.value.code == 2
    assert "invalid choice: 'magic'" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--venue", "--field", "--source", "--id"])
def test_an_option_that_is_no_text_is_a_sentence(run, option):
    code, _, complaint = run(option, "b\udcffd", text=ABSTRACT)
    assert code == 2
    assert complaint.count("\n") == 1
    assert "write it in UTF-8" in complaint


def test_other_commands_take_only_text_too(monkeypatch, tmp_path, corpus, capsys):
    monkeypatch.setenv("TRIPTYCH_LIBRARY", str(tmp_path))
    assert main(["watch", "--corpus", corpus, "--owner", "\udcff"]) == 2
    assert "UTF-8" in capsys.readouterr().err


def test_a_file_without_end_is_not_read_without_end(run, monkeypatch):
    monkeypatch.setattr("search.__main__.MOST_BYTES", 10_000)
    code, _, complaint = run("/dev/zero")
    assert (code, "has more than 10,000 bytes" in complaint) == (2, True)
    assert run(text="word " * 3000)[0] == 2
