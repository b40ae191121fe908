"""The page list and page config; `streamlit run app.py` starts here."""

from pathlib import Path

import streamlit as st

from pages.ui import faults

UI = Path(__file__).parent / "pages" / "ui"

st.set_page_config(page_title="Triptych", page_icon=UI / "icon.svg", layout="wide")
st.html(UI / "style.css")
st.logo(UI / "logo.svg", size="large")

pages = {
    "": [
        st.Page("pages/find.py", title="Find", icon=":material/search:", default=True),
        st.Page("pages/explore.py", title="Explore", icon=":material/travel_explore:"),
        st.Page("pages/library.py", title="Library", icon=":material/bookmarks:"),
        st.Page("pages/paper.py", title="Paper", icon=":material/article:"),
    ],
    "About": [
        st.Page("pages/corpus.py", title="Corpus", icon=":material/database:"),
        st.Page("pages/quality.py", title="Quality", icon=":material/verified:"),
    ],
}
if Path("pages/judge.py").is_file():
    pages["About"].append(st.Page("pages/judge.py", title="Judge", icon=":material/gavel:"))

page = st.navigation(pages, position="top")
with faults.shown():
    page.run()
