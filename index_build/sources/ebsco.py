"""Reads EBSCOhost's XML, a file of records as its databases keep them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial
from typing import Any

from index_build.sources.papers import kind_of, pages_of, paper_of
from index_build.sources.pubmed import title_of
from index_build.sources.records import doi_of, headings_of, pmid_of, url_of, year_of
from index_build.sources.rejects import Reject, attempt
from index_build.sources.xml_records import read_elements, text_of, texts_of
from search.types import Paper, Reference

_OF_PUBMED = frozenset({"cmedm", "mdc", "mnh", "mdh"})
"""EBSCO's names of MEDLINE, in which its numbers are PubMed's."""


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    for element in read_elements(stream, name, ("rec",)):
        if isinstance(element, Reject):
            yield element
        else:
            yield attempt(partial(to_paper, element.root), name, element.place, element.raw)


def to_paper(record: Any) -> Paper:
    header = record.find("header")
    header = record if header is None else header
    database, number = header.get("shortDbName", ""), header.get("uiTerm", "")
    ids = {found.get("type", ""): text_of(found) for found in record.iterfind(".//artinfo/ui")}
    title = text_of(record, ".//artinfo/tig/atl") or text_of(record, ".//bkinfo/btl")
    first = text_of(record, ".//artinfo/ppf")
    kinds = [*texts_of(record, ".//doctype"), *texts_of(record, ".//pubtype")]
    return paper_of(
        "ebsco",
        title_of(title),
        text_of(record, ".//artinfo/ab") or text_of(record, ".//ab"),
        authors=texts_of(record, ".//artinfo/aug/au") or texts_of(record, ".//aug/au"),
        year=year_of(_date(record)),
        venue=text_of(record, ".//jinfo/jtl") or text_of(record, ".//jinfo/jtl_abbrev"),
        fields=headings_of(texts_of(record, ".//sug/subj") or texts_of(record, ".//keyword")),
        doi=doi_of(ids.get("doi")),
        pmid=pmid_of(ids.get("pmid")) or (pmid_of(number) if database in _OF_PUBMED else ""),
        url=url_of(text_of(record, ".//plink") or text_of(record, ".//pLink/url")),
        reference=Reference(
            kind=kind_of(*kinds),
            date=_date(record),
            volume=text_of(record, ".//pubinfo/vid"),
            issue=text_of(record, ".//pubinfo/iid"),
            pages=pages_of(first, _last_page(first, text_of(record, ".//artinfo/ppct"))),
            publisher=text_of(record, ".//pubinfo/pub"),
            place=text_of(record, ".//pubinfo/place"),
            issn=(*texts_of(record, ".//jinfo/issn"),),
            isbn=(*texts_of(record, ".//bkinfo/isbn"),),
            language=text_of(record, ".//language"),
            key=number,
        ),
    )


def _date(record: Any) -> str:
    """When it was published, ISO 8601; a day or month that is not known is left out."""
    found = record.find(".//pubinfo/dt")
    if found is None:
        return ""
    parts = [found.get(name, "") for name in ("year", "month", "day")]
    known = parts[: next((place for place, part in enumerate(parts) if not part.strip("0")), len(parts))]
    return "-".join(known)


def _last_page(first: str, count: str) -> str:
    """The last page from the first and their number, which is what EBSCO gives."""
    if not (first.isdecimal() and count.isdecimal() and len(first) < 8 and 1 < int(count[:4]) < 1000):
        return ""
    return str(int(first) + int(count[:4]) - 1)
