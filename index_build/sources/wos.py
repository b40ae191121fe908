"""Reads Web of Science's plain text export ("savedrecs.txt"): two-letter tags and indented lines."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import rispy

from index_build.markup import to_text
from index_build.sources.blocks import Block, papers_of, read_blocks
from index_build.sources.records import (
    complete,
    doi_of,
    first_text,
    name_paper,
    pmid_of,
    texts_of,
    unique,
    year_of,
)
from index_build.sources.rejects import BadRecord, Reason, Reject
from index_build.sources.sections import find_sections
from search.types import Paper

_START = re.compile(r"PT [A-Z]\b")
_END = re.compile(r"ER\s*$")


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return papers_of(read_blocks(stream, name, _START, _END), name, to_paper)


def to_paper(block: Block) -> Paper:
    """A paper under its accession number, with the categories of Web of Science as its fields."""
    records = rispy.loads("\n".join([*block.lines, "ER"]), implementation=rispy.WokParser)
    if not records:
        raise BadRecord(Reason.BAD_ENTRY)
    record = records[0]
    title, abstract = to_text(first_text(record, "document_title")), to_text(first_text(record, "abstract"))
    doi, number = doi_of(first_text(record, "doi")), first_text(record, "accession_number").lower()
    return complete(
        Paper(
            id=number or name_paper("wos:", title, abstract, doi=doi),
            title=title,
            abstract=abstract,
            authors=unique(map(to_text, record.get("author_full_name") or record.get("authors") or ())),
            year=year_of(first_text(record, "publication_year", "early_access_year")),
            venue=to_text(first_text(record, "publication_name")),
            fields=unique(texts_of(first_text(record, "wos_categories", "research_areas"))),
            doi=doi,
            pmid=pmid_of(first_text(record, "pubmed_id")),
            source="wos",
            sections=find_sections(abstract),
        )
    )
