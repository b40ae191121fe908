"""Reads CSV and TSV with the column names of Scopus, Web of Science, PubMed, Zotero, IEEE and others."""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from index_build.sources import generic
from index_build.sources.charsets import decode
from index_build.sources.json_answers import Record
from index_build.sources.json_records import convert
from index_build.sources.names import split_joined
from index_build.sources.pubmed import title_of
from index_build.sources.records import is_nothing, plain
from index_build.sources.references import date_of, kind_of_words
from index_build.sources.rejects import Reason, Reject, reject
from index_build.sources.streams import CHUNK, LIMIT, read_lines
from search.types import Kind, Paper

_NAMES = {
    "title": "title|article title|document title|paper title|item title|primary title|title primary|ti|"
    "display name|invention title",
    "abstract": "abstract|abstract note|abstract text|abstracts|ab|summary|claims|first claim|claim",
    "authors": "author full names|authors|author|author s|author names|authors primary|af|au|"
    "authorships author display name|inventors|inventor|inventor author|applicants|applicant|assignee|"
    "assignees",
    "year": "year|publication year|pub year|pubyear|py|year published|published year|date|publication date|"
    "date published|pub date free form|earliest priority date|priority date",
    "venue": "venue|journal|source title|publication title|journal book|journal title|publication name|so|"
    "periodical full|primary location source display name|host venue display name|booktitle|"
    "book title|conference name|conference title|secondary title|title secondary|source|periodical abbrev",
    "doi": "doi|article doi|item doi|doi link|di|electronic resource number",
    "id": "id|paper id|ut unique wos id|ut|eid|lens id|publication id|key|publication number|display key",
    "pmid": "pmid|pubmed id|pubmedid|pm|ids pmid",
    "arxiv_id": "arxiv id|arxiv",
    "url": "url|link|links|article url|articleurl|article link|external url|landing page url|"
    "primary location landing page url|result link|dimensions url|fulltexturl|pdf link|source url|"
    "source urls",
    "fields": "fields|keywords|author keywords|de|fields of study|categories|subjects|wos categories|wc|"
    "research areas|index keywords|index terms|mesh terms|primary topic display name|concept names|"
    "fields of research anzsrc 2020|cpc classifications",
    "type": "document type|item type|publication type|type|entry type|reference type|content type|dt|"
    "document identifier",
    "genre": "genre|thesis type|type of work",
    "publication_date": "date|publication date|date published|publication date date|month|published month|pd",
    "volume": "volume|vl|biblio volume|journal volume",
    "issue": "issue|is|biblio issue|issue number|journal issue",
    "pages": "pages|page|page range|pagination",
    "first_page": "page start|start page|bp|first page|biblio first page|start page number",
    "last_page": "page end|end page|ep|last page|biblio last page|end page number",
    "number": "article number|art no|ar|report number|patent number|display key|publication number",
    "issue_or_number": "number",
    "series": "series|book series title|series title|se|tertiary title",
    "edition": "edition",
    "publisher": "publisher|pu|institution|university|publisher name|"
    "primary location source host organization name|applicants|applicant|assignee|assignees",
    "place": "place|publisher location|publisher city|place published|publisher address|pi|location",
    "event": "conference name|conference title|conference|event|ct|meeting name",
    "editors": "editors|editor|book editors|be|secondary author",
    "container": "container|proceedings title",
    "short_venue": "abbreviated source title|journal abbreviation|journal iso abbreviation|short venue|ji|"
    "iso source abbreviation|alternate title",
    "issn": "issn|sn|issns|print issn|eissn|ei|isbn issn|primary location source issn|"
    "primary location source issn l",
    "isbn": "isbn|bn|isbns|print isbn|isbn issn",
    "pmcid": "pmcid|pmc id|pmc|ids pmcid",
    "keywords": "author keywords|keywords|keywords plus|index keywords|manual tags|automatic tags|de|"
    "ieee terms|tags|mesh terms|keywords display name|fields of study|wos categories|research areas|wc",
    "language": "language of original document|language|la|languages",
    "licence": "licence|license|rights|open access license|primary location license|host venue license",
    "extra": "extra",
    "publication_note": "publication note",
    "accessed": "access date|date accessed|accessed",
    "key": "citation key|key|bibkey|eid|ut unique wos id|ut|label",
}
"""The names of columns, in lower case and without punctuation; the first that has a value in a row counts.

After Scopus, Web of Science, PubMed, Zotero, IEEE Xplore, OpenAlex, RefWorks, Covidence, Publish or Perish,
Springer, EndNote, Lens (with patents), Google Patents, Rayyan and Dimensions.
"""
_JOINED = frozenset({"keywords", "issn", "isbn"})
"""Fields whose columns count all; of the others, one does."""
_PROGRAMS = {
    "springer": {"item title", "item doi"},  # puts nothing between the authors
    "pubmed": {"title", "journal book"},  # ends titles with a stop
    "wos": {"ti", "so"},  # calls more keywords ID
    "google patents": {"inventor author", "title"},
    "lens patents": {"inventors", "title"},
}
"""Columns by which programs are known whose tables need more than the names above."""
_ROW_NUMBER = re.compile(r"\d{1,7}")
_OPENALEX = re.compile(r"https://openalex\.org/W\d")
_LONGEST_NAME = 60
"""Characters of the name of a column; a longer one is a cell of the first row. Chosen by hand."""
_SAFE_FORMULA = re.compile(r"^'(?=\s*[=+\-@])")


