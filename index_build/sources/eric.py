"""Reads ERIC's tagged text, which looks like PubMed's with tags of its own."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from index_build.markup import to_text
from index_build.sources.blocks import Block, Layout, first_values, papers_of, read_tagged, values_of
from index_build.sources.papers import kind_of, paper_of
from index_build.sources.records import doi_of, url_of, year_of
from index_build.sources.references import date_of
from index_build.sources.rejects import Reject
from search.types import Paper, Reference

_TAG = re.compile(r"\s{0,2}([A-Z]{2,4}) {0,2}- ?(.*)", re.DOTALL)
LAYOUT = Layout(
    tag=_TAG,
    once=frozenset({"TI"}),
    start=re.compile(r"^\s*OWN ?- ?ERIC"),
    inside=re.compile(r"[A-Z]{2,4} {0,2}- ?\S"),
    seam=re.compile(r"OWN ?- ERIC\s{0,3}$"),
    harmless=re.compile(r"^\s*+\d*+[.:]?\s*+$"),
)
_PAGES = re.compile(r"^p(?=\d)")


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return papers_of(read_tagged(stream, name, LAYOUT), name, to_paper)


def to_paper(block: Block) -> Paper:
    """A paper under its number in ERIC ("EJ1234567"), with the descriptors as its fields."""
    values = values_of(block, _TAG)
    get = first_values(values).get
    number = get("OID") or get("AN", "")
    links = [text for tag in ("LID", "AID") for value in values[tag] for text in value.split()]
    return paper_of(
        "eric",
        get("TI", ""),
        to_text(" ".join(values["AB"])),
        own_id=f"eric:{number.lower()}" if number else "",
        authors=[to_text(name) for name in values["FAU"] or values["AU"]],
        year=year_of(get("DP") or get("YR")),
        venue=get("JT", ""),
        fields=[to_text(text).strip("*") for text in values["OT"]],
        doi=next(filter(None, map(doi_of, links)), ""),
        url=next(filter(None, map(url_of, links)), ""),
        reference=Reference(
            kind=kind_of(*(part.removesuffix("s") for text in values["PT"] for part in text.split(";"))),
            date=date_of(get("DP", "")),
            volume=get("VI", "").removeprefix("v"),
            issue=get("IP", "").removeprefix("n"),
            pages=_PAGES.sub("", get("PG", "")),
            publisher=get("PB", ""),
            issn=(
                get("IS", "").removeprefix("ISSN-"),
                get("ISSN", "").removeprefix("ISSN-"),
            ),
            isbn=(get("ISBN", "").removeprefix("ISBN-"),),
            language=get("LA", ""),
            key=number,
        ),
    )
