"""Find: give a paper, choose the sentences that matter, read which papers match and why."""

from __future__ import annotations

import streamlit as st

from pages.ui import (
    adding,
    faults,
    filters,
    frame,
    links,
    looks,
    parts,
    pasted,
    plane,
    sentences,
    start,
    state,
    triptych,
    views,
)
from pages.ui import results as result_list
from pages.ui.escape import plain
from pages.ui.verdict import verdict
from search.types import Query, Results

VIEWS_OF_SEVERAL = ("List", "Plane")
"""A triptych is of one paper."""


def page() -> None:
    if not state.build_id():
        st.title("Find papers by the part that matters", anchor=False)
        adding.first_corpus()
        return
    with faults.shown():
        links.follow_address()
    draft = state.visit().draft
    if draft is None:
        looks.forget()
        st.title("Find papers by the part that matters", anchor=False)
        st.markdown("Give a paper, choose the sentences you care about, and see which papers match and why.")
        start.panel()
    else:
        _search_with(draft)
    pasted.keep(begun=draft is not None)


def _search_with(draft: state.Draft) -> None:
    one = len(draft.papers) == 1
    st.title(plain(draft.papers[0].title) or "Your text" if one else plain(draft.origin), anchor=False)
    if draft.note:
        st.info(draft.note, icon=":material/history:")
    st.html('<a class="skip" href="#matches">Skip to the results</a>')
    with st.container(horizontal=True, vertical_alignment="center", key="toolbar"):
        offered = looks.VIEWS if one else VIEWS_OF_SEVERAL
        looks.begin(looks.VIEW, offered)
        view = st.segmented_control(
            "View",
            offered,
            required=True,
            key=looks.VIEW,
            persist_state="session",
            label_visibility="collapsed",
        )
        chosen, matcher = filters.choose()
        tools = st.container(horizontal=True, width="content")
        st.button("New search", icon=":material/add:", on_click=state.clear)
    query = Query(draft.papers, matcher, chosen, state.visit().top)
    with faults.shown():
        if results := _answer(view or looks.VIEWS[0], query, draft):
            with tools:
                views.take_away(results, draft)


def _answer(view: str, query: Query, draft: state.Draft) -> Results | None:
    """Draws the answer as it is looked at; None where there is none."""
    if view == "List":
        return _list(query, draft)
    links.remember(draft, query, state.build_id())
    return triptych.show(query, draft.id) if view == "Triptych" else plane.show(query, draft.id)


def _list(query: Query, draft: state.Draft) -> Results | None:
    results = None
    left, right = st.columns([5, 7], gap="large")
    with left, st.container(key="yours", gap="small"):
        sentences.edit(draft)
    with right, faults.shown():
        results = state.search(query)
        links.remember(draft, query, results.build_id)
        _matches(results, draft)
    return results


def _matches(results: Results, draft: state.Draft) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall", key="matches-head"):
        st.header("What matches", anchor="matches", width="content")
        st.caption(verdict(results), help=parts.SCORE_HELP)
    if results.results:
        result_list.show(results, draft.id)
    else:
        st.info(
            "No paper passes these filters: widen the years or clear a filter.", icon=":material/filter_alt:"
        )


frame.draw(page)