@dataclass(frozen=True, slots=True)
class Header:
    """Which column holds what, and where the table begins."""

    delimiter: str
    line: int
    """Lines before the one with the column names."""
    columns: Mapping[str, tuple[int, ...]]
    """The places of each field, the best first."""
    quoted: bool
    """Whether quotes have a meaning; in a table with bare tabs they have none."""
    width: int = 0
    """Columns, known or not."""
    program: str = ""
    """Which program wrote it, where that matters."""


def find_header(head: bytes, name: str) -> Header | None:
    """The row with the column names among the first lines, and the delimiter that makes sense of it.

    A single column is a table only in a file that is called one, and only if the name comes first.
    """
    text = decode(head).removeprefix("\ufeff")
    lines = text.split("\n")[:10]
    is_table = re.search(r"\.(?:csv|tsv|tab)(?:\.gz)?$", name, re.IGNORECASE) is not None
    first = next((number for number, line in enumerate(lines) if line.strip(" \r\ufeff")), 0)
    for number, line in enumerate(lines):
        for delimiter in "\t,;|":
            names = _names(line, delimiter)
            columns = _columns(names)
            wanted = {"title", "abstract"} & set(columns)
            if wanted and (len(columns) > 1 or (is_table and delimiter == "," and number == first)):
                quoted = delimiter != "\t" or '"' in line or _quotes_cells(text)
                return Header(delimiter, number, columns, quoted, len(names), _program(names))
    return None


def header_of(cells: list[str]) -> Header | None:
    """The columns of a row of cells, if they name a table of papers."""
    names = [_simple(cell) for cell in cells]
    columns = _columns(names)
    if not {"title", "abstract"} & set(columns):
        return None
    return Header("\t", 0, columns, False, len(names), _program(names))


def _names(line: str, delimiter: str) -> list[str]:
    """The cells of a row in lower case, without punctuation."""
    try:
        row = next(csv.reader([line.strip("\r")], delimiter=delimiter), [])
    except csv.Error:
        return []
    return [_simple(cell) for cell in row]


