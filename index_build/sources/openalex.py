"""Reads OpenAlex works, a snapshot or an answer of the API, whose abstracts are inverted indices."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping

from index_build.markup import to_text
from index_build.sources.json_answers import Record
from index_build.sources.json_records import read_json
from index_build.sources.names import tidy_names
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
from index_build.sources.references import kind_of_words, make_reference, others, page_range
from index_build.sources.rejects import Reject
from index_build.sources.sections import find_sections
from search.types import Kind, Paper, Reference

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
    fields = _fields(record)
    return complete(
        Paper(
            id=f"openalex:{work}" if work else name_paper("openalex:", title, abstract, doi=doi),
            title=title,
            abstract=abstract,
            authors=_authors(get("authorships")),
            year=year_of(get("publication_year") or get("publication_date")),
            venue=to_text(_venue(record, place)),
            fields=fields,
            doi=doi,
            arxiv_id=arxiv_of(landing if "arxiv.org/" in landing else doi.partition("arxiv.")[2]),
            pmid=pmid_of(plain(ids.get("pmid")).rstrip("/").rsplit("/", 1)[-1]),
            url=landing or url_of(get("id")),
            source="openalex",
            reference=_reference(record, place, fields),
            sections=find_sections(abstract),
        )
    )


def _reference(record: Record, place: Mapping[str, object], fields: tuple[str, ...]) -> Reference:
    get = record.get
    source, biblio = object_of(place.get("source")) or object_of(get("host_venue")), object_of(get("biblio"))
    words = [
        plain(item.get("display_name")) or plain(item.get("keyword")) for item in objects_of(get("keywords"))
    ]
    return make_reference(
        kind=_kind(plain(get("type")), plain(get("type_crossref")), plain(source.get("type"))),
        date=get("publication_date"),
        volume=biblio.get("volume"),
        issue=biblio.get("issue"),
        pages=page_range(biblio.get("first_page"), biblio.get("last_page")),
        publisher=plain(source.get("host_organization_name")) or plain(source.get("publisher")),
        issn=first_text(source, "issn", "issn_l"),
        pmcid=plain(object_of(get("ids")).get("pmcid")).rsplit("/", 1)[-1],
        keywords=others(words, fields),
        language=get("language"),
        licence=plain(place.get("license")),
    )


def _kind(name: str, at_crossref: str, source: str) -> Kind | None:
    """The type; "article" is also what OpenAlex calls papers of conferences and of repositories."""
    kind = kind_of_words(at_crossref) or kind_of_words(name)
    if kind is Kind.ARTICLE and source in ("conference", "repository"):
        return Kind.PROCEEDINGS_PAPER if source == "conference" else Kind.PREPRINT
    return kind


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
    return tidy_names(map(to_text, people))


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
