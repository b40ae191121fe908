"""Semantic Scholar: bulk search by token, batches of ids, and the citations of a paper."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from index_build.fetch.asking import Asking, calls_for, require, with_days
from index_build.fetch.ledger import Watch, complete
from index_build.fetch.reading import list_of, number_of, parse_json, parse_object, total_of
from index_build.fetch.values import Answer, Call, Count, Heard, Page, Unreadable, Wish
from index_build.sources import semantic_scholar as reader
from index_build.sources.json_records import convert
from index_build.sources.rejects import Reject
from search.types import Paper

PLACES = ("semanticscholar",)
FIELDS = (
    "paperId,corpusId,title,abstract,year,authors,venue,externalIds,url,publicationDate,publicationTypes,journal,"
    "fieldsOfStudy,s2FieldsOfStudy,openAccessPdf,publicationVenue"
)
BULK = 1000
"""Papers that the bulk search gives at a time."""


def check(wish: Wish) -> None:
    require(wish, "text", "fetch semanticscholar '\"citation recommendation\" + ranking'")


def told(wish: Wish) -> str:
    return with_days(f"Semantic Scholar, {wish.text}", wish)


def count(asking: Asking) -> Count:
    total = _ask(asking, "", 0).found.total
    note = "Its count is an estimate."
    if not asking.has_key():
        note += " Without a key it often refuses to answer: set semantic_scholar_key, which is free."
    return Count(total, calls_for(total, BULK), note=note)


def pages(asking: Asking) -> Iterator[Page]:
    yield from complete("Semantic Scholar", lambda number, watch: _pass(asking, number, watch), asking.ledger)


def _pass(asking: Asking, number: int, watch: Watch) -> Iterator[Page]:
    token: str = ""
    while True:
        heard = _ask(asking, token, number, watch)
        asking.ledger.announce("Semantic Scholar", heard.found.total)
        if heard.found.ids:
            yield Page(heard.key, heard.found.ids)
        token = heard.found.token
        if not token:
            return


@dataclass(frozen=True, slots=True)
class _Found:
    total: int
    ids: tuple[str, ...]
    token: str


def _ask(asking: Asking, token: str, round: int, watch: Watch | None = None) -> Heard[_Found]:
    wish = asking.wish
    days = f"{asking.first_day}:{wish.until}" if asking.first_day or wish.until else ""
    params = {"query": wish.text, "fields": FIELDS, "publicationDateOrYear": days, "token": token}
    given = tuple((name, value) for name, value in params.items() if value)

    def understand(answer: Answer) -> _Found:
        value = parse_object(answer)
        ids = _ids(list_of(value, "data"))
        total = total_of(value, "total", len(ids))
        if watch:
            watch.look(ids, not token and total > 0)
        return _Found(total, ids, str(value.get("token") or ""))

    return asking.ask(
        Call("semanticscholar", "/paper/search/bulk", given, expires=bool(token), round=round), understand
    )


def _ids(records: Sequence[object]) -> tuple[str, ...]:
    return tuple(
        str(record.get("paperId") or record.get("corpusId")) for record in records if isinstance(record, dict)
    )


def by_ids(asking: Asking, names: Sequence[str]) -> Iterator[Page]:
    """The papers named "DOI:…", "ARXIV:…", "PMID:…"; a name that is not known is answered with null."""
    size = asking.place("semanticscholar").page
    for start in range(0, len(names), size):
        body = json.dumps({"ids": list(names[start : start + size])})
        call = Call("semanticscholar", "/paper/batch", (("fields", FIELDS),), body, good=(200, 400, 404))
        heard = asking.ask(call, _batch)
        if heard.found:
            yield Page(heard.key, heard.found)


def _batch(answer: Answer) -> tuple[str, ...]:
    if answer.status != 200:  # it knows none of them
        return ()
    value = parse_json(answer)
    if not isinstance(value, list):
        raise Unreadable("its answer is no list")
    return _ids(value)


def around(asking: Asking, name: str, which: str) -> Iterator[Page]:
    """The papers that a paper cites ("references") or is cited by ("citations")."""
    part = f"Semantic Scholar {which}"
    yield from complete(
        part,
        lambda number, watch: _around(asking, name, which, part, number, watch),
        asking.ledger,
        exact=False,
    )


def _around(asking: Asking, name: str, which: str, part: str, number: int, watch: Watch) -> Iterator[Page]:
    inner, offset, size = {"references": "citedPaper", "citations": "citingPaper"}[which], 0, BULK
    while True:
        params = (("fields", FIELDS), ("offset", str(offset)), ("limit", str(size)))

        def understand(answer: Answer) -> tuple[tuple[str, ...], int | None]:
            value = parse_object(answer)
            records = [each.get(inner) for each in list_of(value, "data") if isinstance(each, dict)]
            ids = tuple(id for id in _ids(records) if id != "None")
            watch.look(ids, False)
            return ids, number_of(value.get("next"))

        path = f"/paper/{quote(name, safe=':/')}/{which}"
        heard = asking.ask(Call("semanticscholar", path, params, round=number), understand)
        ids, following = heard.found
        if ids:
            yield Page(heard.key, ids)
        if following is None or following <= offset:
            return
        offset = following


def read(body: bytes, name: str) -> Iterator[Paper | Reject]:
    """The papers of an answer; the nulls of a batch stand for what is not known."""
    value = json.loads(body)
    records = value.get("data", []) if isinstance(value, dict) else value
    for place, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            continue
        inside = record.get("citingPaper", record.get("citedPaper", record))
        if inside and _ids([inside]) != ("None",):
            yield convert(record, reader.to_paper, name, f"record {place}", json.dumps(record)[:500])
