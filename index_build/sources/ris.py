"""Reads RIS, with the ways Embase, Web of Science, Ovid, Cochrane and others bend it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence

from index_build.markup import to_text
from index_build.sources.blocks import Block, Layout, papers_of, read_tagged, values_of
from index_build.sources.names import tidy_names
from index_build.sources.pubmed import title_of
from index_build.sources.records import (
    arxiv_of,
    complete,
    doi_of,
    headings_of,
    name_paper,
    pmid_of,
    unique,
    url_of,
    year_of,
)
from index_build.sources.references import date_of, editors_of, kind_of_words, make_reference, page_range
from index_build.sources.rejects import Reject
from index_build.sources.sections import find_sections
from search.types import Kind, Paper, Reference

_TAG = re.compile(r"^\s*([A-Z][A-Z0-9])(?:  -|[ \t]{0,2}-(?:\s|$))(.*)", re.DOTALL)
LAYOUT = Layout(
    tag=_TAG,
    once=frozenset({"TI", "T1", "DO", "PY"}),
    start=re.compile(r"^\s*TY[ \t]{0,2}-"),
    end=re.compile(r"^\s*ER[ \t]{0,2}-"),
    inside=_TAG,
    seam=re.compile(r"TY  - {1,3}[A-Z]{3,6}\s{0,3}$"),
    harmless=re.compile(r"^\s*(?:EF\s*$|\d+\.?\s*$|Record #\d+ of \d+\s*$|(?:Provider|Database|Content) ?:)"),
)
_TITLES = ("TI", "T1", "CT", "BT", "ST")
_JOURNALS = ("JF", "T2", "BT", "JO", "JA", "J2", "J1", "J9")
"""Embase has the name in full under JF and short under JO."""
_PUBMED = re.compile(r"PMID|PUBMED:? ?\d|https?://\S{0,200}pubmed", re.IGNORECASE)
_FROM_PUBMED = re.compile(r"medline|pubmed|^nlm$|^(?:c?med|m[dn]h|mdc)$", re.IGNORECASE)
"""The last are EBSCO's names of it."""
_ISSN_ONLY = re.compile(r"\d{4}-?\d{3}[\dXx]")


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return papers_of(read_tagged(stream, name, LAYOUT), name, to_paper)


def to_paper(block: Block) -> Paper:
    """A paper with the title, abstract and journal from whichever tag the database put them in."""
    values = values_of(block, _TAG)
    title_tag = next((tag for tag in _TITLES if any(values[tag])), "TI")
    title = to_text(_first(values, (title_tag,)))
    if _first(values, ("DB",)).startswith("Ovid") or _first(values, ("DP",)).startswith("EBSCO"):
        title = title_of(title)
    abstract = to_text(" ".join(values["AB"]) or " ".join(values["N2"]))
    urls = [url for text in values["UR"] for url in text.split() if url_of(url)]
    numbers = [text for tag in _NUMBERS for text in values[tag] if text] + urls
    doi = doi_of(_first(values, ("DO", "DI"))) or doi_of(_first(values, ("L2", "M3", "L3", "ID")))
    arxiv_id = next((arxiv_of(text) for text in numbers if "arxiv" in text.lower()), "")
    proceedings = _proceedings(values)
    pmid = next((pmid_of(text) for text in numbers if _PUBMED.match(text)), "") or _pmid(values)
    return complete(
        Paper(
            id=_own_id(_first(values, ("AN",)))
            or name_paper("ris:", title, abstract, doi=doi, arxiv=arxiv_id, pmid=pmid),
            title=title,
            abstract=abstract,
            authors=tidy_names(map(to_text, values["AU"] or values["A1"] or values["A2"] or values["ED"])),
            year=year_of(_first(values, ("PY", "Y1", "YR", "DA", "Y2"))),
            venue=to_text(proceedings or _first(values, [tag for tag in _JOURNALS if tag != title_tag])),
            fields=unique(_keywords(values["KW"])),
            doi=doi,
            arxiv_id=arxiv_id,
            pmid=pmid,
            url=urls[0] if urls else "",
            source="ris",
            reference=_reference(values, title_tag),
            sections=find_sections(abstract),
        )
    )


_NUMBERS = ("AN", "C1", "C2", "C3", "XR", "PM", "N1")
"""Where databases put the numbers that a paper has in others: "PMID:12", "PUBMED 12", "arXiv:..."."""


