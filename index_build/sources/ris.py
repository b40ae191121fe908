"""Reads RIS, with the ways Embase, Web of Science, Ovid and others bend it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from typing import Any

import rispy

from index_build.markup import to_text
from index_build.sources.blocks import Block, papers_of, read_blocks
from index_build.sources.records import (
    arxiv_of,
    complete,
    doi_of,
    first_text,
    name_paper,
    pmid_of,
    unique,
    url_of,
    year_of,
)
from index_build.sources.rejects import BadRecord, Reason, Reject
from index_build.sources.sections import find_sections
from search.types import Paper

_START = re.compile(r"\s*TY {0,2}-")
_END = re.compile(r"\s*ER {0,2}-")
_JOURNALS = ("secondary_title", "journal_name", "alternate_title3", "alternate_title2", "alternate_title1")
_TAG = re.compile(r"\s*([A-Z][A-Z0-9]) {0,2}-(?: |$)(.*)")


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return papers_of(read_blocks(stream, name, _START, _END), name, to_paper)


def to_paper(block: Block) -> Paper:
    """A paper with the title, abstract and journal from whichever tag the database put them in."""
    record = _parse(block)
    title = to_text(first_text(record, "title", "primary_title", "short_title"))
    abstract = to_text(first_text(record, "abstract", "notes_abstract"))
    urls = [url for url in record.get("urls", ()) if url_of(url)]
    numbers = [first_text(record, tag) for tag in ("accession_number", "custom1", "custom2")] + urls
    doi = doi_of(first_text(record, "doi") or first_text(record, "file_attachments2", "type_of_work"))
    arxiv_id = next((arxiv_of(text) for text in numbers if "arxiv" in text.lower()), "")
    pmid = next((pmid_of(text) for text in numbers if re.match(r"PMID|https?://\S*pubmed", text, re.I)), "")
    return complete(
        Paper(
            id=_own_id(numbers[0]) or name_paper("ris:", title, abstract, doi=doi, arxiv=arxiv_id, pmid=pmid),
            title=title,
            abstract=abstract,
            authors=unique(map(to_text, record.get("authors") or record.get("first_authors") or ())),
            year=year_of(first_text(record, "year", "publication_year", "date")),
            venue=to_text(first_text(record, *_JOURNALS)),
            fields=unique(map(to_text, record.get("keywords", ()))),
            doi=doi,
            arxiv_id=arxiv_id,
            pmid=pmid,
            url=urls[0] if urls else "",
            source="ris",
            sections=find_sections(abstract),
        )
    )


def _parse(block: Block) -> Mapping[str, Any]:
    """The record by rispy, from lines put into the form it wants: two letters, two spaces, a hyphen."""
    tags = ((line, _TAG.match(line)) for line in block.lines)
    lines = [f"{tag[1]}  - {tag[2]}" if tag else f"      {line}" for line, tag in tags]
    if not _END.match(lines[-1]):
        lines.append("ER  - ")
    try:
        records = rispy.loads("\n".join(lines), delimiter_tags_mapping={})
    except (KeyError, IndexError, AttributeError, TypeError) as error:
        raise BadRecord(Reason.BAD_ENTRY) from error
    if not records:
        raise BadRecord(Reason.BAD_ENTRY)
    record: Mapping[str, Any] = records[0]
    return record


def _own_id(number: str) -> str:
    """Web of Science's number is unique as it stands."""
    return number.lower() if number.startswith("WOS:") else ""
