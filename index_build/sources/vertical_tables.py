"""Reads tables that stand on their side, as Embase writes them: a field a row, blank rows between records."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator

from index_build.sources.json_records import convert
from index_build.sources.rejects import Reason, Reject, reject
from index_build.sources.streams import LIMIT
from index_build.sources.table_columns import names_of, upright
from index_build.sources.table_lines import Lines
from index_build.sources.table_rows import record_of, to_paper
from search.types import Paper

FEWEST = 3
"""Rows at the top that must begin with the name of a field, so that a table is taken to stand on its side."""
_NEXT_FIELD = re.compile(r'\n"?[A-Z][A-Z ]{1,60}"')
"""What a cell holds whose quote has no end."""


def is_vertical(text: str) -> bool:
    """Whether each of the first rows begins with another field, the first with the title."""
    cells = [names_of(line, ",") for line in text.split("\n", 12)[:12] if line.strip()]
    if len(cells) < FEWEST or cells[0][:1] != ["title"] or any(len(row) < 2 for row in cells[:FEWEST]):
        return False
    firsts = [row[0] for row in cells[:FEWEST]]
    return len(set(firsts)) == FEWEST and all(upright([first]).columns for first in firsts)


def read_vertical(lines: Lines, name: str) -> Iterator[Paper | Reject]:
    """A paper for the rows up to the next blank one or the next title."""
    csv.field_size_limit(LIMIT)
    rows: list[list[str]] = []
    place = "line 1"
    for row in _rows(lines, name):
        if isinstance(row, Reject):
            yield row
            continue
        begins = bool(row) and any(row[0] == known[0] and _is_title(row) for known in rows)
        if rows and (begins or not any(row)):
            yield _paper(rows, name, place)
            rows = []
        if any(row):
            place = place if rows else f"line {lines.number}"
            rows.append(row)
    if rows:
        yield _paper(rows, name, place)


def _rows(lines: Lines, name: str) -> Iterator[list[str] | Reject]:
    reader = csv.reader(lines)
    while True:
        place = f"line {lines.number + 1}"
        try:
            row = next(reader, None)
        except csv.Error:
            yield reject(name, place, Reason.TOO_LONG)
            continue
        yield from lines.take_rejects()
        lines.settle()
        if row is None:
            return
        if any(map(_NEXT_FIELD.search, row)):
            yield reject(name, place, Reason.BAD_ENTRY, ",".join(row))
        yield row


def _is_title(row: list[str]) -> bool:
    return row[0].strip(' "\ufeff').lower() == "title"


def _paper(rows: Iterable[list[str]], name: str, place: str) -> Paper | Reject:
    """The rows as one row of a table; several values of a field are parted by semicolons."""
    fields = [(row[0], ";".join(filter(None, row[1:]))) for row in rows]
    header = upright([field for field, _ in fields])
    record = record_of([value for _, value in fields], header)
    return convert(record, to_paper, name, place, "\n".join(map(": ".join, fields)))
