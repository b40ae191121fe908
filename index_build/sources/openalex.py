"""Reads OpenAlex works, a snapshot or an answer of the API, whose abstracts are inverted indices."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping

from index_build.markup import to_text
from index_build.sources.json_records import Record, read_json
from index_build.sources.records import (
    arxiv_of,
    complete,
    doi_of,
    first_text,
    id_of,
    name_paper,
    object_of,
    objects_of,
    plain,
    pmid_of,
    unique,
    url_of,
    year_of,
)
from index_build.sources.rejects import Reject
from index_build.sources.sections import find_sections
from search.types import Paper

LONGEST = 100_000
"""Words in an abstract; a position beyond it is an error in the data."""


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return read_json(stream, name, to_paper)


def to_paper(record: Record) -> Paper:
    """A paper under its work id, with its topic's field (or its best concept) to filter by."""
    get = record.get
    title = to_text(first_text(record, "title", "display_name"))
    abstract = to_text(rebuild(get("abstract_inverted_index")) or plain(get("abstract")))
    ids, place = object_of(get("ids")), object_of(get("primary_location"))
    work = id_of(get("id")).rsplit("/", 1)[-1]
    doi, landing = doi_of(get("doi") or ids.get("doi")), url_of(place.get("landing_page_url"))
    return complete(
        Paper(
            id=f"openalex:{work}" if work else name_paper("openalex:", title, abstract, doi=doi),
            title=title,
            abstract=abstract,
            authors=_authors(get("authorships")),
            year=year_of(get("publication_year") or get("publication_date")),
            venue=to_text(_venue(record, place)),
            fields=_fields(record),
            doi=doi,
            arxiv_id=arxiv_of(landing if "arxiv.org/" in landing else doi.partition("arxiv.")[2]),
            pmid=pmid_of(plain(ids.get("pmid")).rstrip("/").rsplit("/", 1)[-1]),
            url=landing or url_of(get("id")),
            source="openalex",
            sections=find_sections(abstract),
        )
    )


def rebuild(index: object) -> str:
    """The text of an inverted index: each word with the positions where it stands."""
    older = object_of(index).get("InvertedIndex")
    words = {
        position: word
        for word, positions in object_of(older or index).items()
        if isinstance(positions, list)
        for position in positions
        if isinstance(position, int) and 0 <= position < LONGEST
    }
    return " ".join(words[position] for position in sorted(words))


def _authors(value: object) -> tuple[str, ...]:
    people = (
        plain(object_of(item.get("author")).get("display_name")) or plain(item.get("raw_author_name"))
        for item in objects_of(value)
    )
    return unique(map(to_text, people))


def _venue(record: Record, place: Mapping[str, object]) -> str:
    source = object_of(place.get("source")) or object_of(record.get("host_venue"))
    return plain(source.get("display_name"))


def _fields(record: Record) -> tuple[str, ...]:
    """The field and subfield of the main topic; older records have concepts, of which level 0 are fields."""
    topic = object_of(record.get("primary_topic"))
    names = [plain(object_of(topic.get(part)).get("display_name")) for part in ("field", "subfield")]
    if not any(names):
        concepts = (item for item in objects_of(record.get("concepts")) if item.get("level") in (0, 1))
        names = [plain(item.get("display_name")) for item in concepts]
    return unique(names)
