"""Kept searches: listed, read, run on the build of today, added and forgotten."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import replace
from typing import Any

from search import printing
from search.api import queries
from search.api.exchange import Answer, Asked, page_of
from search.api.problems import Problem
from search.errors import InputError
from search.history import Entry, History, new_id
from search.query import choosing, saving
from search.watch.digests import as_atom
from search.watch.finding import feed

ATOM = "application/atom+xml; charset=utf-8"
MOST_NAME = 120
"""Characters of a name, as the history keeps them."""


def _history(asked: Asked) -> History:
    if asked.here.history is None:
        raise Problem(403, "This host keeps no searches: keep the query yourself and send it again.")
    return asked.here.history


def _entry(asked: Asked, id: str) -> Entry:
    found = {each.id: each for each in _history(asked).named(asked.owner)}.get(id)
    if found is None:
        raise Problem(404, "There is no kept search by this id: GET /searches lists them.")
    return found


def _kept(asked: Asked, entry: Entry) -> dict[str, Any]:
    query = saving.from_json(_history(asked).content(entry.id)).query
    return {
        "id": entry.id,
        "name": entry.name,
        "title": entry.title,
        "last_used": entry.last_used.isoformat(),
        "query": printing.query_content(query),
    }


def searches(asked: Asked) -> Answer:
    kept = []
    for entry in _history(asked).named(asked.owner):
        with suppress(InputError):  # one that another version wrote hides no others
            kept.append(_kept(asked, entry))
    return Answer({"searches": kept}, _digest(kept))


def kept_search(asked: Asked) -> Answer:
    kept = _kept(asked, _entry(asked, asked.parameters["search"]))
    return Answer(kept, _digest(kept))


def run_search(asked: Asked) -> Answer:
    """A kept search on the build of today."""
    entry = _entry(asked, asked.parameters["search"])
    engine = asked.here.engine()
    query = engine.restore(saving.from_json(_history(asked).content(entry.id)).query)
    size = asked.number("per_page", choosing.MOST_RESULTS, choosing.MOST_RESULTS)
    page = queries.Page(size, asked.parameters.get("cursor", ""))
    asked_for = saving.to_json(query)
    answer = page_of(asked, engine, query, ["kept", asked_for], page)
    # What is kept under an id may change, so the answer depends on more than the build.
    return replace(answer, tag=f"{answer.tag}-{_digest(asked_for)}")


def keep_search(asked: Asked) -> Answer:
    queries.only(asked.body, {"name"} | queries.QUERY_KEYS)
    try:
        name = saving.text_in(asked.body.get("name"), "name").strip()
    except ValueError as error:
        raise InputError(f"The name cannot be read ({error}): correct it.") from None
    if not name or len(name) > MOST_NAME:
        raise InputError(f"A kept search has a name of 1 to {MOST_NAME} characters: give it one.")
    history, engine = _history(asked), asked.here.engine()
    query = queries.read_query(asked.body, engine)
    choosing.check(query)
    id, title = new_id(), next((each.title for each in query.papers if each.title), name)
    history.put(id, asked.owner, title, saving.to_json(query, engine.manifest.build_id, indent=None))
    history.rename(id, asked.owner, name)
    place = {"Location": f"{asked.base}/searches/{id}"}
    return Answer(_kept(asked, _entry(asked, id)), status=201, headers=place)


def forget_search(asked: Asked) -> Answer:
    entry = _entry(asked, asked.parameters["search"])
    _history(asked).forget(entry.id, asked.owner)
    return Answer(None, status=204)


def _digest(content: Any) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()[:20]


def atom(asked: Asked) -> Answer:
    """What is new for a kept search. Its id is a secret that nobody can guess, so it needs no key."""
    history, notes = _history(asked), asked.here.notes
    entry = history.entry(asked.parameters["search"])
    if entry is None or not entry.name or notes is None:
        raise Problem(404, "There is no feed at this address: it may have been forgotten since.")
    news = feed(asked.here.engine(), history, notes, entry)
    # Where nothing was told yet, the time of the search, so that an unchanged feed stays the same.
    text = as_atom([news], entry.last_used, asked.address)
    return Answer(text, _digest(text), ATOM)
