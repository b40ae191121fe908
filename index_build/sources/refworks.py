"""Reads RefWorks' tagged text: two letters and a space; a record begins with its type (RT)."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from index_build.markup import to_text
from index_build.sources.blocks import Block, Layout, first_values, papers_of, read_tagged, values_of
from index_build.sources.papers import kind_of, pages_of, paper_of
from index_build.sources.records import arxiv_of, doi_of, pmid_of, url_of, year_of
from index_build.sources.references import date_of
from index_build.sources.rejects import Reject
from search.types import Paper, Reference

_TAG = re.compile(r"^([A-Z][A-Z0-9]|vo(?= \d))[ \t]+(.*)", re.DOTALL)
"""CNKI writes the tag of volumes in small letters."""
LAYOUT = Layout(
    tag=_TAG,
    once=frozenset({"T1"}),
    start=re.compile(r"^RT[ \t]+[A-Z]"),
    inside=re.compile(r"^(?:SR|ID|A1|T1|JF|YR|AB|K1|DO|LK|OL|UL|AN|VO|IS|SP)[ \t]+\S"),
    seam=re.compile(
        r"RT (?:Journal Article|Book|Conference|Generic|Dissertation|Web Page)[ ,/A-Za-z]{0,30}$"
    ),
    harmless=re.compile(r"^\s*+(?:\d++\.?|<[^<>]{0,40}>|ER)?\s*+$"),
)


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return papers_of(read_tagged(stream, name, LAYOUT), name, to_paper)


def to_paper(block: Block) -> Paper:
    """A paper; notes (NO) are the user's own and are not read."""
    values = values_of(block, _TAG)
    get = first_values(values).get
    links = [text for tag in ("UL", "LK") for value in values[tag] for text in value.split()]
    accession, number = get("AN", ""), " ".join(values["SN"])
    editors = [to_text(name) for tag in ("A2", "ED") for name in values[tag]]
    full, short = get("JF", ""), get("JO", "")
    return paper_of(
        "refworks",
        get("T1", ""),
        to_text(" ".join(values["AB"])),
        authors=[to_text(name) for text in values["A1"] for name in text.split(";")] or editors,
        year=year_of(get("YR")) or year_of(get("FD")),
        venue=full or get("T2") or short,
        fields=[to_text(word) for text in values["K1"] for word in re.split(r"[\n;]", text)],
        doi=doi_of(get("DO")) or next((doi_of(link) for link in links if "doi.org/" in link), ""),
        arxiv_id=next((arxiv_of(text) for text in (accession, *links) if "arxiv" in text.lower()), ""),
        pmid=pmid_of(accession) if _is_pubmed(f"{accession} {get('DS', '')}") else "",
        url=next(filter(None, map(url_of, links)), ""),
        reference=Reference(
            kind=kind_of(get("RT", ""), *get("RT", "").split(",")),
            date=date_of(get("FD", "")) or date_of(f"{get('FD', '')} {get('YR', '')}"),
            volume=get("VO", "") or get("vo", ""),
            issue=get("IS", ""),
            pages=pages_of(get("SP", ""), get("OP", "")),
            series=get("T3", ""),
            edition=get("ED", "") if get("ED", "")[:1].isdigit() else "",
            publisher=get("PB", ""),
            place=get("PP", ""),
            editors=tuple(name for name in editors if not name[:1].isdigit()),
            short_venue=short if full else "",
            issn=(number,),
            isbn=(number,),
            language=get("LA", "").rstrip(";") or get("OL", "").partition(" (")[0],
            key=get("ID", "") or accession,
        ),
    )


def _is_pubmed(text: str) -> bool:
    """Whether an accession number, with the name of its database, is PubMed's."""
    return any(word in text.lower() for word in ("pmid", "pubmed", "medline"))
