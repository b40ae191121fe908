"""Where a kept paper was found: the search, the reason and the sentences that matched, as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from search.errors import InputError
from search.types import Facet


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of the search and the sentence of the paper that answers it."""

    yours: str
    theirs: str
    facet: Facet | None = None
    """What the paper's sentence does."""


@dataclass(frozen=True, slots=True)
class Origin:
    """All empty where a paper was kept outside of a search."""

    reason: str = ""
    """One line: which words matched."""
    title: str = ""
    """What the search was about, for the reader."""
    search: str = ""
    """Its id in the history."""
    query: str = ""
    """The query as it was then, as `search.query.saving` writes it: it outlives the history."""
    corpus: str = ""
    """Which corpus it was, in words."""
    quotes: tuple[Quote, ...] = ()


NOWHERE = Origin()


def origin_to_json(origin: Origin) -> str:
    """Empty for no origin, so that libraries of before need nothing."""
    values = {name: value for name, value in asdict(origin).items() if value}
    return json.dumps(values, ensure_ascii=False) if values else ""


def origin_from_json(values: Any) -> Origin:
    """The reverse of `origin_to_json`, for parsed JSON; InputError for anything else."""
    if not values:
        return NOWHERE
    if not isinstance(values, dict):
        raise InputError(
            f"A paper of this file was found in {values!r:.60}: repair the file or save it anew."
        )
    texts = {each.name: _text(values, each.name) for each in fields(Origin) if each.name != "quotes"}
    quotes = values.get("quotes") or []
    if not isinstance(quotes, list) or not all(isinstance(each, dict) for each in quotes):
        raise InputError(
            'A paper of this file has "quotes" that are no list: repair the file or save it anew.'
        )
    return Origin(**texts, quotes=tuple(map(_quote, quotes)))


def _quote(values: dict[str, Any]) -> Quote:
    return Quote(_text(values, "yours"), _text(values, "theirs"), facet_in(values.get("facet")))


def facet_in(value: Any) -> Facet | None:
    """A facet by its name; InputError for what is none."""
    if value is None or (isinstance(value, str) and value in set(Facet)):
        return Facet(value) if value else None
    raise InputError(f"A sentence of this file is labelled {value!r:.60}: repair the file or save it anew.")


def _text(values: dict[str, Any], name: str) -> str:
    value = values.get(name) or ""
    if not isinstance(value, str):
        raise InputError(
            f'A paper of this file has {value!r:.60} as its "{name}": repair the file or save it anew.'
        )
    return value
