"""Explore: a topic in words, and the corpus answers by facet: which problems, methods and results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import altair as alt
import pandas as pd
import streamlit as st

from pages.ui import charts, filters, frame, html, state
from pages.ui.escape import one_line, plain
from pages.ui.palette import coloured, look, word
from pages.ui.words import counted
from search.topics import Hit, Topic, explore
from search.types import PANELS, Facet, Filters, Paper

QUESTIONS = {
    Facet.BACKGROUND: "What problems",
    Facet.METHOD: "Which methods",
    Facet.RESULT: "Which results",
}
SHOWN = 10
BARS = 8  # venues and fields shown


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What is clicked in the charts; empty means everything."""

    years: frozenset[int]
    venues: frozenset[str]
    fields: frozenset[str]

    def holds(self, paper: Paper) -> bool:
        in_years = not self.years or paper.year in self.years
        in_venues = not self.venues or paper.venue in self.venues
        return in_years and in_venues and (not self.fields or bool(self.fields & set(paper.fields)))


def page() -> None:
    st.title("Explore a topic", anchor=False)
    st.markdown("Name a topic, and read what the corpus says of it: its problems, its methods, its results.")
    state.engine()
    text = _ask()
    if not text:
        st.info(
            "Type a topic such as “detecting rare events in long recordings”.", icon=":material/lightbulb:"
        )
        return
    topic = find(state.build_id(), text, filters.choose_filters())
    if not topic.papers:
        st.info("No paper passes these filters: widen the years or clear one.", icon=":material/filter_alt:")
        return
    narrowed = _charts(topic)
    _panels(topic, narrowed)
    _map(topic, narrowed)


def _ask() -> str:
    with st.form("topic", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input("Topic", st.query_params.get("topic", ""), max_chars=500)
        if st.form_submit_button("Explore", type="primary", icon=":material/travel_explore:"):
            st.query_params["topic"] = text or ""
    return (text or "").strip()


@st.cache_data(show_spinner="Reading the corpus on this topic…", max_entries=30)
def find(build_id: str, text: str, chosen: Filters) -> Topic:
    return explore(state.engine(), text, chosen)


def _charts(topic: Topic) -> Narrowed:
    st.header(counted(len(topic.papers), "paper"), anchor=False)
    st.caption("Click years, venues or fields to narrow what is shown below; click again to take them back.")
    years = Counter(paper.year for paper in topic.papers if paper.year)
    venues = Counter(paper.venue for paper in topic.papers if paper.venue)
    fields = Counter(field for paper in topic.papers for field in paper.fields)
    by_year, by_venue, by_field = st.columns([5, 4, 4], gap="large")
    with by_year:
        st.subheader("By year", anchor=False)
        told = ", ".join(f"{year}: {count}" for year, count in sorted(years.items()))
        picked = _picked(charts.years(years, 200, pick=True), "Year", told) if years else []
    with by_venue:
        picked_venues = _bars(venues, "Venue")
    with by_field:
        picked_fields = _bars(fields, "Field")
    return Narrowed(frozenset(map(int, picked)), frozenset(picked_venues), frozenset(picked_fields))


def _bars(counts: Counter[str], name: str) -> list[str]:
    st.subheader(f"By {name.lower()}", anchor=False)
    if not counts:
        st.caption(f"The papers of this topic name no {name.lower()}.")
        return []
    most = dict(counts.most_common(BARS))
    told = ", ".join(f"{value} {count}" for value, count in most.items())
    return _picked(charts.bars(most, name, pick=True), name, told)


def _picked(chart: alt.Chart, field: str, told: str) -> list[str]:
    event = st.altair_chart(chart, on_select="rerun", key=f"topic-{field}", alt=told)
    return [each[field] for each in event.selection.get("picked", []) if field in each]


def _panels(topic: Topic, narrowed: Narrowed) -> None:
    for column, facet in zip(st.columns(len(PANELS), gap="medium"), PANELS, strict=True):
        with column:
            st.header(f"{QUESTIONS[facet]} · {coloured(facet)}", anchor=False)
            st.markdown(" ".join(f":{look(facet).name}-badge[{plain(term)}]" for term in topic.terms[facet]))
            hits = [hit for hit in topic.hits[facet] if narrowed.holds(hit.paper)]
            if not hits:
                st.caption("No sentence of this kind. Clear a choice in the charts above.")
            _sentences(hits, facet)


def _sentences(hits: list[Hit], facet: Facet) -> None:
    more = st.session_state.get(f"more-{facet}", SHOWN)
    for hit in hits[:more]:
        st.html(html.quote(hit.text, hit.paper, facet))
        st.page_link("pages/paper.py", label="Open", query_params={"id": hit.paper.id})
    if len(hits) > more and st.button("Show more", key=f"button-more-{facet}"):
        st.session_state[f"more-{facet}"] = more + SHOWN
        st.rerun()


def _map(topic: Topic, narrowed: Narrowed) -> None:
    st.header("Map", anchor=False)
    st.caption("Sentences that lie close together say similar things; the axes have no meaning of their own.")
    chosen = st.pills(
        "Show", PANELS, selection_mode="multi", default=PANELS, format_func=word, key="map-facets"
    )
    hits = [hit for facet in chosen for hit in topic.hits[facet] if narrowed.holds(hit.paper)]
    if not hits:
        st.info("Choose at least one facet to draw.", icon=":material/scatter_plot:")
        return
    frame = pd.DataFrame(
        {
            "id": [hit.paper.id for hit in hits],
            "x": [hit.x for hit in hits],
            "y": [hit.y for hit in hits],
            "Facet": [word(hit.facet) for hit in hits],
            "Title": [one_line(hit.paper.title) for hit in hits],
            "Sentence": [one_line(hit.text) for hit in hits],
        }
    )
    told = "A map of the sentences listed above, by facet."
    event = st.altair_chart(
        charts.topic_map(frame, state.is_dark()), on_select="rerun", key="topic-map", alt=told
    )
    for paper_id in {each["id"] for each in event.selection.get("picked", []) if "id" in each}:
        hit = next(hit for hit in hits if hit.paper.id == paper_id)
        st.html(html.quote(hit.text, hit.paper, hit.facet))
        st.page_link("pages/paper.py", label="Open", query_params={"id": paper_id})


frame.draw(page)
