"""Reads the ACL Anthology's XML, one collection a file."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from index_build.sources.names import tidy_names
from index_build.sources.records import complete, doi_of, full_name, unique, year_of
from index_build.sources.references import make_reference
from index_build.sources.rejects import Reject, attempt
from index_build.sources.sections import find_sections
from index_build.sources.xml_records import read_elements, text_of
from search.references import EMPTY
from search.types import Kind, Paper, Reference

FIELDS = ("Computer Science", "Computational Linguistics")


@dataclass(frozen=True, slots=True)
class _Volume:
    """What the papers of a volume have in common."""

    collection: str = ""
    number: str = ""
    venue: str = ""
    year: int | None = None
    reference: Reference = EMPTY
    """What is printed of the volume with each of its papers."""


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    volume = _Volume()
    for element in read_elements(stream, name, ("meta", "paper"), ("collection", "volume")):
        if isinstance(element, Reject):
            yield element
        elif element.root.tag == "collection":
            volume = _Volume(element.root.get("id", ""))
        elif element.root.tag == "volume":
            volume = _Volume(volume.collection, element.root.get("id", ""))
        elif element.root.tag == "meta":
            year = year_of(text_of(element.root, "year"))
            volume = _Volume(
                volume.collection, volume.number, _venue(element.root), year, _volume_reference(element.root)
            )
        else:
            yield attempt(partial(to_paper, element.root, volume), name, element.place, element.raw)


def to_paper(record: Any, volume: _Volume) -> Paper:
    anthology_id = anthology_id_of(volume.collection, volume.number, record.get("id", ""))
    abstract = text_of(record, "abstract")
    return complete(
        Paper(
            id=f"acl:{anthology_id}",
            title=text_of(record, "title"),
            abstract=abstract,
            authors=_people(record, "author"),
            year=volume.year or year_of(volume.collection),
            venue=volume.venue or text_of(record, "booktitle"),
            fields=FIELDS,
            doi=doi_of(text_of(record, "doi")),
            url=f"https://aclanthology.org/{anthology_id}",
            source="acl",
            reference=_reference(record, volume),
            sections=find_sections(abstract),
        )
    )


def _volume_reference(meta: Any) -> Reference:
    """Of a journal its volume and issue, of a meeting the title of its proceedings."""
    journal = text_of(meta, "journal-title")
    month, year = text_of(meta, "month"), text_of(meta, "year")
    return make_reference(
        str,
        kind=Kind.ARTICLE if journal else Kind.PROCEEDINGS_PAPER,
        date=f"{month} {year}" if month and year else None,
        volume=text_of(meta, "journal-volume"),
        issue=text_of(meta, "journal-issue"),
        publisher=text_of(meta, "publisher"),
        place=text_of(meta, "address"),
        container=journal or text_of(meta, "booktitle"),
        editors=_people(meta, "editor"),
        issn=text_of(meta, "issn"),
        isbn=text_of(meta, "isbn"),
    )


def _reference(record: Any, volume: _Volume) -> Reference:
    own = make_reference(
        str,
        pages=text_of(record, "pages"),
        language=text_of(record, "language"),
        key=text_of(record, "bibkey"),
    )
    return replace(volume.reference, pages=own.pages, language=own.language, key=own.key)


def _people(element: Any, role: str) -> tuple[str, ...]:
    return tidy_names(
        full_name(text_of(person, "last"), text_of(person, "first")) for person in element.iterfind(role)
    )


def anthology_id_of(collection: str, volume: str, paper: str) -> str:
    """The Anthology's own id: "2020.acl-main.12" since 2020, "P17-1169" before, "W17-0412" for workshops."""
    if not collection[:1].isalpha():
        return f"{collection}-{volume}.{paper}"
    workshops = collection[0] == "W" or collection == "C69" or (collection == "D19" and int(volume or 0) >= 5)
    return f"{collection}-{volume:0>2}{paper:0>2}" if workshops else f"{collection}-{volume}{paper:0>3}"


def _venue(meta: Any) -> str:
    """The short names of the venues, "ws" (any workshop) only if alone; else the title of the volume."""
    names = unique(text_of(venue) for venue in meta.iterfind("venue"))
    telling = [name.upper() for name in names if name != "ws" or len(names) == 1]
    return ", ".join(telling) or text_of(meta, "journal-title") or text_of(meta, "booktitle")
