"""Reads CSL-JSON as Zotero and others export it, and Crossref's records, which are much the same."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from index_build.markup import to_text
from index_build.sources.json_answers import Record
from index_build.sources.json_records import read_json
from index_build.sources.records import (
    arxiv_of,
    authors_of,
    complete,
    doi_of,
    first_text,
    keywords_of,
    name_paper,
    object_of,
    objects_of,
    plain,
    pmid_of,
    texts_of,
    unique,
    url_of,
    year_of,
)
from index_build.sources.references import kind_of_words, make_reference, note_of
from index_build.sources.rejects import Reject
from index_build.sources.sections import find_sections
from search.types import Kind, Paper, Reference

_PMID_LINE = re.compile(r"^PMID: *(\d+)", re.MULTILINE)


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return read_json(stream, name, to_paper)


def to_paper(record: Record) -> Paper:
    """A paper; Zotero keeps the PMID in a line of the notes."""
    get = record.get
    title, abstract = to_text(first_text(record, "title")), to_text(plain(get("abstract")))
    url, doi = url_of(get("URL")), doi_of(get("DOI"))
    arxiv_id = _arxiv_id(record)
    noted = _PMID_LINE.search(plain(get("note")))
    pmid = pmid_of(get("PMID") or (noted[1] if noted else ""))
    return complete(
        Paper(
            id=name_paper("csl:", title, abstract, doi=doi, arxiv=arxiv_id, pmid=pmid),
            title=title,
            abstract=abstract,
            authors=authors_of(get("author") or get("editor")),
            year=_year(record),
            venue=to_text(first_text(record, "container-title", "event-title", "event", "publisher")),
            fields=_fields(record),
            doi=doi,
            arxiv_id=arxiv_id,
            pmid=pmid,
            url=url,
            source="csl-json",
            reference=_reference(record),
            sections=find_sections(abstract),
        )
    )


_KINDS = {
    "article": Kind.PREPRINT,
    "thesis": Kind.THESIS,
    "book": Kind.BOOK,
    "periodical": Kind.BOOK,
    "proceedings": Kind.PROCEEDINGS,
    "collection": Kind.BOOK,
}
"""Types whose name means another thing elsewhere."""


def _kind(record: Record) -> Kind | None:
    """The type; Crossref's posted contents and CSL's plain articles are preprints."""
    name = plain(record.get("type")).lower()
    if name == "book" and plain(record.get("genre")).lower() == "proceedings":
        return Kind.PROCEEDINGS
    return _KINDS.get(name) or kind_of_words(name)


def _reference(record: Record) -> Reference:
    get = record.get
    licences = objects_of(get("license"))
    return make_reference(
        kind=_kind(record),
        genre=get("genre"),
        date=_date(record),
        volume=get("volume"),
        issue=get("issue"),
        pages=get("page"),
        number=first_text(record, "number", "article-number") if not _arxiv_id(record) else None,
        series=first_text(record, "collection-title"),
        edition=get("edition"),
        publisher=get("publisher"),
        place=get("publisher-place") or get("publisher-location"),
        event=_event(record),
        editors=authors_of(get("editor")),
        short_venue=first_text(
            record, "container-title-short", "short-container-title", "journalAbbreviation"
        ),
        issn=first_text(record, "ISSN"),
        isbn=first_text(record, "ISBN"),
        pmcid=get("PMCID"),
        language=get("language"),
        licence=plain(licences[0].get("URL")) if licences else get("license"),
        note=note_of(plain(get("note"))),
        accessed="-".join(map(str, _parts(get("accessed")))),
        key=get("id"),
    )


def _event(record: Record) -> str:
    event = record.get("event")
    return first_text(record, "event-title") or plain(object_of(event).get("name") or event)


def _parts(date: object) -> list[object]:
    """The parts of a date, year first."""
    parts = object_of(date).get("date-parts")
    inner = parts[0] if isinstance(parts, list) and parts else []
    usable = isinstance(inner, list) and all(isinstance(part, int | str) for part in inner)
    return list(inner[:3]) if usable else []


def _date(record: Record) -> str:
    for name in ("issued", "published", "published-print", "published-online"):
        parts = _parts(record.get(name))
        if len(parts) > 1:
            return "-".join(map(str, parts))
        if text := first_text(object_of(record.get(name)), "raw", "literal"):
            return text
    return ""


def _arxiv_id(record: Record) -> str:
    if plain(record.get("archive")).lower() == "arxiv":
        return arxiv_of(record.get("archive_location"))
    number = plain(record.get("number"))
    return arxiv_of(number if number.lower().startswith("arxiv:") else "")


def _year(record: Record) -> int | None:
    """The year of the date in parts, as text, or as it was written."""
    for name in ("issued", "published", "published-print", "published-online"):
        date = record.get(name)
        if isinstance(date, dict):
            date = date.get("date-parts") or date.get("literal") or date.get("raw")
        if year := year_of(date):
            return year
    return None


def _fields(record: Record) -> tuple[str, ...]:
    keywords = record.get("keyword") or record.get("categories")
    if isinstance(keywords, str):
        return keywords_of(to_text(keywords))
    return unique(texts_of(keywords or record.get("subject")))
