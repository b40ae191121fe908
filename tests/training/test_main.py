"""`python -m training`: the list of commands."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from training.__main__ import COMMANDS, main

ROOT = Path(__file__).resolve().parent.parent.parent


def test_help_does_not_load_torch() -> None:
    code = (
        "import sys; from training.__main__ import make_parser; make_parser(); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", ["labeller", "encoder", "cocitations", "fusion"])
def test_every_command_is_a_module(name: str) -> None:
    assert name in COMMANDS
    module = importlib.import_module(f"training.{name}")
    assert callable(module.add_arguments)
    assert callable(module.run)


def test_data_that_is_not_there_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cocitations", "--data", str(tmp_path / "nowhere")]) == 2
    said = capsys.readouterr().err
    assert "There is neither papers.jsonl nor papers.jsonl.gz in" in said
    assert len(said.splitlines()) == 1


def test_without_torch_it_says_which_list_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["cocitations", "--data", "nowhere"]) == 2
    assert "pip install -r requirements-torch.txt" in capsys.readouterr().err
