"""The page list and page config; `streamlit run app.py` starts here."""

from pathlib import Path

import streamlit as st

PAGES = Path(__file__).parent / "pages"

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
if (PAGES / "judge.py").is_file():
    pages["Tools"] = [st.Page(PAGES / "judge.py", title="Judge", icon=":material/gavel:")]

page = st.navigation(pages, position="top")
st.set_page_config(f"{page.title} · Triptych")
page.run()
