"""Abstracts whose sentences are labelled: CSAbstruct and structured MEDLINE."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.types import FACETS, Facet
from training.papers import read_records

CSABSTRUCT_TRAIN, CSABSTRUCT_DEV = Path("csabstruct/train.jsonl"), Path("csabstruct/dev.jsonl")
MEDLINE = Path("roles_medline_structured.jsonl.gz")
MEDLINE_FACETS = {
    "BACKGROUND": Facet.BACKGROUND,
    "OBJECTIVE": Facet.OBJECTIVE,
    "METHOD": Facet.METHOD,
    "RESULT": Facet.RESULT,
    # CSAbstruct has no such label: its 17 training sentences that begin a conclusion are labelled as results.
    "CONCLUSION": Facet.RESULT,
}
SURE = 0.55
"""Labels with at least this confidence are scored separately: below it at most two of
five annotators agreed, as we read the file."""
HEADING_CONFIDENCE = 0.8
"""Of labels that come from a heading of MEDLINE, which also covers sentences it does not fit; by hand."""
HELD_OUT_SHARE = 10
"""One abstract in this many is never trained on."""


@dataclass(frozen=True, slots=True)
class Example:
    """An abstract with the facet of each sentence and the confidence of its source."""

    title: str
    sentences: tuple[str, ...]
    facets: tuple[Facet | None, ...]
    """None where the source does not say: the sentence is read but not learned."""
    confidences: tuple[float, ...]

    @property
    def held_out(self) -> bool:
        """Whether the abstract is never learned from; its text alone decides."""
        digest = hashlib.sha256("\n".join(self.sentences).encode()).digest()
        return digest[0] % HELD_OUT_SHARE == 0


def read_csabstruct(path: Path) -> list[Example]:
    return list(read_records(path, _csabstruct))


def _csabstruct(record: dict[str, Any]) -> Example:
    return Example(
        title=record.get("title") or "",
        sentences=tuple(record["sentences"]),
        facets=tuple(Facet(label) for label in record["labels"]),
        confidences=tuple(record.get("confs") or [1.0] * len(record["labels"])),
    )


def read_medline(path: Path) -> list[Example]:
    return list(read_records(path, _medline))


def _medline(record: dict[str, Any]) -> Example:
    return Example(
        title=record["title"],
        sentences=tuple(record["sentences"]),
        facets=tuple(MEDLINE_FACETS[label] if label else None for label in record["labels"]),
        confidences=(HEADING_CONFIDENCE,) * len(record["labels"]),
    )


def count_words(example: Example) -> int:
    return sum(len(sentence.split()) for sentence in example.sentences)


def targets(example: Example, doubt: float, weigh: bool = True, least: float = 0.0) -> NDArray[np.float32]:
    """Wanted probabilities [n, 5]: 1 - doubt · (1 - confidence) for the label, the rest shared evenly.

    With `weigh` each row is multiplied by its confidence. Rows without a label, or with a confidence below
    `least`, are zero.
    """
    rows = np.zeros((len(example.facets), len(FACETS)), np.float32)
    for row, facet, confidence in zip(rows, example.facets, example.confidences, strict=True):
        if facet is not None and confidence >= least:
            unsure = doubt * (1 - confidence)
            row[:] = unsure / (len(FACETS) - 1)
            row[FACETS.index(facet)] = 1 - unsure
            row *= confidence if weigh else 1.0
    return rows
