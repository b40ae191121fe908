"""Reads Excel workbooks (.xlsx) as tables, with bounds: a small archive can unpack to more than fits."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO, Any

from lxml import etree

from index_build.sources.json_records import convert
from index_build.sources.rejects import Reason, Reject, reject
from index_build.sources.streams import read_whole
from index_build.sources.table_columns import Header, header_of
from index_build.sources.table_rows import record_of, to_paper
from search.types import Paper

LARGEST = 100_000_000
"""Bytes of a workbook; a hundred thousand abstracts take half of it."""
MOST_UNPACKED = 1_000_000_000
"""Bytes that one sheet may unpack to: a million rows, Excel's limit, of a thousand bytes each."""
MOST_SHARED = 60_000_000
"""Characters of shared texts that are held. Their cells stay empty beyond it, which is said."""
MOST_COLUMNS = 1000
"""Columns that are read; Excel allows 16,384, and tables of papers have some 70."""
SEARCHED = 30
"""Rows at the top among which the names of the columns are looked for."""
_REFERENCE = re.compile(r"([A-Z]{1,3})\d{0,7}$")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_SHEET = re.compile(r"xl/worksheets/[^/]{1,100}\.xml$", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,
    OSError,
    ValueError,
    LookupError,
    OverflowError,
)
"""What `zipfile` raises where an archive is damaged, locked or packed in a way it does not know."""


class _TooLargeError(Exception):
    """A part of the workbook unpacks to more than is read."""


class _Bounded(io.RawIOBase):
    """A part of the archive that ends with an error where it becomes too large."""

    def __init__(self, part: IO[bytes]) -> None:
        self._part = part
        self._left = MOST_UNPACKED

    def read(self, size: int = -1) -> bytes:
        data = self._part.read(min(size, 1 << 16) if size > 0 else 1 << 16)
        self._left -= len(data)
        if self._left < 0:
            raise _TooLargeError
        return data


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    cells: list[str]


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    """The papers of every sheet that is a table of papers."""
    data = read_whole(stream, LARGEST)
    if data is None:
        yield reject(name, "file", Reason.TOO_LONG)
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield from _read_archive(archive, name)
    except _DAMAGE as error:
        yield reject(name, "file", Reason.BAD_WORKBOOK, str(error))


def _read_archive(archive: zipfile.ZipFile, name: str) -> Iterator[Paper | Reject]:
    texts, broken = _shared_texts(archive)
    if broken:
        yield reject(name, "shared texts", broken)
    parts = sorted((part for part in archive.namelist() if _SHEET.match(part)), key=_sheet_number)
    for part in parts:
        try:
            with archive.open(part) as file:
                yield from _read_sheet(file, texts, name, part)
        except (*_DAMAGE, _TooLargeError, etree.XMLSyntaxError) as error:
            reason = Reason.TOO_LONG if isinstance(error, _TooLargeError) else Reason.BAD_WORKBOOK
            yield reject(name, part, reason, str(error))


def _sheet_number(part: str) -> int:
    found = _NUMBER.search(part)
    return int(found[0]) if found else 0


def _events(file: IO[bytes], tag: str) -> Iterator[Any]:
    """Each element of this name, parsed; it is forgotten when the next one is asked for."""
    events = etree.iterparse(
        _Bounded(file),
        events=("end",),
        tag=f"{{*}}{tag}",
        resolve_entities=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    for _, element in events:
        yield element
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]


def _shared_texts(archive: zipfile.ZipFile) -> tuple[list[str], Reason | None]:
    """The texts that cells refer to by number, and what is wrong if they are not all there."""
    part = next((part for part in archive.namelist() if part.lower() == "xl/sharedstrings.xml"), "")
    texts: list[str] = []
    if not part:
        return texts, None
    size = 0
    try:
        with archive.open(part) as file:
            for element in _events(file, "si"):
                text = _text(element)
                size += len(text)
                if size > MOST_SHARED:
                    return texts, Reason.TOO_LONG
                texts.append(text)
    except _TooLargeError:
        return texts, Reason.TOO_LONG
    except (*_DAMAGE, etree.XMLSyntaxError):
        return texts, Reason.BAD_WORKBOOK
    return texts, None


def _text(element: Any) -> str:
    """The text of a cell or shared text, without the readings that Japanese workbooks add."""
    parts = [
        found.text or ""
        for found in element.iterfind(".//{*}t")
        if etree.QName(found.getparent()).localname != "rPh"
    ]
    text = "".join(parts)
    return _ESCAPED.sub(lambda code: chr(int(code[1], 16)), text) if "_x" in text else text


def _rows(file: IO[bytes], texts: list[str]) -> Iterator[_Row]:
    for count, row in enumerate(_events(file, "row"), 1):
        number = row.get("r") or ""
        cells: list[str] = []
        for cell in row.iterfind("{*}c"):
            column = _column(cell.get("r") or "", len(cells))
            if column < MOST_COLUMNS:
                cells.extend([""] * (column - len(cells)))
                cells.append(_cell(cell, texts))
        yield _Row(int(number) if number.isdecimal() and len(number) < 9 else count, cells)


def _column(reference: str, following: int) -> int:
    """The number of a column from "AB12", from 0; without one, the next. It never goes back."""
    found = _REFERENCE.match(reference)
    if found is None:
        return following
    number = 0
    for letter in found[1]:
        number = 26 * number + ord(letter) - 64
    return max(number - 1, following)


def _cell(cell: Any, texts: list[str]) -> str:
    kind = cell.get("t") or ""
    if kind == "inlineStr":
        return _text(cell)
    value = cell.findtext("{*}v") or ""
    if kind == "s":
        return texts[int(value)] if value.isdecimal() and len(value) < 9 and int(value) < len(texts) else ""
    if kind == "e":
        return ""
    return value.removesuffix(".0")


def _read_sheet(file: IO[bytes], texts: list[str], name: str, part: str) -> Iterator[Paper | Reject]:
    """Papers row by row below the names of the columns; a sheet without such names is one reject."""
    header: Header | None = None
    above: list[_Row] = []
    for row in _rows(file, texts):
        if not any(row.cells):
            continue
        if header is None:
            header = header_of(row.cells) if len(above) < SEARCHED else None
            if header is None:
                above.append(row) if len(above) <= SEARCHED else None
                continue
        else:
            raw = "\t".join(row.cells)
            yield convert(record_of(row.cells, header), _paper, name, f"row {row.number} of {part}", raw)
    if header is None and above:
        yield reject(name, part, Reason.OUTSIDE, "\n".join("\t".join(row.cells) for row in above[:5]))


def _paper(record: dict[str, Any]) -> Paper:
    paper = to_paper(record)
    return replace(paper, id=paper.id.replace("csv:", "xlsx:", 1), source="xlsx")
