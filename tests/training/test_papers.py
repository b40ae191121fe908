"""Files of papers and citations, and what is said about a line that cannot be used."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from search.errors import InputError
from tests.training.made import record, some_document, write_lines
from training.papers import Cocited, find_lines, read_citing, read_cocited, read_documents, read_titles

PAIR = {"a": "p", "b": "q", "contexts": [{"text": "as shown", "n": 2}]}


@pytest.mark.parametrize("name", ["papers.jsonl", "papers.jsonl.gz"])
def test_documents_named_come_in_the_order_of_their_ids(tmp_path: Path, name: str) -> None:
    records = [record(id, some_document(number)) for number, id in enumerate(("c", "a", "d", "b"))]
    file = write_lines(tmp_path / name, [*records, {"id": "empty", "title": "t", "abstract": None}])
    assert find_lines(tmp_path, "papers") == file
    assert list(read_documents(file, ["d", "c", "a"])) == ["a", "c", "d"]
    assert list(read_documents(file)) == ["c", "a", "d", "b"]
    document = read_documents(file, ["c"])["c"]
    assert document.title == some_document(0).title
    assert len(document.sentences) == len(some_document(0).sentences)


def test_missing_papers_and_files_are_named(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "papers.jsonl", [record("a", some_document(0)), {"id": "b", "title": "t"}])
    with pytest.raises(InputError, match=r"papers\.jsonl lacks 2 papers that are needed, such as 'b'"):
        read_documents(file, ["a", "b", "z"])
    with pytest.raises(InputError, match=r"There is no file .*: correct the option"):
        read_documents(tmp_path / "other.jsonl")
    assert find_lines(tmp_path, "other") is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id":', "Line 2 of .* is not JSON"),
        ("[1, 2]", "Line 2 of .* is not a JSON object"),
        ('{"title": "x"}', "Line 2 of .* lacks 'id'"),
        ('{"id": "b", "abstract": 7}', "Line 2 of .* has a value of the wrong kind"),
    ],
)
def test_a_line_that_is_no_paper_is_named(tmp_path: Path, line: str, words: str) -> None:
    file = tmp_path / "papers.jsonl"
    file.write_text(f'{{"id": "a"}}\n{line}\n')
    with pytest.raises(InputError, match=words):
        read_documents(file)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "papers.jsonl.gz"
    file.write_bytes(gzip.compress(b'{"id": "a"}\n' * 99)[:-20])
    with pytest.raises(InputError, match=r"papers\.jsonl\.gz cannot be read"):
        read_documents(file)


def test_contexts_come_from_the_least_crowded(tmp_path: Path) -> None:
    contexts = [("many", 7), ("unknown", None), ("two", 2), ("three", 3), ("two", 5)]
    listed = [{"text": text, "n": n} for text, n in contexts]
    unknown = {"a": "p", "b": "r", "contexts": [{"text": "alone"}]}
    file = write_lines(tmp_path / "pairs.jsonl.gz", [{"a": "p", "b": "q", "contexts": listed}, unknown])
    first, second = read_cocited(file)
    assert first == Cocited("p", "q", ("two", "three", "many", "unknown"), 2)
    assert second == Cocited("p", "r", ("alone",), 99)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"contexts": []}, "cannot be used: it has no citing sentence"),
        ({"contexts": [{"text": " ", "n": 2}]}, "cannot be used: it has no citing sentence"),
        ({"contexts": [{"n": 2}]}, "lacks 'text'"),
        ({"contexts": ["as shown"]}, "has a value of the wrong kind"),
        ({"contexts": [{"text": "as shown", "n": "few"}]}, "cannot be used: invalid literal"),
        ({"b": "p"}, "cannot be used: it pairs a paper with itself"),
    ],
)
def test_a_pair_that_cannot_be_used_is_named(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    file = write_lines(tmp_path / "pairs.jsonl", [PAIR, PAIR | change])
    with pytest.raises(InputError, match=rf"Line 2 of .*pairs\.jsonl {words}"):
        read_cocited(file)


def test_citing_pairs_and_titles(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "cite.jsonl", [{"citing": "a", "cited": "b", "title": "On  GRAPHS: 2"}])
    assert read_citing(file) == [("a", "b")]
    assert read_titles(file) == {"ongraphs2"}
