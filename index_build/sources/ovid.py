"""Reads Ovid's plain text, numbered records with tags ("TI  - ...") or with names of fields."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from index_build.markup import to_text
from index_build.sources.blocks import Block, Layout, first_values, papers_of, read_tagged, values_of
from index_build.sources.names import split_names
from index_build.sources.papers import kind_of, paper_of
from index_build.sources.pubmed import title_of
from index_build.sources.records import doi_of, pmid_of, url_of, year_of
from index_build.sources.references import date_of
from index_build.sources.rejects import Reject
from search.types import Paper, Reference

_TAG = re.compile(r"^([A-Z][A-Z0-9])  ?- ?(.*)", re.DOTALL)
_NAMES = {
    "accession number": "AN", "unique identifier": "UI", "title": "TI", "article title": "TI",
    "authors": "AU", "author": "AU", "authors full name": "FA", "author full name": "FA",
    "abstract": "AB", "source": "SO",
    "journal": "JN", "journal name": "JN", "year of publication": "YR", "date of publication": "DP",
    "publication year": "YR", "doi": "DO", "digital object identifier": "DO", "volume": "VO",
    "issue part": "IP", "issue": "IP", "page": "PG", "pages": "PG", "publisher": "PB",
    "subject headings": "SH", "mesh subject headings": "SH", "keyword heading": "KW",
    "author keywords": "KW", "keywords": "KW", "language": "LG", "publication type": "PT",
    "issn": "IS", "issn print": "IS", "issn electronic": "IE", "isbn": "IB",
    "link to the ovid full text or citation": "XL", "external link": "XL", "url": "UR",
}  # fmt: skip
"""The names of fields, in lower case and without punctuation, and their tags."""
LAYOUT = Layout(
    tag=_TAG,
    once=frozenset({"TI"}),
    start=re.compile(r"^<\d{1,7}>\s*(?:\Z|of\b)"),
    harmless=re.compile(r"^\s*(?:Database: |Search Strategy:|-{5,}|\d+\s|Ovid )"),
)
_JOURNAL = re.compile(r"([^.;]{2,200})\.\s")
_PLACE = re.compile(
    r"(?<![\d.])(\d{1,4})\(([^()]{1,20})\)(?::|, ?(?:pp?\. ?)?|;| \((?=pp))? ?(?:pp )?(\w{1,8}(?:-\w{1,8})?)?"
)
_INITIALS = re.compile(r"^(.{2,60}) ([A-Z][A-Z.-]{0,6})$")
_HEADING_QUALIFIER = re.compile(r"\s?/.*|\[.{0,60}\]|\*")


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    blocks = (part for whole in read_tagged(stream, name, LAYOUT) for part in _split_at_titles(whole))
    return papers_of(blocks, name, to_paper)


def _split_at_titles(block: Block | Reject) -> Iterator[Block | Reject]:
    """The block, cut before each second title, above which the first line of a record was lost."""
    if isinstance(block, Reject):
        yield block
        return
    places = [number for number, line in enumerate(block.lines) if line.strip().lower() == "title"]
    starts = [0, *places[1:], len(block.lines)]
    for start, end in pairwise(starts):
        lines = block.lines[start:end]
        yield Block(block.line + start, lines if start == 0 else ("", *lines))


def to_paper(block: Block) -> Paper:
    values = _values(block)
    get = first_values(values).get
    source, number = get("SO", ""), get("UI") or get("AN", "")
    journal = get("JN") or get("JT") or _leading(source)
    place = _PLACE.search(source)
    volume, issue, pages = place.groups("") if place else ("", "", "")
    database = f"{get('DB', '')} {get('VN', '')} {number}".lower()
    title = title_of(to_text(" ".join(values["TI"])))
    return paper_of(
        "ovid",
        title,
        to_text(" ".join(values["AB"])),
        authors=_people(values),
        year=year_of(get("YR") or get("PY") or get("DP") or source),
        venue=journal,
        fields=[
            _HEADING_QUALIFIER.sub("", to_text(word)).strip()
            for tag in ("SH", "MH", "KW")
            for text in values[tag]
            for word in re.split(r"[\n;]", text)
        ],
        doi=doi_of(get("DO")) or doi_of(source),
        pmid=pmid_of(number) if _is_medline(database, get("UI", "")) else "",
        url=next(filter(None, map(url_of, values["UR"] + values["XL"])), ""),
        reference=Reference(
            kind=kind_of(*(text.rstrip(".") for text in get("PT", "").split(". "))),
            date=date_of(get("DP", "")),
            volume=get("VO", "") or volume,
            issue=get("IP", "") or issue,
            pages=get("PG", "") or pages,
            publisher=get("PB", ""),
            issn=(
                *values["IS"],
                *values["IE"],
            ),
            isbn=(*values["IB"],),
            language=get("LG", ""),
            key=number,
        ),
    )


def _is_medline(database: str, identifier: str) -> bool:
    """Whether the number is PubMed's: its database says so, or it has the name that only MEDLINE gives it."""
    unnamed = database.strip() == identifier.lower() != ""
    return "medline" in database or "pmid" in database or unnamed


def _values(block: Block) -> defaultdict[str, list[str]]:
    """The values by tag; a line that is the name of a field begins one whose lines are set in."""
    if any(_TAG.match(line) for line in block.lines):
        return values_of(block, _TAG)
    values: defaultdict[str, list[str]] = defaultdict(list)
    tag = ""
    for line in block.lines[1:]:
        if line[:1].isspace() and tag and line.strip():
            values[tag].append(line.strip())
        elif line.strip():
            known = _NAMES.get(" ".join(re.findall(r"[a-z]+", line.lower())))
            if known or not tag or values[tag]:  # a strange line between a name and its text is no name
                tag = known or "?"
    return values


def _people(values: defaultdict[str, list[str]]) -> list[str]:
    """Names one a line, or in one line with stops or semicolons between them: "Author A. Bee BC."."""
    texts = [to_text(text) for text in values["FA"] or values["AU"]]
    if len(texts) == 1 and ";" not in texts[0] and "," not in texts[0] and ". " in texts[0]:
        texts = texts[0].removesuffix(".").split(". ")
    elif len(texts) == 1:
        texts = split_names(texts[0])
    names = (text.strip(" ;") for text in texts)
    return [name if "," in name else _INITIALS.sub(r"\1, \2", name) for name in names]


def _leading(source: str) -> str:
    """The journal with which a source begins: "Journal of Rain. 12(3):1-9, 2020."."""
    found = _JOURNAL.match(source)
    return found[1] if found else ""
