"""The graded pools of training/judgements.jsonl: ids, facets and grades; the texts are in other files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from search.errors import InputError
from search.types import Document
from training.papers import ACL, CITED, CSFCUBE, read_documents, read_records, read_titles, same_title

JUDGEMENTS = Path(__file__).parent / "judgements.jsonl"
"""Rounds 1 to 5 in the order they were made; the candidates of the last three come from trained encoders."""
SOURCE_MARK = ":"
"""In ids of the citation collection it follows the name of the source; ids of the ACL Anthology have none."""
HELD_OUT_SHARE = 10
"""One pool in this many is held out: it is only scored."""


@dataclass(frozen=True, slots=True)
class Graded:
    """A pool as it stands in the file: a paper, one facet of it, and candidates graded for that facet."""

    query: str
    facet: str
    sentences: tuple[int, ...]
    grades: Mapping[str, int]
    round: int = 1

    @property
    def id(self) -> str:
        return f"{self.query}_{self.facet}"

    @property
    def held_out(self) -> bool:
        """Whether the pool is only scored, never learned from; its id alone decides."""
        return hashlib.sha256(self.id.encode()).digest()[0] % HELD_OUT_SHARE == 0

    def with_zeros(self, most: int) -> Graded:
        """The pool with at most `most` unrelated candidates, always the same ones.

        Most candidates are unrelated, and each costs as much time as a related one.
        """
        related = {paper: grade for paper, grade in self.grades.items() if grade > 0}
        unrelated = [paper for paper, grade in self.grades.items() if grade == 0]
        by_hash = sorted(unrelated, key=lambda paper: hashlib.sha256(f"{self.id} {paper}".encode()).digest())
        return replace(self, grades=related | dict.fromkeys(by_hash[:most], 0))


def read_graded(path: Path = JUDGEMENTS) -> list[Graded]:
    """All pools of the file; a line without a round belongs to the first."""
    return list(read_records(path, _graded))


def _graded(record: dict[str, Any]) -> Graded:
    sentences, grades = tuple(record["sentences"]), dict(record["grades"])
    return Graded(record["query"], record["facet"], sentences, grades, record.get("round", 1))


def choose_rounds(graded: Sequence[Graded], rounds: Sequence[int] | None = None) -> dict[int, list[Graded]]:
    """Pools by round, in the order in which the rounds are named; all rounds if none is."""
    there = sorted({one.round for one in graded})
    if unknown := [number for number in rounds or () if number not in there]:
        known = ", ".join(map(str, there))
        raise InputError(f"There is no round {unknown[0]} in the judgements; choose from {known}.")
    return {number: [one for one in graded if one.round == number] for number in rounds or there}


def read_judged(data: Path, graded: Sequence[Graded]) -> dict[str, Document]:
    """The papers of graded pools by id, from the file that has them, without those of CSFCube."""
    wanted = {paper for one in graded for paper in (one.query, *one.grades)}
    cited = {paper for paper in wanted if SOURCE_MARK in paper}
    documents: dict[str, Document] = {}
    for file, papers in ((ACL, wanted - cited), (CITED, cited)):
        if papers:
            documents |= read_documents(data / file, papers)
    forbidden = read_titles(data / CSFCUBE)
    return {id: one for id, one in documents.items() if same_title(one.title) not in forbidden}
