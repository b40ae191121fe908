"""The same answer seen in other ways: three columns, a plane, a file, a link."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from pages.ui import charts, html, parts, state
from pages.ui.escape import one_line, plain
from pages.ui.palette import coloured
from search.exports import FORMATS, SUFFIXES, export
from search.query import to_json
from search.types import PANELS, Facet, Filters, QueryPaper, Results

TRIPTYCH_TOP = 8
FORMAT_NAMES = {
    "bibtex": "BibTeX",
    "ris": "RIS",
    "csl-json": "CSL-JSON (Zotero)",
    "csv": "CSV",
    "markdown": "Markdown",
}


def triptych(paper: QueryPaper, filters: Filters) -> None:
    """The nearest by background, by method and by result, side by side."""
    panels = state.engine().triptych(paper, filters, TRIPTYCH_TOP)
    near = _near_by(panels)
    for column, facet in zip(st.columns(len(PANELS)), PANELS, strict=True):
        with column:
            st.header(f"Nearest by {coloured(facet)}", anchor=False)
            _column(facet, panels.get(facet), near)


def _near_by(panels: Mapping[Facet, Results]) -> dict[str, list[Facet]]:
    near: dict[str, list[Facet]] = {}
    for facet, results in panels.items():
        for result in results.results:
            near.setdefault(result.paper.id, []).append(facet)
    return near


def _column(facet: Facet, results: Results | None, near: dict[str, list[Facet]]) -> None:
    if results is None or not results.results:
        st.caption(f"No sentence of this abstract is labelled {facet}. Correct a label to fill this panel.")
        return
    for result in results.results:
        with st.container(border=True):
            st.html(html.small_card(result, [other for other in near[result.paper.id] if other is not facet]))
            st.page_link("pages/paper.py", label="Open", query_params={"id": result.paper.id})


def plane(results: Results) -> None:
    """Where the results lie between same problem and same method; a click shows the paper."""
    points = state.engine().plane(results.query, results)
    frame = pd.DataFrame(
        {
            "id": [result.paper.id for result in results.results],
            "Title": [one_line(result.paper.title) for result in results.results],
            "Year": [result.paper.year for result in results.results],
            "Background": [point.background for point in points],
            "Method": [point.method for point in points],
            "Result": [point.result for point in points],
        }
    )
    st.caption(f"Top left is “{charts.CORNER}”. Click a point to see the paper below.")
    chart = charts.plane(frame, state.is_dark())
    told = "Results by likeness of background and method; the table below carries the same numbers."
    event = st.altair_chart(chart, on_select="rerun", key="plane", alt=told)
    picked = [each["id"] for each in event.selection.get("picked", [])]
    for number, result in enumerate(results.results, 1):
        if result.paper.id in picked:
            parts.card(result, number, len(results.query.papers))
    shown = frame.drop(columns="id").assign(Title=[plain(title) for title in frame["Title"]])
    numbers = {name: shown[name].map("{:.2f}".format) for name in charts.PLANE_COLUMNS}
    years = shown["Year"].map(lambda year: "" if pd.isna(year) else str(int(year)))
    st.table(shown.assign(Year=years, **numbers), hide_index=True)


def take_away(results: Results, link: str) -> None:
    """Export in every format, the link, and the query as a file."""
    with st.popover("Export", icon=":material/download:"):
        for name in FORMATS:
            st.download_button(
                FORMAT_NAMES.get(name, name),
                data=lambda name=name: export(results, name),
                file_name=f"triptych.{SUFFIXES[name]}",
                on_click="ignore",
                key=f"export-{name}",
                width="stretch",
            )
    with st.popover("Link", icon=":material/link:"):
        if link:
            st.markdown("This address gives the same ranking on the same corpus:")
            st.code(link, language=None, wrap_lines=True)
        else:
            st.markdown("This text is too long for a link. Save the query as a file and open it again here.")
        st.download_button(
            "Save query",
            data=to_json(results.query, results.build_id),
            file_name="query.json",
            mime="application/json",
            on_click="ignore",
        )
