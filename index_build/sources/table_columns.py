"""Which column of a table holds what, by the names that programs give them."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from index_build.sources.charsets import decode

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
    "book title|publication|journal name|parent title|conference name|conference title|secondary title|"
    "title secondary|source|periodical abbrev",
    "doi": "doi|article doi|item doi|doi link|di|electronic resource number",
    "id": "id|openalex id|paper id|ut unique wos id|ut|eid|lens id|publication id|key|publication number|"
    "display key",
    "pmid": "pmid|pubmed id|pubmedid|pm|ids pmid|medline pmid",
    "arxiv_id": "arxiv id|arxiv",
    "url": "url|link|links|article url|articleurl|article link|external url|landing page url|"
    "primary location landing page url|result link|dimensions url|fulltexturl|pdf link|source url|"
    "source urls|full text link|embase link",
    "fields": "fields|keywords|author keywords|de|fields of study|categories|subjects|wos categories|wc|"
    "research areas|index keywords|index terms|mesh terms|primary topic display name|concept names|"
    "emtree medical index terms|emtree medical index terms major focus|"
    "fields of research anzsrc 2020|cpc classifications",
    "type": "document type|item type|publication type|type|entry type|reference type|content type|dt|"
    "document identifier",
    "genre": "genre|thesis type|type of work",
    "publication_date": "date|publication date|date of publication|date published|publication date date|"
    "month|published month|pd",
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
    "groups": "group authors",
    "container": "container|proceedings title",
    "short_venue": "abbreviated source title|journal abbreviation|journal iso abbreviation|short venue|ji|"
    "iso source abbreviation|alternate title",
    "issn": "issn|sn|issns|print issn|eissn|ei|isbn issn|primary location source issn|"
    "primary location source issn l",
    "isbn": "isbn|bn|isbns|print isbn|isbn issn",
    "pmcid": "pmcid|pmc id|pmc|ids pmcid",
    "keywords": "author keywords|keywords|keywords plus|index keywords|manual tags|automatic tags|de|"
    "ieee terms|tags|mesh terms|keywords display name|fields of study|wos categories|research areas|wc",
    "language": "language of original document|language of article|language|la|languages",
    "licence": "licence|license|rights|open access license|primary location license|host venue license",
    "extra": "extra",
    "publication_note": "publication note",
    "accessed": "access date|date accessed|accessed",
    "key": "citation key|embase accession id|pui|key|bibkey|eid|ut unique wos id|ut|label",
}
"""The names of columns, in lower case and without punctuation; the first that has a value in a row counts.

After Scopus, Web of Science, PubMed, Zotero, IEEE Xplore, OpenAlex, RefWorks, Covidence, Publish or Perish,
Springer, EndNote, Lens (with patents), Google Patents, Rayyan and Dimensions.
"""
JOINED = frozenset({"keywords", "issn", "isbn"})
"""Fields whose columns count all; of the others, one does."""
_PROGRAMS = {
    "springer": {"item title", "item doi"},  # puts nothing between the authors
    "pubmed": {"title", "journal book"},  # ends titles with a stop
    "wos": {"ti", "so"},  # calls more keywords ID
    "google patents": {"inventor author", "title"},
    "lens patents": {"inventors", "title"},
}
"""Columns by which programs are known whose tables need more than the names above."""


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
            names = names_of(line, delimiter)
            columns = _columns(names)
            wanted = {"title", "abstract"} & set(columns)
            if wanted and (len(columns) > 1 or (is_table and delimiter == "," and number == first)):
                quoted = delimiter != "\t" or '"' in line or _quotes_cells(text)
                return Header(delimiter, number, columns, quoted, len(names), _program(names))
    return None


def upright(names: list[str]) -> Header:
    """The columns of a row of names, known or not."""
    simple_names = [simple(name) for name in names]
    return Header(",", 0, _columns(simple_names), True, len(names), _program(simple_names))


def header_of(cells: list[str]) -> Header | None:
    """The columns of a row of cells, if they name a table of papers."""
    header = upright(cells)
    return header if {"title", "abstract"} & set(header.columns) else None


def names_of(line: str, delimiter: str) -> list[str]:
    """The cells of a row in lower case, without punctuation."""
    try:
        row = next(csv.reader([line.strip("\r")], delimiter=delimiter), [])
    except csv.Error:
        return []
    return [simple(cell) for cell in row]


def simple(cell: str) -> str:
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
    if _program(names) == "wos" and "ca" in names:
        found["groups"] = (names.index("ca"),)
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


def another_header(row: list[str], header: Header) -> Header | None:
    """The header of a second table that was put behind the first."""
    if not any(cell.strip(" \ufeff").lower() in _TITLES for cell in row[: header.width]):
        return None
    names = [simple(cell) for cell in row]
    columns = _columns(names)
    if len(columns) < 2 or len(names) != sum(map(bool, names)):
        return None
    return replace(header, columns=columns, width=len(names), program=_program(names))


_TITLES = frozenset(_NAMES["title"].split("|"))
