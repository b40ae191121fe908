"""Citation chasing: what a paper cites and what cites it, through OpenAlex or Semantic Scholar."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from index_build.fetch import openalex, semantic_scholar
from index_build.fetch.asking import Asking
from index_build.fetch.identifiers import identifier_of
from index_build.fetch.values import Count, Page, Wish
from search.errors import InputError

PLACES = ("openalex", "semanticscholar")
WAYS = ("openalex", "semanticscholar")


def check(wish: Wish) -> None:
    if wish.through not in ("", *WAYS):
        raise InputError(f'Citations are not known to "{wish.through}": use openalex or semanticscholar.')
    if identifier_of(wish.text) is None and not _is_work(wish.text):
        raise InputError(
            f"{wish.text[:100]!r} names no paper: give its DOI, arXiv id or PMID, such as 10.1000/xyz."
        )


def _is_work(text: str) -> bool:
    own = text.rsplit(":", 1)[-1].rsplit("/", 1)[-1]
    return own[:1] in "Ww" and own[1:].isdigit()


def told(wish: Wish) -> str:
    """As the origin of a paper, too."""
    return f"cited by {wish.text}" if wish.source == "references" else f"cites {wish.text}"


def _openalex(asking: Asking) -> Asking:
    """The same as a wish to OpenAlex; a list of citations is short, so all of it is asked for again."""
    text = asking.wish.text
    cited = asking.wish.source == "references"
    wish = Wish("openalex", cited_by=text) if cited else Wish("openalex", cites=text)
    return replace(asking, wish=wish, since=None)


def _goes_through(wish: Wish) -> str:
    return wish.through or "openalex"


def count(asking: Asking) -> Count:
    if _goes_through(asking.wish) == "openalex":
        return openalex.count(_openalex(asking))
    return Count(None, 1, note="Semantic Scholar does not tell beforehand how many there are.")


def pages(asking: Asking) -> Iterator[Page]:
    if _goes_through(asking.wish) == "openalex":
        inner = _openalex(asking)
        for page in openalex.pages(inner):
            yield replace(page, source="openalex")
        return
    found = identifier_of(asking.wish.text)
    name = f"{found.kind.upper()}:{found.value}" if found else asking.wish.text
    for page in semantic_scholar.around(asking, name, asking.wish.source):
        yield replace(page, source="semanticscholar")
