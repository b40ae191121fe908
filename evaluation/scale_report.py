"""How a corpus grows, as a table and as a chart."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

Figures = dict[str, dict[str, Any]]
"""By the number of papers."""


def _step(each: dict[str, Any], part: str) -> str:
    seconds, megabytes = each[f"{part}_seconds"], each[f"{part}_peak_megabytes"]
    return f"{_clock(sum(seconds.values()))}, {max(megabytes.values()):,.0f} MB"


ROWS: dict[str, Callable[[dict[str, Any]], str]] = {
    "Sentences": lambda each: f"{each['build_sentences']:,}",
    "Build: time, peak memory": lambda each: _step(each, "build"),
    "Killed during": lambda each: _counted(each["build_killed_in"]),
    "On disk": lambda each: f"{each['build_disk_megabytes']:,.0f} MB",
    "Opening": lambda each: f"{each['search_open_seconds']:.1f} s",
    "Search, p50 and p95": lambda each: (
        f"{each['search_total_p50_ms']:.0f} and {each['search_total_p95_ms']:.0f} ms"
    ),
    "p50 over encoding": lambda each: f"{each['search_total_p50_ms'] / each['search_encode_p50_ms']:.1f}",
    "Eight at once over one": lambda each: (
        f"{each['search_per_second_8_at_once'] / each['search_per_second_alone']:.2f}"
    ),
    "One year, times unfiltered": lambda each: f"{each['search_one_year_times']:.2f}",
    "A rare field, times unfiltered": lambda each: f"{each['search_rare_field_times']:.2f}",
    "Resident after searching": lambda each: f"{each['search_searched_megabytes']:,.0f} MB",
    "Recall@100 of the sentence index": lambda each: f"{each['every_recall_at_100']:.3f}",
    "Top 20 of scoring every paper": lambda each: f"{each['every_top_20_of_all']:.3f}",
    "Adding 1,000: time without encoding, peak memory": lambda each: (
        f"{_clock(sum(each['add_seconds'].values()) - each['add_seconds']['encode'])}, "
        f"{max(each['add_peak_megabytes'].values()):,.0f} MB"
    ),
    "Top 20 of a build anew": lambda each: f"{each['agree_top_20_overlap']:.3f}",
}
"""What the table shows of each size."""


def table(found: Figures) -> str:
    """The growth table, then each step's time and memory; a dash where it was not measured."""
    sizes = [f"{int(size):,} papers" for size in found]
    rows = [[name, *(_shown(show, each) for each in found.values())] for name, show in ROWS.items()]
    for step in dict.fromkeys(step for each in found.values() for step in each["build_seconds"]):
        cells = (
            f"{_clock(each['build_seconds'][step])}, {each['build_peak_megabytes'].get(step, 0):,.0f} MB"
            if step in each["build_seconds"]
            else "–"
            for each in found.values()
        )
        rows.append([f"Step: {step}", *cells])
    lines = [["", *sizes], ["---"] * (len(sizes) + 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _shown(show: Callable[[dict[str, Any]], str], each: dict[str, Any]) -> str:
    try:
        return show(each)
    except KeyError:
        return "–"


def _clock(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _counted(steps: Sequence[str]) -> str:
    counts = {step: steps.count(step) for step in dict.fromkeys(steps)}
    return ", ".join(f"{step} {count}×" for step, count in counts.items()) or "–"


# -- the chart

PANELS: dict[str, tuple[str, Callable[[dict[str, Any]], float]]] = {
    "Build": ("min", lambda each: sum(each["build_seconds"].values()) / 60),
    "Peak memory of the build": ("MB", lambda each: max(each["build_peak_megabytes"].values())),
    "On disk": ("MB", lambda each: each["build_disk_megabytes"]),
    "Resident after searching": ("MB", lambda each: each["search_searched_megabytes"]),
    "Search, p50": ("ms", lambda each: each["search_total_p50_ms"]),
    "Adding 1,000 papers": ("s", lambda each: sum(each["add_seconds"].values())),
}
"""What is drawn: its unit and its value."""
WIDE, HIGH, ACROSS = 260, 190, 3
"""Of a panel, in pixels; panels in a row."""
LEFT, RIGHT, TOP, BOTTOM = 16, 30, 44, 26
"""Margins of a panel."""


def chart(found: Figures) -> str:
    """Small charts as SVG, each axis in powers of ten; dashed is what grows as the papers do."""
    sizes = sorted(found, key=int)
    panels = []
    for number, (name, (unit, value)) in enumerate(PANELS.items()):
        known = [size for size in sizes if _known(value, found[size])]
        points = [(math.log10(int(size)), float(value(found[size]))) for size in known]
        across, down = number % ACROSS * WIDE, number // ACROSS * HIGH
        panels.append(f'<g transform="translate({across} {down})">{_panel(name, unit, points)}</g>')
    wide, high = ACROSS * WIDE, -(-len(PANELS) // ACROSS) * HIGH
    style = "text{font:12px sans-serif;fill:#333}.n{font-weight:bold}.v{font-size:11px}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}">'
        f'<style>{style}</style><rect width="100%" height="100%" fill="#fff"/>{"".join(panels)}</svg>\n'
    )


def _known(value: Callable[[dict[str, Any]], float], each: dict[str, Any]) -> bool:
    try:
        return value(each) > 0
    except KeyError:
        return False


def _panel(name: str, unit: str, points: Sequence[tuple[float, float]]) -> str:
    drawn = [f'<text class="n" x="{LEFT}" y="18">{escape(name)}, {unit}</text>']
    if points:
        low, high = points[0][0], max(points[-1][0], points[0][0] + 1)
        # As steep as what grows with the papers: a power of ten takes as much room on both axes.
        scale = min((WIDE - LEFT - RIGHT), (HIGH - TOP - BOTTOM)) / (high - low)
        base = math.log10(points[0][1])
        placed = [
            (LEFT + (x - low) * scale, HIGH - BOTTOM - (math.log10(y) - base) * scale) for x, y in points
        ]
        left, bottom = placed[0]
        end = (high - low) * scale
        drawn.append(
            f'<line x1="{left:.0f}" y1="{bottom:.0f}" x2="{left + end:.0f}" y2="{bottom - end:.0f}" '
            'stroke="#999" stroke-dasharray="3 4"/>'
        )
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        drawn.append(f'<polyline points="{path}" fill="none" stroke="#2f6f9f" stroke-width="2"/>')
        for (x, y), (size, value) in zip(placed, points, strict=True):
            drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#2f6f9f"/>')
            drawn.append(f'<text class="v" x="{x + 6:.0f}" y="{y + 14:.0f}">{_short(value)}</text>')
            label = f"{10**size / 1000:,.3g}k"
            drawn.append(f'<text class="v" x="{x - 6:.0f}" y="{HIGH - 4}">{label}</text>')
    return "".join(drawn)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
