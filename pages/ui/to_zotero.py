"""Results into a collection of Zotero, where the app runs on the visitor's own machine."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import streamlit as st

from index_build.fetch.web import is_loopback
from index_build.fetch.zotero_out import Writer
from pages.ui import faults, state
from pages.ui.escape import plain
from pages.ui.words import counted
from search.exports import reason_in_words
from search.exports.references import Citation
from search.types import Results

HERE, ON_THE_WEB = "Zotero on this machine", "zotero.org"
ON_A_HOST = "In the browser's Zotero: its button finds the papers on this page. Or save them as RIS above."
NO_COLLECTION = "No collection"


def is_own_machine() -> bool:
    """Whether the visitor sits at the machine that the app runs on, so that its Zotero is theirs."""
    return is_loopback(st.context.url or "") and urlsplit(st.context.url or "").scheme in ("http", "https")


@st.fragment
@faults.shown()
def offer(results: Results) -> None:
    """Choose a collection, then send."""
    settings = state.settings()
    if not (settings.allow_fetch and is_own_machine()):
        st.caption(ON_A_HOST)
        return
    on_the_web = settings.zotero_library if settings.zotero_key else ""
    where = (
        st.radio("Send to", [HERE, ON_THE_WEB], key="zotero-where", horizontal=True) if on_the_web else HERE
    )
    library = on_the_web if where == ON_THE_WEB else ""
    if st.button("Choose a collection", icon=":material/folder_open:", key="zotero-list"):
        with st.spinner("Asking Zotero…"):
            st.session_state["zotero-collections"] = (library, Writer(settings, library).collections())
    known_of, known = st.session_state.get("zotero-collections", ("", None))
    if known is None or known_of != library:
        return
    key = st.selectbox(
        "Collection",
        ["", *known],
        format_func=lambda key: known.get(key, NO_COLLECTION),
        key="zotero-collection",
    )
    told = f"Send {counted(len(results.results), 'paper')}"
    if st.button(told, type="primary", key="zotero-send", help="Zotero may ask you to allow it."):
        with st.spinner("Zotero may be asking you to allow this…"):
            sent = Writer(settings, library).send(_citations(results), key)
        there = f" {sent.there:,} were in your library already." if sent.there else ""
        st.success(f"{counted(sent.written, 'paper')} sent, each with its reason as a note.{there}")
        for title, why in sent.failed.items():
            st.caption(plain(f"Not sent: {title} ({why})."))


def _citations(results: Results) -> Sequence[Citation]:
    return [
        Citation(result.paper, f"{result.places} {reason_in_words(results.query, result)}".strip())
        for result in results.results
    ]
