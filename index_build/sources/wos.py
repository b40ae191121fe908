"""Reads Web of Science's plain text export ("savedrecs.txt"): two-letter tags and indented lines."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from index_build.markup import to_text
from index_build.sources.blocks import Block, Layout, papers_of, read_tagged, values_of
from index_build.sources.names import tidy_names
from index_build.sources.records import complete, doi_of, name_paper, pmid_of, texts_of, unique, year_of
from index_build.sources.references import editors_of, kind_of_words, make_reference, others, page_range
from index_build.sources.rejects import Reject
from index_build.sources.sections import find_sections
from search.types import Kind, Paper, Reference

_TAG = re.compile(r"([A-Z][A-Z0-9])(?: |$)(.*)", re.DOTALL)
LAYOUT = Layout(
    tag=_TAG,
    once=frozenset({"TI"}),
    start=re.compile(r"PT [A-Z]\b"),
    end=re.compile(r"ER\s*$"),
    inside=re.compile(r"(?!EF\b|ER\b|FN |VR )[A-Z][A-Z0-9] \S"),
    seam=re.compile(r"(?:(?<=^EF)|(?<=^ER))(?:FN |PT [A-Z]\s{0,3}$)"),
    harmless=re.compile(r"(?:FN |VR |EF\s*$|ER\s*$)"),
)


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return papers_of(read_tagged(stream, name, LAYOUT), name, to_paper)


def to_paper(block: Block) -> Paper:
    """A paper under its accession number, with the categories of Web of Science as its fields.

    Tags that say nothing about a paper's text, and those that Web of Science will invent, are passed over.
    """
    values = {tag: "\n".join(texts) for tag, texts in values_of(block, _TAG).items()}
    get = values.get
    title, abstract = to_text(get("TI", "")), to_text(get("AB", ""))
    doi, number = doi_of(get("DI")), get("UT", "").lower().partition("\n")[0]
    fields = unique(texts_of(" ".join((get("WC") or get("SC") or get("DE", "")).split())))
    return complete(
        Paper(
            id=number or name_paper("wos:", title, abstract, doi=doi),
            title=title,
            abstract=abstract,
            authors=tidy_names(map(to_text, _names(values))),
            year=year_of(get("PY")) or year_of(get("EA")) or year_of(get("PD")),
            venue=to_text(get("SO") or get("SE", "")),
            fields=fields,
            doi=doi,
            pmid=pmid_of(get("PM")),
            source="wos",
            reference=_reference(values, fields),
            sections=find_sections(abstract),
        )
    )


_KINDS = {"J": Kind.ARTICLE, "B": Kind.BOOK, "S": Kind.CHAPTER, "C": Kind.PROCEEDINGS_PAPER, "P": Kind.PATENT}
"""The publication type, where the document type says nothing."""


def _reference(values: dict[str, str], fields: tuple[str, ...]) -> Reference:
    get = values.get
    keywords = texts_of(" ".join(get("DE", "").split())) + texts_of(" ".join(get("ID", "").split()))
    editors = (get("BE") or get("ED", "")).split("\n") if get("AU") else ()
    return make_reference(
        kind=kind_of_words(" ".join(get("DT", "").split())) or _KINDS.get(get("PT", "")[:1]),
        date=f"{get('PD')} {get('PY', '')}" if get("PD") else None,
        volume=get("VL"),
        issue=get("IS"),
        pages=page_range(get("BP"), get("EP")),
        number=get("AR") or get("PN") if get("PT") == "P" else get("AR"),
        series=get("SE"),
        publisher=get("PU") or get("AE"),
        place=get("PI"),
        event=get("CT"),
        editors=editors_of(editors),
        short_venue=get("JI") or get("J9"),
        issn=f"{get('SN', '')} {get('EI', '')}",
        isbn=get("BN"),
        keywords=others(keywords, fields),
        language=get("LA"),
        key=get("UT", "").partition("\n")[0],
    )


def _names(values: dict[str, str]) -> list[str]:
    """One name a line: in full where that is known, and the groups among the authors."""
    people = next((values[tag] for tag in ("AF", "AU", "BF", "BA", "BE", "ED") if values.get(tag)), "")
    return [*people.split("\n"), *values.get("CA", "").split("\n")]
