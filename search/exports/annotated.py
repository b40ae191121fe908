"""An annotated bibliography in Markdown: each paper with why it was kept, what was noted and what matched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from search.exports.markdown import write_markdown
from search.exports.references import Citation, one_line
from search.types import Facet, Paper


@dataclass(frozen=True, slots=True)
class Match:
    """A sentence of a paper, what it does, and the sentence of the search it answers."""

    text: str
    facet: Facet | None = None
    asked: str = ""


@dataclass(frozen=True, slots=True)
class AnnotatedPaper:
    """A kept paper with all that is known about its keeping."""

    paper: Paper
    kept: str = ""
    """When and from which search, as a phrase: "Kept 18 Nov 2026 from “…”"."""
    reason: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    matches: tuple[Match, ...] = ()


def write_annotated(title: str, papers: Sequence[AnnotatedPaper]) -> str:
    entries = (_entry(number, paper) for number, paper in enumerate(papers, start=1))
    return "\n".join((f"# {in_markdown(title)}\n", *entries))


def _entry(number: int, entry: AnnotatedPaper) -> str:
    marker = f"{number}. "
    reference = write_markdown([Citation(entry.paper)]).removeprefix("1. ").rstrip("\n")
    told = [
        _told("", entry.kept),
        _told("Why: ", entry.reason),
        _told("Note: ", entry.note),
        _told("Tags: ", ", ".join(entry.tags)),
    ]
    paragraphs = [reference, "  \n".join(line for line in told if line)]
    if entry.matches:
        paragraphs += ["Matching sentences:", "\n".join(map(_match, entry.matches))]
    body = "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
    return marker + _indented(body, " " * len(marker)) + "\n"


def _told(name: str, text: str) -> str:
    """A text after its name; its own line breaks stay."""
    lines = [in_markdown(line) for line in text.splitlines() if line.strip()]
    return name + "  \n".join(lines) if lines else ""


def _match(match: Match) -> str:
    label = (match.facet or Facet.OTHER).value.capitalize()
    asked = f" (for “{in_markdown(match.asked)}”)" if match.asked else ""
    return f"- {label}: “{in_markdown(match.text)}”{asked}"


def _indented(text: str, by: str) -> str:
    first, *others = text.split("\n")
    return "\n".join([first, *(by + line.lstrip() if line.strip() else "" for line in others)])


_MARKS = str.maketrans({mark: "\\" + mark for mark in "\\`*_{}[]<>#|~$!&"})


def in_markdown(text: str) -> str:
    """One line of text that Markdown shows as it is, also at the start of a line."""
    line = one_line(text).translate(_MARKS)
    number = len(line) - len(line.lstrip("0123456789"))
    at = number if line[number : number + 1] in (".", ")") and number else 0
    return f"{line[:at]}\\{line[at:]}" if at or line[:1] in ("-", "+", "=") else line
