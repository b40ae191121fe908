"""PubMed: lists of ids by date, then the records of these ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import urlencode

from index_build.fetch.asking import Asking, calls_for, day_before, day_of, halves, require, with_days
from index_build.fetch.ledger import PASSES, complete
from index_build.fetch.marking import RETRACTED, marked
from index_build.fetch.reading import list_of, parse_object, parse_xml, total_of
from index_build.fetch.values import Answer, Call, Count, Page, Refused, Unreadable, Wish
from index_build.sources import read_bytes
from index_build.sources.rejects import Reject
from search.types import Paper

PLACES = ("pubmed",)
FIRST_DAY = date(1800, 1, 1)


def check(wish: Wish) -> None:
    require(wish, "text", "fetch pubmed 'sepsis[mesh] AND machine learning'")


def told(wish: Wish) -> str:
    return with_days(f"PubMed, {wish.text}", wish)


def count(asking: Asking) -> Count:
    total = _search(asking, *_days(asking), 0).total
    place = asking.place()
    return Count(total, calls_for(total, place.most) + calls_for(total, place.page))


def pages(asking: Asking) -> Iterator[Page]:
    yield from _between(asking, *_days(asking))


def _days(asking: Asking) -> tuple[date, date]:
    """Days on which records came into PubMed; each record has one."""
    wish = asking.wish
    first = day_of(wish.since) if wish.since else FIRST_DAY
    return first, day_of(wish.until) if wish.until else day_of(asking.today) + timedelta(days=1)


def _between(asking: Asking, first: date, last: date) -> Iterator[Page]:
    found = _search(asking, first, last, asking.place().most)
    part = f"PubMed {first} to {last}"
    if found.total > asking.place().most and first < last:
        before = asking.ledger.announced or 0
        for each in halves(first, last):
            yield from _between(asking, *each)
        asking.ledger.compare(part, found.total, (asking.ledger.announced or 0) - before)
    elif found.total:
        if found.total > len(found.ids):
            asking.ledger.gap(f"{part}: {found.total:,} announced, {len(found.ids):,} ids came")
        yield from complete(part, lambda number, _: _pass(asking, found.ids, part, number), asking.ledger)


def _pass(asking: Asking, ids: Sequence[str], part: str, number: int) -> Iterator[Page]:
    """Records that do not come are asked for again in the next pass."""
    asking.ledger.announce(part, len(ids))
    yield from by_ids(asking, ids, number)


def by_ids(asking: Asking, ids: Sequence[str], number: int = 0) -> Iterator[Page]:
    """The records of these PMIDs, as far as PubMed gives them."""
    size = asking.place("pubmed").page
    for start in range(0, len(ids), size):
        body = urlencode({"db": "pubmed", "retmode": "xml", "id": ",".join(ids[start : start + size])})
        heard = asking.ask(Call("pubmed", "/efetch.fcgi", body=body, form=True, round=number), _records)
        if heard.found:
            yield Page(heard.key, heard.found)


def _records(answer: Answer) -> tuple[str, ...]:
    root = parse_xml(answer)
    if root.tag != "PubmedArticleSet":
        raise Unreadable(f"its answer is no set of articles but {root.tag}")
    return tuple(
        (record.findtext("MedlineCitation/PMID") or record.findtext("BookDocument/PMID") or "").strip()
        for record in root
        if record.tag in ("PubmedArticle", "PubmedBookArticle")
    )


@dataclass(frozen=True, slots=True)
class _Found:
    total: int
    ids: tuple[str, ...]


def _search(asking: Asking, first: date, last: date, most: int) -> _Found:
    """The ids of these days; where the list is shorter than its own count, it is asked for again."""
    term = asking.wish.text
    if asking.since:
        since = day_before(asking.since.day, 2).replace("-", "/")
        news = f'"{since}"[crdt] : "3000"[crdt] OR "{since}"[mdat] : "3000"[mdat]'
        term = f"({term}) AND ({news})"
    params = {
        "db": "pubmed", "term": term, "retmode": "json", "retmax": str(most), "datetype": "edat",
        "mindate": f"{first:%Y/%m/%d}", "maxdate": f"{last:%Y/%m/%d}",
    }  # fmt: skip
    found = _Found(0, ())
    for number in range(PASSES):
        call = Call("pubmed", "/esearch.fcgi", tuple(params.items()), round=number)
        found = asking.ask(call, _ids).found
        if not most or found.total > most or len(found.ids) >= found.total:
            break
    return found


def _ids(answer: Answer) -> _Found:
    value = parse_object(answer)
    if "error" in value:  # too many requests, in the words of a gateway
        raise Unreadable(f"it says {str(value['error'])[:100]}")
    result = value.get("esearchresult")
    if not isinstance(result, dict):
        raise Unreadable("its answer has no result")
    if told := result.get("ERROR"):
        raise Refused(f"PubMed refuses this query ({str(told)[:200]}): correct it.")
    ids = tuple(dict.fromkeys(str(id) for id in list_of(result, "idlist")))
    return _Found(total_of(result, "count", len(ids)), ids)


def read(body: bytes, name: str) -> Iterator[Paper | Reject]:
    return marked(read_bytes(body, name), _retracted(body), RETRACTED)


def _retracted(body: bytes) -> set[str]:
    """Papers with the publication type that PubMed gives to what was retracted."""
    if b"Retracted Publication" not in body:
        return set()
    return {
        f"pmid:{(record.findtext('.//PMID') or '').strip()}"
        for record in parse_xml(Answer(200, {}, body))
        if any(kind.text == "Retracted Publication" for kind in record.iterfind(".//PublicationType"))
    }
