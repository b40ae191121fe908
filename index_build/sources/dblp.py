"""Reads DBLP's XML, the whole of it or one person's page: references without abstracts."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial
from typing import Any

from index_build.sources.names import given_first
from index_build.sources.papers import kind_of, paper_of
from index_build.sources.pubmed import title_of
from index_build.sources.records import arxiv_of, doi_of, url_of, year_of
from index_build.sources.rejects import Reject, attempt
from index_build.sources.xml_records import read_elements, text_of, texts_of
from search.types import Kind, Paper, Reference

RECORDS = tuple("article inproceedings proceedings book incollection phdthesis mastersthesis data".split())
"""DBLP's records of works; "www" is the page of a person."""
_NAMESAKES = 4
"""Digits by which DBLP tells people of one name apart: "Ada Author 0002"."""


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    for element in read_elements(stream, name, RECORDS):
        if isinstance(element, Reject):
            yield element
        else:
            yield attempt(partial(to_paper, element.root), name, element.place, element.raw)


def to_paper(record: Any) -> Paper:
    key, kind = record.get("key") or "", str(record.tag)
    links = texts_of(record, "ee")
    venue = text_of(record, "journal") or text_of(record, "booktitle")
    arxiv = next((link for link in links if "arxiv" in link.lower()), "")
    editors = list(map(_person, texts_of(record, "editor")))
    return paper_of(
        "dblp",
        title_of(text_of(record, "title")),
        own_id=f"dblp:{key}" if key else "",
        authors=list(map(_person, texts_of(record, "author"))) or editors,
        year=year_of(text_of(record, "year")),
        venue=venue,
        doi=next(filter(None, map(doi_of, links)), ""),
        arxiv_id=arxiv_of(arxiv.lower().partition("arxiv.")[2]) or arxiv_of(arxiv),
        url=next(filter(None, map(url_of, links)), ""),
        reference=Reference(
            kind=Kind.PROCEEDINGS
            if kind == "proceedings"
            else kind_of("preprint" if venue == "CoRR" else kind),
            volume=text_of(record, "volume"),
            issue=text_of(record, "number"),
            pages=text_of(record, "pages"),
            series=text_of(record, "series"),
            publisher=text_of(record, "publisher") or text_of(record, "school"),
            editors=tuple(editors),
            isbn=(*texts_of(record, "isbn"),),
            key=key,
        ),
    )


def _person(name: str) -> str:
    words = name.split()
    namesake = len(words) > 1 and len(words[-1]) == _NAMESAKES and words[-1].isdecimal()
    return given_first(" ".join(words[:-1] if namesake else words))
