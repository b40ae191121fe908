"""Components of our own: the sentences and the result list, each a script and a stylesheet of its name."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

HERE = Path(__file__).parent


def component(name: str) -> ComponentRenderer:
    """Registers a component; by `pointing.js`, before its script, the two speak to each other."""
    script, pointing = _read(f"{name}.js"), _read("pointing.js")
    return st.components.v2.component(name, css=_read(f"{name}.css"), js=pointing + script)


def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
