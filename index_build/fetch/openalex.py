"""OpenAlex by search, filter, author, list of DOIs, and by what a work cites and is cited by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from index_build.fetch.asking import Asking, calls_for, day_before, require, with_days
from index_build.fetch.ledger import Watch, complete
from index_build.fetch.marking import RETRACTED, marked
from index_build.fetch.reading import list_of, parse_json, parse_object, total_of
from index_build.fetch.values import Answer, Call, Count, Heard, Page, Wish
from index_build.sources import read_bytes
from index_build.sources.records import arxiv_of, doi_of, pmid_of
from index_build.sources.rejects import Reject
from search.errors import InputError
from search.types import Paper

PLACES = ("openalex",)
SELECTED = (
    "id,doi,title,display_name,publication_year,publication_date,ids,language,primary_location,type,"
    "type_crossref,is_retracted,authorships,biblio,primary_topic,topics,keywords,abstract_inverted_index"
)
"""The fields that are read; a whole work is four times as long."""
DOIS_AT_ONCE = 50
LATE = 90
"""Days after which most works that come out are listed; only news from then on are asked for, because the
filter by day of listing costs a subscription. Chosen by hand."""


def check(wish: Wish) -> None:
    require(
        wish,
        "text filter author cites cited_by",
        "fetch openalex 'faceted search' or fetch openalex --filter 'primary_topic.id:T10181'",
    )


def told(wish: Wish) -> str:
    parts = [
        wish.text,
        wish.filter,
        wish.author and f"author {wish.author}",
        wish.cites and f"citing {wish.cites}",
        wish.cited_by and f"cited by {wish.cited_by}",
    ]
    return with_days(f"OpenAlex, {', '.join(filter(None, parts))}", wish)


def count(asking: Asking) -> Count:
    place, wish = asking.place(), asking.wish
    total = _ask(asking, _params(asking) | {"per_page": "1"}).found.total
    calls = calls_for(total, place.page)
    return Count(total, calls, calls * (place.search_cost if wish.text else place.cost), _purse(asking))


def _purse(asking: Asking) -> str:
    if asking.has_key():
        return "A free key has an allowance of 1 US dollar a day."
    return "Without a key OpenAlex answers little more than a trial: set openalex_key, which is free."


def pages(asking: Asking) -> Iterator[Page]:
    params = _params(asking)
    yield from complete("OpenAlex", lambda number, watch: _pass(asking, params, number, watch), asking.ledger)


def by_dois(asking: Asking, dois: Sequence[str]) -> Iterator[Page]:
    """The works with these DOIs, as far as OpenAlex knows them."""
    for start in range(0, len(dois), DOIS_AT_ONCE):
        some = [doi for doi in dois[start : start + DOIS_AT_ONCE] if not set(doi) & set(",|+")]
        params = {"filter": f"doi:{'|'.join(some)}", "per_page": str(DOIS_AT_ONCE * 2), "select": SELECTED}
        if some and (heard := _ask(asking, params)).found.ids:
            yield Page(heard.key, heard.found.ids)


def _pass(asking: Asking, params: dict[str, str], number: int, watch: Watch) -> Iterator[Page]:
    cursor: str | None = "*"
    while cursor:
        paging = {"per_page": str(asking.place().page), "cursor": cursor, "select": SELECTED}
        heard = _ask(asking, params | paging, number, watch)
        asking.ledger.announce("OpenAlex", heard.found.total)
        if heard.found.ids:
            yield Page(heard.key, heard.found.ids)
        cursor = heard.found.cursor if heard.found.ids else None


def _params(asking: Asking) -> dict[str, str]:
    wish = asking.wish
    since = max(wish.since, day_before(asking.since.day, LATE)) if asking.since else wish.since
    filters = [
        wish.filter,
        wish.author and f"{'author.orcid' if '-' in wish.author else 'author.id'}:{wish.author}",
        wish.cites and f"cites:{work_id(asking, wish.cites)}",
        wish.cited_by and f"cited_by:{work_id(asking, wish.cited_by)}",
        since and f"from_publication_date:{since}",
        wish.until and f"to_publication_date:{wish.until}",
    ]
    params = {"search": wish.text, "filter": ",".join(filter(None, filters))}
    return {name: value for name, value in params.items() if value}


def work_id(asking: Asking, written: str) -> str:
    """OpenAlex's own id of a work that is named by a DOI, an arXiv id or a PMID; single works are free."""
    own = written.rstrip("/").rsplit("/", 1)[-1].rsplit(":", 1)[-1].upper()
    if own[:1] == "W" and own[1:].isdigit():
        return own
    call = Call(
        "openalex", f"/works/{quote(_name(written), safe=':/')}", (("select", "id"),), good=(200, 404)
    )
    found = asking.ask(call, lambda answer: parse_object(answer) if answer.status == 200 else {}).found
    id = str(found.get("id") or "").rsplit("/", 1)[-1]
    if not id:
        raise InputError(f"OpenAlex does not know {written[:100]!r}: try another identifier of the paper.")
    return id


def _name(written: str) -> str:
    if doi := doi_of(written):
        return f"doi:{doi}"
    if arxiv := arxiv_of(written):
        return f"doi:10.48550/arxiv.{arxiv}"
    if pmid := pmid_of(written):
        return f"pmid:{pmid}"
    raise InputError(f"{written[:100]!r} is no DOI, arXiv id, PMID or OpenAlex id: check it.")


@dataclass(frozen=True, slots=True)
class _Found:
    total: int
    ids: tuple[str, ...]
    cursor: str | None


def _ask(asking: Asking, params: dict[str, str], round: int = 0, watch: Watch | None = None) -> Heard[_Found]:
    cursor = params.get("cursor", "")

    def understand(answer: Answer) -> _Found:
        value = parse_object(answer)
        meta = value.get("meta")
        works = [work for work in list_of(value, "results") if isinstance(work, dict)]
        following = meta.get("next_cursor") if isinstance(meta, dict) else None
        found = _Found(
            total_of(meta if isinstance(meta, dict) else {}, "count", len(works)),
            tuple(str(work.get("id") or "").rsplit("/", 1)[-1] for work in works),
            str(following) if following else None,
        )
        if watch:
            watch.look(found.ids, cursor == "*" and found.total > 0)
        return found

    call = Call("openalex", "/works", tuple(params.items()), expires=cursor not in ("", "*"), round=round)
    return asking.ask(call, understand)


def read(body: bytes, name: str) -> Iterator[Paper | Reject]:
    return marked(read_bytes(body, name), _retracted(body), RETRACTED)


def _retracted(body: bytes) -> set[str]:
    if b"is_retracted" not in body or b"true" not in body:
        return set()
    value = parse_json(Answer(200, {}, body))
    works = value.get("results", []) if isinstance(value, dict) else []
    return {
        f"openalex:{str(work.get('id')).rsplit('/', 1)[-1]}"
        for work in works
        if isinstance(work, dict) and work.get("is_retracted") is True
    }
