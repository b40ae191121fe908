"""Reads BibTeX and BibLaTeX, entry by entry."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator, Mapping

import bibtexparser
from bibtexparser.middlewares.names import (
    InvalidNameError,
    parse_single_name_into_parts,
    split_multiple_persons_names,
)
from bibtexparser.model import DuplicateFieldKeyBlock

from index_build.markup import latex_text
from index_build.sources.blocks import Block, papers_of, read_blocks
from index_build.sources.records import (
    arxiv_of,
    complete,
    doi_of,
    full_name,
    name_paper,
    pmid_of,
    unique,
    url_of,
    year_of,
)
from index_build.sources.rejects import BadRecord, Reason, Reject
from index_build.sources.sections import find_sections
from search.types import Paper

_START = re.compile(r"\s*@\s*[a-zA-Z]+\s*[{(]")
_NOT_A_PAPER = re.compile(r"\s*@\s*(?:comment|preamble)\b", re.IGNORECASE)
_STRING = re.compile(r"\s*@\s*string\b", re.IGNORECASE)
_JOINED = re.compile(r"(?<=[\w\"}])\s*#\s*(?=[\w\"{])")
_KEYWORD = re.compile(r"(?:[^{},;]|\{(?:[^{}]|\{[^{}]*\})*\})+")
_ESCAPED = re.compile(r"\\([_%&#~$])")
_VENUES = "journal journaltitle booktitle howpublished series school institution publisher".split()

logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # what it logs comes back as a failed block


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    """Papers in the order of the file; each entry knows the @string abbreviations before it."""
    abbreviations: dict[str, str] = {}

    def blocks() -> Iterator[Block | Reject]:
        for block in read_blocks(stream, name, _START):
            if isinstance(block, Block) and _STRING.match(block.lines[0]):
                strings = bibtexparser.parse_string(block.text).strings
                abbreviations.update({string.key.lower(): str(string.value) for string in strings})
            elif isinstance(block, Reject) or not _NOT_A_PAPER.match(block.lines[0]):
                yield block

    return papers_of(blocks(), name, lambda block: to_paper(block, abbreviations))


def to_paper(block: Block, abbreviations: Mapping[str, str]) -> Paper:
    """A paper from an entry of any type; notes are not read, they may hold why a paper was found."""
    key, values = _parse(block, abbreviations)
    get = values.get
    title = latex_text(" ".join(filter(None, (get("title"), get("subtitle")))))
    abstract = latex_text(get("abstract", ""))
    venue = next((latex_text(values[name]) for name in _VENUES if get(name)), "")
    url = url_of(_ESCAPED.sub(r"\1", get("url", "")))
    doi = doi_of(_ESCAPED.sub(r"\1", get("doi", "")))
    arxiv_id = _arxiv_id(values, venue)
    pmid = pmid_of(get("pmid"))
    return complete(
        Paper(
            id=name_paper(f"bibtex:{key}-", title, abstract, doi=doi, arxiv=arxiv_id, pmid=pmid),
            title=title,
            abstract=abstract,
            authors=unique(_names(get("author") or get("editor", ""))),
            year=year_of(get("year") or get("date")),
            venue="arXiv" if arxiv_of(venue) == arxiv_id != "" else venue,
            fields=_keywords(get("keywords", "")),
            doi=doi,
            arxiv_id=arxiv_id,
            pmid=pmid,
            url=url,
            source="bibtex",
            sections=find_sections(abstract),
        )
    )


def _parse(block: Block, abbreviations: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The key and the fields of an entry; a field that comes twice counts once."""
    library = bibtexparser.parse_string(block.text)
    repeated = [
        failed.ignore_error_block
        for failed in library.failed_blocks
        if isinstance(failed, DuplicateFieldKeyBlock)
    ]
    if not library.entries and not repeated:
        raise BadRecord(Reason.BAD_ENTRY)
    entry = (library.entries or repeated)[0]
    values: dict[str, str] = {}
    for field in entry.fields:
        enclosed = field.enclosing != "no-enclosing" and not repeated
        value = str(field.value)
        values.setdefault(field.key.lower(), value if enclosed else _value(value, abbreviations))
    return entry.key.strip(), values


def _value(text: str, abbreviations: Mapping[str, str]) -> str:
    """The text of a field as written: quoted, a number, an abbreviation, or these joined with "#"."""
    pieces = (piece.strip() for piece in _JOINED.split(text))
    return "".join(
        piece[1:-1] if piece[:1] in ('"', "{") else abbreviations.get(piece.lower(), piece)
        for piece in pieces
    )


def _keywords(text: str) -> tuple[str, ...]:
    """Keywords between commas or semicolons; one in braces may hold them."""
    return unique(latex_text(keyword) for keyword in _KEYWORD.findall(text))


def _names(text: str) -> Iterator[str]:
    """Names as "Family, Given"; one that is wholly in braces is a group and stays as it is."""
    for name in split_multiple_persons_names(text):
        try:
            parts = parse_single_name_into_parts(name)
        except InvalidNameError:
            yield latex_text(name)
            continue
        family, given, suffix = (" ".join(words) for words in (parts.von + parts.last, parts.first, parts.jr))
        yield latex_text(full_name(family, given, suffix))


def _arxiv_id(values: Mapping[str, str], venue: str) -> str:
    """From eprint, or from the "arXiv preprint arXiv:..." that search engines write."""
    kind = values.get("archiveprefix") or values.get("eprinttype") or "arxiv"
    eprint = arxiv_of(values.get("eprint")) if kind.lower() == "arxiv" else ""
    return eprint or arxiv_of(venue if "arxiv" in venue.lower() else "")
