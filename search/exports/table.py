"""CSV that opens in a spreadsheet and runs nothing there."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from search.exports.references import Citation, kind_of

_COLUMNS = (
    "rank score likeness id title authors year venue fields doi arxiv_id pmid url abstract note".split()
)
_PRINTED = (
    "genre date volume issue pages number series edition publisher place event editors container short_venue "
    "issn isbn pmcid keywords language licence accessed key status origins "
    "abstract_from abstract_licence".split()
)
"""Columns from the reference, under the names of its fields."""


def write_csv(citations: Sequence[Citation]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*_COLUMNS, "tags", "type", *_PRINTED, "publication_note"])
    writer.writerows(_row(rank, citation) for rank, citation in enumerate(citations, start=1))
    return out.getvalue()


def _row(rank: int, citation: Citation) -> list[str]:
    paper = citation.paper
    cells = [
        str(rank),
        "" if citation.score is None else f"{citation.score:.3f}",
        citation.likeness.value if citation.likeness else "",
        paper.id,
        paper.title,
        _names(paper.authors),
        str(paper.year or ""),
        paper.venue,
        "; ".join(paper.fields),
        paper.doi,
        paper.arxiv_id,
        paper.pmid,
        paper.url,
        paper.abstract,
        citation.note,
        "; ".join(citation.tags),
        kind_of(paper).value,
        *(_text(getattr(paper.reference, name)) for name in _PRINTED),
        paper.reference.note,
    ]
    return [inert(cell) for cell in cells]


def _names(names: tuple[str, ...]) -> str:
    """Names with semicolons between them; one behind a lone name with a comma keeps it one."""
    family, comma, given = names[0].partition(", ") if len(names) == 1 else ("", "", "")
    return "; ".join(names) + (";" if comma and " " in family and " " in given else "")


def _text(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else "; ".join(value)


def inert(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe goes before = + - @ and the like."""
    cell = cell.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    return "'" + cell if cell.lstrip()[:1] in ("=", "+", "-", "@") or cell[:1] in ("\t", "\n") else cell
