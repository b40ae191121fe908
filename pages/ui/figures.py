"""The figures that `python -m evaluation` wrote and those that papers published, read for the page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search.errors import CorpusError

FOLDER = Path(__file__).parents[2] / "evaluation"
DEFAULT = "default"
NAMES = {
    "csfcube": "CSFCube",
    "graded-pools": "More fields, graded by a language model",
    "beir": "BEIR",
    "mdcr": "MDCR",
    "relish": "RELISH",
    "treccovid": "TREC-COVID",
    "large_pools": "Large pools",
}
COMMANDS = {
    "csfcube": "csfcube --data DIR --split {split}",
    "graded-pools": "graded-pools --data DIR",
    "beir": "beir --data DIR --split {split}",
    "mdcr": "mdcr --benchmark FILE --papers FILE",
    "relish": "relish --data DIR --split {split}",
    "treccovid": "relish --data DIR --split {split}",
    "large_pools": "mdcr --large-pools DIR",
}
"""What repeats a run, after `python -m evaluation`."""
MEASURES = {
    "ndcg_pct20": "NDCG%20",
    "map": "MAP",
    "r_precision": "R-precision",
    "precision_20": "P@20",
    "recall_20": "R@20",
    "ndcg": "NDCG",
    "ndcg_10": "NDCG@10",
    "mrr": "MRR",
    "recall_5": "R@5",
    "recall_30": "R@30",
    "recall_100": "R@100",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One method on one group of queries; figures in percent."""

    method: str
    group: str
    measures: Mapping[str, float]
    source: str = ""
    """The paper it was published in; empty for what was measured here."""


@dataclass(frozen=True, slots=True)
class Level:
    """How the papers that are shown with one word of likeness were judged; shares in percent."""

    word: str
    papers: int
    related: float | None
    similar: float | None
    """None where no paper is shown with the word."""


@dataclass(frozen=True, slots=True)
class Run:
    """One result file."""

    name: str
    collection: str
    split: str
    date: str
    preset: str
    """Of the encoder, as it was asked for."""
    encoder: str
    queries: str
    missing: str
    rows: tuple[Row, ...]
    skipped: Mapping[str, str]
    levels: tuple[Level, ...] = ()

    @property
    def title(self) -> str:
        name = NAMES.get(self.collection, self.collection)
        encoder = "" if self.preset == DEFAULT else f"encoder {self.preset}"
        split = "" if self.split == "all" else self.split
        return ", ".join(filter(None, (name, split, encoder)))

    @property
    def command(self) -> str:
        what = COMMANDS.get(self.collection, self.collection).format(split=self.split)
        encoder = "" if self.preset == DEFAULT else f" --encoder {self.preset}"
        return f"python -m evaluation {what}{encoder}"


def read_runs() -> list[Run]:
    """All result files with methods in them, CSFCube first, and of each the default encoder's first."""
    files = sorted((FOLDER / "results").glob("*.json"))
    runs = [_run(file.stem, content) for file in files if "methods" in (content := _read(file))]
    order = list(NAMES)

    def place(run: Run) -> tuple[int, bool]:
        known = order.index(run.collection) if run.collection in order else len(order)
        return known, run.preset != DEFAULT

    return sorted(runs, key=place)


def read_published(collection: str) -> list[Row]:
    file = FOLDER / "published.json"
    if not file.is_file():
        return []
    content = _read(file)
    rows = content.get("rows", []) if isinstance(content, dict) else content
    return [
        Row(each["method"], each.get("group", "all"), _numbers(each["measures"]), each["source"])
        for each in rows
        if each.get("collection") == collection
    ]


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorpusError(f"The result file {file.name} cannot be read ({error}): measure again.") from None


def _run(name: str, content: dict[str, Any]) -> Run:
    rows = [
        Row(method, group, _numbers(measures))
        for method, groups in content["methods"].items()
        for group, measures in groups.items()
        if isinstance(measures, dict)
    ]
    return Run(
        name=name,
        collection=str(content.get("collection", name)),
        split=_words(content.get("split")),
        date=str(content.get("date", "")),
        preset=str(content.get("preset", DEFAULT)),
        encoder=str(content.get("encoder", "")),
        queries=_words(content.get("queries")),
        missing=_words(content.get("missing")),
        rows=tuple(rows),
        skipped={str(key): str(value) for key, value in (content.get("skipped") or {}).items()},
        levels=tuple(
            Level(each["word"], each["papers"], each.get("related"), each.get("similar"))
            for each in content.get("levels", ())
        ),
    )


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    return {key: float(value) for key, value in values.items() if isinstance(value, int | float)}


def _words(value: Any) -> str:
    """A number, a text, a list or a table of counts, as a reader would say it."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_words(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    return "" if value is None else str(value)


def groups(rows: Iterable[Row]) -> list[str]:
    """The groups of queries, in the order of their first row."""
    return list(dict.fromkeys(row.group for row in rows))


def measures(rows: Iterable[Row]) -> list[str]:
    """The measures that any of these rows has, the most used first."""
    present = {measure for row in rows for measure in row.measures}
    return [measure for measure in MEASURES if measure in present]
