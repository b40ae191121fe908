"""The problem, method and result sentences of papers side by side, quoted, as CSV and Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from search.exports.annotated import AnnotatedPaper, in_markdown
from search.exports.table import inert
from search.names import divide
from search.types import Facet, Paper

FACETS = (Facet.BACKGROUND, Facet.OBJECTIVE, Facet.METHOD, Facet.RESULT)
NAMES = {
    Facet.BACKGROUND: "problem",
    Facet.OBJECTIVE: "objective",
    Facet.METHOD: "method",
    Facet.RESULT: "result",
}
"""What a column of each facet is called."""
_COLUMNS = ("title", "authors", "year", *NAMES.values(), "note", "tags", "doi", "arxiv_id", "pmid", "id")


def write_panel_csv(papers: Sequence[AnnotatedPaper]) -> str:
    """One paper a row and one facet a column, the sentences of a cell on lines of their own."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(_row(paper) for paper in papers)
    return out.getvalue()


def _row(entry: AnnotatedPaper) -> list[str]:
    paper = entry.paper
    cells = [
        paper.title,
        "; ".join(paper.authors),
        str(paper.year or ""),
        *("\n".join(map(_quoted, _sentences(paper, facet))) for facet in FACETS),
        entry.note,
        "; ".join(entry.tags),
        paper.doi,
        paper.arxiv_id,
        paper.pmid,
        paper.id,
    ]
    return [inert(cell) for cell in cells]


def write_panel_markdown(title: str, papers: Sequence[AnnotatedPaper]) -> str:
    """A table of three panels; an objective stands with the problem, under its own name."""
    head = "| Paper | Problem | Method | Result | Note | Tags |\n| --- | --- | --- | --- | --- | --- |\n"
    return f"# {in_markdown(title)}\n\n{head}" + "".join(map(_line, papers))


def _line(entry: AnnotatedPaper) -> str:
    paper = entry.paper
    problem = [
        *(in_markdown(_quoted(text)) for text in _sentences(paper, Facet.BACKGROUND)),
        *(f"*Objective:* {in_markdown(_quoted(text))}" for text in _sentences(paper, Facet.OBJECTIVE)),
    ]
    method, result = (
        [in_markdown(_quoted(text)) for text in _sentences(paper, facet)]
        for facet in (Facet.METHOD, Facet.RESULT)
    )
    note = [in_markdown(line) for line in entry.note.splitlines() if line.strip()]
    cells = [[_name(paper)], problem, method, result, note, [in_markdown(", ".join(entry.tags))]]
    return "| " + " | ".join("<br>".join(cell) or "—" for cell in cells) + " |\n"


def _name(paper: Paper) -> str:
    """The title, who wrote it and when, and where it is found."""
    first = divide(paper.authors[0]).family if paper.authors else ""
    who = f"{first} et al." if len(paper.authors) > 1 else first
    told = in_markdown(", ".join(part for part in (who, str(paper.year or "")) if part))
    place = f"doi:{paper.doi}" if paper.doi else f"arXiv:{paper.arxiv_id}" if paper.arxiv_id else ""
    lines = [f"**{in_markdown(paper.title or paper.id)}**", told, in_markdown(place)]
    return "<br>".join(line for line in lines if line)


def _sentences(paper: Paper, facet: Facet) -> Iterable[str]:
    """Of an abstract only: a paper without one has its title as a sentence."""
    return (each.text for each in paper.sentences if paper.abstract and each.facet is facet)


def _quoted(text: str) -> str:
    return f"“{' '.join(text.split())}”"
