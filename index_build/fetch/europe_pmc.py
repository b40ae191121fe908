"""Europe PMC, which also holds preprints: pages by cursor, until the cursor is repeated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from index_build.fetch.asking import Asking, calls_for, require, with_days
from index_build.fetch.ledger import Watch, complete
from index_build.fetch.reading import list_of, parse_object, total_of
from index_build.fetch.values import Answer, Call, Count, Heard, Page, Refused, Unreadable, Wish
from index_build.sources import read_bytes
from index_build.sources.rejects import Reject
from search.types import Paper

PLACES = ("europepmc",)
_PASSING = (429, 500, 502, 503, 504)


def check(wish: Wish) -> None:
    require(wish, "text", "fetch europepmc 'malaria AND OPEN_ACCESS:y'")


def told(wish: Wish) -> str:
    return with_days(f"Europe PMC, {wish.text}", wish)


def count(asking: Asking) -> Count:
    total = ask(asking, _query(asking), "*", 1).found.total
    return Count(total, calls_for(total, asking.place().page))


def pages(asking: Asking) -> Iterator[Page]:
    query = _query(asking)
    yield from complete(
        "Europe PMC", lambda number, watch: _pass(asking, query, number, watch), asking.ledger
    )


def _pass(asking: Asking, query: str, number: int, watch: Watch) -> Iterator[Page]:
    cursor = "*"
    while True:
        heard = ask(asking, query, cursor, asking.place().page, number, watch)
        found = heard.found
        asking.ledger.announce("Europe PMC", found.total)
        if found.ids:
            yield Page(heard.key, found.ids)
        if not found.cursor or found.cursor == cursor:
            return
        cursor = found.cursor


def _query(asking: Asking) -> str:
    wish, query = asking.wish, asking.wish.text
    if asking.since:
        days = f"[{asking.first_day} TO 3000-12-31]"
        query = f"({query}) AND (UPDATE_DATE:{days} OR CREATION_DATE:{days})"
    if wish.since or wish.until:
        query = f"({query}) AND FIRST_PDATE:[{wish.since or '1700-01-01'} TO {wish.until or '3000-12-31'}]"
    return query


@dataclass(frozen=True, slots=True)
class _Found:
    total: int
    ids: tuple[str, ...]
    cursor: str


def ask(
    asking: Asking, query: str, cursor: str, size: int, round: int = 0, watch: Watch | None = None
) -> Heard[_Found]:
    params = {
        "query": query, "resultType": "core", "format": "json", "pageSize": str(size), "cursorMark": cursor,
    }  # fmt: skip

    def understand(answer: Answer) -> _Found:
        found = _read(answer)
        if watch:
            watch.look(found.ids, cursor == "*" and found.total > 0)
        return found

    call = Call("europepmc", "/search", tuple(params.items()), expires=cursor != "*", round=round)
    return asking.ask(call, understand)


def _read(answer: Answer) -> _Found:
    value = parse_object(answer)
    if "errCode" in value or "errMsg" in value:  # with status 200
        why = f"{value.get('errMsg', 'no reason given')}"[:200]
        if value.get("errCode") in _PASSING:
            raise Unreadable(f"it says {why}")
        raise Refused(f"Europe PMC refuses this query ({why}): correct it.")
    listed = value.get("resultList")
    records = list_of(listed if isinstance(listed, dict) else {}, "result")
    ids = (f"{record.get('source')}:{record.get('id')}" for record in records if isinstance(record, dict))
    return _Found(
        total_of(value, "hitCount", len(records)), tuple(ids), str(value.get("nextCursorMark") or "")
    )


def read(body: bytes, name: str) -> Iterator[Paper | Reject]:
    return read_bytes(body, name)
