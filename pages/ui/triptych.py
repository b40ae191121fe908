"""The nearest by background, by method and by result, side by side; on a phone, one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from pages.ui import faults, looks, state
from pages.ui import results as result_list
from pages.ui.palette import coloured, word
from search.types import PANELS, Facet, Query, Result, Results

TOP = 8
"""Papers in each of the three columns; chosen by hand."""
Panels = Mapping[Facet, Results]


def show(query: Query, search_id: str = "") -> Results:
    """Draws the three columns and returns what they hold as one answer."""
    panels = state.answer(state.engine().triptych, query.papers[0], query.filters, TOP, query.matcher)
    with st.container(gap=None):
        if search_id:
            st.caption(f"The {TOP} nearest papers by background, by method and by result.")
        _tabs()
    _columns(panels, search_id)
    return together(panels, query)


def _tabs() -> None:
    """Which column a phone shows; wider screens show all three and no tabs."""
    looks.begin(looks.PANEL)
    with st.container(key="panels"):
        st.segmented_control(
            "Panel",
            [str(facet) for facet in PANELS],
            format_func=lambda facet: word(Facet(facet)),
            required=True,
            key=looks.PANEL,
            persist_state="session",
            label_visibility="collapsed",
        )
    others = ", ".join(
        f".stColumn:has(.st-key-panel-{f})" for f in PANELS if f != st.session_state[looks.PANEL]
    )
    st.html(f"<style>@media (max-width: 640px) {{ {others} {{ display: none; }} }}</style>")


@st.fragment
@faults.shown()
def _columns(panels: Panels, search_id: str) -> None:
    """Redrawn together, for a paper may be kept in one column and shown in another."""
    near = near_by(panels)
    for column, facet in zip(st.columns(len(PANELS), gap="medium"), PANELS, strict=True):
        with column, st.container(key=f"panel-{facet}", gap="small"):
            st.header(f"Nearest by {coloured(facet)}", anchor=False)
            if facet not in panels:
                st.caption(
                    f"No sentence of this abstract is labelled {facet}. Correct a label in the list view to "
                    "fill this panel."
                )
            elif not panels[facet].results:
                st.caption("No paper passes these filters: widen the years or clear a filter.")
            else:
                also = {id: [other for other in found if other is not facet] for id, found in near.items()}
                drawing = result_list.Drawing(
                    key=f"results-{facet}",
                    label=f"Nearest by {facet}",
                    more=False,
                    keeps_place=facet is PANELS[0],
                    also=also,
                )
                result_list.draw(panels[facet], search_id, drawing)


def near_by(panels: Panels) -> dict[str, list[Facet]]:
    """The panels that each paper is among the nearest by."""
    near: dict[str, list[Facet]] = {}
    for facet, results in panels.items():
        for result in results.results:
            near.setdefault(result.paper.id, []).append(facet)
    return near


def together(panels: Panels, query: Query) -> Results:
    """Each paper once, the nearest first; each says in which panels it stands."""
    found: dict[str, Result] = {}
    places: dict[str, list[str]] = {}
    for facet, results in panels.items():
        for number, result in enumerate(results.results, 1):
            places.setdefault(result.paper.id, []).append(f"{facet} (number {number})")
            if result.paper.id not in found or result.score > found[result.paper.id].score:
                found[result.paper.id] = result
    named = [
        replace(result, places=f"Nearest by {' and by '.join(places[id])}.") for id, result in found.items()
    ]
    answers = list(panels.values())
    return Results(
        query,
        tuple(sorted(named, key=lambda result: -result.score)),
        answers[0].build_id if answers else state.build_id(),
        sum(results.candidates for results in answers),
    )
