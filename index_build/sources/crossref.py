"""Reads Crossref's JSON: single works, lists of them, and answers of its API."""

from __future__ import annotations

import io
from collections.abc import Iterator

from index_build.markup import to_text
from index_build.sources.json_answers import Record
from index_build.sources.json_records import read_json
from index_build.sources.papers import kind_of, paper_of
from index_build.sources.records import (
    authors_of,
    doi_of,
    first_text,
    object_of,
    objects_of,
    plain,
    texts_of,
    url_of,
    year_of,
)
from index_build.sources.rejects import Reject
from search.types import Kind, Paper, Reference

_DATES = ("published-print", "issued", "published", "published-online", "posted", "created")


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return read_json(stream, name, to_paper)


def to_paper(record: Record) -> Paper:
    get = record.get
    title, subtitle = to_text(_first(get("title"))), to_text(_first(get("subtitle")))
    doi = doi_of(get("DOI"))
    date, year = _date(record)
    containers = [to_text(text) for text in _each(get("container-title"))]
    kind = kind_of(plain(get("type")))
    series = (
        containers.pop(0) if kind in (Kind.CHAPTER, Kind.PROCEEDINGS_PAPER) and len(containers) > 1 else ""
    )
    venue = next(iter(containers), "") or to_text(_institution(record))
    return paper_of(
        "crossref",
        f"{title}: {subtitle}" if title and subtitle and subtitle not in title else title,
        to_text(plain(get("abstract"))),
        authors=authors_of(get("author")) or authors_of(get("editor")),
        year=year,
        venue=venue,
        fields=texts_of(get("subject")),
        doi=doi,
        url=url_of(object_of(object_of(get("resource")).get("primary")).get("URL")) or url_of(get("URL")),
        reference=Reference(
            kind=kind,
            genre=plain(get("degree")) or _first(get("degree")),
            date=date,
            volume=plain(get("volume")),
            issue=plain(get("issue")),
            pages=plain(get("page")),
            number=plain(get("article-number")),
            series=series,
            edition=plain(get("edition-number")),
            publisher=to_text(plain(get("publisher"))),
            place=plain(get("publisher-location")),
            event=to_text(plain(object_of(get("event")).get("name"))),
            editors=authors_of(get("editor")) if get("author") else (),
            short_venue=to_text(_first(get("short-container-title"))),
            issn=(*texts_of(get("ISSN")),),
            isbn=(*texts_of(get("ISBN")),),
            language=plain(get("language")),
            licence=next((plain(item.get("URL")) for item in objects_of(get("license"))), ""),
        ),
    )


def _each(value: object) -> list[str]:
    """The texts in a list, in which Crossref gives most of them, or the one text."""
    return list(filter(None, map(plain, value if isinstance(value, list) else [value])))


def _first(value: object) -> str:
    return next(iter(_each(value)), "")


def _institution(record: Record) -> str:
    """The server of a preprint."""
    found = record.get("institution")
    return next((plain(item.get("name")) for item in objects_of(found)), "") or first_text(
        record, "group-title"
    )


def _date(record: Record) -> tuple[str, int | None]:
    """The date as far as it is given, where it has a month, and the year."""
    for name in _DATES:
        parts = object_of(record.get(name)).get("date-parts")
        first = parts[0] if isinstance(parts, list) and parts else None
        numbers = [part for part in first if isinstance(part, int)] if isinstance(first, list) else []
        if numbers and (year := year_of(numbers[0])):
            date = "-".join([str(year), *(f"{number:02}" for number in numbers[1:3])])
            return (date if len(numbers) > 1 else ""), year
    return "", None
