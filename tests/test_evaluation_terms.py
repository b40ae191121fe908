"""The table of judged terms, and the command that writes it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from evaluation.__main__ import main
from evaluation.terms import CLUSTER, HALVES, TABLE, VERDICTS, read_table, share_accepted, summary
from search.types import PANELS
from tests.app_corpus import make_corpus

ROOT = Path(__file__).resolve().parent.parent
ENOUGH = dict(zip(HALVES, (0.9, 0.85), strict=True))
"""Share of the shown terms that a reader must accept; topics that no rule was made on have somewhat less."""


@pytest.mark.parametrize("half", HALVES)
def test_nearly_all_terms_are_accepted(half: str) -> None:
    own = [each for each in read_table(ROOT / TABLE) if each.half == half]
    assert len({each.topic for each in own}) >= 10
    assert share_accepted(own) >= ENOUGH[half]


def test_every_term_of_the_table_has_a_verdict_and_stands_once() -> None:
    judged = read_table(ROOT / TABLE)
    assert {each.half for each in judged} == set(HALVES)
    assert {each.kind for each in judged} == {CLUSTER, *(panel.value for panel in PANELS)}
    assert {each.verdict for each in judged} == set(VERDICTS)
    assert all(each.term == each.term.strip() != "" for each in judged)
    assert max(Counter((each.topic, each.kind, each.term) for each in judged).values()) == 1
    halves = {(each.half, each.topic) for each in judged}
    assert len(halves) == len({topic for _, topic in halves})


def test_the_command_prints_the_terms_of_a_corpus_with_known_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.csv"
    table.write_text(
        "half,topic,kind,term,verdict\n"
        "held out,a study with a neural network,method,gradient descent,accept\n"
        "improved on,bridges,,,\n"
    )
    corpus = make_corpus(tmp_path / "corpus")
    given = ["terms", "--corpus", str(corpus), "--table", str(table)]
    assert main([*given, "--cost"]) == 0
    assert "times as long (medians of 2 topics)" in capsys.readouterr().err
    assert main([*given, "--half", "held out"]) == 0
    printed = capsys.readouterr()
    assert "held out,a study with a neural network,method,gradient descent,accept\n" in printed.out
    assert "bridges" not in printed.out.split("\n", 1)[0] + printed.err
    assert "without a verdict" in printed.err
    copy = tmp_path / "printed.csv"
    copy.write_text(printed.out)
    assert summary(read_table(copy)) == printed.err.splitlines()


def test_a_file_that_is_no_table_gets_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("a,b\n1,2\n")
    assert main(["terms", "--corpus", str(tmp_path), "--table", str(wrong)]) == 2
    assert "is no table of terms" in capsys.readouterr().err
