"""COinS: papers as invisible spans that the browser's Zotero finds on the page, wherever the app runs."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlencode

import streamlit as st

from pages.ui.escape import markup
from search.exports.references import container_of, kind_of
from search.names import divide
from search.types import Kind, Paper

_BOOKS = {
    Kind.BOOK: "book",
    Kind.PROCEEDINGS: "proceeding",
    Kind.CHAPTER: "bookitem",
    Kind.PROCEEDINGS_PAPER: "conference",
}


def draw(papers: Iterable[Paper]) -> None:
    """The spans, which nobody sees."""
    st.html(f'<div class="coins">{"".join(map(span, papers))}</div>')


def span(paper: Paper) -> str:
    return f'<span class="Z3988" title="{markup(context_of(paper))}"></span>'


def context_of(paper: Paper) -> str:
    """The paper as an OpenURL 1.0 context object (Z39.88-2004), in key and value."""
    kind, reference = kind_of(paper), paper.reference
    book = _BOOKS.get(kind, "")
    pairs = [
        ("ctx_ver", "Z39.88-2004"),
        ("rft_val_fmt", f"info:ofi/fmt:kev:mtx:{'book' if book else 'journal'}"),
        ("rft.genre", book or ("preprint" if kind is Kind.PREPRINT else "article")),
        ("rft.btitle" if book in ("book", "proceeding") else "rft.atitle", paper.title),
        ("rft.btitle" if book in ("bookitem", "conference") else "rft.jtitle", container_of(paper)),
        ("rft.date", reference.date or str(paper.year or "")),
        ("rft.volume", reference.volume),
        ("rft.issue", reference.issue),
        ("rft.pages", reference.pages),
        ("rft.pub", reference.publisher),
        *(("rft.issn", number) for number in reference.issn[:1]),
        *(("rft.isbn", number) for number in reference.isbn[:1]),
        *_first_author(paper),
        *(("rft.au", name) for name in paper.authors),
        ("rft_id", f"info:doi/{paper.doi}" if paper.doi else ""),
        ("rft_id", f"info:pmid/{paper.pmid}" if paper.pmid else ""),
        ("rft_id", paper.url),
    ]
    return urlencode([(name, value) for name, value in pairs if value])


def _first_author(paper: Paper) -> list[tuple[str, str]]:
    if not paper.authors or "," not in paper.authors[0]:
        return []
    known = divide(paper.authors[0])
    return [("rft.aulast", known.family), ("rft.aufirst", known.given)]
