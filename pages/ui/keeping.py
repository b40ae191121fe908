"""Where a paper is kept from, stored with it and told later: the search, the reason and the corpus."""

from __future__ import annotations

from datetime import datetime

from pages.ui import state
from search.library.files import Kept
from search.library.origins import Origin, Quote
from search.query.saving import from_json
from search.types import Choice, Query, Result

QUOTES = 3
"""Pairs of sentences stored with a kept paper; as many as a result card shows."""
LONGEST_TITLE = 120
"""Characters of what a search is called."""
MATCHES = "Matches "


def origin_of(result: Result | None) -> Origin:
    """Where a result was found: by the search that is shown, as it is now. Without one, only the corpus."""
    if result is None:
        return Origin(corpus=_corpus())
    search, query = state.visit().remembered
    return Origin(
        reason=result.reason,
        title=_title(from_json(query).query) if query else "",
        search=search,
        query=query,
        corpus=_corpus(),
        quotes=tuple(Quote(pair.query_text, pair.text, pair.facet) for pair in result.pairs[:QUOTES]),
    )


def _corpus() -> str:
    manifest = state.engine().manifest
    made = datetime.fromisoformat(manifest.created)
    return f"a corpus of {manifest.papers:,} papers, made {_day(made)}"


def _title(query: Query) -> str:
    """What was asked with, and by which panel where that was not all of it."""
    first, draft = query.papers[0], state.visit().draft
    if len(query.papers) > 1:
        return draft.origin if draft else f"{len(query.papers)} papers"
    title = first.title or next((sentence.text for sentence in first.sentences), "")
    title = title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
    matched = [sentence for sentence in first.sentences if sentence.choice is Choice.MATCH]
    panels = dict.fromkeys(sentence.panel.value for sentence in matched if sentence.panel)
    return title if len(matched) == len(first.sentences) else f"{title}, by {' and '.join(panels)}"


def told(kept: Kept) -> str:
    """ "Kept 18 Nov 2026 from “…” because it matches …", with what is known."""
    day, origin = day_of(kept.added), kept.origin
    parts = ["Kept", day, f"from “{origin.title}”" if origin.title else ""]
    line = " ".join(part for part in parts if part)
    if origin.reason.startswith(MATCHES):
        return f"{line} because it matches {origin.reason.removeprefix(MATCHES)}"
    return f"{line}. {origin.reason}" if origin.reason else f"{line}."


def day_of(added: str) -> str:
    """The day of a stored time; nothing for what a stranger's file has in its place."""
    try:
        return _day(datetime.fromisoformat(added))
    except ValueError:
        return ""


def _day(time: datetime) -> str:
    return f"{time.day} {time:%b %Y}"
