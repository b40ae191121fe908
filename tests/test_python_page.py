"""docs/python.md is run line by line, and says nothing of names that are not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import search
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


def test_the_page_runs(
    app_corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(app_corpus.parent)
    assert app_corpus.name == "corpus"
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) >= 6
    exec(compile("\n".join(blocks), "docs/python.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "36 papers, build " in printed
    assert "We let the model ask an expert" in printed, "the evidence of a match by method"
    assert "No paper of this corpus has the id 'no such paper'" in printed


def test_every_name_of_the_top_is_on_the_page() -> None:
    assert [name for name in search.__all__ if name not in PAGE and name != "Matcher"] == []
    assert all(getattr(search, name) for name in search.__all__)
