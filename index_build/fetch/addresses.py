"""One table of addresses, limits and rights, easy to change; the setting `sources` overrides its lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import urlsplit

from search.errors import SettingsError
from search.settings import Settings


@dataclass(frozen=True, slots=True)
class Place:
    """Where a source answers and what it allows."""

    title: str
    """As people know it, and as the origin of an abstract is named."""
    address: str
    pause: float
    """Seconds between two requests; there is never more than one at a time."""
    page: int = 0
    """Records asked for at a time."""
    most: int = 0
    """Records that one query gives out at most; more are asked for in parts. 0 where there is no limit."""
    pause_with_key: float = 0.0
    """The shorter pause that a key allows; 0 where it makes no difference."""
    backoff: float = 2.0
    """Seconds before a failed request is repeated, doubled each time."""
    rights: str = ""
    """Under what the source says that abstracts may be used, where a record does not say it itself."""
    cost: float = 0.0
    """US dollars for a call that lists."""
    search_cost: float = 0.0
    """And for one that searches."""

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc


TABLE: Mapping[str, Place] = {
    "arxiv": Place(
        "arXiv", "https://export.arxiv.org/api/query", 3.0, 2000, 30_000, rights="CC0 1.0 (arXiv metadata)"
    ),
    "arxiv-oai": Place(
        "arXiv", "https://oaipmh.arxiv.org/oai", 3.0, backoff=5.0, rights="CC0 1.0 (arXiv metadata)"
    ),
    "arxiv-feed": Place("arXiv", "https://rss.arxiv.org/rss", 3.0, 100, rights="CC0 1.0 (arXiv metadata)"),
    "openalex": Place(
        "OpenAlex", "https://api.openalex.org", 0.2, 100, cost=0.0001, search_cost=0.001,
        rights="CC0 1.0 (OpenAlex data); the publisher's copyright may apply to the text",
    ),
    "pubmed": Place(
        "PubMed", "https://eutils.ncbi.nlm.nih.gov/entrez/eutils", 0.34, 200, 9_999, 0.1,
        rights="NLM terms; the publisher's copyright may apply to the text",
    ),
    "europepmc": Place(
        "Europe PMC", "https://www.ebi.ac.uk/europepmc/webservices/rest", 0.2, 1000,
        rights="Europe PMC terms; the publisher's copyright may apply to the text",
    ),
    "semanticscholar": Place(
        "Semantic Scholar", "https://api.semanticscholar.org/graph/v1", 1.1, 500, backoff=5.0,
        rights="Semantic Scholar licence; the publisher's copyright may apply to the text",
    ),
    "crossref": Place(
        "Crossref", "https://api.crossref.org", 0.2, 500,
        rights="as the publisher deposited it with Crossref",
    ),
    "biorxiv": Place("bioRxiv", "https://api.biorxiv.org", 0.5, 30, rights="the licence its authors chose"),
    "openreview": Place("OpenReview", "https://api2.openreview.net", 1.0, 1000, rights="OpenReview terms"),
    "openreview-v1": Place("OpenReview", "https://api.openreview.net", 1.0, 1000, rights="OpenReview terms"),
    "zotero": Place("Zotero", "http://127.0.0.1:23119/api", 0.0, 100, rights="as kept in Zotero"),
    "zotero-web": Place("Zotero", "https://api.zotero.org", 0.2, 100, rights="as kept in Zotero"),
}  # fmt: skip
"""Every source, as its documentation told in November 2026."""
_NUMBERS = {"pause": float, "page": int, "most": int}
_QUICK = 4
"""How many of its pauses a source of one's own is left alone after a failure, where its pause is shorter."""


@lru_cache(maxsize=8)
def _overridden(lines: tuple[str, ...]) -> Mapping[str, Place]:
    """The table with what the setting `sources` says: "crossref=http://localhost:81;pause=0.1;page=20"."""
    table = dict(TABLE)
    for line in lines:
        name, _, rest = line.partition("=")
        address, *options = rest.split(";")
        if name not in TABLE or not urlsplit(address).netloc or not address.startswith(("http:", "https:")):
            raise SettingsError(
                f'The setting "sources" has {line!r}; write the name of a source and its address, such as '
                f'"crossref=https://crossref.example.org". The sources are {", ".join(TABLE)}.'
            )
        given = _options(line, options)
        table[name] = replace(
            table[name],
            address=address.rstrip("/"),
            pause=float(given.get("pause", table[name].pause)),
            page=int(given.get("page", table[name].page)),
            most=int(given.get("most", table[name].most)),
        )
        if table[name].pause < TABLE[name].pause:
            table[name] = replace(
                table[name], backoff=_QUICK * table[name].pause, pause_with_key=table[name].pause
            )
    return table


def _options(line: str, options: list[str]) -> dict[str, float | int]:
    found: dict[str, float | int] = {}
    for option in options:
        name, _, value = option.partition("=")
        try:
            found[name] = _NUMBERS[name](value)
        except (KeyError, ValueError):
            raise SettingsError(
                f'The setting "sources" has {line!r}; behind the address may stand ;pause=SECONDS, ;page=N '
                "and ;most=N."
            ) from None
        if found[name] < 0:
            raise SettingsError(f'The setting "sources" has {line!r}; its numbers must not be negative.')
    return found


def place_of(name: str, settings: Settings) -> Place:
    """Where a source answers now."""
    return _overridden(settings.sources)[name]


def key_of(name: str, settings: Settings) -> str:
    """The key that the settings have for a source; empty where they have none."""
    return {
        "openalex": settings.openalex_key,
        "pubmed": settings.ncbi_key,
        "semanticscholar": settings.semantic_scholar_key,
        "zotero-web": settings.zotero_key,
    }.get(name, "")


def secrets_of(name: str, settings: Settings) -> tuple[dict[str, str], dict[str, str]]:
    """Parameters and headers that identify us to a source; they are sent and never written down."""
    key, contact = key_of(name, settings), settings.contact
    params = {
        "openalex": {"api_key": key},
        "pubmed": {"api_key": key, "tool": "triptych", "email": contact},
        "crossref": {"mailto": contact},
    }.get(name, {})
    headers = {
        "semanticscholar": {"x-api-key": key},
        "zotero-web": {"Zotero-API-Key": key},
    }.get(name, {})
    return {n: v for n, v in params.items() if v}, {n: v for n, v in headers.items() if v}
