"""Reads BibTeX and BibLaTeX, entry by entry."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain

from index_build.markup import latex_text
from index_build.sources.bibtex_entries import START, Entry, is_comment, parse_entry, split_entries
from index_build.sources.bibtex_names import names_of
from index_build.sources.blocks import Block, Layout, read_blocks
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
from index_build.sources.references import kind_of_words, make_reference, note_of, others
from index_build.sources.rejects import BadRecord, Reject, attempt, reject
from index_build.sources.sections import find_sections
from search.types import Kind, Paper, Reference

_NOT_A_PAPER = re.compile(r"@\s*(?:comment|preamble)\b", re.IGNORECASE)
_COLLECTIONS = frozenset(
    "proceedings book collection mvbook mvproceedings mvcollection periodical reference".split()
)
"""Entries of which others are parts."""
_INHERITED = (
    "year date month publisher address location editor series volume number edition isbn issn organization "
    "school institution language langid eventtitle"
).split()
MOST_WAITING = 10_000
"""Entries that are held until the one they are part of has come, which BibTeX wants after them."""
_KEYWORD = re.compile(r"(?:[^{},;]|\{(?:[^{}]|\{[^{}]*\})*\})+")
_KEYWORD_AND_COMMAS = re.compile(r"(?:[^{};]|\{(?:[^{}]|\{[^{}]*\})*\})+")
_ESCAPED = re.compile(r"\\([_%&#~$])")
_ADDRESS = re.compile(r"https?://[^\s{}]{1,2000}")
_VENUES = "journal journaltitle booktitle howpublished series school institution publisher".split()

LAYOUT = Layout(start=START)


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    """Papers in the order of the file; those whose collection comes after them are given last."""
    abbreviations: dict[str, str] = {}
    collections: dict[str, dict[str, str]] = {}
    waiting: list[tuple[Block, Entry]] = []
    for block in _entries(stream, name):
        if isinstance(block, Reject):
            yield block
            continue
        try:
            entry = parse_entry(block.text, abbreviations)
        except BadRecord as bad:
            yield reject(name, block.place, bad.reason, block.text)
            continue
        if entry.kind == "string":
            abbreviations |= entry.fields
            continue
        if entry.kind in _COLLECTIONS:
            collections[entry.key.lower()] = entry.fields
        if entry.fields.get("crossref", "").lower() in collections or len(waiting) == MOST_WAITING:
            entry = _inherit(entry, collections)
        elif entry.fields.get("crossref"):
            waiting.append((block, entry))
            continue
        yield attempt(partial(to_paper, entry), name, block.place, block.text)
    for block, entry in waiting:
        yield attempt(partial(to_paper, _inherit(entry, collections)), name, block.place, block.text)


def _entries(stream: io.BufferedReader, name: str) -> Iterator[Block | Reject]:
    """The entries of a file that can be papers or abbreviations, and what lies outside of all entries."""
    for block in read_blocks(stream, name, LAYOUT):
        if isinstance(block, Reject):
            if not all(map(is_comment, block.raw.split("\n"))):
                yield block
            continue
        for entry in split_entries(block, name):
            if isinstance(entry, Reject) or not _NOT_A_PAPER.match(entry.lines[0]):
                yield entry


def _inherit(entry: Entry, collections: Mapping[str, Mapping[str, str]]) -> Entry:
    """The entry with what it lacks from the collection it is part of, whose title is its booktitle."""
    whole = collections.get(entry.fields.get("crossref", "").lower(), {})
    fields = {name: whole[name] for name in _INHERITED if name in whole}
    if title := whole.get("booktitle") or whole.get("title"):
        fields["booktitle"] = title
    return Entry(entry.kind, entry.key, fields | entry.fields)


def to_paper(entry: Entry) -> Paper:
    """A paper from an entry of any type."""
    values = entry.fields
    get = values.get
    title = latex_text(" ".join(filter(None, (get("title"), get("subtitle")))))
    abstract = latex_text(get("abstract", ""))
    place = _ADDRESS.search(_ESCAPED.sub(r"\1", get("howpublished", "")))
    venues = (name for name in _VENUES if get(name) and not (place and name == "howpublished"))
    venue = next((_journal(values[name]) for name in venues), "")
    url = url_of(_ESCAPED.sub(r"\1", get("url", ""))) or (url_of(place[0]) if place else "")
    doi = doi_of(_ESCAPED.sub(r"\1", get("doi", ""))) or (doi_of(entry.key) if entry.key[:3] == "10." else "")
    arxiv_id = _arxiv_id(values, venue)
    fields = _keywords(_first(entry, "author_keywords", "keywords"))
    pmid = pmid_of(get("pmid")) or next((pmid_of(found[1]) for found in _pubmed_numbers(entry)), "")
    return complete(
        Paper(
            id=name_paper(f"bibtex:{entry.key}-", title, abstract, doi=doi, arxiv=arxiv_id, pmid=pmid),
            title=title,
            abstract=abstract,
            authors=tuple(names_of(get("author") or get("editor", ""))),
            year=year_of(get("year") or get("date")),
            venue="arXiv" if arxiv_of(venue) == arxiv_id != "" else venue,
            fields=fields,
            doi=doi,
            arxiv_id=arxiv_id,
            pmid=pmid,
            url=url,
            source="bibtex",
            reference=_reference(entry, venue, arxiv_id, fields),
            sections=find_sections(abstract),
        )
    )


_KINDS = {
    name: kind
    for kind, names in {
        Kind.ARTICLE: "article",
        Kind.PROCEEDINGS_PAPER: "inproceedings conference",
        Kind.CHAPTER: "incollection inbook suppbook bookinbook suppcollection",
        Kind.ENTRY: "inreference",
        Kind.BOOK: "book mvbook booklet collection mvcollection reference mvreference periodical",
        Kind.PROCEEDINGS: "proceedings mvproceedings",
        Kind.THESIS: "phdthesis mastersthesis thesis",
        Kind.REPORT: "techreport report manual",
        Kind.MANUSCRIPT: "unpublished",
        Kind.WEB_PAGE: "online electronic www",
        Kind.DATASET: "dataset",
        Kind.SOFTWARE: "software",
        Kind.PATENT: "patent",
        Kind.STANDARD: "standard",
    }.items()
    for name in names.split()
}
"""Entry types of BibTeX, BibLaTeX and IEEEtran."""
_GENRES = {"phdthesis": "PhD thesis", "mastersthesis": "Master's thesis", "manual": "Manual"}
_NUMBERED = (Kind.REPORT, Kind.PATENT, Kind.STANDARD)
"""Kinds whose `number` is their own, not an issue's."""


