"""A curve as a small SVG, drawn by hand so that a result needs no plotting package to be looked at."""

from __future__ import annotations

from collections.abc import Mapping
from math import log

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 50, 110, 40, 50
COLOURS = ("#4c6ef5", "#868e96", "#e8590c", "#2b8a3e", "#9c36b5")


def draw(methods: Mapping[str, Mapping[int, Mapping[str, float]]], measure: str, title: str) -> str:
    """One line per method: the measure in percent over the size of the pool, the size in log scale."""
    sizes = sorted(next(iter(methods.values())))
    top = max(found[size][measure] for found in methods.values() for size in sizes) * 1.1 or 1.0
    steps = [top * part / 4 for part in range(5)]

    def x(size: int) -> float:
        spread = log(sizes[-1] / sizes[0]) or 1.0
        return LEFT + (WIDTH - LEFT - RIGHT) * log(size / sizes[0]) / spread

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top

    parts = [
        _text(LEFT, 22, title, weight="bold"),
        _text((LEFT + WIDTH - RIGHT) / 2 - 60, HEIGHT - 10, "papers in the pool"),
    ]
    for step in steps:
        parts.append(_line(LEFT, y(step), WIDTH - RIGHT, y(step)))
        parts.append(_text(LEFT - 8, y(step) + 4, f"{step:.0f}", anchor="end"))
    for size in sizes:
        parts.append(_text(x(size), HEIGHT - BOTTOM + 18, f"{size:,}", anchor="middle"))
    for (name, found), colour in zip(methods.items(), COLOURS * len(methods), strict=False):
        points = " ".join(f"{x(size):.1f},{y(found[size][measure]):.1f}" for size in sizes)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        parts += [
            f'<circle cx="{x(size):.1f}" cy="{y(found[size][measure]):.1f}" r="3.5" fill="{colour}"/>'
            for size in sizes
        ]
        parts.append(_text(x(sizes[-1]) + 10, y(found[sizes[-1]][measure]) + 4, name, colour=colour))
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([head, f"<title>{title}</title>", *parts, "</svg>"]) + "\n"


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#ced4da" stroke-width="1"/>'
    )


def _text(
    x: float, y: float, text: str, anchor: str = "start", colour: str = "#495057", weight: str = "normal"
) -> str:
    look = f'text-anchor="{anchor}" fill="{colour}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{text}</text>'
