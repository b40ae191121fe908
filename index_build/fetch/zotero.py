"""A Zotero library, on this machine or on zotero.org, whole or one collection, with tags and notes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from index_build.fetch.asking import Asking, calls_for, require
from index_build.fetch.ledger import Watch, complete
from index_build.fetch.reading import number_of, parse_json
from index_build.fetch.values import Answer, Call, Count, Heard, Page, Refused, Unreadable, Wish
from index_build.markup import to_text
from index_build.sources import zotero as reader
from index_build.sources.json_records import convert
from index_build.sources.rejects import Reject
from search.errors import InputError
from search.settings import LIBRARY
from search.types import Paper

PLACES = ("zotero", "zotero-web")
VERSION = "version"
KEYS_AT_ONCE = 50
SWITCH_ON = (
    "In Zotero, tick Settings, Advanced, “Allow other applications on this computer to communicate with "
    "Zotero”"
)
HEADERS = (("Zotero-API-Version", "3"),)


def check(wish: Wish) -> None:
    if set(wish.as_dict()) - {"source"}:
        require(wish, "collection library", "fetch zotero --collection 'Reading group'")
    if wish.library and not LIBRARY.fullmatch(wish.library):
        raise InputError(f'"{wish.library[:60]}" is no library: write users/NUMBER or groups/NUMBER.')


def told(wish: Wish) -> str:
    whose = f"Zotero {wish.library}" if wish.library else "Zotero"
    return f"{whose}: {wish.collection}" if wish.collection else f"{whose}: whole library"


def place_name(wish: Wish) -> str:
    return "zotero-web" if wish.library else "zotero"


def prefix(wish: Wish) -> str:
    """Where a library begins; on this machine it is the user 0's."""
    return f"/{wish.library or 'users/0'}"


@dataclass(frozen=True, slots=True)
class Listed:
    """A part of a list: its items and what the headers tell."""

    items: tuple[Mapping[str, Any], ...]
    total: int
    version: str

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(str(item.get("key")) for item in self.items)


def ask(
    asking: Asking, path: str, params: Mapping[str, str], round: int = 0, watch: Watch | None = None
) -> Heard[Listed]:
    """One part of a list of the library."""
    start = int(params.get("start", "0"))

    def understand(answer: Answer) -> Listed:
        if answer.status == 403:
            raise Refused(f"Zotero does not let other programs read. {SWITCH_ON}, then try again.")
        found = parse_json(answer)
        if not isinstance(found, list):
            raise Unreadable("its answer is no list")
        items = tuple(item for item in found if isinstance(item, dict))
        total = number_of(answer.headers.get("total-results"))
        listed = Listed(
            items,
            start + len(items) if total is None else total,
            answer.headers.get("last-modified-version", ""),
        )
        if watch:
            watch.look(listed.keys, start < listed.total)
        return listed

    name = place_name(asking.wish)
    good = (200, 403) if name == "zotero" else (200,)
    call = Call(
        name, prefix(asking.wish) + path, tuple(params.items()), headers=HEADERS, good=good, round=round
    )
    return asking.ask(call, understand)


def collections(asking: Asking) -> dict[str, str]:
    """The names of the collections by their keys."""
    found: dict[str, str] = {}
    start, size = 0, asking.place(place_name(asking.wish)).page
    while True:
        listed = ask(asking, "/collections", {"limit": str(size), "start": str(start)}).found
        found |= {
            key: str(item.get("data", {}).get("name", key))
            for key, item in zip(listed.keys, listed.items, strict=True)
        }
        start += size
        if start >= listed.total or not listed.items:
            return found


def collection_key(asking: Asking, wanted: str) -> str:
    """The key of a collection that is named by its name or key."""
    known = collections(asking)
    matches = [key for key, name in known.items() if wanted == key or wanted.casefold() == name.casefold()]
    if len(matches) != 1:
        names = ", ".join(sorted(set(known.values()))[:20]) or "none"
        several = f"several collections named {wanted!r}: give the key of one" if matches else ""
        raise InputError(f"Zotero has {several or f'no collection {wanted!r}; it has {names}'}.")
    return matches[0]


