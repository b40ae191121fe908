"""Reads Zotero's RDF, in which the journal or book of a work stands apart from it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from index_build.sources.papers import kind_of, pages_of, paper_of
from index_build.sources.records import arxiv_of, doi_of, full_name, pmid_of, url_of, year_of
from index_build.sources.references import date_of
from index_build.sources.rejects import Reject, attempt
from index_build.sources.xml_records import Element, read_elements, text_of, texts_of
from search.types import Kind, Paper, Reference

_WORKS = tuple(
    "Article Book BookSection Document Report Thesis Manuscript Description Patent Data Letter "
    "ConferenceProceedings Recording".split()
)
_WHOLES = ("Journal", "Periodical", "Series", "Proceedings")
_ASIDE = ("Attachment", "Memo", "Collection")
_NOT_PAPERS = frozenset({"attachment", "note", "annotation"})
MOST_WAITING = 1000
"""Works that are held until their journal has come; Zotero writes it right behind the first of them."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    element: Element
    whole: str
    """The name under which its journal or book comes."""


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    """Papers; one whose journal comes behind it waits for it. Attachments and notes are no papers."""
    wholes: dict[str, Any] = {}
    waiting: list[_Waiting] = []
    for element in read_elements(stream, name, _WORKS + _WHOLES + _ASIDE, prefixed=True):
        if isinstance(element, Reject):
            yield element
            continue
        root = element.root
        about = root.get("rdf-about") or ""
        if root.tag in _WHOLES:
            wholes[about] = root
            ready = [item for item in waiting if item.whole == about]
            waiting = [item for item in waiting if item.whole != about]
            yield from (_paper(item.element, root, name) for item in ready)
            continue
        if root.tag in _ASIDE or text_of(root, "itemType") in _NOT_PAPERS:
            continue
        part = root.find("isPartOf")
        inside = part[0] if part is not None and len(part) else None
        whole = (part.get("rdf-resource") or "") if part is not None else ""
        if inside is None and whole and whole not in wholes:
            if len(waiting) == MOST_WAITING:
                yield _paper(waiting.pop(0).element, None, name)
            waiting.append(_Waiting(element, whole))
        else:
            yield _paper(element, inside if inside is not None else wholes.get(whole), name)
    yield from (_paper(item.element, None, name) for item in waiting)


def _paper(element: Element, whole: Any, name: str) -> Paper | Reject:
    return attempt(partial(to_paper, element.root, whole), name, element.place, element.raw)


def to_paper(work: Any, whole: Any = None) -> Paper:
    parts = [work] if whole is None else [work, whole]
    ids = [text for part in parts for text in texts_of(part, "identifier")]
    own_ids = texts_of(work, "identifier")
    date = text_of(work, "date")
    extra = text_of(work, "description")
    url = next(filter(None, map(url_of, [*texts_of(work, "identifier/URI/value"), *own_ids])), "")
    kind = kind_of(text_of(work, "itemType"), str(work.tag))
    is_preprint = whole is None and kind is Kind.PREPRINT
    server = text_of(work, "publisher//name") if is_preprint else ""
    venue = server if whole is None else text_of(whole, "title")
    return paper_of(
        "zotero-rdf",
        text_of(work, "title"),
        text_of(work, "abstract"),
        authors=_people(work, "authors") or _people(work, "editors"),
        year=year_of(date),
        venue=venue or text_of(work, "presentedAt//title"),
        fields=texts_of(work, "subject/AutomaticTag/value") + _plain_subjects(work),
        doi=next((doi_of(text) for text in own_ids + ids if doi_of(text)), ""),
        arxiv_id=arxiv_of(url.partition("arxiv.org/abs/")[2]) or _arxiv_number(text_of(work, "number")),
        pmid=pmid_of(extra.partition("PMID:")[2].strip().partition(" ")[0]) if "PMID:" in extra else "",
        url=url,
        reference=Reference(
            kind=kind,
            date=date_of(date),
            volume=_either(parts, "volume"),
            issue=_either(parts, "issue") or _either(parts[1:], "number"),
            pages=pages_of(text_of(work, "pages")),
            edition=text_of(work, "edition"),
            publisher="" if server else text_of(work, "publisher//name"),
            place=text_of(work, "publisher//locality"),
            event=text_of(work, "presentedAt//title") if venue else "",
            editors=tuple(_people(work, "editors")) if _people(work, "authors") else (),
            short_venue=_either(parts[1:], "alternative"),
            issn=(*(text for text in ids if text.startswith("ISSN")),),
            isbn=(*(text for text in ids if text.startswith("ISBN")),),
            language=text_of(work, "language"),
            licence=text_of(work, "rights"),
            accessed=date_of(text_of(work, "dateSubmitted")),
            key=text_of(work, "citationKey"),
        ),
    )


def _arxiv_number(text: str) -> str:
    return arxiv_of(text) if text.lower().startswith("arxiv:") else ""


def _either(parts: list[Any], path: str) -> str:
    return next(filter(None, (text_of(part, path) for part in parts)), "")


def _people(work: Any, role: str) -> list[str]:
    return [
        full_name(text_of(person, "surname"), text_of(person, "givenName") or text_of(person, "givenname"))
        for person in work.iterfind(f"{role}//Person")
    ]


def _plain_subjects(work: Any) -> list[str]:
    return [text for found in work.iterfind("subject") if not len(found) and (text := text_of(found))]
