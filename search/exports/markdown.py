"""A numbered list in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from search.exports.references import Citation, container_of, one_line, rights_of
from search.types import Paper


def write_markdown(citations: Sequence[Citation]) -> str:
    return "".join(f"{rank}. {_bullet(citation)}" for rank, citation in enumerate(citations, start=1))


def _bullet(citation: Citation) -> str:
    paper = citation.paper
    title, link = f"**{_escape(paper.title or paper.id)}**", _link(paper)
    facts = [_escape("; ".join(paper.authors)), _escape(_printed(paper)), str(paper.year or "")]
    lines = [f"[{title}]({link})" if link else title, ". ".join(fact for fact in facts if fact)]
    if citation.likeness and citation.score is not None:
        lines.append(f"*{citation.likeness.value} ({citation.score:.2f})*")
    tags = f"Tags: {_escape(', '.join(citation.tags))}" if citation.tags else ""
    told = (*lines, _escape(citation.note), tags, _escape(rights_of(paper)))
    return "  \n   ".join(line for line in told if line) + "\n"


def _printed(paper: Paper) -> str:
    """Where it stands: "Journal 12(3), 45-67"; or who published it."""
    reference = paper.reference
    issue = f"({reference.issue})" if reference.issue else ""
    place = " ".join(filter(None, (container_of(paper), f"{reference.volume}{issue}")))
    publisher = "" if reference.publisher == paper.venue else reference.publisher
    return ", ".join(filter(None, (place, reference.pages or reference.number, publisher)))


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~$!&])", r"\\\1", one_line(text))


def _link(paper: Paper) -> str:
    """Where the paper is: its own address if it is a web address, else through its DOI or arXiv id."""
    if re.match(r"https?://\S+$", paper.url):
        link = paper.url
    elif paper.doi:
        link = f"https://doi.org/{paper.doi}"
    else:
        link = f"https://arxiv.org/abs/{paper.arxiv_id}" if paper.arxiv_id else ""
    return re.sub(r"[()<>\s\\]", lambda found: f"%{ord(found[0]):02X}", link)
