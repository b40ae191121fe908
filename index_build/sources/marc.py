"""Reads MARCXML, the records of library catalogues."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from index_build.sources.papers import paper_of
from index_build.sources.records import arxiv_of, doi_of, pmid_of, url_of, year_of
from index_build.sources.rejects import Reject, attempt
from index_build.sources.xml_records import read_elements, text_of
from search.types import Kind, Paper, Reference

_CATALOGUE_MARKS = " /:;,="
"""What cataloguers write between the parts of a record, at the end of each."""
_EDITOR = re.compile(r"\b(?:edt|ed|editor|eds)\b", re.IGNORECASE)
_VOLUME = re.compile(r"(?:vol(?:ume)?|bd)\b\.? ?(\w{1,10})", re.IGNORECASE)
_ISSUE = re.compile(r"(?:no|nr|issue|iss)\b\.? ?(\w{1,10})", re.IGNORECASE)
_PAGES = re.compile(r"(?:pp?|pages?|s)\b\.? ?(\w{1,10}\s?[-–]\s?\w{1,10})", re.IGNORECASE)


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    for element in read_elements(stream, name, ("record",), prefixed=True):
        if isinstance(element, Reject):
            yield element
        else:
            yield attempt(partial(to_paper, element.root), name, element.place, element.raw)


def to_paper(record: Any) -> Paper:
    """A paper or book; the abstract is note 520, and 773 says what a part is part of."""
    title = _joined(record, "245", "abnp")
    people = _people(record)
    numbers = [f"{_one(field, '2')} {_one(field, 'a')}" for field in record.iterfind("datafield[@tag='024']")]
    host, thesis = _joined(record, "773", "t"), _joined(record, "502", "abcd")
    within = " ".join(_all(record, "773", "g"))
    key = text_of(record, "controlfield[@tag='001']")
    issued = _joined(record, "264", "c") or _joined(record, "260", "c")
    coded = text_of(record, "controlfield[@tag='008']")
    return paper_of(
        "marcxml",
        title,
        " ".join(_all(record, "520", "a")),
        authors=[name for name, is_editor in people if not is_editor] or [name for name, _ in people],
        year=year_of(issued) or year_of(_joined(record, "773", "d") or within) or year_of(coded[7:11]),
        venue=host,
        fields=[*_all(record, "650", "a"), *_all(record, "653", "a")],
        doi=next((doi_of(number) for number in numbers if doi_of(number)), ""),
        arxiv_id=next((arxiv_of(number) for number in numbers if "arxiv" in number.lower()), ""),
        pmid=next((pmid_of(number) for number in numbers if "pmid" in number.lower()), ""),
        url=next(filter(None, map(url_of, _all(record, "856", "u"))), ""),
        reference=Reference(
            kind=_kind(record, bool(host), bool(thesis)),
            genre=_one_of(record, "655", "a"),
            volume=_found(_VOLUME, within),
            issue=_found(_ISSUE, within),
            pages=_found(_PAGES, within),
            series=_joined(record, "490", "a"),
            edition=_joined(record, "250", "a"),
            publisher=_joined(record, "264", "b") or _joined(record, "260", "b"),
            place=_joined(record, "264", "a") or _joined(record, "260", "a"),
            editors=tuple(name for name, is_editor in people if is_editor),
            issn=(
                *_all(record, "022", "a"),
                *_all(record, "773", "x"),
            ),
            isbn=(
                *_all(record, "020", "a"),
                *_all(record, "773", "z"),
            ),
            language=_one_of(record, "041", "a") or coded[35:38].strip(" |"),
            note=thesis,
            key=key,
        ),
    )


def _all(record: Any, tag: str, code: str) -> list[str]:
    """Every subfield of this code, without the marks between parts."""
    texts = (text_of(found) for found in record.iterfind(f"datafield[@tag='{tag}']/subfield[@code='{code}']"))
    return [tidy for text in texts if (tidy := text.strip(_CATALOGUE_MARKS))]


def _one(field: Any, code: str) -> str:
    return text_of(field, f"subfield[@code='{code}']").strip(_CATALOGUE_MARKS)


def _one_of(record: Any, tag: str, code: str) -> str:
    return next(iter(_all(record, tag, code)), "")


def _joined(record: Any, tag: str, codes: str) -> str:
    """The subfields of the first field, a title and its rest with a colon between them."""
    field = record.find(f"datafield[@tag='{tag}']")
    if field is None:
        return ""
    found = [text_of(part) for part in field.iterfind("subfield") if part.get("code") in tuple(codes)]
    parts = [tidy for text in found if (tidy := text.strip(_CATALOGUE_MARKS))]
    return (": " if codes.startswith("ab") else ", ").join(parts)


def _people(record: Any) -> list[tuple[str, bool]]:
    """Names, and whether each is an editor's."""
    found = []
    for tag in ("100", "110", "700", "710"):
        for field in record.iterfind(f"datafield[@tag='{tag}']"):
            role = f"{_one(field, '4')} {_one(field, 'e')}"
            found.append((_one(field, "a"), _EDITOR.search(role) is not None))
    return [person for person in found if person[0]]


def _kind(record: Any, is_part: bool, is_thesis: bool) -> Kind | None:
    """By the two letters of the leader: "a" in something, "s" in a row, "m" on its own."""
    level = text_of(record, "leader")[7:8]
    if is_thesis:
        return Kind.THESIS
    if is_part or level in ("a", "b"):
        return Kind.CHAPTER if _all(record, "773", "z") else Kind.ARTICLE
    return Kind.BOOK if level == "m" else None


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""
