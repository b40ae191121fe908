"""Reads the JSON of Europe PMC's search."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping

from index_build.markup import to_text
from index_build.sources.json_answers import Record
from index_build.sources.json_records import read_json
from index_build.sources.names import split_names
from index_build.sources.papers import kind_of, paper_of
from index_build.sources.pubmed import title_of
from index_build.sources.records import (
    doi_of,
    full_name,
    object_of,
    objects_of,
    plain,
    pmid_of,
    texts_of,
    year_of,
)
from index_build.sources.references import date_of
from index_build.sources.rejects import Reject
from search.types import Kind, Paper, Reference


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return read_json(stream, name, to_paper)


def to_paper(record: Record) -> Paper:
    """A paper; its fields are the main MeSH headings, else the authors' keywords."""
    get = record.get
    info = object_of(get("journalInfo"))
    journal, book = object_of(info.get("journal")), object_of(get("bookOrReportDetails"))
    source, number = plain(get("source")), plain(get("id"))
    pmid = pmid_of(get("pmid") or (number if source == "MED" else ""))
    venue = plain(journal.get("title")) or plain(get("journalTitle")) or plain(book.get("publisher"))
    is_preprint = source == "PPR"
    return paper_of(
        "europe-pmc",
        title_of(to_text(plain(get("title")))),
        to_text(plain(get("abstractText"))),
        authors=_people(record),
        year=year_of(get("pubYear") or get("firstPublicationDate") or info.get("yearOfPublication")),
        venue=to_text(venue),
        fields=_fields(record),
        doi=doi_of(get("doi")),
        pmid=pmid,
        url=f"https://europepmc.org/article/{source}/{number}" if source and number else "",
        reference=Reference(
            kind=Kind.PREPRINT if is_preprint else _kind(record),
            date=date_of(plain(get("firstPublicationDate"))),
            volume=plain(info.get("volume")) or plain(get("journalVolume")),
            issue=plain(info.get("issue")) or plain(get("issue")),
            pages=plain(get("pageInfo")),
            short_venue=plain(journal.get("medlineAbbreviation")) or plain(journal.get("isoabbreviation")),
            publisher=plain(book.get("publisher")),
            issn=(
                plain(journal.get("issn")),
                plain(journal.get("essn")),
                plain(get("journalIssn")),
            ),
            pmcid=plain(get("pmcid")),
            keywords=tuple(texts_of(object_of(get("keywordList")).get("keyword"))),
            language=plain(get("language")),
            licence=plain(get("license")),
            key=number,
        ),
    )


def _people(record: Record) -> list[str]:
    people = objects_of(object_of(record.get("authorList")).get("author"))
    if people:
        return [_name(person) for person in people]
    return split_names(plain(record.get("authorString")).rstrip("."))


def _name(person: Mapping[str, object]) -> str:
    family = plain(person.get("lastName"))
    given = plain(person.get("firstName")) or plain(person.get("initials"))
    return full_name(family, given) or plain(person.get("collectiveName")) or plain(person.get("fullName"))


def _kind(record: Record) -> Kind | None:
    kinds = object_of(record.get("pubTypeList")).get("pubType") or record.get("pubType")
    return kind_of(*(texts_of(kinds) if isinstance(kinds, list) else plain(kinds).split(";")))


def _fields(record: Record) -> list[str]:
    headings = objects_of(object_of(record.get("meshHeadingList")).get("meshHeading"))
    main = [plain(item.get("descriptorName")) for item in headings if item.get("majorTopic_YN") == "Y"]
    return main or texts_of(object_of(record.get("keywordList")).get("keyword"))
