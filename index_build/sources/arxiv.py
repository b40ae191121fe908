"""Reads the arXiv metadata snapshot: one JSON record a line, with LaTeX in titles and abstracts."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from index_build.markup import latex_text
from index_build.sources.arxiv_categories import field_names
from index_build.sources.json_answers import Record
from index_build.sources.json_records import read_json
from index_build.sources.names import tidy_names
from index_build.sources.records import (
    arxiv_of,
    authors_of,
    complete,
    doi_of,
    full_name,
    name_paper,
    objects_of,
    plain,
    year_of,
)
from index_build.sources.references import make_reference
from index_build.sources.rejects import Reject
from index_build.sources.sections import find_sections, with_colons
from search.types import Kind, Paper, Reference

_VOLUME = re.compile(
    r"(?<![,:;(\s])[,:;(\s]*(?:\b(?:vol(?:ume)?|v|no|issue|pp?|pages?|art(?:icle)?)\b\.?\s*)?[(\[]?"
    r"(?<!\d)(?!\d+(?:st|nd|rd|th)\b|\d{4} [A-Z])\d.*",
    re.IGNORECASE | re.DOTALL,
)
_ENDS = re.compile(
    r"^\d{4} (?=[A-Z])|(?<![, ])[, ]+(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?$",
    re.I,
)
_OPEN_BRACKET = re.compile(r"\A((?>.*\))?+[^(]*+)\(.*", re.DOTALL)
_TIGHT_STOP = re.compile(r"\.(?=[A-Z])")


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return read_json(stream, name, to_paper)


def to_paper(record: Record) -> Paper:
    """A paper dated by its first version, with the journal it came out in as the venue where it is known."""
    get = record.get
    title, abstract = latex_text(plain(get("title"))), with_colons(latex_text(plain(get("abstract"))))
    arxiv_id = arxiv_of(get("id"))
    return complete(
        Paper(
            id=f"arxiv:{arxiv_id}" if arxiv_id else name_paper("arxiv:", title, abstract),
            title=title,
            abstract=abstract,
            authors=_authors(record),
            year=_year(record),
            venue=journal_of(plain(get("journal-ref"))),
            fields=field_names(plain(get("categories")).split()),
            doi=doi_of(get("doi")),
            arxiv_id=arxiv_id,
            url=f"https://arxiv.org/abs/{arxiv_id}" if arxiv_id else "",
            source="arxiv",
            reference=_reference(record),
            sections=find_sections(abstract),
        )
    )


def _reference(record: Record) -> Reference:
    """A preprint, unless it names its journal: then the venue tells what it is."""
    get = record.get
    versions = objects_of(get("versions"))
    published = plain(get("journal-ref"))
    return make_reference(
        kind=None if published else Kind.PREPRINT,
        date=versions[0].get("created") if versions and not published else None,
        number=None if published else get("report-no"),
        licence=get("license"),
    )


def _authors(record: Record) -> tuple[str, ...]:
    parsed = record.get("authors_parsed")
    if not isinstance(parsed, list):
        return authors_of(latex_text(plain(record.get("authors"))).replace(", ", " and "))
    names = ([plain(part) for part in name[:3]] for name in parsed if isinstance(name, list))
    return tidy_names(full_name(*name) for name in names if name)


def _year(record: Record) -> int | None:
    created = [version.get("created") for version in objects_of(record.get("versions"))[:1]]
    return year_of(created) or year_of(record.get("update_date"))


def journal_of(reference: str) -> str:
    """The journal in a reference, without volume and pages: "Phys.Rev.D76:013009,2007" as "Phys. Rev. D"."""
    reference = latex_text(reference)
    journal = _OPEN_BRACKET.sub(r"\1", _ENDS.sub("", _VOLUME.sub("", reference)))
    journal = _TIGHT_STOP.sub(". ", journal).strip(" ,;:")
    if journal.lower().startswith(("proc", "in proc")):
        journal = journal.split(",")[0]
    if journal.count(".") == 1:  # not a row of abbreviations
        journal = journal.rstrip(".")
    return journal if len(journal) > 2 else reference
