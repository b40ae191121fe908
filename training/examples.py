"""Labelled abstracts from the public files: CSAbstruct and structured MEDLINE."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.types import FACETS, Facet
from training.papers import read_lines

CSABSTRUCT_TRAIN, CSABSTRUCT_DEV = Path("csabstruct/train.jsonl"), Path("csabstruct/dev.jsonl")
MEDLINE = Path("roles_medline_structured.jsonl.gz")
MEDLINE_FACETS = {
    "BACKGROUND": Facet.BACKGROUND,
    "OBJECTIVE": Facet.OBJECTIVE,
    "METHOD": Facet.METHOD,
    "RESULT": Facet.RESULT,
    # CSAbstruct has no conclusions: its 17 training sentences that say so ("we conclude", …) are results.
    "CONCLUSION": Facet.RESULT,
}
SURE = 0.55
"""Below this confidence annotators hardly agreed; labels above it are the better yardstick."""
HELD_OUT_SHARE = 10
"""One abstract in this many is never trained on."""


@dataclass(frozen=True, slots=True)
class Example:
    """An abstract and how sure its source is of each sentence's facet."""

    title: str
    sentences: tuple[str, ...]
    facets: tuple[Facet | None, ...]
    """None where the source does not say: the sentence gives context and no loss."""
    confidences: tuple[float, ...]

    @property
    def held_out(self) -> bool:
        """A fixed tenth, chosen by the text alone, so it is the same on every machine."""
        digest = hashlib.sha256("\n".join(self.sentences).encode()).digest()
        return digest[0] % HELD_OUT_SHARE == 0


def read_csabstruct(path: Path) -> list[Example]:
    return [
        Example(
            title=record.get("title") or "",
            sentences=tuple(record["sentences"]),
            facets=tuple(Facet(label) for label in record["labels"]),
            confidences=tuple(record.get("confs") or [1.0] * len(record["labels"])),
        )
        for record in read_lines(path)
    ]


def read_medline(path: Path) -> list[Example]:
    return [
        Example(
            title=record["title"],
            sentences=tuple(record["sentences"]),
            facets=tuple(MEDLINE_FACETS[label] if label else None for label in record["labels"]),
            confidences=(0.8,) * len(record["labels"]),  # a heading covers sentences it does not fit
        )
        for record in read_lines(path)
    ]


def words(example: Example) -> int:
    return sum(len(sentence.split()) for sentence in example.sentences)


def targets(example: Example, doubt: float, weigh: bool = True, least: float = 0.0) -> NDArray[np.float32]:
    """What the labeller should say, [n, 5]: the label with 1 - doubt (1 - confidence), the rest evenly.

    Rows are scaled by the confidence when it shall `weigh`; a row of zeros has no label or one that is less
    sure than `least`.
    """
    rows = np.zeros((len(example.facets), len(FACETS)), np.float32)
    for row, facet, confidence in zip(rows, example.facets, example.confidences, strict=True):
        if facet is not None and confidence >= least:
            unsure = doubt * (1 - confidence)
            row[:] = unsure / (len(FACETS) - 1)
            row[FACETS.index(facet)] = 1 - unsure
            row *= confidence if weigh else 1.0
    return rows
