"""One paper by its DOI, arXiv id, PMID or web address, asked of the sources while somebody waits."""

from __future__ import annotations

from dataclasses import replace

from index_build.fetch.addresses import place_of
from index_build.fetch.asking import Asking
from index_build.fetch.fetching import Direct
from index_build.fetch.identifiers import Identifier, identifier_of, pages
from index_build.fetch.journal import now
from index_build.fetch.readers import READERS
from index_build.fetch.values import Unanswered, Wish
from search.settings import Settings
from search.types import Paper

TRIES = 2
"""Somebody waits: a source that does not answer is passed over soon."""
_FIRST = {"arxiv": ("arxiv",), "pmid": ("pubmed",), "doi": ()}
_OTHERS = ("openalex", "semanticscholar", "crossref", "europepmc")


def hosts(found: Identifier, settings: Settings) -> list[str]:
    """The servers that may be asked for this, the first one first."""
    names = (*_FIRST[found.kind], *_OTHERS)
    return [place_of(name, settings).host for name in names]


def look_up(text: str, settings: Settings) -> Paper | None:
    """The paper with the first abstract that a source gives, or else the first record of it; None at last."""
    found = identifier_of(text)
    if found is None:
        return None
    direct = Direct(settings, tries=TRIES)
    asking = Asking(Wish("doi", ids=(str(found),)), direct, settings, now()[:10], direct.body)
    first: Paper | None = None
    for page in pages(asking):
        place = place_of(page.source, settings)
        for paper in READERS[page.source].read(direct.body(page.key), page.source):
            if isinstance(paper, Paper) and _is(paper, found):
                if paper.abstract:
                    licence = paper.reference.licence or place.rights
                    told = replace(paper.reference, abstract_from=place.title, abstract_licence=licence)
                    return replace(paper, reference=told)
                first = first or paper
    if first is None and asking.ledger.notes:
        raise Unanswered(f"{found} was not found, and not all could be asked: {asking.ledger.notes[0]}")
    return first


def _is(paper: Paper, found: Identifier) -> bool:
    return found.value in (paper.doi, paper.arxiv_id, paper.pmid)
