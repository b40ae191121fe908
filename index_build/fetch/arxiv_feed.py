"""What arXiv announced today in some categories: the feed names the papers, the query API describes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from index_build.fetch import arxiv
from index_build.fetch.asking import Asking, calls_for
from index_build.fetch.ledger import Watch, complete
from index_build.fetch.reading import parse_xml
from index_build.fetch.values import Answer, Call, Count, Heard, Page, Unreadable
from index_build.sources.records import arxiv_of

ETAG = "etag"


def count(asking: Asking) -> Count:
    found = _ask(asking).found
    calls = 1 + calls_for(len(found.ids), asking.place("arxiv-feed").page)
    return Count(len(found.ids), calls, note="" if found.ids else "arXiv announces nothing on this day.")


def pages(asking: Asking) -> Iterator[Page]:
    found = _ask(asking).found
    asking.state[ETAG] = found.etag
    part = f"arXiv {asking.wish.category} announced"
    if found.ids:
        yield from complete(part, lambda number, _: _pass(asking, found.ids, part, number), asking.ledger)


def _pass(asking: Asking, ids: tuple[str, ...], part: str, number: int) -> Iterator[Page]:
    asking.ledger.announce(part, len(ids))
    size = asking.place("arxiv-feed").page
    for start in range(0, len(ids), size):
        heard = arxiv.by_ids(asking, ids[start : start + size], number)
        if heard.found.ids:
            yield Page(heard.key, heard.found.ids)


@dataclass(frozen=True, slots=True)
class _Found:
    ids: tuple[str, ...]
    etag: str


def _ask(asking: Asking) -> Heard[_Found]:
    before = asking.since.state.get(ETAG, "") if asking.since else ""
    headers = (("If-None-Match", before),) if before else ()
    call = Call("arxiv-feed", f"/{asking.wish.category}", headers=headers, good=(200, 304))
    watch = Watch()

    def understand(answer: Answer) -> _Found:
        found = _read(answer, before)
        if answer.status == 200:
            watch.look(found.ids)
        return found

    return asking.ask(call, understand)


def _read(answer: Answer, before: str) -> _Found:
    if answer.status == 304:
        return _Found((), before)
    channel = parse_xml(answer).find("{*}channel")
    if channel is None:
        raise Unreadable("its answer is no feed")
    links = [(item.findtext("{*}link") or "").strip() for item in channel.iterfind("{*}item")]
    ids = dict.fromkeys(filter(None, (arxiv_of(link.partition("/abs/")[2]) for link in links)))
    return _Found(tuple(ids), answer.headers.get("etag", ""))
