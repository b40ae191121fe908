"""Reads EndNote's XML, in which every text is wrapped in styles."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial
from typing import Any

from index_build.sources.papers import kind_of, paper_of
from index_build.sources.records import arxiv_of, doi_of, pmid_of, url_of, year_of
from index_build.sources.references import date_of
from index_build.sources.rejects import Reject, attempt
from index_build.sources.xml_records import read_elements, text_of, texts_of
from search.types import Paper, Reference

_SCRIPTS = {"subscript": "sub", "superscript": "sup"}
"""Styles that are more than looks, as HTML has them."""
_VENUES = ("periodical/full-title", "titles/secondary-title", "periodical/abbr-1", "titles/alt-title")


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    for element in read_elements(stream, name, ("record",)):
        if isinstance(element, Reject):
            yield element
        else:
            yield attempt(partial(to_paper, element.root), name, element.place, element.raw)


def to_paper(record: Any) -> Paper:
    """A paper; notes and research notes are the user's own and are not read."""
    for style in record.iter("style"):
        style.tag = _SCRIPTS.get(style.get("face") or "", style.tag)
    kind = record.find("ref-type")
    kind_name = (kind.get("name") or "") if kind is not None else ""
    number = text_of(record, "isbn")
    urls = [*texts_of(record, "urls/related-urls/url"), *texts_of(record, "urls/web-urls/url")]
    accession = text_of(record, "accession-num")
    venue = next(filter(None, (text_of(record, path) for path in _VENUES)), "")
    place = text_of(record, "electronic-resource-num")
    editors = texts_of(record, "contributors/secondary-authors/author")
    return paper_of(
        "endnote-xml",
        text_of(record, "titles/title"),
        text_of(record, "abstract"),
        authors=texts_of(record, "contributors/authors/author") or editors,
        year=year_of(text_of(record, "dates/year")),
        venue=venue,
        fields=texts_of(record, "keywords/keyword"),
        doi=doi_of(place) or next((doi_of(url) for url in urls if "doi.org/" in url), ""),
        arxiv_id=next((arxiv_of(text) for text in (accession, place) if "arxiv" in text.lower()), ""),
        pmid=_pmid(
            accession,
            f"{text_of(record, 'remote-database-name')} {text_of(record, 'remote-database-provider')}",
        ),
        url=next(filter(None, map(url_of, urls)), ""),
        reference=Reference(
            kind=kind_of(kind_name),
            genre=text_of(record, "work-type"),
            date=_date(text_of(record, "dates/pub-dates/date"), text_of(record, "dates/year")),
            volume=text_of(record, "volume"),
            issue=text_of(record, "number"),
            pages=text_of(record, "pages"),
            series=text_of(record, "titles/tertiary-title"),
            edition=text_of(record, "edition"),
            publisher=text_of(record, "publisher"),
            place=text_of(record, "pub-location"),
            editors=tuple(editors),
            short_venue=text_of(record, "periodical/abbr-1") or text_of(record, "titles/alt-title"),
            issn=(number,),
            isbn=(number,),
            pmcid=text_of(record, "custom2") if text_of(record, "custom2").startswith("PMC") else "",
            language=text_of(record, "language"),
            key=text_of(record, "rec-number") or text_of(record, "label"),
        ),
    )


def _date(text: str, year: str) -> str:
    """A date that may hold the year or not: "Apr", "2021 Apr 3"."""
    return date_of(text) or (date_of(f"{text} {year}") if text else "")


def _pmid(accession: str, database: str) -> str:
    """An accession number that is PubMed's: it says so, or the database does."""
    named = any(word in f"{accession} {database}".lower() for word in ("pmid", "pubmed", "medline", "nlm"))
    return pmid_of(accession) if named else ""
