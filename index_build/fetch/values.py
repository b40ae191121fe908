"""The nouns of fetching: what is wished for, one call of a source, its answer, a page of records."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Generic, Protocol, TypeVar

from search.errors import SourceError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be fetched from a source, remembered with the corpus so that it can be updated."""

    source: str
    """A name in `catalogue.SOURCES`: "arxiv", "pubmed", "doi", …"""
    text: str = ""
    """A query in the source's own language, a venue, or the paper that citations are chased from."""
    category: str = ""
    filter: str = ""
    author: str = ""
    cites: str = ""
    """OpenAlex: works that cite this one."""
    cited_by: str = ""
    """OpenAlex: works that this one cites."""
    ids: tuple[str, ...] = ()
    """Identifiers as they stood in the list."""
    since: str = ""
    """A day, ISO 8601; so is `until`."""
    until: str = ""
    server: str = ""
    feed: bool = False
    """arXiv: only what was announced today."""
    collection: str = ""
    library: str = ""
    through: str = ""
    """Which source citations are chased through."""

    @property
    def id(self) -> str:
        """Ten hex digits of what is wished for."""
        return hashlib.sha256(json.dumps(self.as_dict()).encode()).hexdigest()[:10]

    def as_dict(self) -> dict[str, Any]:
        """What is set, by name."""
        return {name: value for name, value in asdict(self).items() if value}


def wish_from(values: Mapping[str, Any]) -> Wish:
    """The reverse of `as_dict`."""
    known = {each.name for each in fields(Wish)}
    given = {name: value for name, value in values.items() if name in known}
    return Wish(**(given | {"ids": tuple(given.get("ids", ()))}))


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a source, without the secrets that go with it when it is sent."""

    source: str
    """Whose address, pause and key count: a name in `addresses.TABLE`."""
    path: str = ""
    """What follows the address of the source."""
    params: tuple[tuple[str, str], ...] = ()
    body: str = ""
    form: bool = False
    """Whether the body is a form; else it is JSON."""
    headers: tuple[tuple[str, str], ...] = ()
    method: str = ""
    """Where it is neither GET nor, with a body, POST."""
    good: tuple[int, ...] = (200,)
    """Statuses that are an answer."""
    expires: bool = False
    """Whether the source refuses it once its cursor is too old."""
    round: int = 0
    """Raised to ask the same again: a later round is not answered from what was kept."""

    @property
    def key(self) -> str:
        """The same for the same call, whatever secrets it is sent with."""
        told = [self.source, self.method, self.path, self.params, self.body, self.headers, self.round]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    """With names in lower case."""
    body: bytes
    """Unpacked."""
    packed: bytes = b""
    """As it came, where it came as gzip."""


@dataclass(frozen=True, slots=True)
class Heard(Generic[T]):
    """An answer that was understood; `key` is where it is kept."""

    key: str
    headers: Mapping[str, str]
    found: T


@dataclass(frozen=True, slots=True)
class Page:
    """Records in an answer that is kept."""

    key: str
    ids: tuple[str, ...]
    gone: tuple[str, ...] = ()
    """Ids, as the store has them, of papers that the source has withdrawn."""
    source: str = ""
    """Which source's module reads it, where it is not that of the wish."""


@dataclass(frozen=True, slots=True)
class Count:
    """What a source announces before anything is fetched."""

    records: int | None
    """None where the source cannot tell."""
    calls: int
    cost: float = 0.0
    """In US dollars."""
    note: str = ""


Understand = Callable[[Answer], T]
"""Reads an answer, or raises Unreadable."""


class Ask(Protocol):
    """Sends a call, or gives the answer that was kept when the same run sent it before."""

    def __call__(self, call: Call, understand: Understand[T]) -> Heard[T]: ...


@dataclass(frozen=True, slots=True)
class Since:
    """Up to where an earlier run came, for what only asks for news."""

    day: str
    """ISO 8601, the day that run began."""
    state: Mapping[str, str] = field(default_factory=dict)
    """What the source gave to come back with: an ETag, the version of a library."""


class Unreadable(Exception):
    """An answer that cannot be right: cut off, of another kind, the same page. Asking again may help."""


class Expired(Exception):
    """The source no longer knows a cursor or token: the pass begins anew."""


class Stopped(Exception):
    """Somebody asked the fetch to stop; what has arrived is kept."""


class Refused(SourceError):
    """The source says that what is asked is wrong; asking again does not help."""


class Unanswered(SourceError):
    """The source could not be reached, or gave no usable answer, for as long as one should try."""
