"""CSL-JSON, the exchange format of citation processors."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from search.exports.references import (
    Citation,
    container_of,
    editors_alone,
    kind_of,
    make_keys,
    place_in,
)
from search.names import divide_for_print
from search.types import Kind, Paper

_TYPES = {
    Kind.ARTICLE: "article-journal",
    Kind.PROCEEDINGS_PAPER: "paper-conference",
    Kind.CHAPTER: "chapter",
    Kind.BOOK: "book",
    Kind.PROCEEDINGS: "book",
    Kind.THESIS: "thesis",
    Kind.REPORT: "report",
    Kind.PREPRINT: "article",
    Kind.DATASET: "dataset",
    Kind.SOFTWARE: "software",
    Kind.PATENT: "patent",
    Kind.STANDARD: "standard",
    Kind.PRESENTATION: "speech",
    Kind.ENTRY: "entry-encyclopedia",
    Kind.NEWS: "article-newspaper",
    Kind.WEB_PAGE: "webpage",
    Kind.MANUSCRIPT: "manuscript",
    Kind.OTHER: "document",
}
_AT_HOME = (Kind.THESIS, Kind.REPORT, Kind.MANUSCRIPT)
"""Kinds whose venue is their publisher, where none is named."""


def write_csl_json(citations: Sequence[Citation]) -> str:
    keys = make_keys([citation.paper for citation in citations])
    items = [_item(key, citation) for key, citation in zip(keys, citations, strict=True)]
    return json.dumps(items, ensure_ascii=False, indent=1) + "\n"


def _item(key: str, citation: Citation) -> dict[str, Any]:
    paper, kind = citation.paper, kind_of(citation.paper)
    venue = place_in(paper) if kind in (*_AT_HOME, Kind.BOOK, Kind.PROCEEDINGS) else container_of(paper)
    item = {
        "id": key,
        "type": _TYPES[kind],
        "title": paper.title,
        "author": [] if editors_alone(paper) else [_name(name) for name in paper.authors],
        "issued": _issued(paper),
        "container-title": "" if kind in _AT_HOME and not paper.reference.publisher else venue,
        **_printed(paper, kind),
        "DOI": paper.doi,
        "PMID": paper.pmid,
        "PMCID": paper.reference.pmcid,
        "archive": "arXiv" if paper.arxiv_id else "",
        "archive_location": paper.arxiv_id,
        "URL": paper.url,
        "keyword": _keywords(citation.keywords),
        "abstract": paper.abstract,
        "status": paper.reference.status,
        "custom": _of_abstract(paper),
        "note": "\n".join(filter(None, (paper.reference.note, citation.note))),
    }
    return {name: value for name, value in item.items() if value}


def _of_abstract(paper: Paper) -> dict[str, str]:
    """Who gave the abstract and under what, where that is known."""
    reference = paper.reference
    told = {"abstract-from": reference.abstract_from, "abstract-license": reference.abstract_licence}
    return {name: value for name, value in told.items() if value}


def _printed(paper: Paper, kind: Kind) -> dict[str, Any]:
    """What comes from the reference."""
    reference = paper.reference
    return {
        "genre": "Proceedings" if kind is Kind.PROCEEDINGS else reference.genre,
        "volume": reference.volume,
        "issue": reference.issue,
        "page": reference.pages,
        "number": reference.number,
        "collection-title": reference.series,
        "edition": reference.edition,
        "publisher": reference.publisher or (paper.venue if kind in _AT_HOME else ""),
        "publisher-place": reference.place,
        "event-title": reference.event,
        "editor": [_name(name) for name in reference.editors],
        "container-title-short": reference.short_venue,
        "ISSN": ", ".join(reference.issn),
        "ISBN": ", ".join(reference.isbn),
        "language": reference.language,
        "license": reference.licence,
        "accessed": _date(reference.accessed),
    }


def _issued(paper: Paper) -> dict[str, Any] | None:
    date = paper.reference.date
    if date and (not paper.year or date.startswith(str(paper.year))):
        return _date(date)
    return {"date-parts": [[paper.year]]} if paper.year else None


def _date(text: str) -> dict[str, Any] | None:
    parts = [int(part) for part in text.split("-") if part.isdecimal()]
    return {"date-parts": [parts]} if parts else None


def _keywords(fields: Sequence[str]) -> str:
    """Keywords in one text; semicolons part them, since a keyword may hold commas."""
    return "; ".join(fields) + (";" if len(fields) == 1 and "," in fields[0] else "")


_COMPANY = re.compile(r"(?:inc|ltd|llc|gmbh|corp)\.?", re.IGNORECASE)


def _name(name: str) -> dict[str, str]:
    known = divide_for_print(name)
    if ("," not in name and not known.given) or _COMPANY.fullmatch(known.given):
        return {"literal": name.strip()}
    parts = {"family": known.family, "given": known.given, "suffix": known.suffix}
    return {part: value for part, value in parts.items() if value}
