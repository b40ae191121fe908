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


def web_addresses(paper: Paper) -> dict[str, str]:
    """Where the paper is read, the most lasting first. Web addresses only, so that none is a script."""
    known = {
        "DOI": paper.doi and f"https://doi.org/{quote(paper.doi, safe='/')}",
        "arXiv": paper.arxiv_id and f"https://arxiv.org/abs/{quote(paper.arxiv_id, safe='/')}",
        "PubMed": paper.pmid and f"https://pubmed.ncbi.nlm.nih.gov/{quote(paper.pmid, safe='')}/",
        "Web page": quote(paper.url, safe="/:?&=%#+,;@~") if _is_web(paper.url) else "",
    }
    return {name: address for name, address in known.items() if address}


def _is_web(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def told_apart(name: str) -> str:
    """A name behind a button's label, read aloud and not shown (style.css): it tells equal buttons apart."""
    return f":gray[: {plain(name[:150]) or 'Untitled'}]"
