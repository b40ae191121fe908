"""Reads RIS, with the ways Embase, Web of Science, Ovid, Cochrane and others bend it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence

from index_build.markup import to_text
from index_build.sources.blocks import Block, Layout, papers_of, read_blocks, split_headless, values_of
from index_build.sources.names import tidy_names
from index_build.sources.records import (
    arxiv_of,
    complete,
    doi_of,
    name_paper,
    pmid_of,
    unique,
    url_of,
    year_of,
)
from index_build.sources.references import editors_of, kind_of_words, make_reference, page_range
from index_build.sources.rejects import Reject
from index_build.sources.sections import find_sections
from search.types import Kind, Paper, Reference

_TAG = re.compile(r"^\s*([A-Z][A-Z0-9])(?:  -|[ \t]{0,2}-(?:\s|$))(.*)", re.DOTALL)
LAYOUT = Layout(
    start=re.compile(r"^\s*TY[ \t]{0,2}-"),
    end=re.compile(r"^\s*ER[ \t]{0,2}-"),
    inside=_TAG,
    seam=re.compile(r"TY  - {1,3}[A-Z]{3,6}\s{0,3}$"),
    harmless=re.compile(r"^\s*(?:EF\s*$|\d+\.?\s*$|(?:Provider|Database|Content) ?:)"),
)
_ONCE = frozenset({"TI", "T1", "DO", "PY"})
"""Tags that a record has only once."""
_TITLES = ("TI", "T1", "CT", "BT", "ST")
_JOURNALS = ("JF", "T2", "BT", "JO", "JA", "J2", "J1")
"""Embase has the name in full under JF and short under JO."""
_PUBMED = re.compile(r"PMID|https?://\S{0,200}pubmed", re.IGNORECASE)


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    blocks = (
        part for block in read_blocks(stream, name, LAYOUT) for part in split_headless(block, _TAG, _ONCE)
    )
    return papers_of(blocks, name, to_paper)


def to_paper(block: Block) -> Paper:
    """A paper with the title, abstract and journal from whichever tag the database put them in."""
    values = values_of(block, _TAG)
    title_tag = next((tag for tag in _TITLES if any(values[tag])), "TI")
    title = to_text(_first(values, (title_tag,)))
    abstract = to_text(" ".join(values["AB"]) or " ".join(values["N2"]))
    urls = [url for text in values["UR"] for url in text.split() if url_of(url)]
    numbers = [_first(values, (tag,)) for tag in ("AN", "C1", "C2")] + urls
    doi = doi_of(_first(values, ("DO", "DI"))) or doi_of(_first(values, ("L2", "M3", "L3")))
    arxiv_id = next((arxiv_of(text) for text in numbers if "arxiv" in text.lower()), "")
    pmid = next((pmid_of(text) for text in numbers if _PUBMED.match(text)), "")
    return complete(
        Paper(
            id=_own_id(numbers[0]) or name_paper("ris:", title, abstract, doi=doi, arxiv=arxiv_id, pmid=pmid),
            title=title,
            abstract=abstract,
            authors=tidy_names(map(to_text, values["AU"] or values["A1"] or values["A2"] or values["ED"])),
            year=year_of(_first(values, ("PY", "Y1", "DA", "Y2"))),
            venue=to_text(_first(values, [tag for tag in _JOURNALS if tag != title_tag])),
            fields=unique(to_text(keyword) for text in values["KW"] for keyword in text.split("\n")),
            doi=doi,
            arxiv_id=arxiv_id,
            pmid=pmid,
            url=urls[0] if urls else "",
            source="ris",
            reference=_reference(values, title_tag),
            sections=find_sections(abstract),
        )
    )


_KINDS = {
    name: kind
    for kind, names in {
        Kind.ARTICLE: "JOUR EJOUR JFULL ABST INPR",
        Kind.PROCEEDINGS_PAPER: "CPAPER CONF",
        Kind.CHAPTER: "CHAP ECHAP",
        Kind.BOOK: "BOOK EBOOK EDBOOK SER",
        Kind.THESIS: "THES",
        Kind.REPORT: "RPRT GOVDOC",
        Kind.PREPRINT: "UNPB",
        Kind.DATASET: "DATA AGGR DBASE",
        Kind.SOFTWARE: "COMP",
        Kind.PATENT: "PAT",
        Kind.STANDARD: "STAND",
        Kind.PRESENTATION: "SLIDE",
        Kind.ENTRY: "ENCYC DICT",
        Kind.NEWS: "NEWS MGZN",
        Kind.WEB_PAGE: "ELEC WEB BLOG ICOMM",
        Kind.MANUSCRIPT: "MANSCPT PCOMM",
        Kind.OTHER: "GEN",
    }.items()
    for name in names.split()
}
_NUMBERED = (Kind.REPORT, Kind.PATENT, Kind.STANDARD)
"""Kinds whose number is their own, not an issue's."""


def _reference(values: Mapping[str, Sequence[str]], title_tag: str) -> Reference:
    def first(*tags: str) -> str:
        return _first(values, tags)

    kind = _kind(first("TY"), first("M3"))
    own = kind in _NUMBERED
    is_part = kind in (Kind.CHAPTER, Kind.PROCEEDINGS_PAPER, Kind.ENTRY)
    numbers = " ".join(values["SN"])
    genre = first("M3")
    return make_reference(
        kind=kind,
        genre="" if doi_of(genre) or genre in ("Journal Article", "Proceedings") else genre,
        date=first("DA", "PY", "Y1"),
        volume=first("VL"),
        issue="" if own else first("IS", "CP"),
        pages=page_range(first("SP"), first("EP")),
        number=first("C7") or (first("M1", "IS") if own else "") or (numbers if kind is Kind.REPORT else ""),
        series=first("T3"),
        edition=first("ET"),
        publisher=first("PB"),
        place=first("CY", "PP"),
        event=first("C3") if kind is Kind.PROCEEDINGS_PAPER else "",
        editors=editors_of(values["ED"] or (values["A2"] if is_part or not values["AU"] else ())),
        short_venue=first(*(tag for tag in ("J2", "JA", "JO") if tag != title_tag))
        if first("T2", "JF")
        else "",
        issn=numbers,
        isbn=numbers,
        pmcid=first("C2") if first("C2").upper().startswith("PMC") else "",
        language=first("LA"),
        accessed=first("Y2"),
        key=first("ID") or ("" if _OTHER_ID.match(first("AN")) else first("AN")),
    )


_OTHER_ID = re.compile(r"(?:arxiv|pmid|pubmed)", re.IGNORECASE)


def _kind(name: str, genre: str) -> Kind | None:
    """From the type; preprints and proceedings have none of their own, so that their genre tells."""
    kind = _KINDS.get(name.strip().upper())
    named = kind_of_words(genre)
    if kind in (None, Kind.BOOK) and genre.lower() == "proceedings":
        return Kind.PROCEEDINGS
    return kind or named


def _first(values: Mapping[str, Sequence[str]], tags: Sequence[str]) -> str:
    """The first value that is not empty, tag by tag."""
    return next((text for tag in tags for text in values.get(tag, ()) if text), "")


def _own_id(number: str) -> str:
    """Web of Science's number is unique as it stands."""
    return number.lower() if number.startswith("WOS:") else ""
