"""Papers and their citations from files of JSON lines, plain or gzipped."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from search.errors import InputError
from search.text.sentences import split
from search.types import Document

ACL = Path("acl_anthology.jsonl.gz")
CITED = Path("citations/papers.jsonl.gz")
CSFCUBE = Path("csfcube/abstracts-csfcube-preds.jsonl")
"""Where the public collections lie in the folder of the training data."""
UNKNOWN_COUNT = 99
"""Stands for the number of papers a sentence cites where the file does not give it: more than a few."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cocited:
    """Two papers that one sentence cites."""

    first: str
    second: str
    contexts: tuple[str, ...]
    """The sentences that cite both; the one that cites the fewest papers comes first."""
    company: int
    """How many papers the first of these sentences cites."""


def read_documents(path: Path, ids: Iterable[str] | None = None) -> dict[str, Document]:
    """Papers by id: all that have an abstract, or exactly those named, in the order of their ids."""
    wanted = None if ids is None else set(ids)

    def read(record: dict[str, Any]) -> tuple[str, Document] | None:
        id = str(record["id"])
        if wanted is not None and id not in wanted:
            return None
        sentences = tuple(sentence.text for sentence in split(record.get("abstract") or ""))
        return id, Document(record.get("title") or "", sentences)

    read_papers = (one for one in read_records(path, read) if one)
    found = {id: document for id, document in read_papers if document.sentences}
    if wanted and (missing := wanted - found.keys()):
        raise InputError(
            f"{path} lacks {len(missing)} papers that are needed, such as {min(missing)!r}: "
            "add them with their abstracts."
        )
    return found if wanted is None else {id: found[id] for id in sorted(found)}


def read_cocited(path: Path) -> list[Cocited]:
    """All co-cited pairs of the file."""
    return list(read_records(path, _cocited))


def _cocited(record: dict[str, Any]) -> Cocited:
    def count(context: dict[str, Any]) -> int:
        return int(context.get("n") or UNKNOWN_COUNT)

    contexts = sorted(record["contexts"], key=count)
    texts = tuple(dict.fromkeys(context["text"] for context in contexts))
    if not all(isinstance(text, str) and text.strip() for text in texts) or not texts:
        raise ValueError("it has no citing sentence")
    if record["a"] == record["b"]:
        raise ValueError("it pairs a paper with itself")
    return Cocited(str(record["a"]), str(record["b"]), texts, count(contexts[0]))


def read_citing(path: Path) -> list[tuple[str, str]]:
    """Citing and cited paper of all pairs of the file."""
    return list(read_records(path, lambda record: (str(record["citing"]), str(record["cited"]))))


def read_titles(path: Path) -> set[str]:
    """The titles in the file, simplified by `same_title`: to keep test papers out of training."""
    return set(read_records(path, lambda record: same_title(record["title"])))


def same_title(title: str) -> str:
    """Letters and digits only, in lower case: two spellings of one title become equal."""
    return re.sub(r"[^a-z0-9]", "", title.lower())


def find_lines(folder: Path, name: str) -> Path | None:
    """NAME.jsonl or NAME.jsonl.gz in the folder, if one of them is there."""
    return next(
        (file for end in (".jsonl", ".jsonl.gz") if (file := folder / f"{name}{end}").is_file()), None
    )


def read_records(path: Path, make: Callable[[dict[str, Any]], T]) -> Iterator[T]:
    """What `make` makes of each line; a line it cannot use is named in the error."""
    for number, record in enumerate(read_lines(path), start=1):
        try:
            yield make(record)
        except KeyError as error:
            raise InputError(f"Line {number} of {path} lacks {error}: add it.") from error
        except ValueError as error:
            raise InputError(f"Line {number} of {path} cannot be used: {error}.") from error
        except (TypeError, AttributeError) as error:
            raise InputError(f"Line {number} of {path} has a value of the wrong kind: {error}.") from error


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        raise InputError(f"There is no file {path}: correct the option that names it or its folder.")
    with (
        gzip.open(path, "rt", encoding="utf-8")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8") as file
    ):
        try:
            for number, line in enumerate(file, start=1):
                yield _object(line, number, path)
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise InputError(f"{path} cannot be read ({error}): fetch or write it again.") from error


def _object(line: str, number: int, path: Path) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise InputError(f"Line {number} of {path} is not JSON: {error}.") from error
    if not isinstance(record, dict):
        raise InputError(f"Line {number} of {path} is not a JSON object with names and values.")
    return record
