"""A list of DOIs, arXiv ids and PMIDs in any spelling, resolved through the sources in turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from index_build.fetch import arxiv, biorxiv, crossref, europe_pmc, openalex, pubmed, semantic_scholar
from index_build.fetch.asking import Asking, calls_for
from index_build.fetch.readers import READERS
from index_build.fetch.values import Count, Page, Wish
from index_build.sources.records import arxiv_of, doi_of, pmid_of
from search.errors import InputError, SourceError
from search.types import Paper

PLACES = ("arxiv", "pubmed", "biorxiv", "openalex", "semanticscholar", "crossref", "europepmc")
MOST = 100_000
"""Identifiers in one list; more is another kind of file."""
AT_ONCE = 50
"""Identifiers in one query, so that its address does not get too long."""
PART = "list"
NOT_KNOWN, NO_ABSTRACT = "no source knows it", "no source has its abstract"
_SEPARATORS = re.compile(r"[\s,;|\"'<>]+")
_NAMED = re.compile(r"\b(pmid|doi|arxiv):?[ \t]{1,9}(?=\w)", re.IGNORECASE)
_BARE_PMID = re.compile(r"(?:pmid:?)?(\d{1,9})", re.IGNORECASE)
_PUBMED = re.compile(r"pubmed(?:\.ncbi\.nlm\.nih\.gov)?/(\d{1,9})")
_ARXIV_DOI = "10.48550/arxiv."
_PREPRINT = re.compile(r"10\.(?:1101|64898)/(?:\d{4}\.\d\d\.\d\d\.)?\d{6,9}")
"""DOIs of bioRxiv and medRxiv."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """One of the three kinds, as the store has it."""

    kind: str
    """"doi", "arxiv" or "pmid"."""
    value: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"


def identifier_of(text: str) -> Identifier | None:
    """What a word or an address names."""
    text = text.strip()[:2000]
    if doi := doi_of(text):
        if doi.startswith(_ARXIV_DOI):
            return Identifier("arxiv", arxiv_of(doi.removeprefix(_ARXIV_DOI)) or doi)
        return Identifier("doi", doi)
    if arxiv_id := arxiv_of(text):
        return Identifier("arxiv", arxiv_id)
    found = _PUBMED.search(text) or _BARE_PMID.fullmatch(text)
    return Identifier("pmid", pmid_of(found[1])) if found and pmid_of(found[1]) else None


def split_list(text: str) -> list[str]:
    """The words of a list that may be identifiers, each once, in their order."""
    words = (word.strip(".()[]{}") for word in _SEPARATORS.split(_NAMED.sub(r"\1:", text)))
    return list(dict.fromkeys(filter(None, words)))


def check(wish: Wish) -> None:
    if not wish.ids:
        raise InputError("The list is empty: write DOIs, arXiv ids or PMIDs into it, as you have them.")
    if len(wish.ids) > MOST:
        raise InputError(f"The list has {len(wish.ids):,} entries and may have {MOST:,}: split it.")
    if not any(map(identifier_of, wish.ids)):
        raise InputError(
            f"Nothing in the list is a DOI, an arXiv id or a PMID; it begins {wish.ids[0][:60]!r}."
        )


def told(wish: Wish) -> str:
    through = f" from {wish.through}" if wish.through else ""
    return f"list of {len(wish.ids):,} identifiers{through}, begins {wish.ids[0][:40]}"


def count(asking: Asking) -> Count:
    """Without asking anybody: how many there are of each kind."""
    words = [identifier_of(word) for word in asking.wish.ids]
    known = set(filter(None, words))
    dois, others = (sum((each.kind == "doi") is is_doi for each in known) for is_doi in (True, False))
    calls = calls_for(dois, openalex.DOIS_AT_ONCE) if dois else 0
    cost = calls * asking.place("openalex").cost if asking.has_key("openalex") else 0.0
    odd = words.count(None)
    note = f"{dois:,} DOIs, {others:,} arXiv ids and PMIDs" + (
        f"; {odd:,} words are neither." if odd else "."
    )
    return Count(len(known), calls + (calls_for(others, 100) if others else 0), cost, note)


def pages(asking: Asking) -> Iterator[Page]:
    """Each identifier goes from source to source until one has title and abstract."""
    wanted = {word: found for word in asking.wish.ids if (found := identifier_of(word))}
    state = dict.fromkeys(wanted.values(), NOT_KNOWN)
    asking.ledger.announce(PART, len(state))
    for name, step in STEPS.items():
        if asking.wish.through in ("", name) and (left := [each for each, why in state.items() if why]):
            try:
                for page in step(asking, left):
                    _tick(asking, page, name, state)
                    yield replace(page, source=name)
            except SourceError as error:  # the others may know it
                asking.ledger.notes.append(str(error))
    odd = {word: "no DOI, arXiv id or PMID" for word in asking.wish.ids if word not in wanted}
    asking.missing |= odd | {word: state[each] for word, each in wanted.items() if state[each]}
    asking.ledger.take(PART, [str(each) for each, why in state.items() if why])  # named, so no gap


def _tick(asking: Asking, page: Page, name: str, state: dict[Identifier, str]) -> None:
    """Notes which of the identifiers a page answers."""
    for paper in READERS[name].read(asking.body(page.key), name):
        if isinstance(paper, Paper):
            known = (("doi", paper.doi), ("arxiv", paper.arxiv_id), ("pmid", paper.pmid))
            for each in (Identifier(kind, value) for kind, value in known if value):
                if state.get(each):
                    state[each] = "" if paper.abstract else NO_ABSTRACT
                    asking.ledger.take(PART, [str(each)])


def _values(left: Sequence[Identifier], kind: str) -> list[str]:
    return [each.value for each in left if each.kind == kind]


def _arxiv(asking: Asking, left: Sequence[Identifier]) -> Iterator[Page]:
    ids = _values(left, "arxiv")
    for start in range(0, len(ids), AT_ONCE):
        heard = arxiv.by_ids(asking, ids[start : start + AT_ONCE])
        if heard.found.ids:
            yield Page(heard.key, heard.found.ids)


def _pubmed(asking: Asking, left: Sequence[Identifier]) -> Iterator[Page]:
    yield from pubmed.by_ids(asking, _values(left, "pmid"))


def _biorxiv(asking: Asking, left: Sequence[Identifier]) -> Iterator[Page]:
    for doi in _values(left, "doi"):
        if _PREPRINT.fullmatch(doi):
            yield from biorxiv.by_doi(asking, doi)


def _openalex(asking: Asking, left: Sequence[Identifier]) -> Iterator[Page]:
    yield from openalex.by_dois(asking, _values(left, "doi"))


def _semantic_scholar(asking: Asking, left: Sequence[Identifier]) -> Iterator[Page]:
    yield from semantic_scholar.by_ids(asking, [f"{each.kind.upper()}:{each.value}" for each in left])


def _crossref(asking: Asking, left: Sequence[Identifier]) -> Iterator[Page]:
    yield from crossref.by_dois(asking, _values(left, "doi"))


def _europe_pmc(asking: Asking, left: Sequence[Identifier]) -> Iterator[Page]:
    named = [f'DOI:"{doi}"' for doi in _values(left, "doi") if '"' not in doi]
    named += [f"(EXT_ID:{pmid} AND SRC:MED)" for pmid in _values(left, "pmid")]
    for start in range(0, len(named), AT_ONCE):
        heard = europe_pmc.ask(asking, " OR ".join(named[start : start + AT_ONCE]), "*", 10 * AT_ONCE)
        if heard.found.ids:
            yield Page(heard.key, heard.found.ids)


STEPS: dict[str, Callable[[Asking, Sequence[Identifier]], Iterator[Page]]] = {
    "arxiv": _arxiv,
    "pubmed": _pubmed,
    "biorxiv": _biorxiv,
    "openalex": _openalex,
    "semanticscholar": _semantic_scholar,
    "crossref": _crossref,
    "europepmc": _europe_pmc,
}
"""The sources in turn: first those that have an identifier themselves, then those that know most."""
