"""Zotero's API, version 3: the local one of Zotero 10, which also writes, and the one on zotero.org."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.live.protocols import Asked, Said
from tests.live.world import Record

SERVER_ID = "server-1"
KEY = "local-key-1"
WEB_KEY = "web-key-1"


@dataclass
class Library:
    """A library with two collections; every third paper is in both."""

    records: Sequence[Record]
    version: int = 100
    switched_on: bool = True
    writes: bool = True
    granted: list[str] = field(default_factory=list)
    once: bool = False
    """Whether a key is good for one write only."""
    denies: bool = False
    conflicts: int = 0
    """How many writes to come are refused with 412."""
    lose_answer: bool = False
    """Whether the next write is done and its answer lost on the way."""
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    collections: dict[str, str] = field(
        default_factory=lambda: {"COLLAAAA": "Reading group", "COLLBBBB": "Thesis"}
    )
    statuses: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        for r in self.records:
            key = f"ITEM{r.number:04}"
            self.items[key] = _item(
                key, self.version, paper_data(r, ["COLLAAAA"] if r.number % 3 == 0 else [])
            )
            if r.number % 4 == 0:
                note = {
                    "itemType": "note", "parentItem": key, "note": f"<p>Remark on {r.number}</p>",
                    "collections": [], "tags": [],
                }  # fmt: skip
                self.items[f"NOTE{r.number:04}"] = _item(f"NOTE{r.number:04}", self.version, note)
                self.items[key]["meta"] = {"numChildren": 1}

    def as_dict(self) -> dict[str, Any]:
        return {"items": self.items, "version": self.version, "statuses": self.statuses}


def turn(library: Library | None, values: dict[str, Any]) -> None:
    """Changes how a library behaves, or what is in it."""
    assert library is not None
    for name, value in values.items():
        if name.startswith("change_"):
            library.version += 1
            item = library.items[value]
            item["version"] = library.version
            data = item["data"]
            data |= {"note": "Changed"} if "note" in name else {"title": f"{data['title']} revised"}
        else:
            setattr(library, name, value)


def paper_data(r: Record, collections: list[str]) -> dict[str, Any]:
    return {
        "itemType": "journalArticle",
        "title": r.title,
        "abstractNote": r.abstract,
        "creators": [
            {"creatorType": "author", "lastName": family, "firstName": given} for family, given in r.authors
        ],
        "date": r.day.isoformat(),
        "DOI": r.doi if r.number % 2 else "",
        "publicationTitle": "Journal of Rivers",
        "tags": [{"tag": "to read"}, {"tag": f"tag {r.number}"}],
        "collections": collections,
        "rights": "",
    }


def _item(key: str, version: int, data: dict[str, Any]) -> dict[str, Any]:
    library = {"type": "user", "id": 12345, "name": "Somebody"}
    return {
        "key": key, "version": version, "library": library, "meta": {},
        "data": {"key": key, "version": version, **data},
    }  # fmt: skip


def answer(spoken: str, asked: Asked, library: Library) -> Said:
    status, headers, body = _answer(spoken == "zotero", asked, library)
    library.statuses.append(status)
    if spoken == "zotero":
        headers = headers | {"Zotero-Server-ID": SERVER_ID}
    headers = {"Zotero-API-Version": "3", "Last-Modified-Version": str(library.version)} | headers
    return status, headers, body


def _answer(local: bool, asked: Asked, library: Library) -> Said:
    if local and not library.switched_on:
        return 403, {}, b"Local API is not enabled"
    if not local and asked.headers.get("zotero-api-key") != WEB_KEY:
        return 403, {}, b"Invalid key"
    if local and asked.path == "/local/authorize":
        return _authorize(asked, library)
    if asked.path == "/keys/current":
        return _json({"userID": 12345, "access": {"user": {"library": True, "write": True}}})
    if asked.method != "GET":
        return _write(local, asked, library)
    kind, _, *rest = [*asked.path.strip("/").split("/"), ""]
    if kind not in ("users", "groups"):
        return _json({"version": 3})
    return _list(asked, library, [part for part in rest if part])


def _list(asked: Asked, library: Library, rest: list[str]) -> Said:
    if rest == ["collections"]:
        found = [
            {"key": key, "version": 1, "data": {"key": key, "name": name}}
            for key, name in library.collections.items()
        ]
        return _part(asked, found)
    items = list(library.items.values())
    if rest[0] == "collections":
        inside = {item["key"] for item in items if rest[1] in item["data"].get("collections", [])}
        items = [item for item in items if item["key"] in inside or item["data"].get("parentItem") in inside]
        rest = rest[2:]
    if rest[-1] == "top":
        items = [item for item in items if "parentItem" not in item["data"]]
    elif rest[-1] == "children":
        items = [item for item in items if item["data"].get("parentItem") == rest[-2]]
    if keys := asked.params.get("itemKey"):
        items = [item for item in items if item["key"] in keys.split(",")]
    if since := asked.params.get("since"):
        items = [item for item in items if item["version"] > int(since)]
    return _part(asked, items)


def _part(asked: Asked, found: list[dict[str, Any]]) -> Said:
    start, size = asked.number("start", 0), min(asked.number("limit", 25), 100)
    status, headers, body = _json(found[start : start + size])
    return status, headers | {"Total-Results": str(len(found))}, body


def _authorize(asked: Asked, library: Library) -> Said:
    if not library.writes:
        return 404, {}, b"No endpoint found"
    if asked.headers.get("zotero-server-id") != SERVER_ID:
        return 428, {}, b"Zotero-Server-ID required"
    if library.denies:
        return 403, {}, b"Denied"
    library.granted.append(f"{KEY}-{len(library.granted)}")
    return _json({"key": library.granted[-1], "remember": not library.once})


def _write(local: bool, asked: Asked, library: Library) -> Said:
    if local:
        if not library.writes:
            return 405, {}, b"Method not allowed"
        if asked.headers.get("zotero-server-id") != SERVER_ID:
            return 412, {}, b"Zotero-Server-ID does not match"
        if asked.headers.get("zotero-api-key") not in library.granted:
            return 401, {}, b"API key required"
        if library.once:
            library.granted.remove(asked.headers["zotero-api-key"])
    wanted = asked.headers.get("if-unmodified-since-version")
    if wanted is None:
        return 428, {}, b"If-Unmodified-Since-Version not provided"
    if library.conflicts or int(wanted) < library.version:
        library.conflicts = max(0, library.conflicts - 1)
        library.version += 1
        return 412, {}, b"Library has been modified since specified version"
    given = json.loads(asked.body)
    if len(given) > 50:
        return 413, {}, b"Too many items"
    library.version += 1
    successful: dict[str, Any] = {}
    failed: dict[str, Any] = {}
    for place, data in enumerate(given):
        if data.get("title") == "refused":
            failed[str(place)] = {"code": 400, "message": "this item is not good"}
            continue
        if asked.path.endswith("/collections"):
            key = f"COLL{len(library.collections):04}"
            library.collections[key] = data["name"]
            successful[str(place)] = {"key": key, "data": data}
        else:
            key = f"NEWW{len(library.items):04}"
            library.items[key] = _item(key, library.version, data)
            successful[str(place)] = library.items[key]
    return _json({"successful": successful, "success": {}, "unchanged": {}, "failed": failed})


def _json(value: Any) -> Said:
    return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()


SPOKEN: dict[str, Callable[..., Said]] = {"zotero": answer, "zotero-web": answer}
