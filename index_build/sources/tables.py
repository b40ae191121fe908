"""Reads CSV and TSV with the column names of Scopus, Web of Science, PubMed, Zotero, IEEE and others."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from index_build.sources.charsets import decode
from index_build.sources.json_records import convert
from index_build.sources.rejects import Reason, Reject, reject
from index_build.sources.streams import CHUNK, LIMIT
from index_build.sources.table_columns import Header, another_header, find_header, names_of
from index_build.sources.table_lines import Lines
from index_build.sources.table_rows import record_of, to_paper
from index_build.sources.vertical_tables import is_vertical, read_vertical
from search.types import Paper

_LONGEST_NAME = 60
"""Characters of the name of a column; a longer one is a cell of the first row. Chosen by hand."""


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    """Papers row by row; a row that cannot be read is given up and the next one tried."""
    header = find_header(stream.peek(CHUNK), name)
    if header is None:
        return
    lines = Lines(stream, name)
    if is_vertical(decode(stream.peek(CHUNK)).removeprefix("\ufeff")):
        yield from read_vertical(lines, name)
        return
    for number in range(1, header.line + 1):
        line = next(lines, "")
        if header.width > 2 and len(names_of(line, header.delimiter)) >= header.width:
            yield reject(name, f"line {number}", Reason.OUTSIDE, line)
    names = next(lines, "")
    if max(map(len, names_of(names, header.delimiter)), default=0) > _LONGEST_NAME:
        yield reject(
            name, f"line {header.line + 1}", Reason.OUTSIDE, names
        )  # a row without a line end before it
    lines.settle()
    rows = _rows(lines, header)
    while True:
        place = f"line {lines.number + 1}"
        try:
            row = next(rows, None)
        except csv.Error:
            yield reject(name, place, Reason.TOO_LONG)
            lines.settle()
            lines.skip_past_quote()
            rows = _rows(lines, header)
            continue
        yield from lines.take_rejects()
        if row is None:
            return
        if lines.swallowed(row, header):
            yield reject(name, place, Reason.BAD_ENTRY, header.delimiter.join(row))
            lines.take_back()
            rows = _rows(lines, header)
            continue
        lines.settle()
        if another := another_header(row, header):
            header = another
        elif any(row):
            record = record_of(row, header)
            yield convert(record, to_paper, name, place, header.delimiter.join(row))
            if header.width > 2 and any(row[header.width :]):  # a second row, or a cell too many
                rest = header.delimiter.join(row[header.width :])
                yield reject(name, place, Reason.OUTSIDE, rest)


def _rows(lines: Lines, header: Header) -> Iterator[list[str]]:
    csv.field_size_limit(LIMIT)
    if header.quoted:
        return csv.reader(lines, delimiter=header.delimiter)
    return csv.reader(lines, delimiter=header.delimiter, quoting=csv.QUOTE_NONE)
