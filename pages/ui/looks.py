"""How an answer is looked at: the view and how its controls stand.

It is kept with the search, so that Back, a reload and a short link show the answer as it was left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.ui import state
from search.ranking.plane import Region
from search.types import PANELS

VIEWS = ("List", "Triptych", "Plane")
VIEW, MIX, ELSEWHERE, PANEL = "view", "plane-mix", "plane-elsewhere", "triptych-panel"
STEPS = 10
"""Steps of the mix, from same problem to same method."""
OFFERED: dict[str, tuple[Any, ...]] = {
    VIEW: VIEWS,
    MIX: (STEPS // 2, *range(STEPS + 1)),
    ELSEWHERE: (False, True),
    PANEL: tuple(map(str, PANELS)),
}
"""The controls by their keys in the session, with what each may say; what it says at first comes first."""


def now() -> dict[str, Any]:
    """What is not as it is at first."""
    keys = st.session_state
    look = {key: keys[key] for key, (first, *_) in OFFERED.items() if keys.get(key, first) != first}
    region = state.visit().brush.region
    return look | {"region": [*region.background, *region.method]} if region else look


def take_up(look: object) -> None:
    """Sets the controls as `now` told them; whatever is no look leaves them as they are at first."""
    given = look if isinstance(look, dict) else {}
    for key, (first, *others) in OFFERED.items():
        st.session_state[key] = next((each for each in others if each == given.get(key)), first)
    state.mark(_region(given.get("region")))


def forget() -> None:
    """The next search begins as a list."""
    for key in OFFERED:
        st.session_state.pop(key, None)


def begin(key: str, offered: Sequence[Any] = ()) -> None:
    """Gives a control that is drawn the first time, or has another choice than it had, its first value."""
    choice = offered or OFFERED[key]
    if st.session_state.get(key) not in choice:
        st.session_state[key] = choice[0]


def _region(given: object) -> Region | None:
    if not isinstance(given, list) or len(given) != 4:
        return None
    ends = [float(each) for each in given if isinstance(each, int | float) and math.isfinite(each)]
    return Region((ends[0], ends[1]), (ends[2], ends[3])) if len(ends) == 4 else None
