"""The chart of the plane: a cloud of small dots, the nearest by name, the four corners in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import pandas as pd

from pages.ui.charts import ACCENT
from pages.ui.escape import one_line
from search.ranking.calibration import in_words
from search.ranking.plane import Region
from search.types import Point

HEIGHT = 480
"""Of the chart with its axes, in pixels."""
PLOT = 390
"""Pixels of that which are the points'; measured in Chromium."""
NAMED = 10
"""Papers with their name beside their point: more do not fit."""
MARGIN = 0.04
"""Room around the points, as a part of each axis."""
Align = Literal["left", "center", "right"]
BRUSH = "brush"
PROBLEM, METHOD = "Background", "Method"
"""Columns of the chart's data, under which a brush is told."""
BOTH = "same problem, same method"
METHOD_ONLY = "same method, different problem"
PROBLEM_ONLY = "same problem, different method"
NEITHER = "neither"
UNKNOWN = "unknown"
SILENT: dict[str, Any] = {"aria": False}
"""Of every mark: hundreds would speak, and the table says the same."""
QUIET_BRUSH = """
// Vega gives the marked region a role without a name, and no setting of a chart reaches it.
export default function () {
  const hide = () => {
    for (const mark of document.querySelectorAll(".stVegaLiteChart [class*=brush_brush]")) {
      if (mark.getAttribute("aria-hidden") !== "true") mark.setAttribute("aria-hidden", "true");
    }
  };
  const watch = new MutationObserver(hide);
  watch.observe(document.querySelector("[data-testid=stMain]"), { childList: true, subtree: true });
  hide();
  return () => watch.disconnect();
}
"""


@dataclass(frozen=True, slots=True)
class Size:
    """A width the chart may have, in pixels, and how long a name may be there, in characters."""

    width: int
    longest: int


WIDE, NARROW = Size(500, 34), Size(290, 20)
TURN = 400
"""Pixels of width below which names are set as on a phone."""
LETTER, LINE = 5.9, 14
"""A letter's mean width and a line's height in pixels, for names of 11 pixels; measured in Chromium."""
GAP = 8
"""Pixels between a point and its name."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name beside its point; `align`, `dx` and `dy` as Vega has them."""

    point: Point
    text: str
    align: Align
    dx: int
    dy: int


def bounds(points: Sequence[Point]) -> Region:
    """All that is drawn: the points with a margin around them."""
    return Region(*(_axis([getattr(point, axis) for point in points]) for axis in ("background", "method")))


