"""Finds the format of a file from its first bytes."""

from __future__ import annotations

import re

from index_build.sources.charsets import decode
from index_build.sources.table_columns import find_header

_KEY = re.compile(r'"([\w-]+)"\s*:')
_SENTENCES = re.compile(r'"abstract"\s*:\s*\[\s*"')
_OPENALEX = re.compile(r'"id"\s{0,9}:\s{0,9}"https?://openalex\.org/W\d')
_CSL_TYPE = re.compile(
    r'"type"\s*:\s*"(?:article(?:-journal|-magazine|-newspaper)?|paper-conference|chapter|book|thesis|report|'
    r'webpage|manuscript|dataset|software|patent|standard|speech|document|entry-encyclopedia)"'
)
_XML = {
    "oai": re.compile(r"<(?:\w{1,20}:)?(?:OAI-PMH|ListRecords|GetRecord)\b"),
    "pubmed": re.compile(r"<(?:PubmedArticleSet|PubmedArticle|PubmedBookArticle|MedlineCitation)\b"),
    "endnote-xml": re.compile(r"<record>\s{0,20}<(?:database|source-app|rec-number|foreign-keys|ref-type)\b"),
    "ebsco": re.compile(r"<header\s[^<>]{0,300}\bshortDbName="),
    "mods": re.compile(r"<(?:\w{1,20}:)?mods(?:Collection)?\b"),
    "marcxml": re.compile(r"<(?:\w{1,20}:)?(?:datafield|controlfield)\s+(?:tag|ind)"),
    "tei": re.compile(r"<(?:\w{1,20}:)?(?:TEI|teiCorpus|teiHeader)\b"),
    "dblp": re.compile(r"<dblp(?:person)?\b"),
    "zotero-rdf": re.compile(r"<rdf:RDF\b|<bib:(?:Article|Book)\b"),
    "atom": re.compile(r"<(?:\w{1,20}:)?entry\b"),
    "jats": re.compile(r"<(?:\w{1,20}:)?(?:article-meta|pmc-articleset)\b|<(?:\w{1,20}:)?front>"),
    "acl": re.compile(r"\A(?>.*?<collection\b).*?<(?:volume|event)\b", re.DOTALL),
}
"""What shows each format, the surest first: records of one may hold words of another."""
_TAGGED = {
    "ris": re.compile(r"^[ \t\ufeff]*TY[ \t]{0,2}-[ \t]{0,4}[A-Z]", re.MULTILINE),
    "nbib": re.compile(r"^[ \t\ufeff]*PMID ?- ?\d", re.MULTILINE),
    "wos": re.compile(r"^\ufeff?(?:FN (?:Clarivate|Thomson|ISI)|PT [A-Z][ \r]{0,9}$)", re.MULTILINE),
    "enw": re.compile(r"^[ \t\ufeff]*%0[ \t]{1,3}[A-Z]", re.MULTILINE),
    "refworks": re.compile(r"^\ufeff?RT[ \t]{1,3}[A-Z][a-z]", re.MULTILINE),
    "eric": re.compile(r"^[ \t\ufeff]*OWN ?- ?ERIC", re.MULTILINE),
    "ovid": re.compile(r"^\ufeff?<\d{1,7}>\s*(?:of|$)", re.MULTILINE),
    "bibtex": re.compile(r"^[ \t\ufeff]*@[ \t]{0,9}[a-zA-Z]+[ \t]{0,9}[{(]", re.MULTILINE),
}
"""What each record begins with; a line or two of another format may stand in any file."""
_CFF = re.compile(r"^cff-version:", re.MULTILINE)
_WORKBOOK = re.compile(
    rb"xl/(?:_rels|workbook|worksheets|styles|theme|sharedStrings)|\[Content_Types\]\.xml|_rels/"
)
_ZOTERO = re.compile(r'"itemType"\s*:\s*"[a-zA-Z]')
_TITLE = re.compile(r"(?:TI|T1)  - \S")


def detect(head: bytes, name: str) -> str:
    """The name of the format as in FORMATS, "zip", or "unknown"; the start of the unpacked file decides.

    The name of the file only helps where the content alone does not, as with a table of one column.
    """
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith(b"PK\x03\x04"):
        return "xlsx" if _WORKBOOK.search(head) else "zip"
    text = decode(head).lstrip("\ufeff \t\r\n")
    if text[:1] in ("{", "["):
        return _detect_json(text)
    if text[:1] == "<" and not _TAGGED["ovid"].match(text):
        return next((kind for kind, pattern in _XML.items() if pattern.search(text)), "unknown")
    if _CFF.search(text):
        return "cff"
    return _detect_tagged(text) or ("csv" if find_header(head, name) else "unknown")


def _detect_tagged(text: str) -> str:
    """The format of which there are most records; of two with as many, the first in the file."""
    starts = {kind: [found.start() for found in pattern.finditer(text)] for kind, pattern in _TAGGED.items()}
    found = [(-len(places), places[0], kind) for kind, places in starts.items() if places]
    if found:
        return min(found)[2]
    return "ris" if _is_headless(text) else ""


def _is_headless(text: str) -> bool:
    """Whether this is RIS in which the first lines of the records are missing."""
    lines = text.split("\n")
    return any(line.startswith("ER  -") for line in lines) and any(_TITLE.match(line) for line in lines)


def _detect_json(text: str) -> str:
    """The format by its telling keys; a record with other names is read as well as its names allow."""
    keys = set(_KEY.findall(text))
    if _ZOTERO.search(text) and keys & {"creators", "library", "abstractNote", "dateAdded"}:
        return "zotero"
    if "authors_parsed" in keys or {"submitter", "categories"} <= keys:
        return "arxiv"
    if "abstract_inverted_index" in keys or (_OPENALEX.search(text) and "issued" not in keys):
        return "openalex"
    if "paper_id" in keys and _SENTENCES.search(text):
        return "csfcube"
    if keys & {"corpusid", "corpusId", "paperId", "pdf_parse", "mag_id", "s2fieldsofstudy"}:
        return "s2"
    if keys >= {"titles", "creators"} or keys >= {"attributes", "publicationYear"}:
        return "datacite"
    if keys & {"resultList", "abstractText", "journalInfo", "authorString"}:
        return "europe-pmc"
    if keys & {"jatsxml", "preprint_doi", "biorxiv_doi"} or {"collection", "server"} <= keys:
        return "biorxiv"
    if keys & {"message-type", "is-referenced-by-count", "reference-count"} and "DOI" in keys:
        return "crossref"
    if {"_id", "text"} <= keys:
        return "beir"
    telling = keys & {"issued", "container-title", "date-parts", "family", "DOI"}
    if {"type", "title"} <= keys and (telling or (text[0] == "[" and _CSL_TYPE.search(text))):
        return "csl-json"
    return "jsonl" if keys else "unknown"
