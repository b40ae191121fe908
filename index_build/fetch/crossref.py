"""Crossref: pages by a cursor that expires after five minutes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from index_build.fetch.asking import Asking, calls_for, require, with_days
from index_build.fetch.ledger import Watch, complete
from index_build.fetch.marking import RETRACTED, marked
from index_build.fetch.reading import list_of, parse_json, parse_object, total_of
from index_build.fetch.values import Answer, Call, Count, Heard, Page, Unreadable, Wish
from index_build.sources import read_bytes
from index_build.sources.records import doi_of
from index_build.sources.rejects import Reject
from search.types import Paper

PLACES = ("crossref",)
DOIS_AT_ONCE = 20


def check(wish: Wish) -> None:
    require(wish, "text filter", "fetch crossref 'coral bleaching' --filter 'type:journal-article'")


def told(wish: Wish) -> str:
    return with_days(f"Crossref, {', '.join(filter(None, (wish.text, wish.filter)))}", wish)


def count(asking: Asking) -> Count:
    total = _ask(asking, _params(asking) | {"rows": "0"}).found.total
    note = "Only works that came with an abstract are asked for." if _only_abstracts(asking.wish) else ""
    return Count(total, calls_for(total, asking.place().page), note=note)


def pages(asking: Asking) -> Iterator[Page]:
    params = _params(asking)
    yield from complete("Crossref", lambda number, watch: _pass(asking, params, number, watch), asking.ledger)


def _pass(asking: Asking, params: dict[str, str], number: int, watch: Watch) -> Iterator[Page]:
    cursor = "*"
    while True:
        paging = {"rows": str(asking.place().page), "cursor": cursor}
        heard = _ask(asking, params | paging, number, watch)
        asking.ledger.announce("Crossref", heard.found.total)
        if not heard.found.ids:
            return
        yield Page(heard.key, heard.found.ids)
        if not heard.found.cursor:
            return
        cursor = heard.found.cursor


def _only_abstracts(wish: Wish) -> bool:
    return "has-abstract" not in wish.filter


def _params(asking: Asking) -> dict[str, str]:
    wish = asking.wish
    filters = [
        "has-abstract:true" if _only_abstracts(wish) else "",
        wish.filter,
        wish.since and f"from-pub-date:{wish.since}",
        wish.until and f"until-pub-date:{wish.until}",
        f"from-index-date:{asking.first_day}" if asking.since else "",
    ]
    params = {"query": wish.text, "filter": ",".join(filter(None, filters))}
    return {name: value for name, value in params.items() if value}


def by_dois(asking: Asking, dois: Sequence[str]) -> Iterator[Page]:
    """The works with these DOIs, as far as they are Crossref's."""
    for start in range(0, len(dois), DOIS_AT_ONCE):
        some = [doi for doi in dois[start : start + DOIS_AT_ONCE] if "," not in doi]
        if not some:
            continue
        params = {"filter": ",".join(f"doi:{doi}" for doi in some), "rows": str(2 * DOIS_AT_ONCE)}
        if (heard := _ask(asking, params)).found.ids:
            yield Page(heard.key, heard.found.ids)


@dataclass(frozen=True, slots=True)
class _Found:
    total: int
    ids: tuple[str, ...]
    cursor: str


def _ask(asking: Asking, params: dict[str, str], round: int = 0, watch: Watch | None = None) -> Heard[_Found]:
    cursor = params.get("cursor", "")

    def understand(answer: Answer) -> _Found:
        message = parse_object(answer).get("message")
        if not isinstance(message, dict):
            raise Unreadable("its answer has no message")
        ids = tuple(doi_of(work.get("DOI")) for work in list_of(message, "items") if isinstance(work, dict))
        found = _Found(
            total_of(message, "total-results", len(ids)), ids, str(message.get("next-cursor") or "")
        )
        if watch:
            watch.look(ids, cursor == "*" and found.total > 0)
        return found

    call = Call("crossref", "/works", tuple(params.items()), expires=cursor not in ("", "*"), round=round)
    return asking.ask(call, understand)


def read(body: bytes, name: str) -> Iterator[Paper | Reject]:
    return marked(read_bytes(body, name), _retracted(body), RETRACTED)


def _retracted(body: bytes) -> set[str]:
    """Works that a notice of retraction, withdrawal or removal has updated."""
    if b'"updated-by"' not in body:
        return set()
    message = parse_json(Answer(200, {}, body)).get("message", {})
    return {f"doi:{doi_of(work.get('DOI'))}" for work in message.get("items", ()) if _is_retracted(work)}


def _is_retracted(work: Any) -> bool:
    updates = work.get("updated-by") if isinstance(work, dict) else None
    return any(
        isinstance(each, dict) and each.get("type") in ("retraction", "withdrawal", "removal")
        for each in updates or ()
    )