def _simple(cell: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", cell.lower()))


def _program(names: list[str]) -> str:
    return next((program for program, columns in _PROGRAMS.items() if columns <= set(names)), "")


def _columns(names: list[str]) -> dict[str, tuple[int, ...]]:
    """The known columns of each field, in the order of the list above."""
    found = {
        field: tuple(names.index(name) for name in known.split("|") if name in names)
        for field, known in _NAMES.items()
    }
    if len(found["venue"]) > 1 and "source" in names:  # there, Scopus writes "Scopus"
        found["venue"] = tuple(place for place in found["venue"] if names[place] != "source")
    if _program(names) == "wos" and "id" in names:
        found["id"] = tuple(place for place in found["id"] if names[place] != "id")
        found["keywords"] += (names.index("id"),)
    return {field: places for field, places in found.items() if places}


_CELL = re.compile(r'(?:^|\t)"((?:[^"]|"")*+)"(?=\t|\r?\n|\Z)', re.MULTILINE)
_QUOTED_START = re.compile(r'(?:^|\t)"', re.MULTILINE)


def _quotes_cells(text: str) -> bool:
    """Whether a spreadsheet wrote these tabs: it quotes cells that hold quotes, commas or line ends.

    In tables of databases, a quote at the start of a cell is part of the title.
    """
    cells = _CELL.findall(text)
    needed = any(mark in cell for cell in cells for mark in ('""', ",", "\n"))
    return needed and len(_QUOTED_START.findall(_CELL.sub("", text))) == 0


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    """Papers row by row; a row that cannot be read is given up and the next one tried."""
    header = find_header(stream.peek(CHUNK), name)
    if header is None:
        return
    lines = _Lines(stream, name)
    for number in range(1, header.line + 1):
        line = next(lines, "")
        if header.width > 2 and len(_names(line, header.delimiter)) >= header.width:
            yield reject(name, f"line {number}", Reason.OUTSIDE, line)
    names = next(lines, "")
    if max(map(len, _names(names, header.delimiter)), default=0) > _LONGEST_NAME:
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
        if another := _another_header(row, header):
            header = another
        elif any(row):
            record = record_of(row, header)
            yield convert(record, to_paper, name, place, header.delimiter.join(row))
            if header.width > 2 and any(row[header.width :]):  # a second row, or a cell too many
                rest = header.delimiter.join(row[header.width :])
                yield reject(name, place, Reason.OUTSIDE, rest)


def _another_header(row: list[str], header: Header) -> Header | None:
    """The header of a second table that was put behind the first."""
    if not any(cell.strip(" \ufeff").lower() in _TITLES for cell in row[: header.width]):
        return None
    names = [_simple(cell) for cell in row]
    columns = _columns(names)
    if len(columns) < 2 or len(names) != sum(map(bool, names)):
        return None
    return replace(header, columns=columns, width=len(names), program=_program(names))


_TITLES = frozenset(_NAMES["title"].split("|"))


class _Lines:
    """The lines as csv wants them, with the number of the last one and the rejects on the way."""

    def __init__(self, stream: io.BufferedReader, name: str) -> None:
        self._lines = read_lines(stream, name)
        self._rejects: list[Reject] = []
        self._given: list[str] = []
        self._again: deque[str] = deque()
        self.number = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else self._read()
        self.number += 1
        self._given.append(line)
        return line

    def _read(self) -> str:
        for line in self._lines:
            if not isinstance(line, Reject):
                return line.text.rstrip("\r\n").replace("\r", " ") + "\n"
            self.number += line.reason == Reason.TOO_LONG
            self._rejects.append(line)
        raise StopIteration

    def settle(self) -> None:
        """What was given so far made a row."""
        self._given = []

    def swallowed(self, row: list[str], header: Header) -> bool:
        """Whether a quote without end made one row of several: its lines have the right width, not it."""
        if not header.quoted or header.width < 2 or len(row) == header.width:
            return False
        return any(len(_names(line, header.delimiter)) == header.width for line in self._given[1:])

    def take_back(self) -> None:
        """Give all lines of the last row but its first one again."""
        self._again.extendleft(reversed(self._given[1:]))
        self.number -= len(self._given) - 1
        self._given = []

    def skip_past_quote(self) -> None:
        """After a cell without end: on to the line with the next quote, where it may have ended."""
        while (line := next(self, None)) is not None and '"' not in line:
            self.settle()
        self.settle()

    def take_rejects(self) -> list[Reject]:
        taken, self._rejects = self._rejects, []
        return taken


def _rows(lines: _Lines, header: Header) -> Iterator[list[str]]:
    csv.field_size_limit(LIMIT)
    if header.quoted:
        return csv.reader(lines, delimiter=header.delimiter)
    return csv.reader(lines, delimiter=header.delimiter, quoting=csv.QUOTE_NONE)


def record_of(row: list[str], header: Header) -> Record:
    """The fields of a row; an empty cell gives way to the next column for its field."""
    record: Record = {}
    for field, places in header.columns.items():
        cells = (_cell(row[at]) for at in places if at < len(row))
        known = (cell for cell in cells if cell and not is_nothing(cell))
        record[field] = ";".join(map(_parted, known)) if field in _JOINED else next(known, "")
    if header.program == "springer" and not {";", ","} & set(record.get("authors", "")):
        record["authors"] = split_joined(record.get("authors", ""))
    elif header.program == "pubmed":
        record["title"] = title_of(record.get("title", ""))
    elif header.program.endswith("patents"):
        record["type"] = record.get("type") or "patent"
        record["number"] = record.get("number") or record.get("id", "")
    return record


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
