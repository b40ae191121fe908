"""The address bar carries the query: a link that is opened becomes a draft, a search becomes a link."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

import streamlit as st

from pages.ui import filters, state
from search.query import SavedQuery, from_link, to_link
from search.types import Query

LONGEST = 6000
"""Characters of a packed query; servers and mail programs cut longer addresses."""
CHANGED = (
    "The corpus has changed since this search was saved, so the ranking may differ from the one it showed."
)


def open_from_address() -> None:
    """Takes up the query in the address unless it is the one this visit has put there itself."""
    packed = st.query_params.get("q", "")
    if packed and packed != state.visit().link:
        state.visit().link = packed
        take_up(from_link(packed), origin="From a link")


def take_up(saved: SavedQuery, origin: str) -> None:
    """Makes a saved query the visitor's draft, with its filters and a note if the corpus has changed."""
    query = state.engine().restore(saved.query)
    changed = saved.build_id not in ("", state.build_id())
    state.start(query.papers, origin, note=CHANGED if changed else "")
    state.visit().top = query.top
    filters.preset(query.filters, query.matcher)


def show_in_address(query: Query, build_id: str) -> str:
    """Puts the query into the address bar and returns the whole link; empty when it would be too long."""
    packed = to_link(query, build_id)
    if len(packed) > LONGEST:
        st.query_params.pop("q", None)
        state.visit().link = ""
        return ""
    if packed != state.visit().link or st.query_params.get("q") != packed:
        state.visit().link = packed
        st.query_params["q"] = packed
    page = urlsplit(st.context.url or "")
    return urlunsplit((page.scheme, page.netloc, page.path, f"q={packed}", ""))
