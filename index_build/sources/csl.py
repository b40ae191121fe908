"""Reads CSL-JSON as Zotero and others export it, and Crossref's records, which are much the same."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from index_build.markup import to_text
from index_build.sources.json_records import Record, read_json
from index_build.sources.records import (
    arxiv_of,
    authors_of,
    complete,
    doi_of,
    first_text,
    keywords_of,
    name_paper,
    plain,
    pmid_of,
    texts_of,
    unique,
    url_of,
    year_of,
)
from index_build.sources.rejects import Reject
from index_build.sources.sections import find_sections
from search.types import Paper

_PMID_LINE = re.compile(r"^PMID: *(\d+)", re.MULTILINE)


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return read_json(stream, name, to_paper)


def to_paper(record: Record) -> Paper:
    """A paper; of the notes only the line is read in which Zotero keeps the PMID."""
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
            sections=find_sections(abstract),
        )
    )


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
