"""`streamlit run app.py` starts here: the server, loaded once, and the pages, listed at every click."""

from contextlib import asynccontextmanager, suppress
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from streamlit import cli_util, config
from streamlit.web.server import server_util

from pages.ui import state
from pages.ui.guard import Guard
from pages.ui.programs import Programs
from search import logs
from search.errors import SettingsError
from search.settings import load_settings, make_new_files_private

PAGES = Path(__file__).parent / "pages"


def draw() -> None:
    """One run for one visitor."""
    # The icon comes before the navigation, which would have browsers fetch the page's own from elsewhere.
    st.set_page_config(page_icon=PAGES / "ui" / "icon.svg", layout="wide")
    st.logo(PAGES / "ui" / "logo.svg", size="large")
    pages = {
        "": [
            st.Page(PAGES / "find.py", title="Find", icon=":material/search:", default=True),
            st.Page(PAGES / "explore.py", title="Explore", icon=":material/travel_explore:"),
            st.Page(PAGES / "library.py", title="Library", icon=":material/bookmarks:"),
            st.Page(PAGES / "paper.py", title="Paper", icon=":material/article:"),
        ],
        "About": [
            st.Page(PAGES / "corpus.py", title="Corpus", icon=":material/database:"),
            st.Page(PAGES / "quality.py", title="Quality", icon=":material/verified:"),
        ],
    }
    with suppress(SettingsError):  # the page itself will tell of it
        if state.settings().judging:
            pages["Tools"] = [st.Page(PAGES / "judge.py", title="Judge", icon=":material/gavel:")]
    page = st.navigation(pages, position="top")
    st.set_page_config(f"{page.title} · Triptych")
    page.run()


@asynccontextmanager
async def serving(_app):
    """Before the first request: what the process keeps to, and the browser, which `st.App` leaves out."""
    logs.keep_texts_out()
    with suppress(SettingsError):  # the page itself will tell of it
        make_new_files_private(load_settings())
    if not config.get_option("server.headless"):
        cli_util.open_browser(server_util.get_url(config.get_option("browser.serverAddress")))
    yield


if __name__ == "__main__":  # Streamlit runs this file at every click
    draw()
else:  # and loads it once as a module, because it finds this line in it
    app = st.App(__file__, middleware=[Middleware(Programs), Middleware(Guard)], lifespan=serving)
