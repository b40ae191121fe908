"""What is read of a whole file of each format: records, rejects, and which fields come out right."""

from __future__ import annotations

from dataclasses import dataclass

from index_build.sources import Reject, read_bytes
from search.types import Facet, Paper
from tests.formats.files import ABSTRACT, AUTHORS, VENUE
from tests.fuzz.files import TITLES, make_files

FACETS = (Facet.BACKGROUND, Facet.METHOD, Facet.RESULT)
_WHOLE = "title abstract sections authors year venue doi keywords kind volume issue pages".split()
_LACKS = {
    "acl": "keywords volume issue",
    "arxiv": "kind volume issue pages",
    "beir": "sections authors year venue doi keywords kind volume issue pages",
    "csfcube": "abstract sections authors year venue doi keywords kind volume issue pages",
    "s2": "issue",
    "atom": "volume issue pages",
    "biorxiv": "venue volume issue pages",
    "dblp": "abstract sections keywords",
    "oai": "volume issue pages",
    "ovid": "kind",
    "ovid fields": "kind",
    "tei": "kind",
    "xlsx": "kind volume issue pages",
}
"""What the format, or the program that writes it, does not say."""


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one file."""

    kind: str
    records: int
    papers: int
    rejected: int
    wrong: tuple[str, ...]
    """Fields that came out otherwise than they went in."""
    fields: int
    """Fields that the file holds."""

    def __str__(self) -> str:
        right = self.fields - len(self.wrong)
        return (
            f"| {self.kind} | {self.records} | {self.papers} | {self.rejected} | {right} of {self.fields} |"
        )


def held_by(kind: str) -> list[str]:
    """The fields that the file of a format holds."""
    return [name for name in _WHOLE if name not in _LACKS.get(kind, "").split()]


def _is_right(name: str, paper: Paper, number: int, kind: str) -> bool:
    reference = paper.reference
    authors = ("Author, A.", "Bee, B. C.") if kind == "biorxiv" else AUTHORS
    expected: dict[str, tuple[object, object]] = {
        "title": (paper.title, TITLES[number]),
        "abstract": (paper.abstract, ABSTRACT),
        "sections": (tuple(section.facet for section in paper.sections), FACETS),
        "authors": (paper.authors, authors),
        "year": (paper.year, 2020),
        "venue": (paper.venue, VENUE),
        "doi": (paper.doi, f"10.1000/w.{number + 1}"),
        "keywords": (bool(paper.fields or reference.keywords), True),
        "kind": (reference.kind is not None, True),
        "volume": (reference.volume, "7"),
        "issue": (reference.issue, "2"),
        "pages": (reference.pages, "10-19"),
    }
    got, wanted = expected[name]
    return got == wanted


def measure() -> list[Row]:
    """A row for each format, in the order of their names."""
    rows = []
    for kind, data in sorted(make_files().items()):
        items = list(read_bytes(data, "file"))
        papers = [item for item in items if isinstance(item, Paper)]
        rejects = [item for item in items if isinstance(item, Reject) and item.place != "file"]
        held = held_by(kind)
        wrong = tuple(
            name
            for name in held
            if not all(_is_right(name, paper, number, kind) for number, paper in enumerate(papers))
        )
        rows.append(
            Row(kind, 1 if kind == "cff" else len(TITLES), len(papers), len(rejects), wrong, len(held))
        )
    return rows
