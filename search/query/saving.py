"""A query as a file or a link, checked field by field when it comes in."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, TypeVar

from search.errors import InputError
from search.query.choosing import HIGHEST_WEIGHT, MOST_PAPERS, MOST_SENTENCES, check_size, shorten
from search.types import Choice, Facet, Filters, Matcher, Query, QueryPaper, QuerySentence

FORMAT = 1
"""Version of the layout; raise it when older files and links can no longer be read."""
_LARGEST_FILE = 2_000_000
"""Most characters of a file, most bytes of an unpacked link: far more than a query needs. Chosen by hand."""
MOST_IN_A_FILTER = 10_000
"""Venues, fields or papers of one filter; chosen by hand."""
LATEST_YEAR = 9999
"""The highest year in a filter: four digits."""
Kind = TypeVar("Kind", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A query from a file or a link, with the build whose ranking it showed ("" where unknown)."""

    query: Query
    build_id: str = ""


def to_json(query: Query, build_id: str = "", *, texts: bool = True, indent: int | None = 1) -> str:
    """The query as a file; without `texts`, papers of the corpus are named by their id alone."""
    content: dict[str, Any] = {
        "triptych_query": FORMAT,
        "build": build_id,
        "papers": [_paper_out(paper, texts or not paper.paper_id) for paper in query.papers],
        "matcher": query.matcher.value if query.matcher else None,
        "filters": _filters_out(query.filters),
        "top": query.top,
    }
    return json.dumps(content, ensure_ascii=False, indent=indent, separators=None if indent else (",", ":"))


def _filters_out(filters: Filters) -> dict[str, Any]:
    plain = asdict(Filters())
    return {key: value for key, value in asdict(filters).items() if value != plain[key]}


def _paper_out(paper: QueryPaper, texts: bool) -> dict[str, Any]:
    return {
        "id": paper.paper_id,
        "title": paper.title if texts else "",
        "sentences": [_sentence_out(sentence, texts) for sentence in paper.sentences],
    }


def _sentence_out(sentence: QuerySentence, texts: bool) -> dict[str, Any]:
    content: dict[str, Any] = {"text": sentence.text} if texts else {}
    content |= {"facet": sentence.facet.value if sentence.facet else None, "choice": sentence.choice.value}
    if sentence.or_facet:
        content["or_facet"] = sentence.or_facet.value
    return content if sentence.weight == 1 else content | {"weight": sentence.weight}


def from_json(text: str) -> SavedQuery:
    """A query file read back, checked field by field."""
    if len(text) > _LARGEST_FILE:
        raise InputError("This query file is too large to be one: choose a file saved by Triptych.")
    try:
        content = json.loads(text)
        version = content["triptych_query"]
    except (ValueError, RecursionError, TypeError, KeyError):
        raise InputError(
            "This is not a query saved by Triptych: choose a file made by “Save query”."
        ) from None
    if version != FORMAT:
        raise InputError(
            f"This query has version {shorten(version)} but this app reads {FORMAT}: update the app."
        )
    try:
        query = _query_in(content)
        saved = SavedQuery(query, text_in(content.get("build"), "build"))
    except ValueError as error:
        raise InputError(f"This saved query is damaged ({error}): save it again.") from None
    check_size(query)
    return saved


def _query_in(content: dict[str, Any]) -> Query:
    """ValueError where a field is missing or holds another kind of value; sizes are checked later."""
    return Query(
        papers=tuple(paper_in(paper) for paper in list_in(content.get("papers"), "papers", MOST_PAPERS)),
        matcher=one_of(Matcher, content.get("matcher")),
        filters=filters_in(object_in(content.get("filters") or {}, "filters")),
        top=whole_in(content.get("top", 20), "top"),
    )


def filters_in(content: dict[str, Any]) -> Filters:
    if unknown := content.keys() - _FILTERS.keys():
        raise ValueError(f"there is no filter {shorten(min(unknown))}")
    return Filters(**{key: _FILTERS[key](value, key) for key, value in content.items()})