def _path(asking: Asking) -> str:
    wanted = asking.wish.collection
    return f"/collections/{collection_key(asking, wanted)}/items" if wanted else "/items"


def count(asking: Asking) -> Count:
    path = _path(asking)
    total = ask(asking, f"{path}/top", {"limit": "1"}).found.total
    return Count(total, calls_for(total, asking.place(place_name(asking.wish)).page) + 1)


def pages(asking: Asking) -> Iterator[Page]:
    path, part = _path(asking), told(asking.wish)
    before = asking.since.state.get(VERSION, "") if asking.since else ""
    items: list[Mapping[str, Any]] = []

    def one_pass(number: int, watch: Watch) -> Iterator[Page]:
        items.clear()
        start, size = 0, asking.place(place_name(asking.wish)).page
        while True:
            params = {"limit": str(size), "start": str(start), "sort": "dateAdded", "direction": "asc"}
            if before:
                params["since"] = before
            heard = ask(asking, path, params, number, watch)
            if not start:
                asking.state[VERSION] = heard.found.version
            asking.ledger.announce(part, heard.found.total)
            items.extend(heard.found.items)
            if heard.found.items:
                yield Page(heard.key, heard.found.keys)
            start += size
            if start >= heard.found.total or not heard.found.items:
                return

    yield from complete(part, one_pass, asking.ledger)
    if before:
        yield from _around(asking, items)


def _around(asking: Asking, changed: Sequence[Mapping[str, Any]]) -> Iterator[Page]:
    """What belongs to the changed: the paper of a changed note, and all notes of a changed paper."""
    tops = {str(item.get("key")): item for item in changed if not _parent(item)}
    wanted = sorted({_parent(item) for item in changed} - set(tops) - {""})
    for start in range(0, len(wanted), KEYS_AT_ONCE):
        keys = ",".join(wanted[start : start + KEYS_AT_ONCE])
        heard = ask(asking, "/items", {"itemKey": keys, "limit": str(KEYS_AT_ONCE)})
        tops |= dict(zip(heard.found.keys, heard.found.items, strict=True))
        yield Page(heard.key, heard.found.keys)
    for key, item in tops.items():
        if number_of(item.get("meta", {}).get("numChildren")):
            heard = ask(asking, f"/items/{key}/children", {"limit": "100"})
            if heard.found.items:
                yield Page(heard.key, heard.found.keys)


def _parent(item: Mapping[str, Any]) -> str:
    return str(item.get("data", {}).get("parentItem") or "")


def read(body: bytes, name: str) -> Iterator[Paper | Reject]:
    return read_library([body], name)


def read_library(bodies: Iterable[bytes], name: str) -> Iterator[Paper | Reject]:
    """The papers of all pages, each with the notes that its reader wrote on it."""
    given = (item for body in bodies for item in json.loads(body) if isinstance(item, dict))
    items = {str(item.get("key")): item for item in given}
    notes: dict[str, list[str]] = defaultdict(list)
    for item in items.values():
        data = item.get("data", {})
        if data.get("itemType") == "note" and (text := to_text(str(data.get("note") or ""))):
            notes[_parent(item)].append(text)
    for key, item in items.items():
        if _parent(item) or item.get("data", {}).get("itemType") in ("note", "attachment", "annotation"):
            continue
        paper = convert(item, reader.to_paper, name, f"item {key}", json.dumps(item)[:500])
        if isinstance(paper, Paper):
            own = item.get("library", {}).get("id", 0)
            id = f"zotero:{own}/{key}" if paper.id.startswith("zotero:") else paper.id
            paper = replace(paper, id=id, reference=replace(paper.reference, notes=tuple(notes[key])))
        yield paper
