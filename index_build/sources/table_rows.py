"""What a row of a table says of a paper: its cells by field, and the paper of them."""

from __future__ import annotations

import re
from dataclasses import replace

from index_build.sources import generic
from index_build.sources.json_answers import Record
from index_build.sources.names import split_joined
from index_build.sources.pubmed import title_of
from index_build.sources.records import is_nothing, plain
from index_build.sources.references import date_of, kind_of_words
from index_build.sources.table_columns import JOINED, Header
from search.types import Kind, Paper

_ROW_NUMBER = re.compile(r"\d{1,7}")
_OPENALEX = re.compile(r"https://openalex\.org/W\d")
_SAFE_FORMULA = re.compile(r"^'(?=\s*[=+\-@])")


def record_of(row: list[str], header: Header) -> Record:
    """The fields of a row; an empty cell gives way to the next column for its field."""
    record: Record = {}
    for field, places in header.columns.items():
        cells = (_cell(row[at]) for at in places if at < len(row))
        known = (cell for cell in cells if cell and not is_nothing(cell))
        record[field] = ";".join(map(_parted, known)) if field in JOINED else next(known, "")
    for field in _LISTED & record.keys():
        record[field] = _without_brackets(record[field])
    if groups := record.pop("groups", ""):
        record["authors"] = ";".join(filter(None, (record.get("authors", ""), groups)))
    if header.program == "springer" and not {";", ","} & set(record.get("authors", "")):
        record["authors"] = split_joined(record.get("authors", ""))
    elif header.program == "pubmed":
        record["title"] = title_of(record.get("title", ""))
    elif header.program.endswith("patents"):
        people = record.get("authors", "").split(";")
        if header.program.startswith("lens") and "".join(people).isupper():  # "FAMILY GIVEN"
            record["authors"] = ";".join(name.strip().replace(" ", ", ", 1) for name in people)
        record["type"] = record.get("type") or "patent"
        record["number"] = record.get("number") or record.get("id", "")
    return record


_LISTED = frozenset({"authors", "editors", "fields", "keywords"})
_ENTRY = re.compile(r"""\s*+(?:'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)")\s*+[,\]]""")


def _without_brackets(text: str) -> str:
    """Values parted by semicolons from a list as Python or JSON writes it: "['Rain', 'Hail']"."""
    values, at = [], 1
    while text.startswith(("['", '["')) and (entry := _ENTRY.match(text, at)):
        values.append(entry[1] or entry[2] or "")
        at = entry.end()
    return ";".join(values) if values and at == len(text) else text


def _cell(text: str) -> str:
    """A cell without the apostrophe that keeps spreadsheets from taking it for a formula."""
    return _SAFE_FORMULA.sub("", text.strip(), count=1)


def to_paper(record: Record) -> Paper:
    """A paper under its own id; a mere row number is none, for another table has the same."""
    get = {name: value for name, value in record.items() if isinstance(value, str)}.get
    own_id = plain(get("id"))
    if _ROW_NUMBER.fullmatch(own_id):
        own_id = ""
    elif _OPENALEX.match(own_id):
        own_id = f"openalex:{own_id.rsplit('/', 1)[-1]}"
    elif own_id.startswith("WOS:"):
        own_id = own_id.lower()
    noted = _PMID_LINE.search(get("extra") or "")
    paper = generic.to_paper(
        {
            **record,
            **_numbered(record),
            "id": own_id,
            "key": "" if _ROW_NUMBER.fullmatch(get("key") or "") else get("key"),
            "pmid": get("pmid") or (noted[1] if noted else ""),
            "fields": _parted(get("fields") or ""),
            "publisher": (get("publisher") or "").replace(";;", "; "),
            "url": _first_address(get("url") or ""),
            "publication_date": _date(get("publication_date") or "", get("year") or ""),
        }
    )
    return replace(paper, id=paper.id.replace("jsonl:", "csv:", 1), source="csv")


_PMID_LINE = re.compile(r"^PMID: *(\d{1,9})", re.MULTILINE)
"""As Zotero keeps it."""
_OWN_NUMBERS = (Kind.REPORT, Kind.PATENT, Kind.STANDARD)
"""Kinds whose number is not that of an issue."""


def _numbered(record: Record) -> Record:
    """A column "number" where it belongs: of an article it is the issue, unless that has a column."""
    number = record.get("issue_or_number")
    if not number or record.get("number"):
        return {}
    own = "issue" in record or kind_of_words(plain(record.get("type"))) in _OWN_NUMBERS
    return {"number" if own else "issue": number}


def _date(text: str, year: str) -> str:
    """A date, of which the year may have a column of its own."""
    if date_of(text) or not text:
        return text
    return f"{year}-{int(text):02}" if text.isdecimal() and len(text) < 3 else f"{text} {year}"


def _parted(text: str) -> str:
    """Values that bars or doubled semicolons part, parted by one semicolon."""
    return text.replace(";;", ";").replace("|", ";")


def _first_address(text: str) -> str:
    return _parted(text).split(";")[0].split(" ")[0] if text.count("http") > 1 else text
