"""CSV that opens in a spreadsheet and runs nothing there."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from search.exports.references import Reference

_COLUMNS = (
    "rank score likeness id title authors year venue fields doi arxiv_id pmid url abstract note".split()
)


def write_csv(references: Sequence[Reference]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(_row(rank, reference) for rank, reference in enumerate(references, start=1))
    return out.getvalue()


def _row(rank: int, reference: Reference) -> list[str]:
    paper = reference.paper
    cells = [
        str(rank),
        "" if reference.score is None else f"{reference.score:.3f}",
        reference.likeness.value if reference.likeness else "",
        paper.id,
        paper.title,
        "; ".join(paper.authors),
        str(paper.year or ""),
        paper.venue,
        "; ".join(paper.fields),
        paper.doi,
        paper.arxiv_id,
        paper.pmid,
        paper.url,
        paper.abstract,
        reference.note,
    ]
    return [_inert(cell) for cell in cells]


def _inert(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe goes before = + - @ and the like."""
    cell = cell.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    return "'" + cell if cell.lstrip()[:1] in ("=", "+", "-", "@") or cell[:1] in ("\t", "\n") else cell
