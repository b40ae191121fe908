"""OpenReview: the submissions of a venue, of the second API and, for older venues, of the first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from index_build.fetch.asking import Asking, calls_for, day_before, require
from index_build.fetch.ledger import Watch, complete
from index_build.fetch.marking import WITHDRAWN
from index_build.fetch.reading import at_least, list_of, number_of, parse_object
from index_build.fetch.values import Answer, Call, Count, Heard, Page, Wish
from index_build.markup import latex_text
from index_build.sources.json_records import convert
from index_build.sources.names import given_first
from index_build.sources.papers import paper_of
from index_build.sources.records import plain, texts_of, year_of
from index_build.sources.rejects import Reject
from search.errors import InputError
from search.types import Kind, Paper, Reference

PLACES = ("openreview", "openreview-v1")
_OLD = ("/-/Blind_Submission", "/-/Submission")
"""How the first API calls the submissions of a venue, the usual name first."""


def check(wish: Wish) -> None:
    require(wish, "text", "fetch openreview ICLR.cc/2026/Conference")
    if "/" not in wish.text or " " in wish.text:
        raise InputError(
            f'"{wish.text[:100]}" is no venue: write it as it stands in the address of its page on '
            "OpenReview, such as ICLR.cc/2026/Conference."
        )


def told(wish: Wish) -> str:
    return f"OpenReview, {wish.text}"


@dataclass(frozen=True, slots=True)
class _Way:
    """Where the submissions of a venue are and under which name."""

    place: str
    params: tuple[tuple[str, str], ...]
    total: int


def count(asking: Asking) -> Count:
    way = _way(asking)
    return Count(way.total, calls_for(way.total, asking.place(way.place).page))


def _way(asking: Asking) -> _Way:
    """The first of the ways that leads to any submissions."""
    venue = asking.wish.text.strip("/")
    ways = [
        ("openreview", (("content.venueid", venue),)),
        *(("openreview-v1", (("invitation", venue + name),)) for name in _OLD),
    ]
    for place, params in ways:
        heard = _ask(asking, _Way(place, params, 0), 0, 1)
        if heard.found.total:
            return _Way(place, params, heard.found.total)
    return _Way(*ways[0], 0)


def pages(asking: Asking) -> Iterator[Page]:
    way = _way(asking)
    part = told(asking.wish)
    if asking.since:
        yield from _news(asking, way, part)
    elif way.total:
        yield from complete(
            part, lambda number, watch: _pass(asking, way, part, number, watch), asking.ledger
        )


def _pass(asking: Asking, way: _Way, part: str, number: int, watch: Watch) -> Iterator[Page]:
    start, size = 0, asking.place(way.place).page
    while True:
        heard = _ask(asking, way, start, size, number, watch)
        asking.ledger.announce(part, heard.found.total)
        if heard.found.ids:
            yield Page(heard.key, heard.found.ids)
        start += size
        if len(heard.found.ids) < size and start >= heard.found.total:
            return


def _news(asking: Asking, way: _Way, part: str) -> Iterator[Page]:
    """What was made or changed since, the latest first, until it is older."""
    assert asking.since
    until = datetime.fromisoformat(day_before(asking.since.day, 1)).replace(tzinfo=UTC).timestamp() * 1000
    start, size, watch = 0, asking.place(way.place).page, Watch()
    while True:
        heard = _ask(asking, way, start, size, 0, watch, "tmdate:desc")
        recent = sum(changed >= until for changed in heard.found.changed)
        if recent:
            asking.ledger.take(part, heard.found.ids[:recent])
            watch.add(heard.found.ids)
            yield Page(heard.key, heard.found.ids)
        start += size
        if recent < size or start >= heard.found.total:
            return


@dataclass(frozen=True, slots=True)
class _Found:
    total: int
    ids: tuple[str, ...]
    changed: tuple[int, ...]


def _ask(
    asking: Asking,
    way: _Way,
    start: int,
    size: int,
    round: int = 0,
    watch: Watch | None = None,
    order: str = "tcdate:asc",
) -> Heard[_Found]:
    paging = (("limit", str(size)), ("offset", str(start)), ("sort", order))

    def understand(answer: Answer) -> _Found:
        value = parse_object(answer)
        notes = [note for note in list_of(value, "notes") if isinstance(note, dict)]
        ids = tuple(str(note.get("id")) for note in notes)
        total = number_of(value.get("count"))
        total = start + len(ids) if total is None else at_least(total, start + len(ids) if ids else 0)
        if watch:
            watch.look(ids, start < total)
        changed = (number_of(note.get("tmdate")) or number_of(note.get("mdate")) or 0 for note in notes)
        return _Found(total, ids, tuple(changed))

    call = Call(way.place, "/notes", way.params + paging, good=(200, 404), round=round)
    return asking.ask(call, lambda answer: understand(answer) if answer.status == 200 else _Found(0, (), ()))


def read(body: bytes, name: str) -> Iterator[Paper | Reject]:
    for place, note in enumerate(json.loads(body).get("notes", ()), start=1):
        yield convert(note, to_paper, name, f"record {place}", json.dumps(note)[:500])


def to_paper(note: Mapping[str, Any]) -> Paper:
    """A submission; in the newer layout each field of the content is an object with a value."""
    content = {name: _value(given) for name, given in (note.get("content") or {}).items()}
    venue, venue_id = plain(content.get("venue")), plain(content.get("venueid"))
    made = number_of(note.get("pdate")) or number_of(note.get("cdate")) or number_of(note.get("tcdate"))
    day = datetime.fromtimestamp(made / 1000, UTC).date().isoformat() if made else ""
    forum = plain(note.get("forum")) or plain(note.get("id"))
    paper = paper_of(
        "openreview",
        latex_text(plain(content.get("title"))),
        latex_text(plain(content.get("abstract"))),
        own_id=f"openreview:{forum}",
        authors=map(given_first, texts_of(content.get("authors"))),
        year=year_of(venue) or year_of(venue_id) or year_of(day),
        venue=venue or venue_id or plain(note.get("invitation")).partition("/-/")[0],
        fields=texts_of(content.get("primary_area") or content.get("subject_areas")),
        url=f"https://openreview.net/forum?id={forum}",
        reference=Reference(
            kind=None if venue and "submit" not in venue.lower() else Kind.PREPRINT,
            date=day,
            keywords=tuple(texts_of(content.get("keywords"))),
            licence=plain(note.get("license")),
        ),
    )
    gone = any(word in f"{venue} {venue_id}".lower() for word in ("withdrawn", "desk reject", "desk_reject"))
    if gone or plain(content.get("withdrawal")).lower() == "confirmed":
        return replace(paper, reference=replace(paper.reference, status=WITHDRAWN))
    return paper


def _value(given: object) -> object:
    return given.get("value") if isinstance(given, dict) and "value" in given else given
