"""RIS: one tag a line."""

from __future__ import annotations

from collections.abc import Sequence

from search.exports.references import (
    Citation,
    container_of,
    editors_alone,
    kind_of,
    make_keys,
    one_line,
    place_in,
    rights_of,
)
from search.names import divide_for_print
from search.types import Kind, Paper

_TYPES = {
    Kind.ARTICLE: "JOUR",
    Kind.PROCEEDINGS_PAPER: "CONF",
    Kind.CHAPTER: "CHAP",
    Kind.BOOK: "BOOK",
    Kind.PROCEEDINGS: "BOOK",
    Kind.THESIS: "THES",
    Kind.REPORT: "RPRT",
    Kind.PREPRINT: "UNPB",
    Kind.DATASET: "DATA",
    Kind.SOFTWARE: "COMP",
    Kind.PATENT: "PAT",
    Kind.STANDARD: "STAND",
    Kind.PRESENTATION: "SLIDE",
    Kind.ENTRY: "ENCYC",
    Kind.NEWS: "NEWS",
    Kind.WEB_PAGE: "ELEC",
    Kind.MANUSCRIPT: "MANSCPT",
    Kind.OTHER: "GEN",
}
_PARTS = (Kind.ARTICLE, Kind.PROCEEDINGS_PAPER, Kind.CHAPTER, Kind.ENTRY, Kind.NEWS)
"""Kinds that stand in something else."""
_NUMBERED = (Kind.REPORT, Kind.PATENT, Kind.STANDARD)


def write_ris(citations: Sequence[Citation]) -> str:
    keys = make_keys([citation.paper for citation in citations])
    return "".join(_record(key, citation) for key, citation in zip(keys, citations, strict=True))


def _record(key: str, citation: Citation) -> str:
    paper, kind = citation.paper, kind_of(citation.paper)
    arxiv = f"arXiv:{paper.arxiv_id}" if paper.arxiv_id else ""
    pmid = f"PMID:{paper.pmid}" if paper.pmid else ""
    lines = [
        ("TY", _TYPES[kind]),
        ("ID", key if paper.reference.key == key else ""),
        ("TI", paper.title),
        *(() if editors_alone(paper) else (("AU", str(divide_for_print(name))) for name in paper.authors)),
        ("PY", str(paper.year or "")),
        *_places(paper, kind),
        *_printed(paper, kind),
        ("DO", paper.doi),
        ("AN", arxiv or pmid),
        ("C1", pmid if arxiv else ""),
        ("UR", paper.url),
        *(("KW", field) for field in citation.keywords),
        ("AB", paper.abstract),
        ("C8", rights_of(paper)),
        ("N1", paper.reference.note),
        ("N1", citation.note),
    ]
    # A tag lasts until the line ends, so a line break in a value would start a wrong one.
    body = "".join(f"{tag}  - {one_line(value)}\n" for tag, value in lines if value.strip())
    return body + "ER  - \n\n"


def _places(paper: Paper, kind: Kind) -> list[tuple[str, str]]:
    """What it stands in; where a conference has a name of its own, that of the proceedings goes under C3.

    So EndNote and Zotero read a paper of a conference.
    """
    where = container_of(paper) if kind in _PARTS else place_in(paper)
    event = paper.reference.event if kind is Kind.PROCEEDINGS_PAPER else ""
    return [("T2", event), ("C3", where)] if event else [("T2", where)]


def _printed(paper: Paper, kind: Kind) -> list[tuple[str, str]]:
    """The lines that come from the reference."""
    reference = paper.reference
    first, dash, last = reference.pages.partition("-")
    is_range = bool(dash) and "-" not in last and "," not in reference.pages
    own = kind in _NUMBERED
    genre = "Proceedings" if kind is Kind.PROCEEDINGS else reference.genre
    return [
        ("M3", genre),
        (
            "DA",
            reference.date.replace("-", "/") + ("/" if len(reference.date) > 7 else "//")
            if reference.date
            else "",
        ),
        ("VL", reference.volume),
        ("IS", "" if own else reference.issue),
        ("M1" if own else "C7", reference.number),
        ("SP", first if is_range else reference.pages),
        ("EP", last if is_range else ""),
        ("T3", reference.series),
        ("ET", reference.edition),
        ("PB", reference.publisher or (paper.venue if kind in (Kind.THESIS, Kind.REPORT) else "")),
        ("CY", reference.place),
        *(("ED", str(divide_for_print(name))) for name in reference.editors),
        ("J2", reference.short_venue),
        *(("SN", number) for number in (*reference.issn, *reference.isbn)),
        ("C2", reference.pmcid),
        ("LA", reference.language),
        ("Y2", reference.accessed.replace("-", "/")),
    ]