def _reference(entry: Entry, venue: str, arxiv_id: str, fields: tuple[str, ...]) -> Reference:
    get = entry.fields.get
    kind = _kind(entry, venue, arxiv_id)
    own = kind in _NUMBERED
    editor = get("editor")
    return make_reference(
        latex_text,
        kind=kind,
        genre=_TYPES.get(get("type", "").lower(), get("type")) or _GENRES.get(entry.kind),
        date=_date(get("date", ""), get("month", ""), get("year", "")),
        volume=get("volume"),
        issue=get("issue") or (None if own else get("number")),
        pages=get("pages"),
        number=_first(entry, *_ARTICLE_NUMBERS) or (get("number") if own else None),
        series=get("series"),
        edition=get("edition"),
        publisher=next((get(name) for name in _PUBLISHERS if get(name)), None),
        place=get("address") or get("location"),
        event=get("eventtitle"),
        editors=tuple(names_of(editor)) if editor else (),
        short_venue=_first(entry, "shortjournal", "abbrev_source_title", "journal-iso", "journal-abbrev"),
        issn=f"{get('issn', '')} {get('eissn', '')}",
        isbn=get("isbn"),
        pmcid=get("pmcid") or get("pmc"),
        keywords=others(chain.from_iterable(_keywords(get(name, "")) for name in _MORE_KEYWORDS), fields),
        language=get("language") or get("langid"),
        licence=get("license") or get("licence") or get("copyright"),
        note=_note(get("note")),
        accessed=get("urldate"),
        key=entry.key,
    )


_PUBLISHERS = "publisher school institution organization holder".split()
_ARTICLE_NUMBERS = "eid article-number articleno art_number".split()
_MORE_KEYWORDS = "keywords keywords-plus mesh_terms web-of-science-categories".split()
"""Beside those of the authors, by Scopus and Web of Science."""
_OF_DATABASES = re.compile(r"(?:Cited [Bb]y:? \d|PUBMED \d|Export Date:|cited By \d)")
"""How notes begin in which databases count citations."""
_PUBMED_NUMBER = re.compile(r"(?:PUBMED|PMID):? {0,3}(\d{1,9})\b", re.IGNORECASE)


