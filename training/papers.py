"""The papers aspects are learned from: titles and abstracts of JSON-lines files, cut into sentences."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search.errors import InputError
from search.sentences import split
from search.tokens import Document

ACL = Path("acl_anthology.jsonl.gz")
CITED = Path("citations/papers.jsonl.gz")
COCITED = Path("citations/cocite_pairs.jsonl.gz")
CITING = Path("citations/cite_pairs.jsonl.gz")
CSFCUBE = Path("csfcube/abstracts-csfcube-preds.jsonl")


@dataclass(frozen=True, slots=True)
class Cocited:
    """Two papers that one sentence cites, and the sentences that do, from the least crowded."""

    first: str
    second: str
    contexts: tuple[str, ...]
    company: int
    """How many papers the least crowded of these sentences cites; 99 where unknown."""


def read_documents(path: Path, ids: Iterable[str] | None = None) -> dict[str, Document]:
    """Papers by id: all with an abstract, or exactly those named, in the order of their ids."""
    wanted = None if ids is None else set(ids)
    found: dict[str, Document] = {}
    for record in read_lines(path):
        if wanted is None or record["id"] in wanted:
            sentences = tuple(sentence.text for sentence in split(record.get("abstract") or ""))
            if sentences:
                found[record["id"]] = Document(record.get("title") or "", sentences)
    if wanted and (missing := wanted - found.keys()):
        raise InputError(f"{path} lacks {len(missing)} papers that are needed, such as {min(missing)!r}.")
    return found if wanted is None else {id: found[id] for id in sorted(found)}


def read_cocited(path: Path) -> list[Cocited]:
    """All co-cited pairs of the file."""
    pairs = []
    for record in read_lines(path):
        contexts = sorted(record["contexts"], key=lambda context: context["n"] or 99)
        texts = tuple(dict.fromkeys(context["text"] for context in contexts))
        pairs.append(Cocited(record["a"], record["b"], texts, contexts[0]["n"] or 99))
    return pairs


def read_citing(path: Path) -> list[tuple[str, str]]:
    """Citing and cited paper of all pairs of the file."""
    return [(record["citing"], record["cited"]) for record in read_lines(path)]


def read_test_titles(path: Path) -> set[str]:
    """Titles of CSFCube, normalised: nothing of it is ever trained on."""
    return {normalised(record["title"]) for record in read_lines(path)}


def normalised(title: str) -> str:
    return re.sub(r"[^a-z0-9]", "", title.lower())


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        raise InputError(f"There is no file {path}: give the folder that holds it with `--data`.")
    with (
        gzip.open(path, "rt", encoding="utf-8")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8") as file
    ):
        for number, line in enumerate(file, start=1):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise InputError(f"Line {number} of {path} is not JSON: {error}.") from error
