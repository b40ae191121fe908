"""Papers as BibTeX, RIS, CSL-JSON, CSV and Markdown, each with the reason it was found in a note."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from search.errors import InputError
from search.exports.bibtex import write_bibtex
from search.exports.csl_json import write_csl_json
from search.exports.markdown import write_markdown
from search.exports.references import Citation
from search.exports.ris import write_ris
from search.exports.table import write_csv
from search.types import PANELS, Paper, Query, Result, Results, panel_of

__all__ = ["FORMATS", "SUFFIXES", "Citation", "cite", "export", "reason_in_words", "write"]

FORMATS: dict[str, Callable[[Sequence[Citation]], str]] = {
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
    citations = [
        Citation(result.paper, _note(results.query, result), result.score, result.likeness)
        for result in results.results
    ]
    return write(citations, format)


def _note(query: Query, result: Result) -> str:
    return f"{result.places} {reason_in_words(query, result)}".strip()


def reason_in_words(query: Query, result: Result) -> str:
    """Why it was found, with the sentence of the query itself: a number says nothing outside of the app."""
    if not result.pairs:
        return result.reason
    first = result.pairs[0]
    panel = panel_of(first.query_facet)
    sentence = f"{panel.value} sentence" if panel in PANELS else "sentence"
    several = len(query.papers) > 1
    title = query.papers[first.query_paper].title if several else ""
    whose = f"the {sentence} of “{title}”" if title else f"your {sentence}"
    return f"Matches {whose}, “{first.query_text}”, with “{first.text}”."


def cite(paper: Paper, format: str) -> str:
    """One paper in one of FORMATS."""
    return write([Citation(paper)], format)


def write(citations: Sequence[Citation], format: str) -> str:
    """Citations in one of FORMATS."""
    if format not in FORMATS:
        raise InputError(f"There is no export format {format!r}: choose one of {', '.join(FORMATS)}.")
    return FORMATS[format](citations)
