"""arXiv by query: the query API, in parts by date where there are too many papers for one query.

A category is asked for by `arxiv_oai`, what was announced today by `arxiv_feed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from index_build.fetch import arxiv_feed, arxiv_oai
from index_build.fetch.asking import Asking, calls_for, day_before, day_of, halves, require, with_days
from index_build.fetch.ledger import Watch, complete
from index_build.fetch.marking import WITHDRAWN, marked
from index_build.fetch.reading import at_least, number_of, parse_xml
from index_build.fetch.values import Answer, Call, Count, Heard, Page, Refused, Unreadable, Wish
from index_build.sources import read_bytes
from index_build.sources.records import arxiv_of
from index_build.sources.rejects import Reject
from search.errors import InputError
from search.types import Paper

PLACES = ("arxiv", "arxiv-oai", "arxiv-feed")
FIELDS = frozenset("ti au abs co jr cat rn id all submittedDate".split())
"""Prefixes that arXiv knows; an unknown one would silently search everywhere."""
FIRST_DAY = date(1991, 8, 1)
"""Before arXiv's first paper."""
_QUOTED = re.compile(r'"[^"]*"')
_PREFIX = re.compile(r"([A-Za-z_]{1,40}):")
_EXAMPLE = "fetch arxiv 'cat:cs.CL AND abs:\"question answering\"'"


def check(wish: Wish) -> None:
    require(wish, "text category feed", f"{_EXAMPLE} or fetch arxiv --category cs.CL")
    if wish.category:
        arxiv_oai.check(wish)
        return
    if wish.feed:
        raise InputError("The feed is by category: name one with --category cs.CL.")
    strange = sorted(set(_PREFIX.findall(_QUOTED.sub(" ", wish.text))) - FIELDS)
    if strange:
        raise InputError(
            f'arXiv has no field "{strange[0]}" and would search everywhere instead: use one of '
            f"{', '.join(sorted(FIELDS))}, or put words with a colon in quotes."
        )


def told(wish: Wish) -> str:
    if wish.feed:
        return f"arXiv, announced in {wish.category}"
    return with_days(f"arXiv, {wish.category or wish.text}", wish)


def count(asking: Asking) -> Count:
    if asking.wish.category:
        return (arxiv_feed if asking.wish.feed else arxiv_oai).count(asking)
    total = _ask(asking, _query(asking.wish), 0, 1).found.total
    return Count(total, calls_for(total, asking.place("arxiv").page))


def pages(asking: Asking) -> Iterator[Page]:
    if asking.wish.category:
        yield from (arxiv_feed if asking.wish.feed else arxiv_oai).pages(asking)
    elif asking.since:
        yield from _news(asking)
    else:
        last = day_of(asking.wish.until or asking.today)
        yield from _between(asking, day_of(asking.wish.since) if asking.wish.since else FIRST_DAY, last)


def read(body: bytes, name: str) -> Iterator[Paper | Reject]:
    """The papers of a page of the query API or of OAI-PMH, which the reader tells apart."""
    return marked(read_bytes(body, name), _withdrawn(body), WITHDRAWN)


def _withdrawn(body: bytes) -> set[str]:
    """The papers whose authors' comment says that they were withdrawn."""
    if b"withdrawn" not in body:
        return set()
    root, found = parse_xml(Answer(200, {}, body)), set()
    for comment in (*root.iterfind(".//{*}comment"), *root.iterfind(".//{*}comments")):
        if "withdrawn" in (comment.text or "").lower():
            id = comment.getparent().findtext("{*}id") or ""
            found.add(f"arxiv:{arxiv_of(id.partition('/abs/')[2] or id)}")
    return found


def _query(wish: Wish, first: date | None = None, last: date | None = None) -> str:
    first = first or (day_of(wish.since) if wish.since else None)
    last = last or (day_of(wish.until) if wish.until else None)
    if first is None and last is None:
        return wish.text
    between = f"[{first or FIRST_DAY:%Y%m%d}0000 TO {last or date(2200, 1, 1):%Y%m%d}2359]"
    return f"({wish.text}) AND submittedDate:{between}"


