"""Papers as BibTeX, RIS, CSL-JSON, CSV and Markdown, each with the reason it was found in a note."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from search.errors import InputError
from search.exports.bibtex import write_bibtex
from search.exports.csl_json import write_csl_json
from search.exports.markdown import write_markdown
from search.exports.references import Reference
from search.exports.ris import write_ris
from search.exports.table import write_csv
from search.types import Paper, Results

__all__ = ["FORMATS", "SUFFIXES", "Reference", "cite", "export", "write"]

FORMATS: dict[str, Callable[[Sequence[Reference]], str]] = {
    "bibtex": write_bibtex,
    "ris": write_ris,
    "csl-json": write_csl_json,
    "csv": write_csv,
    "markdown": write_markdown,
}
"""Every format by the name users give it."""

SUFFIXES = {"bibtex": "bib", "ris": "ris", "csl-json": "json", "csv": "csv", "markdown": "md"}
"""What a file of each format is called."""


def export(results: Results, format: str) -> str:
    """A whole result set in one of FORMATS, in the order of the ranking."""
    references = [
        Reference(result.paper, result.reason, result.score, result.likeness) for result in results.results
    ]
    return write(references, format)


def cite(paper: Paper, format: str) -> str:
    """One paper in one of FORMATS."""
    return write([Reference(paper)], format)


def write(references: Sequence[Reference], format: str) -> str:
    """References in one of FORMATS."""
    if format not in FORMATS:
        raise InputError(f"There is no export format {format!r}: choose one of {', '.join(FORMATS)}.")
    return FORMATS[format](references)