def _axis(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    margin = MARGIN * max(high - low, 0.1)
    return low - margin, high + margin


def corners(all_of_it: Region) -> dict[str, Region]:
    """Three quarters of what is drawn, by their names; the fourth holds what is like in neither."""
    (left, right), (low, high) = all_of_it.background, all_of_it.method
    middle, centre = (left + right) / 2, (low + high) / 2
    return {
        BOTH: Region((middle, right), (centre, high)),
        METHOD_ONLY: Region((left, middle), (centre, high)),
        PROBLEM_ONLY: Region((middle, right), (low, centre)),
    }


def draw(
    points: Sequence[Point], nearest: Sequence[Point], drawn: Region, marked: Region | None, dark: bool
) -> alt.LayerChart:
    """All points, `nearest` with their names; `marked` is the region that is marked at first."""
    near = {point.paper.id for point in nearest}
    accent, quiet = ("#d58cc4", "#a3aab5") if dark else (ACCENT, "#5b616e")
    cloud = _points([point for point in points if point.paper.id not in near], drawn)
    first = _points(nearest, drawn)
    layers = [
        cloud.mark_circle(size=22, opacity=0.45, color=quiet, **SILENT).add_params(_brush(marked)),
        first.mark_circle(size=110, opacity=0.95, color=accent, **SILENT),
        *_corners(quiet),
        *_names(nearest, drawn, dark),
    ]
    return alt.LayerChart(layer=layers, height=HEIGHT, padding={"top": 34})


def _brush(marked: Region | None) -> alt.Parameter:
    if marked is None:
        return alt.selection_interval(name=BRUSH, encodings=["x", "y"])
    return alt.selection_interval(
        name=BRUSH, encodings=["x", "y"], value={"x": marked.background, "y": marked.method}
    )


def _points(points: Sequence[Point], drawn: Region) -> alt.Chart:
    frame = pd.DataFrame(
        [_row(point) for point in points],
        columns=["Title", "Year", "Venue", PROBLEM, METHOD, "Problem", "Way"],
    )
    told = [alt.Tooltip("Title:N"), alt.Tooltip("Year:N")]
    told += [alt.Tooltip("Venue:N")] if (frame["Venue"] != UNKNOWN).any() else []
    told += [alt.Tooltip("Problem:N", title="Problem"), alt.Tooltip("Way:N", title="Method")]
    return alt.Chart(frame).encode(
        x=alt.X(f"{PROBLEM}:Q", title="Nearer problem →", **_scale(drawn.background)),
        y=alt.Y(f"{METHOD}:Q", title="Nearer method →", **_scale(drawn.method)),
        tooltip=told,
    )


def _scale(ends: tuple[float, float]) -> dict[str, Any]:
    axis = alt.Axis(tickCount=5, format=".2f", grid=False)
    return {"scale": alt.Scale(domain=list(ends), nice=False), "axis": axis}


def _row(point: Point) -> tuple[object, ...]:
    paper = point.paper
    likenesses = (
        f"{in_words(value, paper.fields)}, {value:.2f}" for value in (point.background, point.method)
    )
    year, venue = str(paper.year or UNKNOWN), one_line(paper.venue) or UNKNOWN
    return one_line(paper.title), year, venue, point.background, point.method, *likenesses


def _corners(colour: str) -> Iterator[alt.Chart]:
    """The corners in words: above the points, and at the foot where few lie."""
    for text, right, top in (
        (METHOD_ONLY, False, True), (BOTH, True, True), (NEITHER, False, False), (PROBLEM_ONLY, True, False),
    ):  # fmt: skip
        yield (
            alt.Chart(pd.DataFrame({"text": [text.replace(", ", ",\n")]}))
            .mark_text(
                align="right" if right else "left",
                baseline="bottom",
                lineBreak="\n",
                dx=-4 if right else 4,
                dy=-18 if top else -18 if "," in text else -4,
                fontStyle="italic",
                **SILENT,
                fontSize=12,
                color=colour,
            )
            .encode(
                x=alt.value(alt.expr("width") if right else 0),
                y=alt.value(0 if top else alt.expr("height")),
                text="text:N",
            )
        )


def _names(nearest: Sequence[Point], drawn: Region, dark: bool) -> Iterator[alt.Chart]:
    """One layer for each name and width: Vega places a layer's texts all on the same side."""
    colour = "#e6e8ec" if dark else "#1d2129"
    for size, shown in ((WIDE, f"width >= {TURN}"), (NARROW, f"width < {TURN}")):
        for name in place_names(nearest, drawn, size):
            frame = pd.DataFrame(
                {PROBLEM: [name.point.background], METHOD: [name.point.method], "text": [name.text]}
            )
            yield (
                alt.Chart(frame)
                .mark_text(
                    align=name.align,
                    baseline="middle",
                    dx=name.dx,
                    dy=name.dy,
                    fontSize=11,
                    color=colour,
                    opacity=alt.expr(f"{shown} ? 1 : 0"),
                    tooltip=None,
                    **SILENT,
                )
                .encode(x=f"{PROBLEM}:Q", y=f"{METHOD}:Q", text="text:N")
            )


def place_names(nearest: Sequence[Point], drawn: Region, size: Size) -> list[Name]:
    """Names that overlap neither each other nor another named point; one that finds no room is left out."""
    spots = [_spot(point, drawn, size) for point in nearest]
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in spots]
    names = []
    for place, (point, (x, y)) in enumerate(zip(nearest, spots, strict=True)):
        text = shorten(one_line(point.paper.title), size.longest)
        width = LETTER * len(text)
        tries: tuple[tuple[Align, int, int, float], ...] = (
            ("left", GAP, 0, x + GAP),
            ("right", -GAP, 0, x - GAP - width),
            ("center", 0, -LINE, x - width / 2),
            ("center", 0, LINE, x - width / 2),
            ("right", 0, -LINE, x - width),
            ("right", 0, LINE, x - width),
            ("left", 0, -LINE, x),
            ("left", 0, LINE, x),
        )
        for align, dx, dy, left in tries:
            box = (left, y + dy - LINE / 2, left + width, y + dy + LINE / 2)
            others = [each for number, each in enumerate(taken) if number != place]
            if left >= 0 and box[2] <= size.width and not any(_overlap(box, each) for each in others):
                taken.append(box)
                names.append(Name(point, text, align, dx, dy))
                break
    return names


def _spot(point: Point, drawn: Region, size: Size) -> tuple[float, float]:
    """Where a point is, in pixels from the upper left."""
    (left, right), (low, high) = drawn.background, drawn.method
    across, up = (point.background - left) / (right - left), (point.method - low) / (high - low)
    return across * size.width, (1 - up) * PLOT


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def shorten(text: str, longest: int) -> str:
    """The beginning of a text up to a whole word, with dots where something is left out."""
    if len(text) <= longest:
        return text
    cut = text[:longest].rsplit(" ", 1)[0].rstrip(" ,;:-")
    return f"{cut}…"