def _between(asking: Asking, first: date, last: date) -> Iterator[Page]:
    """All papers of these days, in as many parts as arXiv's limit for one query asks for."""
    query = _query(asking.wish, first, last)
    total, most = _ask(asking, query, 0, 1).found.total, asking.place("arxiv").most
    part = f"arXiv {first} to {last}"
    try:
        if total > most:
            raise _TooMany
        if total:
            yield from complete(
                part, lambda number, watch: _pass(asking, query, part, number, watch), asking.ledger
            )
    except _TooMany:
        if first == last:
            asking.ledger.gap(f"{part}: {total:,} papers on one day are more than arXiv gives for one query")
            return
        asking.ledger.drop(part)
        before = asking.ledger.announced or 0
        for half in halves(first, last):
            yield from _between(asking, *half)
        asking.ledger.compare(part, total, (asking.ledger.announced or 0) - before)


class _TooMany(Exception):
    """More papers than one query gives out."""


def _pass(asking: Asking, query: str, part: str, number: int, watch: Watch) -> Iterator[Page]:
    start, size = 0, asking.place("arxiv").page
    while True:
        heard = _ask(asking, query, start, size, watch=watch, round=number)
        if heard.found.total > asking.place("arxiv").most:
            raise _TooMany
        asking.ledger.announce(part, heard.found.total)
        if heard.found.ids:
            yield Page(heard.key, heard.found.ids)
        start += size
        if len(heard.found.ids) < size and start >= heard.found.total:
            return


def _news(asking: Asking) -> Iterator[Page]:
    """What was submitted or changed since, the latest first, until it is older."""
    assert asking.since
    until, query = day_before(asking.since.day, 1), _query(asking.wish)
    start, page, watch = 0, asking.place("arxiv").page, Watch()
    while start < asking.place("arxiv").most:
        heard = _ask(asking, query, start, page, "lastUpdatedDate", watch)
        found = heard.found
        recent = sum(day >= until for day in found.updated)
        if recent:
            asking.ledger.take("arXiv", found.ids[:recent])
            watch.add(found.ids)
            yield Page(heard.key, found.ids)
        start += page
        if recent < page or start >= found.total:
            return
    asking.ledger.gap(f"arXiv: more than {start:,} papers changed; fetch them anew to have all")


@dataclass(frozen=True, slots=True)
class _Found:
    total: int
    ids: tuple[str, ...]
    updated: tuple[str, ...]


def _ask(
    asking: Asking,
    query: str,
    start: int,
    size: int,
    order: str = "submittedDate",
    watch: Watch | None = None,
    round: int = 0,
) -> Heard[_Found]:
    def understand(answer: Answer) -> _Found:
        found = _read(answer)
        at_least(found.total, start + len(found.ids) if found.ids else 0)
        expected = min(size, found.total - start)
        if watch:
            watch.look(found.ids, expected > 0)
        return found

    params = {
        "search_query": query, "start": start, "max_results": size, "sortBy": order,
        "sortOrder": "ascending" if order == "submittedDate" else "descending",
    }  # fmt: skip
    return asking.ask(Call("arxiv", params=_texts(params), round=round), understand)


def by_ids(asking: Asking, ids: Sequence[str], round: int = 0) -> Heard[_Found]:
    """The papers with these ids, as far as arXiv has them."""
    params = {"id_list": ",".join(ids), "max_results": len(ids)}
    return asking.ask(Call("arxiv", params=_texts(params), round=round), _read)


def _read(answer: Answer) -> _Found:
    root = parse_xml(answer)
    total = number_of(root.findtext("{*}totalResults"))
    if total is None:
        raise Unreadable("its answer has no number of results")
    entries = root.findall("{*}entry")
    links = [(entry.findtext("{*}id") or "").strip() for entry in entries]
    for entry, link in zip(entries, links, strict=True):
        if "/api/errors" in link or (entry.findtext("{*}title") or "").strip() == "Error":
            why = " ".join((entry.findtext("{*}summary") or "no reason given").split())[:200]
            raise Refused(f"arXiv refuses this query ({why}): correct it.")
    updated = tuple((entry.findtext("{*}updated") or "").strip()[:10] for entry in entries)
    return _Found(total, tuple(arxiv_of(link.partition("/abs/")[2]) or link for link in links), updated)


def _texts(params: dict[str, object]) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(value)) for name, value in params.items())
