"""What every page stands in: the stylesheet, and errors shown as sentences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from pages.ui import adding, faults, home, state
from pages.ui.escape import plain

STYLE = Path(__file__).with_name("style.css")


def draw(page: Callable[[], None]) -> None:
    """Runs a page. Every file in `pages/` ends with this call."""
    if state.is_new() and PagesManager.uses_pages_directory:
        # A fresh server whose first visitor goes straight to a page runs that file without app.py, because
        # Streamlit takes `pages/` for its old kind of app until `st.navigation` is called. Run app.py.
        PagesManager.uses_pages_directory = False
        st.rerun()
    here, name = state.visit(), Path(page.__code__.co_filename).stem
    here.shelf, here.arrived, here.page = None, here.page != name, name
    st.html(STYLE)
    home.listen(name)
    with faults.shown():
        try:
            page()
        except state.NoCorpusError:
            adding.first_corpus()
        if notice := state.notice():
            st.warning(plain(notice), icon=":material/healing:")
