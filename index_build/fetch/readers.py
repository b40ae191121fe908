"""The sources that read pages, by the name that a page has of its source."""

from __future__ import annotations

from index_build.fetch import (
    arxiv,
    biorxiv,
    crossref,
    europe_pmc,
    openalex,
    openreview,
    pubmed,
    semantic_scholar,
    zotero,
)
from index_build.fetch.asking import Reading

READERS: dict[str, Reading] = {
    "arxiv": arxiv,
    "openalex": openalex,
    "pubmed": pubmed,
    "europepmc": europe_pmc,
    "semanticscholar": semantic_scholar,
    "crossref": crossref,
    "biorxiv": biorxiv,
    "openreview": openreview,
    "zotero": zotero,
}
