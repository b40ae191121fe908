"""Find: give a paper, choose the sentences that matter, read which papers match and why."""

from __future__ import annotations

import streamlit as st

from pages.ui import filters, links, parts, sentences, start, state, views
from pages.ui.escape import plain
from search.types import Query

VIEWS = ("List", "Triptych", "Plane")
STEP = 20


def page() -> None:
    links.open_from_address()
    draft = state.visit().draft
    if draft is None:
        st.title("Find papers by the part that matters")
        st.markdown("Give a paper, choose the sentences you care about, and see which papers match and why.")
        start.panel()
        return
    title, again = st.columns([4, 1], vertical_alignment="center")
    title.title(_title(draft))
    again.button("New search", icon=":material/add:", on_click=state.clear, width="stretch")
    if draft.note:
        st.info(draft.note, icon=":material/history:")
    left, right = st.columns([5, 7], gap="large")
    with left:
        st.subheader("Your paper", anchor=False)
        st.caption(f"{plain(draft.origin)}. Labels are a model's guess: correct them where they are wrong.")
        papers = sentences.edit(draft)
    with right:
        _answer(papers)


def _title(draft: state.Draft) -> str:
    if len(draft.papers) > 1:
        return f"{len(draft.papers)} papers"
    return plain(draft.papers[0].title) or "Your text"


def _answer(papers: tuple) -> None:
    st.subheader("What matches", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view = st.segmented_control(
            "View", VIEWS, default="List", required=True, key="view", label_visibility="collapsed"
        )
        chosen, matcher = filters.choose()
        tools = st.container(horizontal=True, width="content")
    query = Query(papers, matcher, chosen, state.visit().top)
    results = state.search(query)
    link = links.show_in_address(query, results.build_id)
    with tools:
        views.take_away(results, link)
    st.caption(_summary(results), help=parts.SCORE_HELP)
    if view == "Triptych":
        views.triptych(papers[0], chosen)
    elif not results.results:
        st.info("No paper passes these filters: widen the years or clear a filter.")
    elif view == "Plane":
        views.plane(query, results)
    else:
        parts.result_list(results)
        _more(results)


def _summary(results) -> str:
    found, seconds = len(results.results), results.seconds.get("total", 0.0)
    return f"The {found} nearest of {results.candidates:,} papers compared, in {seconds:.2f} s."


def _more(results) -> None:
    if len(results.results) == results.query.top:
        st.button(f"Show {STEP} more", on_click=_show_more, width="stretch")


def _show_more() -> None:
    state.visit().top += STEP


page()
