"""Reads the ACL Anthology's XML, one collection a file."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from index_build.sources.records import complete, doi_of, full_name, unique, year_of
from index_build.sources.rejects import BadRecord, Reject, reject
from index_build.sources.sections import find_sections
from index_build.sources.xml_records import read_elements, text_of
from search.types import Paper

FIELDS = ("Computer Science", "Computational Linguistics")


@dataclass(frozen=True, slots=True)
class _Volume:
    """What the papers of a volume have in common."""

    collection: str = ""
    number: str = ""
    venue: str = ""
    year: int | None = None


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
            volume = _Volume(volume.collection, volume.number, _venue(element.root), year)
        else:
            try:
                yield to_paper(element.root, volume)
            except BadRecord as bad:
                yield reject(name, element.place, bad.reason, element.raw)


def to_paper(record: Any, volume: _Volume) -> Paper:
    anthology_id = anthology_id_of(volume.collection, volume.number, record.get("id", ""))
    abstract = text_of(record, "abstract")
    return complete(
        Paper(
            id=f"acl:{anthology_id}",
            title=text_of(record, "title"),
            abstract=abstract,
            authors=unique(
                full_name(text_of(author, "last"), text_of(author, "first"))
                for author in record.iterfind("author")
            ),
            year=volume.year or year_of(volume.collection),
            venue=volume.venue or text_of(record, "booktitle"),
            fields=FIELDS,
            doi=doi_of(text_of(record, "doi")),
            url=f"https://aclanthology.org/{anthology_id}",
            source="acl",
            sections=find_sections(abstract),
        )
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
