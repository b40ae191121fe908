"""Reads CITATION.cff, the YAML in which software says how to cite it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping

import yaml

from index_build.markup import to_text
from index_build.sources.charsets import decode
from index_build.sources.papers import kind_of, pages_of, paper_of
from index_build.sources.records import (
    doi_of,
    full_name,
    object_of,
    objects_of,
    plain,
    texts_of,
    url_of,
    year_of,
)
from index_build.sources.references import date_of
from index_build.sources.rejects import BadRecord, Reason, Reject, attempt, reject
from index_build.sources.streams import read_whole
from search.types import Kind, Paper, Reference

LARGEST = 200_000
"""Bytes; such files are written by hand and have some thousands. YAML is slow to read."""


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    """The paper that a file asks to cite, or the software itself; the works it refers to are not read."""
    data = read_whole(stream, LARGEST)
    if data is None:
        yield reject(name, "file", Reason.TOO_LONG)
        return
    text = decode(data)
    yield attempt(lambda: to_paper(_parsed(text)), name, "file", text)


def _parsed(text: str) -> Mapping[str, object]:
    """The file as an object; dates and numbers stay the texts they are."""
    try:
        return object_of(yaml.load(text, Loader=yaml.BaseLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadRecord(Reason.BAD_ENTRY) from error


def to_paper(record: Mapping[str, object]) -> Paper:
    preferred = object_of(record.get("preferred-citation"))
    work = preferred or record
    get = work.get
    ids = objects_of(get("identifiers"))
    dois = [plain(item.get("value")) for item in ids if item.get("type") == "doi"]
    date = plain(get("date-released")) or plain(get("date-published"))
    issued = plain(get("year")) or date or plain(get("issue-date"))
    licence = get("license")
    publisher = plain(object_of(get("publisher") or get("institution")).get("name"))
    return paper_of(
        "cff",
        to_text(plain(get("title"))),
        to_text(plain(get("abstract")) or plain(record.get("abstract"))),
        authors=map(_name, objects_of(get("authors"))),
        year=year_of(issued),
        venue=to_text(
            plain(get("journal"))
            or plain(get("collection-title"))
            or plain(object_of(get("conference")).get("name"))
        ),
        fields=texts_of(get("keywords") or record.get("keywords")),
        doi=doi_of(next(filter(None, [plain(get("doi")), *dois]), "")),
        url=next(filter(None, map(url_of, (get("url"), get("repository-code"), get("repository")))), ""),
        reference=Reference(
            kind=kind_of(plain(get("type"))) or Kind.SOFTWARE,
            date=date_of(date),
            volume=plain(get("volume")),
            issue=plain(get("issue")),
            pages=pages_of(plain(get("start")) or plain(get("pages")), plain(get("end"))),
            edition=plain(get("version")),
            publisher=publisher,
            event=plain(object_of(get("conference")).get("name")),
            editors=tuple(map(_name, objects_of(get("editors")))),
            issn=(plain(get("issn")),),
            isbn=(plain(get("isbn")),),
            language=next(iter(texts_of(get("languages"))), ""),
            licence=plain(licence) or next(iter(texts_of(licence)), "") or plain(record.get("license")),
        ),
    )


def _name(person: Mapping[str, object]) -> str:
    particle, family = plain(person.get("name-particle")), plain(person.get("family-names"))
    if not family:
        return plain(person.get("name")) or plain(person.get("alias"))
    return full_name(
        f"{particle} {family}".strip(), plain(person.get("given-names")), plain(person.get("name-suffix"))
    )
