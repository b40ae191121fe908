"""Reads TEI XML as GROBID writes it: the header of each paper, which holds its abstract."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial
from typing import Any

from index_build.sources.papers import pages_of, paper_of
from index_build.sources.records import arxiv_of, doi_of, full_name, pmid_of, year_of
from index_build.sources.references import date_of
from index_build.sources.rejects import Reject, attempt
from index_build.sources.sections import find_sections, join_sections
from index_build.sources.xml_records import read_elements, text_of, texts_of
from search.types import Paper, Reference, Section

_SOURCE = "fileDesc/sourceDesc/biblStruct"


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    """A paper for each header; the works that a paper cites are not read."""
    for element in read_elements(stream, name, ("teiHeader",), prefixed=True):
        if isinstance(element, Reject):
            yield element
        else:
            yield attempt(partial(to_paper, element.root), name, element.place, element.raw)


def to_paper(header: Any) -> Paper:
    source = header.find(_SOURCE)
    source = header if source is None else source
    ids = {found.get("type", "").lower(): text_of(found) for found in source.iterfind(".//idno")}
    imprint = "monogr/imprint"
    date = _attribute(source, f"{imprint}/date", "when") or text_of(source, f"{imprint}/date")
    abstract, sections = _abstract(header)
    return paper_of(
        "tei",
        text_of(header, "fileDesc/titleStmt/title") or text_of(source, "analytic/title"),
        abstract,
        authors=map(_name, source.findall("analytic/author") or header.findall(".//titleStmt/author")),
        year=year_of(date or text_of(header, "fileDesc/publicationStmt/date")),
        venue=text_of(source, "monogr/title"),
        fields=texts_of(header, "profileDesc/textClass/keywords//term"),
        doi=doi_of(ids.get("doi")),
        arxiv_id=arxiv_of(ids.get("arxiv")),
        pmid=pmid_of(ids.get("pmid")),
        sections=sections,
        reference=Reference(
            date=date_of(date),
            volume=text_of(source, f"{imprint}/biblScope[@unit='volume']"),
            issue=text_of(source, f"{imprint}/biblScope[@unit='issue']"),
            pages=_pages(source.find(f"{imprint}/biblScope[@unit='page']")),
            publisher=text_of(source, f"{imprint}/publisher")
            or text_of(header, "fileDesc/publicationStmt/publisher"),
            editors=tuple(map(_name, source.iterfind("monogr/editor"))),
            short_venue=text_of(source, "monogr/title[@type='abbrev']"),
            issn=(*(text for kind, text in ids.items() if "issn" in kind),),
            isbn=(ids.get("isbn", ""),),
            language=_attribute(header, "profileDesc/langUsage/language", "ident"),
            licence=_attribute(header, ".//availability/licence", "target"),
            key=ids.get("md5", ""),
        ),
    )


def _abstract(header: Any) -> tuple[str, tuple[Section, ...]]:
    """The abstract; a heading of one of its parts begins a section."""
    found = header.find("profileDesc/abstract")
    if found is None:
        return "", ()
    parts = [
        (text_of(part, "head").rstrip(":."), "", " ".join(texts_of(part, "p")))
        for part in found.iterfind("div")
    ]
    if not any(body for _, _, body in parts):
        abstract = text_of(found)
        return abstract, find_sections(abstract)
    abstract, sections = join_sections(part for part in parts if part[0] or part[2])
    return abstract, sections or find_sections(abstract)


def _name(person: Any) -> str:
    """ "Family, Given" of an author or editor; GROBID gives each forename an element of its own."""
    given = " ".join(texts_of(person, ".//persName/forename"))
    family = text_of(person, ".//persName/surname")
    return full_name(family, given) if family else given or text_of(person, "orgName")


def _attribute(element: Any, path: str, name: str) -> str:
    found = element.find(path)
    return (found.get(name) or "") if found is not None else ""


def _pages(scope: Any) -> str:
    if scope is None:
        return ""
    return pages_of(scope.get("from") or "", scope.get("to") or "") or text_of(scope)
