"""Text of papers and visitors, made harmless for the two places it is drawn: markdown and HTML."""

from __future__ import annotations

import html
import re
from urllib.parse import quote, urlsplit

from search.types import Paper

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and the bidirectional ones that make text read as something else."""


def one_line(text: str) -> str:
    return " ".join(_CONTROL.sub("", text).split())


def plain(text: str) -> str:
    """Text that Streamlit's markdown shows as it is: no markup, formulas, emoji codes or directives."""
    return _PUNCTUATION.sub(r"\\\1", one_line(text))


def markup(text: str) -> str:
    """Text inside HTML, in an element or a quoted attribute."""
    return html.escape(_CONTROL.sub("", text), quote=True)


def web_address(paper: Paper) -> str:
    """Where the paper is read: its DOI, arXiv or PubMed page, else its own address if it is a web one."""
    if paper.doi:
        return f"https://doi.org/{quote(paper.doi, safe='/')}"
    if paper.arxiv_id:
        return f"https://arxiv.org/abs/{quote(paper.arxiv_id, safe='/')}"
    if paper.pmid:
        return f"https://pubmed.ncbi.nlm.nih.gov/{quote(paper.pmid, safe='')}/"
    return quote(paper.url, safe="/:?&=%#+,;@~") if _is_web(paper.url) else ""


def _is_web(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)
