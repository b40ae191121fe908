"""The plane: all that was compared, between same problem and same method, and a list that follows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from pages.ui import filters, looks, parts, plane_chart, state
from pages.ui import results as result_list
from pages.ui.escape import one_line, plain
from pages.ui.words import counted
from search.ranking import plane
from search.ranking.calibration import in_words
from search.ranking.plane import Region
from search.types import Choice, Plane, Point, Query, Result, Results

MOST_ROWS = 50
"""Rows of the table beside the chart; the list below goes on where more is wanted."""
LONGEST_QUOTE = 220
"""Characters of the sentence that says what a paper is about; the whole one is in its abstract."""
CORNER = "plane-corner"
_quiet_brush = st.components.v2.component("quiet_brush", js=plane_chart.QUIET_BRUSH)
ELSEWHERE_HELP = (
    "Leaves out papers that share a field with your example, and those without a field. A pasted text has "
    "the fields that half of its ten nearest papers by background have."
)


def show(query: Query, search_id: str) -> Results:
    """Draws the chart with its controls and the list, and returns the papers of the list."""
    asked = _every_sentence(query)
    found = state.answer(state.engine().plane, asked)
    if not found.points:
        st.info(
            "No paper passes these filters: widen the years or clear a filter.", icon=":material/filter_alt:"
        )
        return Results(query, (), found.build_id, 0)
    left, right = st.columns([6, 6], gap="large")
    with left:
        share = _mix()
        elsewhere = _elsewhere(found)
        points = plane.order(
            plane.from_other_fields(found.points, found.fields) if elsewhere else found.points, share
        )
        _chart(found, points)
    with right:
        shown = _inside(points)
        results = state.answer(state.engine().explain, asked, tuple(shown[: query.top]), share)
        results = replace(results, query=query)
        _head(shown, points, elsewhere)
        _list(results, shown, elsewhere, search_id)
    with left:
        with st.expander("The same as a table"):
            _table(shown)
        _quiet_brush(key="quiet-brush", height=0)
    return results


def _every_sentence(query: Query) -> Query:
    """The plane compares background and method, so ticks and the length of the list are no part of it."""
    papers = (
        replace(paper, sentences=tuple(replace(each, choice=Choice.MATCH) for each in paper.sentences))
        for paper in query.papers
    )
    return replace(query, papers=tuple(papers), top=Query(()).top)


def _mix() -> float:
    """How much the method counts, from 0 to 1."""
    looks.begin(looks.MIX)
    step = st.select_slider(
        "From same problem to same method",
        range(looks.STEPS + 1),
        format_func=mix_in_words,
        key=looks.MIX,
        persist_state="session",
        help="Orders the list by how near the problem is, how near the method is, or a mix of both.",
    )
    return int(step) / looks.STEPS


def mix_in_words(step: int) -> str:
    ends = {0: "Same problem", looks.STEPS // 2: "Half and half", looks.STEPS: "Same method"}
    return ends.get(step) or f"{100 * step // looks.STEPS} % method"


def _elsewhere(found: Plane) -> bool:
    """Whether only papers from other fields are asked for; never, where the corpus knows no fields."""
    if not filters.facts(state.build_id()).fields:
        return False
    looks.begin(looks.ELSEWHERE)
    told = f"{ELSEWHERE_HELP} Here: {', '.join(map(plain, sorted(found.fields)))}." if found.fields else ""
    asked = st.toggle(
        "Only papers from other fields",
        key=looks.ELSEWHERE,
        persist_state="session",
        disabled=not found.fields,
        help=told or "The fields of your text are not known: its neighbours have none.",
    )
    return bool(asked and found.fields)


def _chart(found: Plane, points: Sequence[Point]) -> None:
    brush, drawn = state.visit().brush, plane_chart.bounds(found.points)
    nearest = points[: plane_chart.NAMED]
    chart = plane_chart.draw(points, nearest, drawn, brush.drawn, state.is_dark())
    key = f"plane-{brush.number}"
    st.altair_chart(
        chart,
        on_select=lambda: _brushed(key),
        key=key,
        alt="How near each paper is by its problem, across, and its method, up; a table below says the same.",
    )
    corners = plane_chart.corners(drawn)
    st.session_state[CORNER] = next((name for name in corners if corners[name] == brush.region), None)
    st.pills(
        "Show only a corner",
        list(corners),
        format_func=str.capitalize,
        key=CORNER,
        on_change=lambda: state.mark(corners.get(st.session_state[CORNER] or "")),
        help="Or drag over the chart to mark any region.",
    )


def _brushed(key: str) -> None:
    """Takes up what was marked on the chart."""
    here = state.visit()
    here.brush = replace(
        here.brush, region=_region(st.session_state[key]["selection"].get(plane_chart.BRUSH))
    )


def _region(told: Any) -> Region | None:
    """A rectangle as the chart tells it; None for none."""
    across, up = ((told or {}).get(name) or () for name in (plane_chart.PROBLEM, plane_chart.METHOD))
    if len(across) != 2 or len(up) != 2:
        return None
    return Region((min(across), max(across)), (min(up), max(up)))


def _inside(points: Sequence[Point]) -> list[Point]:
    region = state.visit().brush.region
    return [point for point in points if region is None or region.holds(point)]


def _head(shown: Sequence[Point], points: Sequence[Point], elsewhere: bool) -> None:
    told = counted(len(shown), "paper")
    if len(shown) < len(points):
        told = f"{len(shown):,} of {counted(len(points), 'paper')}, inside what you marked"
    elif elsewhere:
        told += " from other fields"
    with st.container(horizontal=True, vertical_alignment="center", key="matches-head"):
        st.header("What matches", anchor="matches", width="content")
        st.caption(told, help=parts.SCORE_HELP, width="content")
        if state.visit().brush.region:
            st.button("Show all", on_click=state.mark, args=(None,), type="tertiary", icon=":material/close:")


def _list(results: Results, shown: Sequence[Point], elsewhere: bool, search_id: str) -> None:
    if not shown:
        marked = "mark another region or press “Show all”"
        hint = marked if state.visit().brush.region else "turn off “Only papers from other fields”"
        st.info(f"No paper is left: {hint}.", icon=":material/filter_alt:")
        return
    places = {point.paper.id: point for point in shown}
    notes = {each.paper.id: _notes(each, places[each.paper.id], elsewhere) for each in results.results}
    more = len(shown) > len(results.results)
    result_list.show(results, search_id, result_list.Drawing(key="results-plane", more=more, notes=notes))


def _notes(result: Result, point: Point, elsewhere: bool) -> list[str]:
    fields = point.paper.fields
    both = f"Problem {_told(point.background, fields)} · method {_told(point.method, fields)}"
    quote = plane_chart.shorten(one_line(plane.purpose(result.paper)), LONGEST_QUOTE) if elsewhere else ""
    return [both, f"There used for: “{quote}”"] if quote else [both]


def _told(likeness: float, fields: Sequence[str]) -> str:
    return f"{in_words(likeness, fields)}, {likeness:.2f}"


def _table(shown: Sequence[Point]) -> None:
    rows = shown[:MOST_ROWS]
    frame = pd.DataFrame(
        {
            "Title": [plain(point.paper.title) or "Untitled" for point in rows],
            "Year": [str(point.paper.year or "") for point in rows],
            "Problem": [f"{point.background:.2f}" for point in rows],
            "Method": [f"{point.method:.2f}" for point in rows],
        }
    )
    st.table(frame, hide_index=True)
    if len(shown) > len(rows):
        st.caption(f"The first {len(rows)} of {len(shown):,}.")
