"""The ids in what somebody types or pastes: a DOI, an arXiv or PubMed id, bare or inside a web address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

_DOI = re.compile(r"10\.\d{4,9}/\S{1,200}")
_ARXIV = re.compile(r"(?<![\d.])(\d{4}\.\d{4,5}|(?<![a-z-])[a-z-]++(?:\.[a-z]{2})?/\d{7})(?:v\d+)?(?!\d)")
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)")
_PMID = re.compile(r"(?:pubmed(?:\.ncbi\.nlm\.nih\.gov)?/|pmid:?\s{0,3}|/med/)(\d{1,9})")
_ENDS = ("/full", "/pdf", "/abstract", "/meta", "/epdf", ".pdf", ".full", ".abstract", ".html")
"""What publishers put behind the DOI in an address."""
_VERSION = re.compile(r"v\d{1,2}$")
MOST_DOIS = 8
"""Readings of where a DOI ends in an address; more than any publisher needs. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Identifiers:
    """What a text may name, each as the store has it; empty where it names nothing of the kind."""

    whole: str
    """The text itself in lower case, for ids and addresses as a source gave them."""
    dois: tuple[str, ...] = ()
    """The longest first: an address may go on behind the DOI."""
    arxiv_id: str = ""
    pmid: str = ""
    is_address: bool = False
    """Whether the text is nothing but an address or id, so that it holds no words of a title."""


def read_identifiers(text: str) -> Identifiers:
    whole = text.strip().lower()
    plain = unquote(whole) if "%" in whole else whole
    found = _DOI.search(plain)
    dois = tuple(dict.fromkeys(_readings(found[0])))[:MOST_DOIS] if found else ()
    pmid = _PMID.search(plain)
    arxiv_id = _arxiv_id(plain, dois)
    bare = bool(found and found.start() in (0, len("doi:")) and " " not in plain)
    return Identifiers(
        whole=whole.rstrip("/"),
        dois=dois,
        arxiv_id=arxiv_id,
        pmid=pmid[1] if pmid else plain if plain.isascii() and plain.isdigit() else "",
        is_address=bare or plain.startswith(("http://", "https://", "www.")) or bool(arxiv_id) or bool(pmid),
    )


def _readings(text: str) -> Iterator[str]:
    """The DOI at the start of a text, ending wherever it may."""
    for cut in (text, re.split(r"[?#&]", text, maxsplit=1)[0]):
        doi = _trimmed(cut)
        yield doi
        for end in _ENDS:
            if doi.endswith(end):
                doi = _trimmed(doi.removesuffix(end))
                yield doi
        yield _VERSION.sub("", doi)
        while doi.count("/") > 1:
            doi = _trimmed(doi.rpartition("/")[0])
            yield doi


def _trimmed(doi: str) -> str:
    """Without the punctuation of the sentence around it."""
    while doi and (doi[-1] in ".,;:'\"}]>/" or (doi[-1] == ")" and doi.count("(") < doi.count(")"))):
        doi = doi[:-1]
    return doi


def _arxiv_id(text: str, dois: tuple[str, ...]) -> str:
    for doi in dois:
        if named := _ARXIV_DOI.fullmatch(doi):
            return _VERSION.sub("", named[1])
    found = _ARXIV.search(text) if "arxiv" in text else _ARXIV.fullmatch(text)
    return found[1] if found else ""
