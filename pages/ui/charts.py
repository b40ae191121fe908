"""Altair charts in the app's colours. Each has a table or a text beside it that says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from pages.ui.figures import Row
from pages.ui.palette import SHOWN, colours, look, word
from search.types import Facet, Pair

CORNER = "same method, different problem"
ACCENT = "#7a2f6b"
OURS = "triptych"
_SEQUENTIAL = ["#f3e3ef", "#7a2f6b"]


def years(counts: Mapping[int, int], height: int = 110, pick: bool = False) -> alt.Chart:
    """Papers per year, years without papers included; with `pick`, clicks choose years."""
    shown = range(min(counts), max(counts) + 1)
    frame = pd.DataFrame({"Year": list(shown), "Papers": [counts.get(year, 0) for year in shown]})
    axis = alt.Axis(labelOverlap="greedy", labelAngle=0, title=None, ticks=False)
    bars = alt.Chart(frame, height=height).mark_bar(color=ACCENT)
    encoded = bars.encode(
        x=alt.X("Year:O", axis=axis), y=alt.Y("Papers:Q", axis=None), tooltip=["Year", "Papers"]
    )
    return _pickable(encoded, "Year") if pick else encoded


def bars(counts: Mapping[str, int], name: str, pick: bool = False) -> alt.Chart:
    """Papers per venue, field and the like, the most first; with `pick`, clicks choose among them."""
    frame = pd.DataFrame({name: list(counts), "Papers": list(counts.values())})
    encoded = (
        alt.Chart(frame, height=alt.Step(22))
        .mark_bar(color=ACCENT)
        .encode(
            y=alt.Y(f"{name}:N", sort=None, axis=alt.Axis(title=None, labelLimit=220)),
            x=alt.X("Papers:Q", axis=alt.Axis(title=None, tickMinStep=1)),
            tooltip=[name, "Papers"],
        )
    )
    return _pickable(encoded, name) if pick else encoded


def _pickable(chart: alt.Chart, field: str) -> alt.Chart:
    picked = alt.selection_point(name="picked", fields=[field], toggle=True)
    return chart.encode(opacity=alt.condition(picked, alt.value(1.0), alt.value(0.3))).add_params(picked)


def facet_shares(shares: Mapping[Facet, float], dark: bool) -> alt.Chart:
    """How much of the corpus is background, method, result: shares by panel."""
    panels = {facet: sum(v for f, v in shares.items() if f.panel is facet) for facet in SHOWN}
    frame = pd.DataFrame({"Facet": [word(f) for f in panels], "Share": list(panels.values())})
    return (
        alt.Chart(frame, height=alt.Step(26))
        .mark_bar()
        .encode(
            y=alt.Y("Facet:N", sort=None, axis=alt.Axis(title=None)),
            x=alt.X("Share:Q", axis=alt.Axis(format="%", title="Share of sentences")),
            color=facet_colour(dark, legend=False),
            tooltip=["Facet", alt.Tooltip("Share:Q", format=".1%")],
        )
    )


def facet_colour(dark: bool, legend: bool = True) -> alt.Color:
    scale = alt.Scale(domain=[word(facet) for facet in SHOWN], range=colours(dark))
    return alt.Color("Facet:N", scale=scale, legend=alt.Legend() if legend else None)


def facet_shape() -> alt.Shape:
    domain, shapes = zip(*((word(facet), look(facet).shape) for facet in SHOWN), strict=True)
    return alt.Shape("Facet:N", scale=alt.Scale(domain=list(domain), range=list(shapes)))


def alignment(pairs: Sequence[Pair], sentences: int, dark: bool) -> alt.LayerChart:
    """Which of your sentences lies on which of theirs: a cell per pair, darker carries more."""
    frame = pd.DataFrame(
        {
            "Yours": [f"{pair.query_paper + 1}.{pair.query_sentence + 1}" for pair in pairs],
            "Theirs": [pair.position + 1 for pair in pairs],
            "Share": [pair.share for pair in pairs],
            "Similarity": [pair.similarity for pair in pairs],
            "Your sentence": [pair.query_text for pair in pairs],
            "Their sentence": [pair.text for pair in pairs],
        }
    )
    if len({pair.query_paper for pair in pairs}) == 1:
        frame["Yours"] = [str(pair.query_sentence + 1) for pair in pairs]
    ends = ["#2a303b", "#d58cc4"] if dark else _SEQUENTIAL
    base = alt.Chart(frame, height=alt.Step(30)).encode(
        x=alt.X(
            "Theirs:O",
            scale=alt.Scale(domain=list(range(1, sentences + 1))),
            axis=alt.Axis(title="Their sentence", labelAngle=0, orient="top"),
        ),
        y=alt.Y("Yours:O", axis=alt.Axis(title="Your sentence")),
        tooltip=[
            "Your sentence",
            "Their sentence",
            alt.Tooltip("Share:Q", format=".0%"),
            alt.Tooltip("Similarity:Q", format=".2f"),
        ],
    )
    colour = alt.Color("Share:Q", scale=alt.Scale(range=ends, domain=[0, 1]), legend=None)
    on_strong, on_weak = ("#12151c", "#e6e8ec") if dark else ("white", "#1d2129")
    text = alt.condition("datum.Share > 0.45", alt.value(on_strong), alt.value(on_weak))
    numbers = base.mark_text(fontSize=12).encode(text=alt.Text("Share:Q", format=".0%"), color=text)
    return base.mark_rect().encode(color=colour) + numbers


def plane(frame: pd.DataFrame, dark: bool) -> alt.LayerChart:
    """Results by likeness of background (across) and of method (up), coloured by likeness of result."""
    picked = alt.selection_point(name="picked", fields=["id"], on="click", clear="dblclick")
    ends = ["#3b4350", "#6ee7d2"] if dark else ["#d8e6e4", "#075049"]
    low_x, high_y = float(frame["Background"].min()), float(frame["Method"].max())
    points = (
        alt.Chart(frame)
        .mark_point(filled=True, size=130, stroke="#888", strokeWidth=0.7)
        .encode(
            x=alt.X("Background:Q", title="Likeness of background", scale=alt.Scale(zero=False, nice=True)),
            y=alt.Y("Method:Q", title="Likeness of method", scale=alt.Scale(zero=False, nice=True)),
            color=alt.Color("Result:Q", title="Likeness of result", scale=alt.Scale(range=ends)),
            opacity=alt.condition(picked, alt.value(1.0), alt.value(0.35)),
            tooltip=["Title", "Year", *[alt.Tooltip(f"{n}:Q", format=".2f") for n in PLANE_COLUMNS]],
        )
        .add_params(picked)
    )
    note = pd.DataFrame({"x": [low_x], "y": [high_y], "text": [f"↖ {CORNER}"]})
    corner = (
        alt.Chart(note)
        .mark_text(align="left", baseline="bottom", dy=-14, fontStyle="italic", fontSize=13, color="#808693")
        .encode(x="x:Q", y="y:Q", text="text:N")
    )
    return (points + corner).properties(height=460)


PLANE_COLUMNS = ("Background", "Method", "Result")


def topic_map(frame: pd.DataFrame, dark: bool) -> alt.Chart:
    """Hits of a topic in two dimensions: near is alike, the axes have no meaning of their own."""
    picked = alt.selection_point(name="picked", fields=["id"], on="click", clear="dblclick")
    hidden = alt.Axis(labels=False, ticks=False, title=None, grid=False, domain=False)
    return (
        alt.Chart(frame, height=420)
        .mark_point(filled=True, size=90, opacity=0.85)
        .encode(
            x=alt.X("x:Q", axis=hidden, scale=alt.Scale(zero=False)),
            y=alt.Y("y:Q", axis=hidden, scale=alt.Scale(zero=False)),
            color=facet_colour(dark),
            shape=facet_shape(),
            tooltip=["Title", "Facet", "Sentence"],
        )
        .add_params(picked)
    )


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
    return (
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
