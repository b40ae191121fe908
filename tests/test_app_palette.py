"""The facets' colours: the same in theme, stylesheet and charts, readable, told apart by everyone."""

import re
import tomllib
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from pages.ui import charts, palette, topic_charts
from search.topics import UNNAMED
from search.types import PANELS, Facet

ROOT = Path(__file__).parent.parent
THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
SHEET = (ROOT / "pages" / "ui" / "style.css").read_text()

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
EYES = {
    "all colours": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def linear(colour: str) -> np.ndarray:
    """sRGB #rrggbb -> linear RGB [3]."""
    values = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """WCAG 2: (L1 + .05) / (L2 + .05), the lighter first."""
    low, high = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    """Linear RGB [3] -> CIELAB (D65) [3]."""
    ratio = TO_XYZ @ np.clip(rgb, 0, 1) / [0.95047, 1, 1.08883]
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def colour_of(facet: Facet, theme: str) -> str:
    return str(getattr(palette.look(facet), theme))


def test_measures_by_hand() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert lab(linear("#ffffff")) == pytest.approx([100, 0, 0], abs=0.1)
    assert lab(linear("#ff0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.1)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("eye", EYES)
def test_panels_are_told_apart(theme: str, eye: str) -> None:
    seen = {facet: lab(np.array(EYES[eye]) @ linear(colour_of(facet, theme))) for facet in PANELS}
    for one, other in combinations(PANELS, 2):
        # A distance of 2.3 is just seen side by side; ten times that is seen across a page.
        assert np.linalg.norm(seen[one] - seen[other]) > 23, (one, other)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("facet", palette.SHOWN)
def test_words_in_a_facets_colour_are_readable(theme: str, facet: Facet) -> None:
    colour, name = colour_of(facet, theme), palette.look(facet).name
    grounds = ("backgroundColor", "secondaryBackgroundColor", f"{name}BackgroundColor")
    for ground in grounds:
        assert contrast(colour, THEME[theme][ground]) >= 4.5, ground
    assert contrast(THEME[theme]["textColor"], THEME[theme][f"{name}BackgroundColor"]) >= 7


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_theme_text_and_accent_are_readable(theme: str) -> None:
    for colour in ("textColor", "primaryColor", "linkColor"):
        for ground in ("backgroundColor", "secondaryBackgroundColor"):
            assert contrast(THEME[theme][colour], THEME[theme][ground]) >= 4.5, (colour, ground)


@pytest.mark.parametrize("facet", palette.SHOWN)
def test_theme_sheet_and_charts_have_the_same_colours(facet: Facet) -> None:
    look = palette.look(facet)
    assert (THEME["light"][f"{look.name}Color"], THEME["dark"][f"{look.name}Color"]) == (
        look.light,
        look.dark,
    )
    assert f"--{facet}: light-dark({look.light}, {look.dark});" in SHEET
    tints = (THEME[theme][f"{look.name}BackgroundColor"] for theme in ("light", "dark"))
    assert "--{}-tint: light-dark({}, {});".format(facet, *tints) in SHEET


def test_no_facet_is_told_by_colour_alone() -> None:
    looks = [palette.look(facet) for facet in palette.SHOWN]
    assert len({look.word for look in looks}) == len({look.shape for look in looks}) == len(looks)
    assert palette.word(Facet.OBJECTIVE) == "Objective"


def test_the_accent_of_charts_is_the_themes() -> None:
    assert THEME["light"]["primaryColor"] == charts.ACCENT
    assert not re.search(r"https?:|@import", SHEET)


@pytest.mark.parametrize("dark", [False, True])
def test_papers_in_no_cluster_are_grey_and_clusters_are_not(dark: bool) -> None:
    names = [f"cluster {number}" for number in range(8)]
    *own, rest = topic_charts.colours([*names, UNNAMED], dark)
    assert len(set(own)) == 8
    assert rest == topic_charts.COLOURS[dark][-1]
    assert topic_charts.colours([names[0], UNNAMED], dark) == [own[0], rest]
