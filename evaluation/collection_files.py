"""Reading the files collections come in: JSON and JSON lines, plain or gzipped."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from search.errors import InputError
from search.types import Facet, Paper, Sentence

ID_KEYS = ("paper_id", "id", "_id", "corpus_id", "sha")


def find_file(folder: Path, name: str) -> Path:
    """The file of this name or with `.gz` behind it."""
    for file in (folder / name, folder / f"{name}.gz"):
        if file.exists():
            return file
    there = ", ".join(sorted(file.name for file in folder.glob("*"))) if folder.is_dir() else "no such folder"
    raise InputError(f"There is no {name} or {name}.gz in {folder} (there: {there}): give another folder.")


def read_text(file: Path) -> str:
    try:
        content = file.read_bytes()
        return (gzip.decompress(content) if file.suffix == ".gz" else content).decode("utf-8")
    except (OSError, UnicodeDecodeError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{file} cannot be read ({reason}): give the files of the collection.") from None


def read_json(file: Path) -> Any:
    try:
        return json.loads(read_text(file))
    except ValueError as error:
        raise InputError(f"{file} is not JSON ({error}): take the file from the collection again.") from None


def read_records(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if line.strip():
            try:
                record = json.loads(line)
            except ValueError as error:
                raise InputError(f"Line {number} of {file} is not JSON ({error}): correct it.") from None
            if not isinstance(record, dict):
                raise InputError(f"Line {number} of {file} is not a JSON object: correct it.")
            yield record


def read_papers(file: Path) -> Iterator[Paper]:
    """Lines with an id, a title, an abstract and perhaps a year."""
    for record in read_records(file):
        found = next((record[key] for key in ID_KEYS if key in record), None)
        if found is None:
            raise InputError(f"A line of {file} has none of {', '.join(ID_KEYS)}: every paper needs an id.")
        year = record.get("year")
        yield Paper(
            id=str(found),
            title=record.get("title") or "",
            abstract=record.get("abstract") or "",
            year=int(year) if year else None,
        )


def read_abstracts(file: Path) -> Iterator[Paper]:
    """Papers of an `abstracts-*.jsonl` file: sentences in a list, predicted labels beside them if known."""
    for record in read_records(file):
        try:
            labels = record.get("pred_labels") or [None] * len(record["abstract"])
            yield to_paper(
                str(record["paper_id"]), record.get("title") or "", record["abstract"], labels, record
            )
        except (ValueError, KeyError, TypeError) as error:
            place = record.get("paper_id", "without id")
            reason = f"{type(error).__name__}: {error}"
            raise InputError(f"The paper {place} of {file} is not in CSFCube's layout ({reason}).") from None


def to_paper(
    paper_id: str, title: str, texts: Sequence[str], labels: Sequence[str | None], record: Mapping[str, Any]
) -> Paper:
    sentences: list[Sentence] = []
    start = 0
    for text, label in zip(texts, labels, strict=True):
        if text := text.strip():
            facet = Facet(label.removesuffix("_label")) if label else None
            end = start + len(text)
            sentences.append(Sentence(text, start, end, facet, hinted=facet is not None))
            start = end + 1
    if not sentences and (title := title.strip()):  # as in any corpus: the title is the one sentence
        sentences.append(Sentence(title, 0, len(title)))
    year = str((record.get("metadata") or {}).get("year") or "")
    return Paper(
        id=paper_id,
        title=title,
        abstract=" ".join(text for text in map(str.strip, texts) if text),
        year=int(year) if year.isdigit() else None,
        source="csfcube",
        sentences=tuple(sentences),
    )
