"""Reads DataCite's JSON: datasets, software, preprints and more, alone or in answers of its API."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping

from index_build.markup import to_text
from index_build.sources.json_answers import Record
from index_build.sources.json_records import read_json
from index_build.sources.papers import kind_of, pages_of, paper_of
from index_build.sources.records import (
    arxiv_of,
    doi_of,
    first_text,
    full_name,
    object_of,
    objects_of,
    plain,
    url_of,
    year_of,
)
from index_build.sources.references import date_of
from index_build.sources.rejects import Reject
from search.types import Paper, Reference


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return read_json(stream, name, to_paper)


def to_paper(record: Record) -> Paper:
    """A paper from a record of the API or from the metadata alone."""
    work = object_of(record.get("attributes")) or record
    get = work.get
    container, types = object_of(get("container")), object_of(get("types"))
    doi = doi_of(get("doi") or record.get("id"))
    publisher = plain(get("publisher")) or plain(object_of(get("publisher")).get("name"))
    dates = {plain(item.get("dateType")): plain(item.get("date")) for item in objects_of(get("dates"))}
    return paper_of(
        "datacite",
        _title(work),
        to_text(_abstract(work)),
        authors=map(_name, objects_of(get("creators"))),
        year=year_of(get("publicationYear")) or year_of(dates.get("Issued")),
        venue=to_text(plain(container.get("title")) or publisher),
        fields=[to_text(plain(item.get("subject"))) for item in objects_of(get("subjects"))],
        doi=doi,
        arxiv_id=arxiv_of(doi.partition("arxiv.")[2]),
        url=url_of(get("url")),
        reference=Reference(
            kind=kind_of(plain(types.get("resourceTypeGeneral")), plain(types.get("resourceType"))),
            genre=plain(types.get("resourceType")),
            date=date_of(dates.get("Issued", "")),
            volume=plain(container.get("volume")),
            issue=plain(container.get("issue")),
            pages=pages_of(plain(container.get("firstPage")), plain(container.get("lastPage"))),
            edition=plain(get("version")),
            publisher=to_text(publisher),
            editors=tuple(
                _name(item)
                for item in objects_of(get("contributors"))
                if item.get("contributorType") == "Editor"
            ),
            issn=(_number(container, "ISSN"),),
            isbn=(_number(container, "ISBN"),),
            language=plain(get("language")),
            licence=next(
                (first_text(item, "rightsUri", "rights") for item in objects_of(get("rightsList"))), ""
            ),
        ),
    )


def _title(work: Mapping[str, object]) -> str:
    """The main title with its subtitle; translated and alternative ones have a type."""
    titles = objects_of(work.get("titles"))
    main = [plain(item.get("title")) for item in titles if not item.get("titleType")]
    title = to_text(next(filter(None, main or [plain(item.get("title")) for item in titles]), ""))
    subtitles = (plain(item.get("title")) for item in titles if item.get("titleType") == "Subtitle")
    subtitle = to_text(next(subtitles, ""))
    return f"{title}: {subtitle}" if title and subtitle else title


def _abstract(work: Mapping[str, object]) -> str:
    """What is called the abstract, else the first description, as of datasets."""
    found = objects_of(work.get("descriptions"))
    abstracts = [item for item in found if item.get("descriptionType") == "Abstract"]
    others = [item for item in found if item.get("descriptionType") in ("Other", "Methods", None)]
    return next((plain(item.get("description")) for item in abstracts + others), "")


def _name(person: Mapping[str, object]) -> str:
    family = plain(person.get("familyName"))
    return full_name(family, plain(person.get("givenName"))) if family else plain(person.get("name"))


def _number(container: Mapping[str, object], kind: str) -> str:
    return plain(container.get("identifier")) if container.get("identifierType") == kind else ""