_PMID_TAGS = {"embase": "C5", "scopus": "C2"}
"""Databases that have PubMed's number in a tag of its own."""


def _pmid(values: Mapping[str, Sequence[str]]) -> str:
    """A number that is PubMed's because the record comes from there."""
    database = _first(values, ("DB",))
    for name, tag in _PMID_TAGS.items():
        if name in database.lower():
            return pmid_of(_bare(_first(values, (tag,))))
    if not _FROM_PUBMED.search(database) and not _FROM_PUBMED.search(_first(values, ("DP",))):
        return ""
    return pmid_of(_bare(_first(values, ("AN",)))) or pmid_of(_bare(_first(values, ("ID",))))


def _proceedings(values: Mapping[str, Sequence[str]]) -> str:
    """The title of the proceedings, beside which the tag of journals has the name of the conference.

    Web of Science and Cochrane have something else there.
    """
    title = _first(values, ("C3",))
    strange = _first(values, ("AN",)).startswith(("WOS:", "CN-")) or _PUBMED.match(title)
    is_paper = _kind(_first(values, ("TY",)), _first(values, ("M3",))) is Kind.PROCEEDINGS_PAPER
    return "" if strange or not is_paper else title


def _bare(number: str) -> str:
    return number if number.isdecimal() else ""


def _keywords(texts: Sequence[str]) -> Iterator[str]:
    """One a line, or all in one; the marks of subject headings ("*Rain/th [Therapy]") are no part of them."""
    if len(texts) == 1 and "\n" not in texts[0]:
        texts = texts[0].split(";")
    return headings_of(to_text(keyword) for text in texts for keyword in text.split("\n"))


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
    is_embase = "embase" in first("DB").lower()
    issue = next((text for tag in _ISSUES for text in values[tag] if not _ISSN_ONLY.fullmatch(text)), "")
    numbers = " ".join([*values["SN"], *filter(_ISSN_ONLY.fullmatch, values["IS"])])
    genre = first("M3").rpartition(": ")[2]
    key = first("ID")
    return make_reference(
        kind=kind,
        genre="" if doi_of(genre) else genre,
        date=_date(values, ("DA", "PY", "Y1", "Y2") if is_embase else ("DA", "PY", "Y1")),
        volume=first("VL", "VO"),
        issue="" if own else issue,
        pages=page_range(first("SP", "PG"), first("EP")),
        number=first("C7", "AR")
        or (first("M1", "IS") if own else "")
        or (numbers if kind is Kind.REPORT else ""),
        series=first("T3"),
        edition=first("ET"),
        publisher=first("PB", "PU"),
        place="" if is_embase else first("CY", "PP", "PI"),  # there, an author's address
        event=first("T2") if _proceedings(values) else "",
        editors=editors_of(values["ED"] or (values["A2"] if is_part or not values["AU"] else ())),
        short_venue=_short_venue(values, title_tag),
        issn=numbers,
        isbn=numbers,
        pmcid=first("C2") if first("C2").upper().startswith("PMC") else "",
        language=first("LA"),
        accessed="" if is_embase else first("Y2"),
        key=("" if doi_of(key) else key) or ("" if _OTHER_ID.match(first("AN")) else first("AN")),
    )


def _date(values: Mapping[str, Sequence[str]], tags: Sequence[str]) -> str:
    """The first that has a month; Web of Science has the month and the year apart."""
    texts = [_first(values, (tag,)) for tag in tags]
    return next((text for text in (*texts, " ".join(texts[:2])) if date_of(text)), "")


def _short_venue(values: Mapping[str, Sequence[str]], title_tag: str) -> str:
    """The abbreviated journal, where another tag has its name in full."""
    full = _first(values, ("JF", "T2"))
    short = _first(values, [tag for tag in ("J2", "JI", "JA", "JO", "J9") if tag != title_tag])
    return short if full and short != full else ""


_ISSUES = ("IS", "CP", "IP", "NO")
"""Ovid has the ISSN under IS and the issue under IP."""
_OTHER_ID = re.compile(r"(?:arxiv|pmid|pubmed)", re.IGNORECASE)


def _kind(name: str, genre: str) -> Kind | None:
    """From the type; preprints and proceedings have none of their own, so that their genre tells."""
    kind = _KINDS.get(name.partition("\n")[0].strip().upper())
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
