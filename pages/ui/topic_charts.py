"""The charts of Explore: years by cluster, bars to pick from, the map with the names of the clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from pages.ui.charts import bars
from search.topics import UNNAMED

COLOURS = {
    False: [
        "#28349a",
        "#a85500",
        "#0d766d",
        "#b3266b",
        "#6d3fb0",
        "#7a6a00",
        "#b3261e",
        "#3f6f1f",
        "#5b616e",
    ],
    True: ["#8d9bf5", "#f0954a", "#6ee7d2", "#f28ac0", "#c3a0ff", "#d9c74a", "#ff8f85", "#a3d977", "#aab1bd"],
}
"""Of the clusters in their order, on a light and on a dark page; grey is for the papers in none of them."""
NAME_HEIGHT = 0.13
"""Height of a name on the map, and the distance kept between two, as a part of the map's half."""
NAME_WIDTH = 0.9
"""Width that a name takes on a phone, in the same unit."""


def colours(names: Sequence[str], dark: bool) -> list[str]:
    """The colour of each cluster; grey for the papers in none."""
    *own, grey = COLOURS[dark]
    return [grey if name == UNNAMED else own[number % len(own)] for number, name in enumerate(names)]


def years(counts: Mapping[int, Mapping[str, int]], names: Sequence[str], dark: bool) -> alt.Chart:
    """Papers per year, stacked by cluster, years without papers included; clicks choose years."""
    rows = [
        {"Year": year, "Cluster": name, "Papers": counts.get(year, {}).get(name, 0), "Order": order}
        for year in range(min(counts), max(counts) + 1)
        for order, name in enumerate(names)
    ]
    axis = alt.Axis(labelOverlap="greedy", labelAngle=0, title=None, ticks=False)
    chart = (
        alt.Chart(pd.DataFrame(rows), height=240)
        .mark_bar()
        .encode(
            x=alt.X("Year:O", axis=axis),
            y=alt.Y("sum(Papers):Q", axis=alt.Axis(title=None, tickMinStep=1)),
            color=_cluster_colour(names, dark),
            order="Order:Q",
            tooltip=["Year", "Cluster", "Papers"],
        )
    )
    return _pickable(chart, "Year")


def pick_bars(counts: Mapping[str, int], name: str) -> alt.Chart:
    """Papers per venue or field; clicks choose among them."""
    return _pickable(bars(counts, name), name)


def _pickable(chart: alt.Chart, field: str) -> alt.Chart:
    picked = alt.selection_point(name="picked", fields=[field], toggle=True)
    return chart.encode(opacity=alt.condition(picked, alt.value(1.0), alt.value(0.3))).add_params(picked)


def _cluster_colour(names: Sequence[str], dark: bool) -> alt.Color:
    scale = alt.Scale(domain=list(names), range=colours(names, dark))
    return alt.Color("Cluster:N", scale=scale, legend=None)


def topic_map(points: pd.DataFrame, names: Sequence[str], dark: bool) -> alt.LayerChart:
    """Papers on a plane, near is alike; each cluster's name is written where its papers lie."""
    picked = alt.selection_point(name="picked", fields=["id"], on="click", clear="dblclick")
    hidden = alt.Axis(labels=False, ticks=False, title=None, grid=False, domain=False)
    scale = alt.Scale(domain=[-1.1, 1.1])
    x, y = alt.X("x:Q", axis=hidden, scale=scale), alt.Y("y:Q", axis=hidden, scale=scale)
    marks = (
        alt.Chart(points)
        .mark_point(filled=True, size=60, aria=False)
        .encode(
            x=x,
            y=y,
            color=_cluster_colour(names, dark),
            opacity=alt.condition(picked, alt.value(0.75), alt.value(0.2)),
            tooltip=["Title", "Year", "Cluster"],
        )
        .add_params(picked)
    )
    own = [name for name in names if name != UNNAMED]
    written = alt.Chart(_written(points, own)).encode(x=x, y=y, text="Name:N")
    paper, ink = ("#12151c", "#ffffff") if dark else ("#ffffff", "#1d2129")
    halo = written.mark_text(
        aria=False, fontSize=13, fontWeight="bold", stroke=paper, strokeWidth=5, strokeJoin="round"
    )
    text = written.mark_text(aria=False, fontSize=13, fontWeight="bold", color=ink)
    layers: alt.LayerChart = (marks + halo + text).properties(height=460)
    return layers


def _written(points: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The first phrase of each name and its place: the middle of the cluster, moved where two would meet."""
    middles = points.groupby("Cluster")[["x", "y"]].mean()
    shown = [name for name in names if name in middles.index]
    order = sorted(shown, key=lambda name: (float(middles.loc[name, "y"]), name))
    places: list[tuple[float, float]] = []
    for name in order:
        x = max(-0.65, min(0.65, float(middles.loc[name, "x"])))
        y = float(middles.loc[name, "y"])
        below = [other for at, other in places if abs(at - x) < NAME_WIDTH]
        places.append((x, max([y, *(other + NAME_HEIGHT for other in below)])))
    too_high = max([0.0, *(y - 1.0 for _, y in places)])
    return pd.DataFrame(
        {
            "Name": [name.split(", ")[0] for name in order],
            "x": [x for x, _ in places],
            "y": [y - too_high for _, y in places],
        }
    )