def _first(entry: Entry, *names: str) -> str:
    return next((entry.fields[name] for name in names if entry.fields.get(name)), "")


def _pubmed_numbers(entry: Entry) -> Iterator[re.Match[str]]:
    """As Cochrane and Zotero write them, in notes."""
    texts = (entry.fields.get(name, "") for name in ("accession_number", "note", "annote", "extra"))
    return (found for text in texts if (found := _PUBMED_NUMBER.match(text)))


_TYPES = {"phdthesis": "PhD thesis", "mathesis": "Master's thesis", "techreport": "Technical report"}
"""BibLaTeX's names of its own types."""


def _kind(entry: Entry, venue: str, arxiv_id: str) -> Kind | None:
    subtype = entry.fields.get("entrysubtype")
    if subtype and (named := kind_of_words(subtype)):
        return named
    kind = _KINDS.get(entry.kind)
    place = venue.lower()
    if kind in (Kind.ARTICLE, None, Kind.MANUSCRIPT) and (
        place.startswith(("arxiv", "corr", "biorxiv", "medrxiv")) or (arxiv_id and not venue)
    ):
        return Kind.PREPRINT
    return kind or kind_of_words(entry.fields.get("type", ""), entry.kind)


def _date(date: str, month: str, year: str) -> str | None:
    """A date to read; BibTeX's months are words, numbers, or "3 May"."""
    if date or not month:
        return date or None
    return f"{year}-{int(month):02d}" if month.isdecimal() and len(month) < 3 else f"{month} {year}"


def _note(note: str | None) -> str | None:
    return note_of(latex_text(note)) if note and not _OF_DATABASES.match(note) else None


def _keywords(text: str) -> tuple[str, ...]:
    """Keywords between semicolons, or commas where there are none; one in braces may hold either."""
    if text.startswith("{") and text.endswith("}") and ";" in text and _KEYWORD.fullmatch(text):
        text = text[1:-1]  # Web of Science sets all values in two pairs of braces
    parts = _KEYWORD_AND_COMMAS.findall(text)
    if len(parts) < 2:
        parts = _KEYWORD.findall(text)
    return unique(headings_of(latex_text(keyword) for keyword in parts))


_OF_ASTRONOMY = {
    "aj": "The Astronomical Journal", "apj": "The Astrophysical Journal",
    "apjl": "The Astrophysical Journal Letters", "apjs": "The Astrophysical Journal Supplement Series",
    "mnras": "Monthly Notices of the Royal Astronomical Society", "aap": "Astronomy & Astrophysics",
    "aapr": "The Astronomy and Astrophysics Review", "aaps": "Astronomy and Astrophysics Supplement Series",
    "araa": "Annual Review of Astronomy and Astrophysics", "nat": "Nature", "icarus": "Icarus",
    "pasp": "Publications of the Astronomical Society of the Pacific", "ssr": "Space Science Reviews",
    "pasj": "Publications of the Astronomical Society of Japan", "solphys": "Solar Physics",
    "pra": "Physical Review A", "prb": "Physical Review B", "prc": "Physical Review C",
    "prd": "Physical Review D", "pre": "Physical Review E", "prl": "Physical Review Letters",
    "physrep": "Physics Reports", "planss": "Planetary and Space Science", "na": "New Astronomy",
    "jcap": "Journal of Cosmology and Astroparticle Physics", "grl": "Geophysical Research Letters",
    "jgr": "Journal of Geophysical Research", "apss": "Astrophysics and Space Science",
    "ao": "Applied Optics", "psj": "The Planetary Science Journal",
}  # fmt: skip
"""Journals that ADS writes as macros, which the styles of astronomy know."""


def _journal(value: str) -> str:
    """A journal, or what the macro for it stands for."""
    name = value.strip("{} ")
    return _OF_ASTRONOMY.get(name[1:], "") or latex_text(value) if name[:1] == "\\" else latex_text(value)


def _arxiv_id(values: Mapping[str, str], venue: str) -> str:
    """From eprint, or from the "arXiv preprint arXiv:..." that search engines and people write."""
    kind = values.get("archiveprefix") or values.get("eprinttype") or "arxiv"
    eprint = arxiv_of(values.get("eprint")) if kind.lower() == "arxiv" else ""
    eprint = eprint or arxiv_of(values.get("arxivid"))
    note = values.get("note", "")
    return (
        eprint
        or arxiv_of(venue if "arxiv" in venue.lower() else "")
        or arxiv_of(note if note.lower().startswith("arxiv") else "")
    )
