"""Altair charts in the app's colours. Each has a table or a text beside it that says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from pages.ui.figures import Row
from pages.ui.palette import SHOWN, colours, word
from search.types import Facet

ACCENT = "#7a2f6b"
OURS = "triptych"


def years(counts: Mapping[int, int], height: int = 110) -> alt.Chart:
    """Papers per year, years without papers included."""
    shown = range(min(counts), max(counts) + 1)
    frame = pd.DataFrame({"Year": list(shown), "Papers": [counts.get(year, 0) for year in shown]})
    axis = alt.Axis(labelOverlap="greedy", labelAngle=0, title=None, ticks=False)
    bars = alt.Chart(frame, height=height).mark_bar(color=ACCENT)
    encoded: alt.Chart = bars.encode(
        x=alt.X("Year:O", axis=axis), y=alt.Y("Papers:Q", axis=None), tooltip=["Year", "Papers"]
    )
    return encoded


def bars(counts: Mapping[str, int], name: str) -> alt.Chart:
    """Papers per venue, field and the like, the most first."""
    frame = pd.DataFrame({name: list(counts), "Papers": list(counts.values())})
    chart: alt.Chart = (
        alt.Chart(frame, height=alt.Step(22))
        .mark_bar(color=ACCENT)
        .encode(
            y=alt.Y(f"{name}:N", sort=None, axis=alt.Axis(title=None, labelLimit=220)),
            x=alt.X("Papers:Q", axis=alt.Axis(title=None, tickMinStep=1)),
            tooltip=[name, "Papers"],
        )
    )
    return chart


def facet_shares(shares: Mapping[Facet, float], dark: bool) -> alt.Chart:
    """How much of the corpus is background, method, result: shares by panel."""
    panels = {facet: sum(v for f, v in shares.items() if f.panel is facet) for facet in SHOWN}
    frame = pd.DataFrame({"Facet": [word(f) for f in panels], "Share": list(panels.values())})
    chart: alt.Chart = (
        alt.Chart(frame, height=alt.Step(26))
        .mark_bar()
        .encode(
            y=alt.Y("Facet:N", sort=None, axis=alt.Axis(title=None)),
            x=alt.X("Share:Q", axis=alt.Axis(format="%", title="Share of sentences")),
            color=facet_colour(dark),
            tooltip=["Facet", alt.Tooltip("Share:Q", format=".1%")],
        )
    )
    return chart


def facet_colour(dark: bool) -> alt.Color:
    scale = alt.Scale(domain=[word(facet) for facet in SHOWN], range=colours(dark))
    return alt.Color("Facet:N", scale=scale, legend=None)


def quality(rows: Sequence[Row], measure: str, name: str) -> alt.Chart:
    """Each method's figure by group of queries: ours in the accent, published ones as crosses."""
    frame = pd.DataFrame(
        {
            "Group": [row.group for row in rows],
            "Method": [row.method for row in rows],
            name: [row.measures.get(measure) for row in rows],
            "Origin": ["published" if row.source else "measured here" for row in rows],
        }
    ).dropna()
    origin = alt.Scale(domain=["measured here", "published"], range=["circle", "cross"])
    chart: alt.Chart = (
        alt.Chart(frame, height=alt.Step(44))
        .mark_point(size=100, filled=True, opacity=0.85)
        .encode(
            x=alt.X(f"{name}:Q", scale=alt.Scale(zero=False)),
            y=alt.Y("Group:N", sort=None, axis=alt.Axis(title=None)),
            color=alt.condition(f"datum.Method == '{OURS}'", alt.value(ACCENT), alt.value("#8a8f99")),
            shape=alt.Shape("Origin:N", scale=origin, legend=alt.Legend(orient="bottom", title=None)),
            tooltip=["Method", "Group", alt.Tooltip(f"{name}:Q", format=".1f"), "Origin"],
        )
    )
    return chart
