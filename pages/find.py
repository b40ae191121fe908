"""Find: give a paper, choose the sentences that matter, read which papers match and why."""

from __future__ import annotations

import streamlit as st

from pages.ui import adding, faults, filters, frame, links, parts, sentences, start, state, views
from pages.ui.escape import plain
from search.types import Query, Results

VIEWS_OF_ONE, VIEWS_OF_SEVERAL = ("List", "Triptych", "Plane"), ("List", "Plane")
STEP = 20


def page() -> None:
    if not state.build_id():
        st.title("Find papers by the part that matters", anchor=False)
        adding.first_corpus()
        return
    with faults.shown():
        links.open_from_address()
    draft = state.visit().draft
    if draft is None:
        st.title("Find papers by the part that matters", anchor=False)
        st.markdown("Give a paper, choose the sentences you care about, and see which papers match and why.")
        start.panel()
    else:
        _search_with(draft)


def _search_with(draft: state.Draft) -> None:
    one = len(draft.papers) == 1
    st.title(plain(draft.papers[0].title) or "Your text" if one else plain(draft.origin), anchor=False)
    if draft.note:
        st.info(draft.note, icon=":material/history:")
    with st.container(horizontal=True, vertical_alignment="center", key="toolbar"):
        views_offered = VIEWS_OF_ONE if one else VIEWS_OF_SEVERAL
        view = st.segmented_control(
            "View", views_offered, default="List", required=True, key="view", label_visibility="collapsed"
        )
        chosen, matcher = filters.choose()
        tools = st.container(horizontal=True, width="content")
        st.button("New search", icon=":material/add:", on_click=state.clear)
    query = Query(sentences.current(draft), matcher, chosen, state.visit().top)
    if view == "Triptych":
        st.caption(f"The {views.TRIPTYCH_TOP} nearest to each panel, whatever is ticked in the list.")
        views.triptych(query.papers[0], chosen)
        return
    left, right = st.columns([5, 7], gap="large")
    with left:
        st.header("Your paper" if one else "Your papers", anchor=False)
        st.html('<a class="jump" href="#matches">To what matches</a>')
        st.caption(f"{plain(draft.origin)}. The labels are a model's guess: correct what is wrong.")
        sentences.edit(draft)
    with right, faults.shown():
        results = state.search(query)
        with tools:
            views.take_away(results, links.show_in_address(query, results.build_id))
        _answer(view, results)


def _answer(view: str, results: Results) -> None:
    st.header("What matches", anchor="matches")
    found, seconds = len(results.results), results.seconds.get("total", 0.0)
    told = f"The {found} nearest of {results.candidates:,} papers compared, in {seconds:.2f} s."
    st.caption(told, help=parts.SCORE_HELP)
    if not results.results:
        st.info(
            "No paper passes these filters: widen the years or clear a filter.", icon=":material/filter_alt:"
        )
    elif view == "Plane":
        views.plane(results)
    else:
        parts.result_list(results)
        if found == results.query.top:
            st.button(f"Show {STEP} more", on_click=_show_more, width="stretch")


def _show_more() -> None:
    state.visit().top += STEP


frame.draw(page)