def paper_in(content: Any) -> QueryPaper:
    paper = object_in(content, "paper")
    sentences = list_in(paper.get("sentences"), "sentences", MOST_SENTENCES)
    return QueryPaper(
        title=text_in(paper.get("title"), "title"),
        sentences=tuple(map(_sentence_in, sentences)),
        paper_id=text_in(paper.get("id"), "id"),
    )


def _sentence_in(content: Any) -> QuerySentence:
    sentence = object_in(content, "sentence")
    weight = sentence.get("weight", 1)
    if type(weight) not in (int, float) or not 0 <= weight <= HIGHEST_WEIGHT:
        raise ValueError(f"the weight {shorten(weight)} is no number from 0 to {HIGHEST_WEIGHT}")
    return QuerySentence(
        text=text_in(sentence.get("text"), "text"),
        facet=one_of(Facet, sentence.get("facet")),
        choice=one_of(Choice, sentence.get("choice")) or Choice.MATCH,
        weight=float(weight),
        or_facet=one_of(Facet, sentence.get("or_facet")),
    )


def object_in(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} is {shorten(value)}, not an object")
    return value


def list_in(value: Any, name: str, most: int) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name} is {shorten(value)}, not a list")
    if len(value) > most:
        raise InputError(f"This query has {len(value):,} {name} but up to {most:,} are read: choose some.")
    return value


def text_in(value: Any, name: str) -> str:
    """Text that can be written to any file: half a pair of surrogates cannot."""
    if value is None:
        return ""
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError(f"{name} is {shorten(value)}, not a text")
    return value


def whole_in(value: Any, name: str) -> int:
    if type(value) is not int:
        raise ValueError(f"{name} is {shorten(value)}, not a whole number")
    return value


def _year_in(value: Any, name: str) -> int | None:
    if value is not None and not 0 <= whole_in(value, name) <= LATEST_YEAR:
        raise ValueError(f"{name} is {shorten(value)}, not a year")
    return value


def _texts_in(value: Any, name: str) -> tuple[str, ...]:
    return tuple(text_in(text, name) for text in list_in(value, name, MOST_IN_A_FILTER))


def _ids_in(value: Any, name: str) -> tuple[str, ...] | None:
    return None if value is None else _texts_in(value, name)


def _truth_in(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {shorten(value)}, not true or false")
    return value


_FILTERS: dict[str, Callable[[Any, str], Any]] = {
    "year_from": _year_in,
    "year_to": _year_in,
    "venues": _texts_in,
    "fields": _texts_in,
    "sources": _texts_in,
    "ids": _ids_in,
    "has_doi": _truth_in,
    "origins": _texts_in,
}
"""How each filter is read."""


def one_of(kind: type[Kind], value: Any) -> Kind | None:
    """The member of an enumeration with this value; None for nothing."""
    if value is None or value == "":
        return None
    if not isinstance(value, str) or value not in {member.value for member in kind}:
        raise ValueError(f"{shorten(value)} is no {kind.__name__.lower()}")
    return kind(value)


def to_link(query: Query, build_id: str = "") -> str:
    """The query as letters that fit an address: papers of the corpus by id, pasted text packed."""
    packed = zlib.compress(to_json(query, build_id, texts=False, indent=None).encode(), 9)
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def from_link(link: str) -> SavedQuery:
    """The query of a link; `Engine.restore` gives papers of the corpus their texts back."""
    try:
        if len(link) > _LARGEST_FILE:
            raise ValueError("too long")
        packed = base64.urlsafe_b64decode(link.strip() + "=" * (-len(link.strip()) % 4))
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(packed, _LARGEST_FILE).decode()
        if not unpacker.eof:
            raise ValueError("cut short")
    except (binascii.Error, zlib.error, ValueError):
        raise InputError("This link is damaged or was cut short: copy it again, in full.") from None
    return from_json(text)
