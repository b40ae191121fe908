"""Finds the format of a file from its first bytes."""

from __future__ import annotations

import re

from index_build.sources.streams import decode
from index_build.sources.tables import find_header

_KEY = re.compile(r'"([\w-]+)"\s*:')
_SENTENCES = re.compile(r'"abstract"\s*:\s*\[\s*"')
_OPENALEX = re.compile(r'"abstract_inverted_index"|"https?://openalex\.org/W\d')
_CSL_TYPE = re.compile(
    r'"type"\s*:\s*"(?:article(?:-journal)?|paper-conference|chapter|book|thesis|report|webpage|manuscript)"'
)
_XML = {
    "pubmed": re.compile(r"<(?:PubmedArticleSet|PubmedArticle|PubmedBookArticle|MedlineCitation)\b"),
    "acl": re.compile(r"<collection\b.*?<(?:volume|event)\b", re.DOTALL),
}
_TAGGED = {
    "ris": re.compile(r"^[ \t]*TY {0,2}- ?[A-Z]", re.MULTILINE),
    "nbib": re.compile(r"^[ \t]*PMID ?- ?\d", re.MULTILINE),
    "wos": re.compile(r"^(?:FN Clarivate|FN Thomson|PT [A-Z][ \r]*$)", re.MULTILINE),
    "bibtex": re.compile(r"^[ \t]*@[ \t]*[a-zA-Z]+[ \t]*[{(]", re.MULTILINE),
}


def detect(head: bytes, name: str) -> str:
    """The name of the format as in FORMATS, or "unknown"; the start of the unpacked file decides.

    The name of the file only helps where the content alone does not, as with a table of one column.
    """
    if b"%PDF-" in head[:1024]:
        return "pdf"
    text = decode(head).lstrip("\ufeff \t\r\n")
    if text[:1] in ("{", "["):
        return _detect_json(text)
    patterns = _XML if text[:1] == "<" else _TAGGED
    found = next((kind for kind, pattern in patterns.items() if pattern.search(text)), "")
    if found or text[:1] == "<":
        return found or "unknown"
    return "csv" if find_header(head, name) else "unknown"


def _detect_json(text: str) -> str:
    """The format by its telling keys; a record with other names is read as well as its names allow."""
    keys = set(_KEY.findall(text))
    if "authors_parsed" in keys or {"submitter", "categories"} <= keys:
        return "arxiv"
    if _OPENALEX.search(text):
        return "openalex"
    if "paper_id" in keys and _SENTENCES.search(text):
        return "csfcube"
    if keys & {"corpusid", "corpusId", "paperId", "pdf_parse", "mag_id", "s2fieldsofstudy"}:
        return "s2"
    if {"_id", "text"} <= keys:
        return "beir"
    telling = keys & {"issued", "container-title", "date-parts", "family", "DOI"}
    if {"type", "title"} <= keys and (telling or (text[0] == "[" and _CSL_TYPE.search(text))):
        return "csl-json"
    return "jsonl" if keys else "unknown"
