"""bioRxiv and medRxiv by day: thirty versions at a time, a month at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from index_build.fetch.asking import Asking, calls_for, day_of, require, with_days
from index_build.fetch.ledger import Watch, complete
from index_build.fetch.marking import WITHDRAWN, marked
from index_build.fetch.reading import at_least, list_of, number_of, parse_json, parse_object
from index_build.fetch.values import Answer, Call, Count, Heard, Page, Refused, Unreadable, Wish
from index_build.sources import read_bytes
from index_build.sources.records import doi_of
from index_build.sources.rejects import Reject
from search.errors import InputError
from search.types import Paper

PLACES = ("biorxiv",)
SERVERS = {"biorxiv": "bioRxiv", "medrxiv": "medRxiv"}
FIRST_DAY = date(2013, 11, 1)
MONTH = 31


def check(wish: Wish) -> None:
    require(
        wish,
        "server category since until",
        "fetch biorxiv --server medrxiv --from 2026-01-01 --to 2026-01-31",
    )
    if wish.server not in ("", *SERVERS):
        raise InputError(f'There is no server "{wish.server}": use biorxiv or medrxiv.')
    if not wish.since:
        raise InputError("Say from which day on with --from: bioRxiv has hundreds of thousands of preprints.")


def told(wish: Wish) -> str:
    name = SERVERS[wish.server or "biorxiv"]
    return with_days(f"{name}, {wish.category}" if wish.category else name, wish)


def count(asking: Asking) -> Count:
    first, last = _days(asking)
    heard = _ask(asking, first, last, 0)
    note = "Versions of one preprint are counted each." if heard.found.total else ""
    return Count(heard.found.total, calls_for(heard.found.total, asking.place().page), note=note)


def _days(asking: Asking) -> tuple[date, date]:
    last = day_of(asking.wish.until or asking.today)
    return min(max(day_of(asking.first_day), FIRST_DAY), last), last


def pages(asking: Asking) -> Iterator[Page]:
    first, last = _days(asking)
    while first <= last:
        end = min(first + timedelta(days=MONTH - 1), last)
        yield from _month(asking, first, end)
        first = end + timedelta(days=1)


def _month(asking: Asking, first: date, last: date) -> Iterator[Page]:
    part = f"{SERVERS[asking.wish.server or 'biorxiv']} {first} to {last}"
    yield from complete(
        part, lambda number, watch: _pass(asking, first, last, part, number, watch), asking.ledger
    )


def _pass(asking: Asking, first: date, last: date, part: str, number: int, watch: Watch) -> Iterator[Page]:
    start = 0
    while True:
        heard = _ask(asking, first, last, start, number, watch)
        asking.ledger.announce(part, heard.found.total)
        if not heard.found.ids:
            return
        yield Page(heard.key, heard.found.ids)
        start += len(heard.found.ids)  # never more than came: a larger step would skip
        if start >= heard.found.total and len(heard.found.ids) < asking.place().page:
            return


@dataclass(frozen=True, slots=True)
class _Found:
    total: int
    ids: tuple[str, ...]


def _ask(
    asking: Asking, first: date, last: date, start: int, round: int = 0, watch: Watch | None = None
) -> Heard[_Found]:
    wish = asking.wish
    path = f"/details/{wish.server or 'biorxiv'}/{first}/{last}/{start}"
    params = (("category", wish.category.lower().replace(" ", "_")),) if wish.category else ()

    def understand(answer: Answer) -> _Found:
        found = _read(answer)
        at_least(found.total, start + len(found.ids) if found.ids else 0)
        if watch:
            watch.look(found.ids, start < found.total)
        return found

    return asking.ask(Call("biorxiv", path, params, round=round), understand)


def by_doi(asking: Asking, doi: str) -> Iterator[Page]:
    """All versions of one preprint, on whichever of the two servers it is."""
    for server in SERVERS:
        heard = asking.ask(Call("biorxiv", f"/details/{server}/{doi}/na"), _read)
        if heard.found.ids:
            yield Page(heard.key, heard.found.ids)
            return


def _read(answer: Answer) -> _Found:
    value = parse_object(answer)
    messages = [each for each in list_of(value, "messages") if isinstance(each, dict)]
    status = str(messages[0].get("status", "")) if messages else ""
    if status.lower().startswith("no posts") or "not available" in status.lower():
        return _Found(0, ())
    if status.lower() != "ok":
        if "error" in status.lower():
            raise Refused(f"bioRxiv refuses this ({status[:200]}): correct it.")
        raise Unreadable("its answer has no status")
    records = [each for each in list_of(value, "collection") if isinstance(each, dict)]
    ids = tuple(f"{doi_of(each.get('doi'))}v{each.get('version', '')}" for each in records)
    return _Found(number_of(messages[0].get("total")) or len(ids), ids)


def read(body: bytes, name: str) -> Iterator[Paper | Reject]:
    return marked(read_bytes(body, name), _withdrawn(body), WITHDRAWN)


def _withdrawn(body: bytes) -> set[str]:
    if b"ithdrawn" not in body and b"WITHDRAWN" not in body:
        return set()
    records = parse_json(Answer(200, {}, body)).get("collection", ())
    return {
        f"doi:{doi_of(each.get('doi'))}" for each in records if isinstance(each, dict) and _is_withdrawn(each)
    }


def _is_withdrawn(record: Mapping[str, object]) -> bool:
    title = str(record.get("title", "")).upper()
    return "withdrawn" in str(record.get("type", "")).lower() or title.startswith("WITHDRAWN")
