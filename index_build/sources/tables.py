"""Reads CSV and TSV with the column names of Scopus, Web of Science, PubMed, Zotero, IEEE and others."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from index_build.sources import generic
from index_build.sources.json_records import Record, convert
from index_build.sources.records import plain
from index_build.sources.rejects import Reason, Reject, reject
from index_build.sources.streams import CHUNK, LIMIT, decode, read_lines
from search.types import Paper

_NAMES = {
    "title": "title|article title|document title|paper title|item title|primary title|ti",
    "abstract": "abstract|abstract note|abstract text|abstracts|ab|summary",
    "authors": "authors|author|author s|author full names|author names|au|af",
    "year": "year|publication year|pub year|pubyear|py|year published|date|publication date|date published",
    "venue": "venue|journal|source title|publication title|journal book|journal title|publication name|so|"
    "booktitle|conference name|conference title|source",
    "doi": "doi|article doi|doi link|di",
    "id": "id|paper id|ut unique wos id|ut|eid|lens id|publication id|key",
    "pmid": "pmid|pubmed id|pubmedid|pm",
    "arxiv_id": "arxiv id|arxiv",
    "url": "url|link|article url|article link|pdf link|source url",
    "fields": "fields|keywords|author keywords|fields of study|categories|subjects|wos categories|"
    "research areas|index keywords|index terms",
}
_ROW_NUMBER = re.compile(r"\d{1,7}")
_SAFE_FORMULA = re.compile(r"^'(?=\s*[=+\-@])")


@dataclass(frozen=True, slots=True)
class Header:
    """Which column holds what, and where the table begins."""

    delimiter: str
    line: int
    """Lines before the one with the column names."""
    columns: Mapping[int, str]
    quoted: bool
    """Whether quotes have a meaning; in a table with bare tabs they have none."""


def find_header(head: bytes, name: str) -> Header | None:
    """The row with the column names among the first lines, and the delimiter that makes sense of it.

    A single column is a table only in a file that is called one.
    """
    lines = decode(head).splitlines()[:10]
    is_table = re.search(r"\.(?:csv|tsv|tab|txt)(?:\.gz)?$", name, re.IGNORECASE) is not None
    for number, line in enumerate(lines):
        for delimiter in "\t,;|":
            columns = _columns(next(csv.reader([line], delimiter=delimiter), []))
            wanted = {"title", "abstract"} & set(columns.values())
            if wanted and (len(columns) > 1 or (is_table and delimiter == ",")):
                return Header(delimiter, number, columns, delimiter != "\t" or '"' in line)
    return None


def _columns(row: list[str]) -> dict[int, str]:
    """The known columns; of several for one field, the name that comes first in the list above."""
    names = [" ".join(re.findall(r"[a-z0-9]+", cell.lower())) for cell in row]
    found = {}
    for field, known in _NAMES.items():
        best = next((name for name in known.split("|") if name in names), None)
        if best is not None:
            found[names.index(best)] = field
    return found


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    """Papers row by row; a row that cannot be read is given up and the next one tried."""
    header = find_header(stream.peek(CHUNK), name)
    if header is None:
        return
    lines = _Lines(stream, name)
    for _ in range(header.line + 1):
        next(lines, None)
    rows = _rows(lines, header)
    while True:
        place = f"line {lines.number + 1}"
        try:
            row = next(rows, None)
        except csv.Error:
            yield reject(name, place, Reason.TOO_LONG)
            lines.skip_past_quote()
            rows = _rows(lines, header)
            continue
        yield from lines.take_rejects()
        if row is None:
            return
        if any(row):
            record = {field: _cell(row[at]) for at, field in header.columns.items() if at < len(row)}
            yield convert(record, to_paper, name, place, header.delimiter.join(row))


class _Lines:
    """The lines as csv wants them, with the number of the last one and the rejects on the way."""

    def __init__(self, stream: io.BufferedReader, name: str) -> None:
        self._lines = read_lines(stream, name)
        self._rejects: list[Reject] = []
        self.number = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        for line in self._lines:
            self.number += 1
            if not isinstance(line, Reject):
                return line.text.rstrip("\r\n").replace("\r", " ") + "\n"
            self._rejects.append(line)
        raise StopIteration

    def skip_past_quote(self) -> None:
        """After a cell without end: on to the line with the next quote, where it may have ended."""
        while (line := next(self, None)) is not None and '"' not in line:
            pass

    def take_rejects(self) -> list[Reject]:
        taken, self._rejects = self._rejects, []
        return taken


def _rows(lines: _Lines, header: Header) -> Iterator[list[str]]:
    csv.field_size_limit(LIMIT)
    if header.quoted:
        return csv.reader(lines, delimiter=header.delimiter)
    return csv.reader(lines, delimiter=header.delimiter, quoting=csv.QUOTE_NONE)


def _cell(text: str) -> str:
    """A cell without the apostrophe that keeps spreadsheets from taking it for a formula."""
    return _SAFE_FORMULA.sub("", text.strip(), count=1)


def to_paper(record: Record) -> Paper:
    """A paper under its own id; a mere row number is none, for another table has the same."""
    if _ROW_NUMBER.fullmatch(plain(record.get("id"))):
        record = {**record, "id": ""}
    paper = generic.to_paper(record)
    return replace(paper, id=paper.id.replace("jsonl:", "csv:", 1), source="csv")
