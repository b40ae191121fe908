"""A kept search on the current build: what it finds that was not there when it was last looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from search.engine import Engine
from search.history import Entry, History
from search.query.saving import from_json
from search.ranking.calibration import in_words
from search.types import Likeness, Query, Result
from search.watch.notes import Notes, Run

LEVEL = 0.25
"""From one word of likeness to the next."""
KEPT = 50
"""Entries of a feed; older ones are in the reader already. Chosen by hand."""
FEED = "feed"


@dataclass(frozen=True, slots=True)
class Item:
    result: Result
    when: datetime | None = None
    """When it was first reported; None where that is now."""


@dataclass(frozen=True, slots=True)
class News:
    """What is new for one kept search."""

    search: Entry
    query: Query
    items: tuple[Item, ...]
    run: Run


def find_news(engine: Engine, history: History, notes: Notes, search: Entry, reader: str) -> News:
    """Papers that came since the last run and are near enough; at the first run, all that are.

    Nothing is noted: that is done once it was told.
    """
    query = engine.restore(from_json(history.content(search.id)).query)
    run = Run(engine.manifest.build_id, engine.manifest.papers)
    last = notes.last_run(reader, search.id)
    if last == run:
        return News(search, query, (), run)
    told = {each.paper_id for each in notes.told(reader, search.id)}
    near = [each for each in engine.search(query).results if is_near(each)]
    arrivals = engine.store.arrivals([each.paper.id for each in near])
    # A corpus that has fewer papers than before was made anew.
    since = last.papers if last and last.papers <= run.papers else 0
    fresh = (
        Item(each)
        for each, arrival in zip(near, arrivals, strict=True)
        if arrival >= since and told.isdisjoint((each.paper.id, *each.duplicates))
    )
    return News(search, query, tuple(fresh), run)


def is_near(result: Result) -> bool:
    """Related at least, less what is avoided, and not held back by a whole level for being like that."""
    word = in_words(result.score - result.held_back, result.paper.fields)
    return word is not Likeness.UNRELATED and result.held_back < LEVEL


def note(notes: Notes, news: Sequence[News], reader: str) -> None:
    for each in news:
        notes.note(reader, each.search.id, each.run, [item.result.paper.id for item in each.items])


def feed(engine: Engine, history: History, notes: Notes, search: Entry) -> News:
    """Everything reported for a search so far, the latest first, after a look at the current build."""
    news = find_news(engine, history, notes, search, FEED)
    note(notes, [news], FEED)
    told = notes.told(FEED, search.id)[:KEPT]
    if not told:
        return news
    # The same search among these papers alone gives each its reason and its sentences again.
    filters = replace(news.query.filters, ids=tuple(each.paper_id for each in told))
    again = engine.search(replace(news.query, filters=filters, top=len(told)))
    results = {each.paper.id: each for each in again.results}
    items = (Item(results[each.paper_id], each.when) for each in told if each.paper_id in results)
    return News(search, news.query, tuple(items), news.run)
