"""How a facet looks: a word first, then a symbol and a colour that colour-blind readers tell apart.

The colours are those of `.streamlit/config.toml`, once more for charts. `tests/test_app_palette.py`
checks both against each other, their contrast, and their distance as colour-blind readers see them.
"""

from __future__ import annotations

from dataclasses import dataclass

from search.types import Facet, shown_panel


@dataclass(frozen=True, slots=True)
class Look:
    word: str
    name: str
    """The colour's name in Streamlit's markdown: `:blue-badge[Background]`."""
    light: str
    dark: str
    shape: str
    """The mark in charts, so that colour is never alone."""


LOOKS: dict[Facet, Look] = {
    Facet.BACKGROUND: Look("Background", "blue", "#28349a", "#8d9bf5", "circle"),
    Facet.METHOD: Look("Method", "orange", "#a85500", "#f0954a", "square"),
    Facet.RESULT: Look("Result", "green", "#0d766d", "#6ee7d2", "triangle-up"),
    Facet.OTHER: Look("Other", "gray", "#5b616e", "#9aa1ad", "diamond"),
}
SHOWN: tuple[Facet, ...] = tuple(LOOKS)
"""The three panels and the rest, each with a colour."""
LABELS: tuple[Facet, ...] = (Facet.BACKGROUND, Facet.OBJECTIVE, Facet.METHOD, Facet.RESULT, Facet.OTHER)
"""What a sentence can be labelled as; an objective has the colour of the background."""


def look(facet: Facet | None) -> Look:
    return LOOKS[shown_panel(facet)]


def word(facet: Facet | None) -> str:
    return "Objective" if facet is Facet.OBJECTIVE else look(facet).word


def colours(dark: bool) -> list[str]:
    """The colours of SHOWN, in that order."""
    return [each.dark if dark else each.light for each in LOOKS.values()]


def coloured(facet: Facet) -> str:
    """The facet's name in its colour, for headings."""
    return f":{look(facet).name}[{facet.panel}]"
