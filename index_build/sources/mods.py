"""Reads MODS, the XML of libraries, which Zotero, EndNote and repositories write, too."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from index_build.sources.papers import kind_of, pages_of, paper_of
from index_build.sources.records import arxiv_of, doi_of, full_name, pmid_of, url_of, year_of
from index_build.sources.references import date_of
from index_build.sources.rejects import Reject, attempt
from index_build.sources.xml_records import read_elements, text_of, texts_of
from search.types import Kind, Paper, Reference

_DATES = ("dateIssued", "copyrightDate", "dateOther", "dateCreated")
_WRITERS = frozenset({"aut", "author", "creator", "cre", "dis", "ths"})
_EDITORS = frozenset({"edt", "editor"})


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    for element in read_elements(stream, name, ("mods",), prefixed=True):
        if isinstance(element, Reject):
            yield element
        else:
            yield attempt(partial(to_paper, element.root), name, element.place, element.raw)


def to_paper(record: Any) -> Paper:
    host = record.find("relatedItem[@type='host']")
    parts = [record] if host is None else [record, host]
    ids = {found.get("type", "").lower(): text_of(found) for found in record.iterfind("identifier")}
    date = _first(text_of(part, f"originInfo/{name}") for name in _DATES for part in parts)
    date = date or _first(text_of(part, "part/date") for part in parts)
    part = next((found for owner in parts if (found := owner.find("part")) is not None), record)
    genres = [text for owner in parts[:1] for text in texts_of(owner, "genre")]
    urls = (
        *texts_of(record, "location/url"),
        ids.get("uri", ""),
        ids.get("url", ""),
    )
    return paper_of(
        "mods",
        _title(record),
        " ".join(texts_of(record, "abstract")),
        authors=_people(record, _WRITERS) or _people(record, frozenset({""})),
        year=year_of(date),
        venue="" if host is None else _title(host),
        fields=texts_of(record, "subject/topic"),
        doi=doi_of(ids.get("doi")),
        arxiv_id=arxiv_of(ids.get("arxiv")),
        pmid=pmid_of(ids.get("pmid") or ids.get("pubmed") or ids.get("medline")),
        url=_first(map(url_of, urls)),
        reference=Reference(
            kind=kind_of(*genres) or (Kind.BOOK if host is None and ids.get("isbn") else None),
            date=date_of(date),
            volume=_detail(part, "volume"),
            issue=_detail(part, "issue") or _detail(part, "number"),
            pages=pages_of(text_of(part, "extent/start"), text_of(part, "extent/end"))
            or text_of(part, "extent/list"),
            edition=text_of(record, "originInfo/edition"),
            publisher=_first(text_of(owner, "originInfo/publisher") for owner in parts),
            place=_first(text_of(owner, "originInfo/place/placeTerm[@type='text']") for owner in parts),
            editors=tuple(name for owner in parts for name in _people(owner, _EDITORS)),
            issn=(*_identifiers(parts, "issn"),),
            isbn=(*_identifiers(parts, "isbn"),),
            language=text_of(record, "language/languageTerm"),
            licence=_first(text for text in texts_of(record, "accessCondition") if len(text) < 200),
            key=record.get("ID") or text_of(record, "recordInfo/recordIdentifier"),
        ),
    )


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")


def _title(owner: Any) -> str:
    """The main title with its article and subtitle; abbreviated and translated ones have a type."""
    infos = list(owner.iterfind("titleInfo"))
    for info in [found for found in infos if not found.get("type")] or infos:
        title = f"{text_of(info, 'nonSort')} {text_of(info, 'title')}".strip()
        subtitle = text_of(info, "subTitle")
        if title:
            return f"{title}: {subtitle}" if subtitle else title
    return ""


def _people(owner: Any, roles: frozenset[str]) -> list[str]:
    """Names in one of these roles; the empty role is that of people who have none."""
    found = []
    for person in owner.iterfind("name"):
        own = {text.lower() for text in texts_of(person, "role/roleTerm")} or {""}
        if own & roles:
            found.append(_name(person))
    return found


def _name(person: Any) -> str:
    parts = [(found.get("type") or "", text_of(found)) for found in person.iterfind("namePart")]
    family = " ".join(text for kind, text in parts if kind == "family")
    given = " ".join(text for kind, text in parts if kind == "given")
    plainly = " ".join(text for kind, text in parts if kind == "")
    suffix = "".join(text for kind, text in parts if kind == "termsOfAddress" and len(text) < 5)
    return full_name(family, given, suffix) if family else plainly or given


def _detail(part: Any, kind: str) -> str:
    return text_of(part, f"detail[@type='{kind}']/number")


def _identifiers(parts: list[Any], kind: str) -> list[str]:
    return [text for owner in parts for text in texts_of(owner, f"identifier[@type='{kind}']")]
