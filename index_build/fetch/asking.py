"""What a source's module is given: the wish, the way to ask, and the ledger that counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Protocol

from index_build.fetch.addresses import Place, key_of, place_of
from index_build.fetch.ledger import Ledger
from index_build.fetch.values import Ask, Count, Page, Since, Wish
from index_build.sources.rejects import Reject
from search.errors import InputError
from search.settings import Settings
from search.types import Paper

OVERLAP = 2
"""Days that are asked for again when only news are: sources take a while to publish what they date."""


def _nothing(key: str) -> bytes:
    raise KeyError(key)


@dataclass(slots=True)
class Asking:
    wish: Wish
    ask: Ask
    settings: Settings
    today: str
    """The day on which the run began, ISO 8601: a run that goes on later asks the same."""
    body: Callable[[str], bytes] = _nothing
    """The answer that is kept under the key of a page."""
    since: Since | None = None
    """Where only news are asked for."""
    ledger: Ledger = field(default_factory=Ledger)
    missing: dict[str, str] = field(default_factory=dict)
    """Identifiers for which nothing came, and why."""
    state: dict[str, str] = field(default_factory=dict)
    """What to come back with the next time."""

    def place(self, name: str = "") -> Place:
        return place_of(name or self.wish.source, self.settings)

    def has_key(self, name: str = "") -> bool:
        return bool(key_of(name or self.wish.source, self.settings))

    @property
    def first_day(self) -> str:
        """From which day on, the wish's or that of the last run, whichever is later; empty for all."""
        news = day_before(self.since.day, OVERLAP) if self.since else ""
        return max(self.wish.since, news)


class Source(Protocol):
    """What can be fetched from; a module is one."""

    @property
    def PLACES(self) -> tuple[str, ...]:
        """The addresses that it asks, by their names in the table."""

    def check(self, wish: Wish) -> None:
        """InputError in one sentence where the wish makes no sense for this source."""

    def told(self, wish: Wish) -> str:
        """The wish in words, as an origin and in lists: "arXiv, cs.CL since 2026-01-01"."""

    def count(self, asking: Asking) -> Count:
        """How much there is, by one or two calls."""

    def pages(self, asking: Asking) -> Iterator[Page]:
        """Every page of records; what is announced and what is missing goes to the ledger."""


class Reading(Source, Protocol):
    """A source that reads its pages itself; others pass on pages of these."""

    def read(self, body: bytes, name: str) -> Iterator[Paper | Reject]:
        """The papers of a kept page."""


def day_of(text: str) -> date:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        raise InputError(f"{text!r} is no day: write it as 2026-01-31.") from None


def day_before(text: str, days: int) -> str:
    return (day_of(text) - timedelta(days=days)).isoformat()


def require(wish: Wish, names: str, example: str) -> None:
    """Refuses a wish that has none of these fields, or fields besides them."""
    allowed = {"source", "since", "until", *names.split()}
    strange = sorted(set(wish.as_dict()) - allowed)
    if strange:
        options = " and ".join(f"--{name.replace('_', '-')}" for name in strange)
        raise InputError(f"{wish.source} cannot be asked with {options}: try `{example}`.")
    if not set(wish.as_dict()) & set(names.split()):
        raise InputError(f"Say what to ask {wish.source} for: `{example}`.")
    for day in filter(None, (wish.since, wish.until)):
        day_of(day)
    if wish.since and wish.until and wish.since > wish.until:
        raise InputError(f"Nothing lies between {wish.since} and {wish.until}: give the earlier day first.")


def with_days(text: str, wish: Wish) -> str:
    """A wish in words with its days."""
    since, until = f" since {wish.since}" if wish.since else "", f" until {wish.until}" if wish.until else ""
    return f"{text}{since}{until}"


def halves(first: date, last: date) -> tuple[tuple[date, date], tuple[date, date]]:
    """The days from `first` to `last`, parted in the middle."""
    middle = first + (last - first) // 2
    return (first, middle), (middle + timedelta(days=1), last)


def calls_for(records: int, page: int) -> int:
    """Requests that bring so many records, and at least one."""
    return max(1, -(-records // max(page, 1)))
