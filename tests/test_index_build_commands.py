"""The command line of index_build: what it prints, what it returns, what it says when things go wrong."""

import io
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from index_build.__main__ import main, make_parser
from index_build.importing import import_files
from index_build.progress import ProgressLine, clock, describe
from search.corpus.layout import SENTENCE_VECTORS, STORE, current_build
from search.corpus.store import Store

ROOT = Path(__file__).resolve().parent.parent
RECORDS = [
    {
        "id": f"n{number}",
        "title": f"On straightening nails of kind {number}",
        "abstract": f"Nails of kind {number} are bent. We straighten them all. They hold {number} planks.",
        "year": 2000 + number,
    }
    for number in range(6)
]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "papers.jsonl"
    path.write_text("\n".join(map(json.dumps, RECORDS[:4])) + "\n{broken\n")
    return path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory, file):
    """Built once with the real encoder."""
    folder = tmp_path_factory.mktemp("built") / "corpus"
    assert main(["build", str(file), "--out", str(folder), "--quiet", "--device", "cpu"]) == 0
    return folder


def test_building_again_finds_everything_there(corpus, file, capsys):
    assert main(["build", str(file), "--out", str(corpus), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["import"]["unchanged"], told["import"]["added"]) == (4, 0)
    assert sum(told["import"]["rejected"].values()) == 1
    assert Path(told["import"]["rejects_file"]).is_file()
    assert (told["build"]["papers"], told["build"]["sentences"]) == (4, 12)


def test_summary_in_words(corpus, file, capsys):
    assert main(["build", str(file), "--out", str(corpus), "--year", "2001-", "--limit", "2"]) == 0
    printed = capsys.readouterr()
    assert "Read 3 records" in printed.out
    assert "2 already there" in printed.out
    assert "Left out by filter: 1 (year outside 2001-)." in printed.out
    assert "serves 4 papers with 12 sentences" in printed.out
    assert "Importing: 2 of 2 papers" in printed.err


def test_quiet_leaves_only_the_summary(corpus, file, capsys):
    main(["add", str(file), "--out", str(corpus), "--quiet"])
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "Rejected: 1 (not valid JSON)." in printed.out
    assert "rejects.jsonl" in printed.out


def test_add_takes_in_more(tmp_path, file, capsys):
    folder = tmp_path / "corpus"
    main(["build", str(file), "--out", str(folder), "--limit", "2", "--quiet"])
    more = tmp_path / "more.jsonl"
    more.write_text("\n".join(map(json.dumps, RECORDS)))
    capsys.readouterr()
    assert main(["add", str(more), "--out", str(folder), "--json", "--quiet"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["import"]["added"], told["build"]["papers"]) == (4, 6)


def test_build_without_files_builds_again(corpus, capsys):
    assert main(["build", "--out", str(corpus), "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["import"] is None


def test_status(corpus, capsys):
    assert main(["status", str(corpus)]) == 0
    assert "4" in capsys.readouterr().out
    assert main(["status", "--out", str(corpus), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["manifest"]["papers"] == 4


def test_status_tells_of_papers_that_wait_for_a_build(tmp_path, file, capsys):
    folder = tmp_path / "corpus"
    main(["build", str(file), "--out", str(folder), "--limit", "2", "--quiet"])
    import_files(folder, [file])
    capsys.readouterr()
    main(["status", str(folder)])
    assert "Stored          4 papers" in capsys.readouterr().out
    main(["build", "--out", str(folder), "--quiet"])
    capsys.readouterr()
    main(["status", str(folder)])
    assert "Stored" not in capsys.readouterr().out


def test_verify_says_what_is_wrong(tmp_path, file, capsys):
    folder = tmp_path / "corpus"
    main(["build", str(file), "--out", str(folder), "--quiet"])
    capsys.readouterr()
    assert main(["verify", str(folder)]) == 0
    assert "is sound" in capsys.readouterr().out
    damaged = current_build(folder) / SENTENCE_VECTORS
    data = bytearray(damaged.read_bytes())
    data[-1] ^= 1
    damaged.write_bytes(data)
    assert main(["verify", str(folder)]) == 1
    assert SENTENCE_VECTORS in capsys.readouterr().out
    assert main(["verify", str(folder), "--json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["problems"]) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["build", "nowhere.bib"], 2, "nowhere.bib"),
        (["build", "papers.jsonl", "--year", "soon"], 2, "soon"),
        (["build", "papers.jsonl", "--limit", "0"], 2, "at least 1"),
        (["build", "bad.jsonl"], 2, "No paper could be taken in"),
        (["build"], 3, "no corpus"),
        (["add", "papers.jsonl"], 3, "no corpus"),
        (["status"], 3, "no built corpus"),
        (["build", "papers.jsonl", "--encoder", "./no-such-model"], 4, "no-such-model"),
    ],
)
def test_exit_codes(tmp_path, monkeypatch, capsys, file, arguments, code, word):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "papers.jsonl").write_bytes(file.read_bytes())
    (tmp_path / "bad.jsonl").write_text("{broken\n")
    assert main(arguments) == code
    printed = capsys.readouterr()
    assert word in printed.err
    assert "Traceback" not in printed.err


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_stored(tmp_path):
    papers = tmp_path / "papers.jsonl"
    records = (RECORDS[0] | {"id": f"n{n}", "title": f"A study of nail {n}"} for n in range(20_000))
    papers.write_text("\n".join(map(json.dumps, records)))
    command = [sys.executable, "-m", "index_build", "build", str(papers), "--out", str(tmp_path / "corpus")]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        # A shell that runs the tests in the background has its children ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr.readline().startswith("Importing: 1,000 of")
    process.send_signal(signal.SIGINT)
    told = process.communicate()[1]
    assert process.returncode == 130
    assert "run the same command again" in told
    assert "Traceback" not in told
    with Store.open(tmp_path / "corpus" / STORE) as store:
        assert 1000 <= store.counts().papers < 20_000


def test_verify_of_nothing_is_a_problem(tmp_path, capsys):
    assert main(["verify", str(tmp_path)]) == 1
    assert "no built corpus" in capsys.readouterr().out


def test_wrong_setting_is_refused_in_words(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "triptych.toml").write_text("speed = 11")
    assert main(["status"]) == 2
    assert 'no setting "speed"' in capsys.readouterr().err


def test_help_has_examples_and_exit_codes():
    done = subprocess.run(
        [sys.executable, "-m", "index_build", "build", "--help"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert "examples:" in done.stdout
    assert "exit codes:" in done.stdout


def test_examples_of_the_help_can_be_parsed():
    parser = make_parser()
    for command in parser._subparsers._group_actions[0].choices.values():
        for line in command.epilog.splitlines():
            if line.startswith("  python -m index_build"):
                words = shlex.split(line.split("(")[0].split("&&")[0])
                assert parser.parse_args(words[3:]).run


def test_progress_in_words():
    assert describe("encode", 1200, 5000, 700, 20.0) == "Encoding: 1,200 of 5,000 papers, 35/s, 1:49 left"
    assert describe("encode", 5, 100, 5, 2.0) == "Encoding: 5 of 100 papers, 2.5/s, 0:38 left"
    assert describe("import", 10, 0, 10, 0.0) == "Importing: 10 papers"
    assert describe("index", 1, 3, 1, 1.0) == "Indexing: 1 of 3 indices"
    assert clock(7509) == "2:05:09"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_moves_on_a_terminal_and_is_plain_when_piped():
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        with ProgressLine(stream=stream) as progress:
            for done in range(0, 101, 50):
                progress("import", done, 100)
            progress("index", 3, 3)
    assert terminal.getvalue().startswith("\r")
    assert terminal.getvalue().count("\n") == 2
    assert "\r" not in pipe.getvalue()
    assert pipe.getvalue().splitlines()[-1] == "Indexing: 3 of 3 indices"
    silent = io.StringIO()
    ProgressLine(quiet=True, stream=silent)("import", 1, 1)
    assert silent.getvalue() == ""


def test_a_corpus_is_private_to_its_owner_unless_set_otherwise(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text('{"title": "Otters", "abstract": "We count otters. They are many."}\n')
    for private, rights in (("true", 0o700), ("false", 0o755)):
        out = tmp_path / private
        subprocess.run(
            [sys.executable, "-m", "index_build", "build", str(file), "--out", str(out), "--quiet"],
            env=os.environ | {"TRIPTYCH_PRIVATE_FILES": private},
            umask=0o022,
            check=True,
            capture_output=True,
        )
        assert out.stat().st_mode & 0o777 == rights
