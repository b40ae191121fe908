"""Reads arXiv's answers in Atom, one entry a paper."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial
from typing import Any

from index_build.markup import latex_text
from index_build.sources.arxiv import journal_of
from index_build.sources.arxiv_categories import field_names
from index_build.sources.names import given_first
from index_build.sources.papers import paper_of
from index_build.sources.records import arxiv_of, doi_of, url_of, year_of
from index_build.sources.references import date_of
from index_build.sources.rejects import Reject, attempt
from index_build.sources.sections import with_colons
from index_build.sources.xml_records import read_elements, text_of, texts_of
from search.types import Kind, Paper, Reference


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    for element in read_elements(stream, name, ("entry",), prefixed=True):
        if isinstance(element, Reject):
            yield element
        else:
            yield attempt(partial(to_paper, element.root), name, element.place, element.raw)


def to_paper(entry: Any) -> Paper:
    """A paper of arXiv, or of another feed, where an entry's summary or content is the abstract."""
    link = text_of(entry, "id")
    arxiv_id = arxiv_of(link.partition("arxiv.org/abs/")[2])
    published = text_of(entry, "published") or text_of(entry, "updated")
    categories = [found.get("term") or "" for found in entry.iterfind("category")]
    return paper_of(
        "atom",
        latex_text(text_of(entry, "title")),
        with_colons(latex_text(text_of(entry, "summary") or text_of(entry, "content"))),
        authors=map(given_first, texts_of(entry, "author/name")),
        year=year_of(published),
        venue=journal_of(text_of(entry, "journal_ref")) if entry.find("journal_ref") is not None else "",
        fields=field_names(categories) if arxiv_id else categories,
        doi=doi_of(text_of(entry, "doi")),
        arxiv_id=arxiv_id,
        url=f"https://arxiv.org/abs/{arxiv_id}" if arxiv_id else _link(entry),
        reference=Reference(kind=Kind.PREPRINT if arxiv_id else None, date=date_of(published), key=link),
    )


def _link(entry: Any) -> str:
    links = [found.get("href") or "" for found in entry.iterfind("link[@rel='alternate']")]
    return url_of(next(iter(links), "") or text_of(entry, "id"))
