"""Every source by the name that people type."""

from __future__ import annotations

from index_build.fetch import citations, identifiers, zotero
from index_build.fetch.addresses import place_of
from index_build.fetch.asking import Source
from index_build.fetch.readers import READERS
from index_build.fetch.values import Wish
from search.errors import InputError
from search.settings import Settings

SOURCES: dict[str, Source] = {
    **READERS,
    "doi": identifiers,
    "references": citations,
    "citations": citations,
}


def source_of(wish: Wish) -> Source:
    """The module of a wish, which is checked."""
    if wish.source not in SOURCES:
        raise InputError(f'There is no source "{wish.source}": use one of {", ".join(SOURCES)}.')
    source = SOURCES[wish.source]
    source.check(wish)
    return source


def hosts_of(wish: Wish, settings: Settings) -> list[str]:
    """The names of the servers that may be asked."""
    places = source_of(wish).PLACES
    if wish.source == "arxiv":
        places = ("arxiv-feed", "arxiv") if wish.feed else ("arxiv-oai",) if wish.category else ("arxiv",)
    elif wish.source == "zotero":
        places = (zotero.place_name(wish),)
    elif wish.source == "doi" and wish.through:
        places = (wish.through,)
    elif wish.source in ("references", "citations"):
        places = (wish.through or "openalex",)
    return list(dict.fromkeys(place_of(name, settings).host for name in places))


def what_is_sent(wish: Wish, settings: Settings) -> str:
    """One sentence for whoever decides whether it may be sent."""
    where = ", ".join(hosts_of(wish, settings))
    contact = f", with your contact {settings.contact}" if settings.contact else ""
    return f"Sent to {where}: {source_of(wish).told(wish)}{contact}. Nothing else of yours is sent."
