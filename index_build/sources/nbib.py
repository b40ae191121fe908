"""Reads NBIB, PubMed's tagged text: four letters, a hyphen, and lines that go on after six spaces."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Iterator

from index_build.markup import to_text
from index_build.sources.blocks import Block, Layout, papers_of, read_tagged, values_of
from index_build.sources.names import tidy_names
from index_build.sources.pubmed import title_of
from index_build.sources.records import complete, doi_of, name_paper, pmid_of, unique, year_of
from index_build.sources.references import editors_of, kind_of_words, make_reference, others
from index_build.sources.rejects import Reject
from index_build.sources.sections import find_sections, labelled
from search.types import Kind, Paper, Reference

_TAG = re.compile(r"\s{0,2}([A-Z]{2,4}) {0,2}- ?(.*)", re.DOTALL)
LAYOUT = Layout(
    tag=_TAG,
    once=frozenset({"OWN", "STAT", "TI", "JT", "TA", "DP"}),
    start=re.compile(r"^\s*PMID ?-"),
    inside=re.compile(r"[A-Z]{2,4} {0,2}- ?\S"),
    seam=re.compile(r"PMID- \d{1,9}\s{0,3}$"),
    harmless=re.compile(r"^\s*\d+[.:]?\s*$"),
)
_INITIALS = re.compile(r"^(.+) ([A-Z]{1,4})$")


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return papers_of(read_tagged(stream, name, LAYOUT), name, to_paper)


def to_paper(block: Block) -> Paper:
    """A paper under its PMID; its fields are the starred MeSH headings, or the keywords without them."""
    values = values_of(block, _TAG)
    first = {tag: texts[0] for tag, texts in values.items()}
    book = title_of(to_text(first.get("BTI", "")))
    title = title_of(to_text(first.get("TI") or first.get("TT", ""))) or book
    pmid, abstract = pmid_of(first.get("PMID")), labelled(to_text(first.get("AB") or first.get("OAB", "")))
    doi = next((doi_of(text) for text in values["LID"] + values["AID"] if "[doi]" in text), "")
    names = values["FAU"] or _divided(values["AU"]) or values["FED"] or _divided(values["ED"])
    headings = [text.split("/")[0].strip("*") for text in values["MH"] if "*" in text]
    fields = unique(headings or [text.strip("*") for text in values["OT"]])
    return complete(
        Paper(
            id=f"pmid:{pmid}" if pmid else name_paper("nbib:", title, abstract, doi=doi),
            title=title,
            abstract=abstract,
            authors=tidy_names(map(to_text, names + values["CN"])),
            year=year_of(first.get("DP") or first.get("DEP")),
            venue=to_text(first.get("JT") or first.get("TA", "")) or (book if book != title else ""),
            fields=fields,
            doi=doi,
            pmid=pmid,
            url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else "",
            source="nbib",
            reference=_reference(values, fields),
            sections=find_sections(abstract),
        )
    )


def _reference(values: defaultdict[str, list[str]], fields: tuple[str, ...]) -> Reference:
    first = {tag: texts[0] for tag, texts in values.items() if texts}
    get = first.get
    kind = kind_of_words(*values["PT"])
    return make_reference(
        kind=Kind.CHAPTER if get("BTI") and get("TI") else Kind.BOOK if get("BTI") else kind,
        date=get("DP"),
        volume=get("VI"),
        issue=get("IP"),
        pages=get("PG"),
        publisher=get("PB"),
        place=get("PL") if get("PB") else None,
        edition=get("EN"),
        editors=editors_of(values["FED"] or _divided(values["ED"])),
        short_venue=get("TA") if get("JT") else None,
        issn=values["IS"],
        isbn=values["ISBN"],
        pmcid=get("PMC"),
        keywords=others((text.strip("*") for text in values["OT"]), fields),
        language=get("LA"),
    )


def _divided(names: list[str]) -> list[str]:
    return [_INITIALS.sub(r"\1, \2", name) for name in names]
