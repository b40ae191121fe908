"""Papers into a collection of Zotero, on this machine or on zotero.org, each with its reason as a note."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from index_build.fetch import zotero
from index_build.fetch.asking import Asking
from index_build.fetch.fetching import require_allowed
from index_build.fetch.journal import now
from index_build.fetch.pace import Stop, nobody
from index_build.fetch.reading import parse_object
from index_build.fetch.values import Answer, Call, Heard, Refused, Understand, Wish
from index_build.fetch.web import Client, said
from index_build.fetch.zotero_items import item_of, note_of
from search.downloads import cache_root
from search.errors import SourceError
from search.exports.references import Citation
from search.settings import Settings

AT_ONCE = 50
"""Items that Zotero takes in one request."""
TRIES = 4
"""Times a write is sent again after a conflict or a key that no longer holds."""
NAME = "Triptych"
_ANY = (200, 201, 204, 400, 401, 403, 404, 405, 409, 412, 413, 428)


class CannotWrite(SourceError):
    """This Zotero takes nothing from other programs: a file is the way."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of the papers."""

    written: int
    there: int
    """Those that came from Zotero, which were not sent again."""
    failed: dict[str, str]
    """Titles that Zotero refused, and why."""


class Writer:
    """One library; `library` is empty for the Zotero on this machine, which asks its user."""

    def __init__(self, settings: Settings, library: str = "", stop: Stop = nobody) -> None:
        require_allowed(settings)
        self._wish = Wish("zotero", library=library)
        self._client = Client(settings, stop, tries=3)
        self._settings = settings
        self._server_id, self._key = "", "" if library else _remembered()
        self._asking = Asking(self._wish, self._ask, settings, now()[:10])

    def collections(self) -> dict[str, str]:
        """The names of all collections by their keys."""
        return zotero.collections(self._asking)

    def send(self, citations: Sequence[Citation], collection: str) -> Sent:
        """Writes the papers, then their notes; those that are in the library already are left out."""
        fresh = [each for each in citations if not is_in_library(each)]
        failed: dict[str, str] = {}
        written = 0
        for start in range(0, len(fresh), AT_ONCE):
            some = fresh[start : start + AT_ONCE]
            keys, refused = self._write([item_of(each, collection) for each in some])
            failed |= {some[place].paper.title: why for place, why in refused.items()}
            written += len(keys)
            notes = [note_of(some[place], key) for place, key in keys.items() if some[place].note]
            if notes:
                self._write(notes)
        return Sent(written, len(citations) - len(fresh), failed)

    def _write(self, items: list[dict[str, Any]]) -> tuple[dict[int, str], dict[int, str]]:
        """The keys of the items that were written, and why others were not, by their place."""
        version = self._version()
        for _ in range(TRIES):
            if not self._wish.library and not self._key:
                self._authorize()
            answer = self._post("/items", items, version)
            if answer.status in (200, 201):
                return _outcome(answer)
            if answer.status == 401:  # good for one write only, or taken back
                self._forget()
            elif answer.status in (412, 428):
                keys = self._written_since(items, version)
                if len(keys) == len(items):  # an answer that was lost on its way had done it
                    return keys, {}
                version = self._version()
            else:
                self._refuse(answer)
        raise Refused(
            f"Zotero changed under our hands {TRIES} times: wait until it has synchronised, try again."
        )

    def _post(self, path: str, value: Any, version: str) -> Answer:
        own = {"Zotero-API-Key": self._key, "Zotero-Server-ID": self._server_id}
        headers = dict(zotero.HEADERS) | {n: v for n, v in own.items() if v}
        headers["If-Unmodified-Since-Version"] = version
        name = zotero.place_name(self._wish)
        call = Call(
            name,
            zotero.prefix(self._wish) + path,
            body=json.dumps(value),
            headers=tuple(headers.items()),
            good=_ANY,
        )
        return self._client(call, lambda answer: None)[0]

    def _refuse(self, answer: Answer) -> None:
        if answer.status in (404, 405) and not self._wish.library:
            raise CannotWrite(
                "This Zotero takes nothing from other programs (version 10 does): save the results as RIS "
                "and open the file with Zotero."
            )
        raise Refused(
            f"Zotero refuses the papers (status {answer.status}{said(answer)}): check key and library."
        )

    def _authorize(self) -> None:
        """Zotero asks its user in a dialogue; this waits for the answer."""
        headers = (*zotero.HEADERS, ("Zotero-Server-ID", self._server_id))
        body = json.dumps({"appName": NAME})
        call = Call("zotero", "/local/authorize", body=body, headers=headers, good=_ANY)
        answer, _ = self._client(call, lambda answer: None)
        if answer.status == 403:
            raise Refused("Zotero's dialogue was answered with no: nothing was sent.")
        if answer.status != 200:
            self._refuse(answer)
        granted = parse_object(answer)
        self._key = str(granted.get("key") or "")
        if not self._key:
            raise Refused("Zotero gave no key: try again.")
        if granted.get("remember"):
            _remember(self._key)

    def _forget(self) -> None:
        self._key = ""
        _remember("")

    def _version(self) -> str:
        return zotero.ask(self._asking, "/items", {"limit": "1"}).found.version

    def _written_since(self, items: list[dict[str, Any]], version: str) -> dict[int, str]:
        """Which of the items are in the library since a version, by their place."""
        found = zotero.ask(self._asking, "/items", {"since": version, "limit": "100"}).found
        known = {_told(item.get("data", {})): str(item.get("key")) for item in found.items}
        return {place: known[_told(item)] for place, item in enumerate(items) if _told(item) in known}

    def _ask(self, call: Call, understand: Understand[Any]) -> Heard[Any]:
        answer, found = self._client(call, understand)
        self._server_id = answer.headers.get("zotero-server-id", self._server_id)
        return Heard(call.key, answer.headers, found)


def _told(data: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(data.get(name) or "") for name in ("itemType", "title", "DOI", "parentItem", "note"))


def _outcome(answer: Answer) -> tuple[dict[int, str], dict[int, str]]:
    value = parse_object(answer)
    done = {**value.get("unchanged", {}), **value.get("success", {}), **value.get("successful", {})}
    keys = {
        int(place): str(item.get("key") if isinstance(item, dict) else item) for place, item in done.items()
    }
    failed = {
        int(place): str(why.get("message") or "no reason given")
        for place, why in value.get("failed", {}).items()
    }
    return keys, failed


def is_in_library(citation: Citation) -> bool:
    """Whether the paper came from Zotero."""
    return any(origin.startswith("Zotero") for origin in citation.paper.reference.origins)


def _key_file() -> Path:
    return cache_root() / "zotero-key"


def _remembered() -> str:
    try:
        return _key_file().read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _remember(key: str) -> None:
    """Keeps the key for its owner alone; an empty one is forgotten."""
    path = _key_file()
    if not key:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(key)
