"""Reads JATS XML, as PubMed Central and publishers have it: the front matter of articles."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial
from typing import Any

from index_build.sources.papers import kind_of, pages_of, paper_of
from index_build.sources.records import arxiv_of, doi_of, full_name, pmid_of, year_of
from index_build.sources.rejects import Reject, attempt
from index_build.sources.xml_records import read_elements, text_of, texts_of
from search.types import Kind, Paper, Reference

_DATES = ("ppub", "pub", "collection", "epub", "epub-ppub", "preprint")
"""Kinds of publication dates; the one that a reference gives comes first."""
_ADDED = frozenset(
    "graphical teaser toc key-points highlights plain-language-summary video executive-summary "
    "web-summary".split()
)
"""Kinds of abstracts that come beside the abstract."""


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    """A paper for each article; its body is passed over."""
    attributes: dict[str, str] = {}
    for element in read_elements(stream, name, ("front",), ("article",), prefixed=True):
        if isinstance(element, Reject):
            yield element
        elif element.root.tag == "article":
            attributes = dict(element.root.attrib)
        else:
            yield attempt(partial(to_paper, element.root, attributes), name, element.place, element.raw)
            attributes = {}


def to_paper(front: Any, attributes: dict[str, str]) -> Paper:
    meta = front.find("article-meta")
    meta = front if meta is None else meta
    ids = {found.get("pub-id-type", ""): text_of(found) for found in meta.iterfind("article-id")}
    date = _date(meta)
    title = text_of(meta, "title-group/article-title")
    subtitle = text_of(meta, "title-group/subtitle")
    venue = text_of(front, "journal-meta//journal-title")
    return paper_of(
        "jats",
        f"{title}: {subtitle}" if title and subtitle else title,
        _abstract(meta),
        authors=_people(meta, "author") or _people(meta, ""),
        year=year_of(date),
        venue=venue or text_of(front, "journal-meta//abbrev-journal-title"),
        fields=texts_of(meta, "kwd-group/kwd") or texts_of(meta, "article-categories//subject"),
        doi=doi_of(ids.get("doi")),
        arxiv_id=arxiv_of(ids.get("arxiv")),
        pmid=pmid_of(ids.get("pmid")),
        reference=Reference(
            kind=kind_of(attributes.get("article-type", "")) or Kind.ARTICLE,
            date=date if len(date) > 4 else "",
            volume=text_of(meta, "volume"),
            issue=text_of(meta, "issue"),
            pages=pages_of(text_of(meta, "fpage"), text_of(meta, "lpage")) or text_of(meta, "page-range"),
            number=text_of(meta, "elocation-id"),
            publisher=text_of(front, "journal-meta//publisher-name"),
            place=text_of(front, "journal-meta//publisher-loc"),
            editors=tuple(_people(meta, "editor")),
            short_venue=text_of(front, "journal-meta//abbrev-journal-title") if venue else "",
            issn=(*texts_of(front, "journal-meta/issn"),),
            isbn=(*texts_of(meta, "isbn"),),
            pmcid=_pmcid(ids.get("pmcid") or ids.get("pmc", "")),
            language=attributes.get("{http://www.w3.org/XML/1998/namespace}lang", ""),
            licence=_licence(meta),
            key=ids.get("publisher-id", ""),
        ),
    )


def _abstract(meta: Any) -> str:
    """The abstract that is not one of the short forms beside it."""
    found = [*meta.iterfind("abstract"), *meta.iterfind("trans-abstract")]
    own = [abstract for abstract in found if abstract.get("abstract-type", "") not in _ADDED]
    texts = (text_of(abstract) for abstract in own or found)
    return next(filter(None, texts), "")


def _people(meta: Any, role: str) -> list[str]:
    """The names of contributors in this role; without a role, of all who are given none."""
    people = (found for found in meta.iterfind("contrib-group/contrib"))
    return [_name(found) for found in people if found.get("contrib-type", "") == role]


def _name(contributor: Any) -> str:
    for path in ("name", "name-alternatives/name", "string-name"):
        found = contributor.find(path)
        if found is not None and (family := text_of(found, "surname")):
            return full_name(family, text_of(found, "given-names"), text_of(found, "suffix"))
    for members in contributor.findall("collab/contrib-group"):  # of the group, within its name
        members.getparent().remove(members)
    return text_of(contributor, "collab") or text_of(contributor, "string-name")


def _date(meta: Any) -> str:
    """The date of publication as far as it is known, ISO 8601; a year alone gives way to a day in it."""
    dates = list(meta.iterfind("pub-date"))
    kinds = [found.get("pub-type") or found.get("date-type") or "" for found in dates]
    ranked = sorted(
        zip(kinds, dates, strict=True),
        key=lambda pair: _DATES.index(pair[0]) if pair[0] in _DATES else len(_DATES),
    )
    known = ["-".join(_parts_of_date(found)) for _, found in ranked]
    first = next(filter(None, known), "")
    return next((date for date in known if len(date) > 4 and date.startswith(first)), first)


def _parts_of_date(date: Any) -> list[str]:
    year, month, day = (text_of(date, part) for part in ("year", "month", "day"))
    if not year_of(year):
        return []
    if not month.isdecimal() or not 1 <= int(month) <= 12:
        return [year]
    has_day = day.isdecimal() and 1 <= int(day) <= 31
    return [year, f"{int(month):02}", *([f"{int(day):02}"] if has_day else [])]


def _pmcid(text: str) -> str:
    number = text.upper().removeprefix("PMC")
    return f"PMC{number}" if number.isdecimal() else ""


def _licence(meta: Any) -> str:
    """The address of the licence, or what it says in a few words."""
    found = meta.find("permissions/license")
    if found is None:
        return ""
    text = text_of(found, "license-p")
    return found.get("xlink-href") or text_of(found, "license_ref") or (text if len(text) < 100 else "")
