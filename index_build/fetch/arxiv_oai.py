"""A category of arXiv by OAI-PMH, whose days are those on which a record was changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from index_build.fetch.asking import Asking, calls_for
from index_build.fetch.ledger import Watch, complete
from index_build.fetch.reading import number_of, parse_xml
from index_build.fetch.values import Answer, Call, Count, Expired, Heard, Page, Refused, Unreadable, Wish
from index_build.sources.arxiv_categories import NAMES
from index_build.sources.records import arxiv_of
from search.errors import InputError

TYPICAL_PAGE = 1300
"""Records that arXiv gives at a time; only used to tell how many requests there will be."""
_OF_PHYSICS = frozenset(
    "astro-ph cond-mat gr-qc hep-ex hep-lat hep-ph hep-th math-ph nlin nucl-ex nucl-th physics "
    "quant-ph".split()
)
_ARCHIVES = _OF_PHYSICS | frozenset("cs econ eess math q-bio q-fin stat".split())


def check(wish: Wish) -> None:
    if wish.text:
        raise InputError('Give either a query or --category: a query may hold "cat:cs.CL".')
    for category in wish.category.split("+") if wish.feed else [wish.category]:
        set_of(category)


def set_of(category: str) -> str:
    """The set of a category: "cs.CL" as "cs:cs:CL", "hep-th" as "physics:hep-th"."""
    archive, _, subject = category.partition(".")
    if archive not in _ARCHIVES or (subject and category not in NAMES):
        raise InputError(
            f'arXiv has no category "{category[:40]}": write it as cs.CL, math, hep-th or astro-ph.CO.'
        )
    if archive in _OF_PHYSICS:
        return ":".join(filter(None, ("physics", archive, subject)))
    return f"{archive}:{archive}:{subject}" if subject else archive


def count(asking: Asking) -> Count:
    found = _ask(asking, _first(asking), 0).found
    note = "The days are those on which arXiv changed a record." if asking.wish.since else ""
    if found.total is None and found.token:
        return Count(None, 0, note="arXiv tells how many there are only with the last page. " + note)
    total = len(found.ids) if found.total is None else found.total
    return Count(total, calls_for(total, TYPICAL_PAGE), note=note)


def pages(asking: Asking) -> Iterator[Page]:
    part = f"arXiv {asking.wish.category}"
    yield from complete(part, lambda number, watch: _pass(asking, part, number, watch), asking.ledger)


def _pass(asking: Asking, part: str, number: int, watch: Watch) -> Iterator[Page]:
    params: tuple[tuple[str, str], ...] | None = _first(asking)
    while params:
        heard = _ask(asking, params, number, watch)
        found = heard.found
        if found.total is not None:
            asking.ledger.announce(part, found.total)
        if found.ids:
            yield Page(heard.key, found.ids, found.gone)
        token = found.token
        params = (("verb", "ListRecords"), ("resumptionToken", token)) if token else None


def _first(asking: Asking) -> tuple[tuple[str, str], ...]:
    params = {
        "verb": "ListRecords", "metadataPrefix": "arXiv", "set": set_of(asking.wish.category),
        "from": asking.first_day, "until": asking.wish.until,
    }  # fmt: skip
    return tuple((name, value) for name, value in params.items() if value)


@dataclass(frozen=True, slots=True)
class _Found:
    ids: tuple[str, ...]
    gone: tuple[str, ...]
    token: str
    total: int | None


def _ask(
    asking: Asking, params: tuple[tuple[str, str], ...], round: int, watch: Watch | None = None
) -> Heard[_Found]:
    def understand(answer: Answer) -> _Found:
        found = _read(answer)
        if watch:
            watch.look(found.ids, bool(found.token))
        return found

    later = any(name == "resumptionToken" for name, _ in params)
    return asking.ask(Call("arxiv-oai", params=params, expires=later, round=round), understand)


def _read(answer: Answer) -> _Found:
    root = parse_xml(answer)
    for error in root.findall("{*}error"):
        code, why = error.get("code") or "", " ".join((error.text or "").split())[:200]
        if code == "noRecordsMatch":
            return _Found((), (), "", 0)
        if code == "badResumptionToken":
            raise Expired(why or code)
        raise Refused(f"arXiv refuses this ({code}: {why}): correct it.")
    listed = root.find("{*}ListRecords")
    if listed is None:
        raise Unreadable("its answer has no list of records")
    ids, gone = [], []
    for header in listed.iterfind("{*}record/{*}header"):
        id = (header.findtext("{*}identifier") or "").strip()
        ids.append(id)
        if header.get("status") == "deleted":
            gone.append(f"arxiv:{arxiv_of(id.rpartition(':')[2])}")
    token = listed.find("{*}resumptionToken")
    if token is None:
        return _Found(tuple(ids), tuple(gone), "", None)
    return _Found(
        tuple(ids), tuple(gone), (token.text or "").strip(), number_of(token.get("completeListSize"))
    )
