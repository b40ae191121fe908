"""What comes in and what goes out: one request, one answer, and the pages of a ranking."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from search import printing
from search.api.cursors import make_cursor, read_cursor
from search.api.queries import Page
from search.api.surroundings import Surroundings
from search.engine import Engine
from search.errors import InputError
from search.query import choosing
from search.types import Query, Results

REMEMBERED, MOST_REMEMBERED = 32, 4000
"""Answers kept for their later pages, and the results of all of them: each takes some ten kilobytes."""


class Rankings:
    """The last answers, by what was asked. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, Query], Results] = OrderedDict()

    def get(self, key: tuple[str, Query]) -> Results | None:
        with self._lock:
            return self._known.get(key)

    def put(self, key: tuple[str, Query], results: Results) -> None:
        with self._lock:
            self._known[key] = results
            while len(self._known) > REMEMBERED or self._count() > MOST_REMEMBERED:
                self._known.popitem(last=False)

    def _count(self) -> int:
        return sum(len(each.results) for each in self._known.values())


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its body, its parameters, whose it is."""

    here: Surroundings
    body: Mapping[str, Any]
    parameters: Mapping[str, str]
    owner: str = ""
    memory: Rankings = field(default_factory=Rankings)
    base: str = ""
    """The path of the API as this client reaches it."""
    address: str = ""
    """The whole address that was asked for."""

    def number(self, name: str, default: int, most: int) -> int:
        text = self.parameters.get(name, str(default))
        if not (text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= most):
            raise InputError(f"{name} is {choosing.shorten(text)}; it must be a number from 1 to {most}.")
        return int(text)

    def needed(self, name: str) -> str:
        if not self.parameters.get(name, "").strip():
            raise InputError(f"The parameter {name} is missing: give it, as in ?{name}=...")
        return self.parameters[name]


@dataclass(frozen=True, slots=True)
class Answer:
    content: Any
    """A value to be sent as JSON, or a text to be sent as it is."""
    tag: str = ""
    """What the answer depends on besides the address: the build. Empty: nothing to compare."""
    media: str = "application/json"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def page_of(asked: Asked, engine: Engine, query: Query, question: Any, page: Page) -> Answer:
    """A part of the answer, and where the next begins."""
    build = engine.manifest.build_id
    start = read_cursor(page.cursor, build, question) if page.cursor else 0
    results = searched(asked, engine, query)
    end = len(results.results) if page.size is None else start + page.size
    shown = replace(results, results=results.results[start:end])
    content = printing.content_of(shown)
    for place, result in enumerate(content["results"], start=start + 1):
        result["rank"] = place
    more = end < len(results.results)
    content["next"] = make_cursor(results.build_id, question, end) if more else None
    return Answer(content, results.build_id)


def searched(asked: Asked, engine: Engine, query: Query) -> Results:
    """The whole ranking; kept for a while, for the pages of one answer are of one ranking."""
    key = engine.manifest.build_id, query
    if (results := asked.memory.get(key)) is None:
        results = engine.search(query)
        asked.memory.put(key, results)
    return results
