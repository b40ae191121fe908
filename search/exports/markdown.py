"""A numbered list in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from search.exports.references import Reference, one_line
from search.types import Paper


def write_markdown(references: Sequence[Reference]) -> str:
    return "".join(f"{rank}. {_bullet(reference)}" for rank, reference in enumerate(references, start=1))


def _bullet(reference: Reference) -> str:
    paper = reference.paper
    title, link = f"**{_escape(paper.title or paper.id)}**", _link(paper)
    facts = [_escape("; ".join(paper.authors)), _escape(paper.venue), str(paper.year or "")]
    lines = [f"[{title}]({link})" if link else title, ". ".join(fact for fact in facts if fact)]
    if reference.likeness and reference.score is not None:
        lines.append(f"*{reference.likeness.value} ({reference.score:.2f})*")
    return "  \n   ".join(line for line in (*lines, _escape(reference.note)) if line) + "\n"


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
