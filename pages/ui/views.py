"""The answer to take away: as a file, as a link."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.ui import links, state, to_zotero
from search import record
from search.exports import FORMATS, SUFFIXES, export
from search.query.saving import to_json
from search.types import Results

FORMAT_NAMES = {
    "bibtex": "BibTeX",
    "ris": "RIS",
    "csl-json": "CSL-JSON (Zotero)",
    "csv": "CSV",
    "markdown": "Markdown",
}

RECORDS = {"Record (Markdown)": ("md", record.as_markdown), "Record (JSON)": ("json", record.as_json)}


def _name(draft: state.Draft) -> None:
    """A search with a name stays on the start page."""
    entry = state.history().entry(draft.id)
    before = entry.name if entry else ""
    name = st.text_input("Keep this search as", before, max_chars=120, key=f"name-{draft.id}") or ""
    if name != before:
        state.history().rename(draft.id, state.searcher(), name)
        st.caption("Kept." if name else "The name is gone.")


def _links(results: Results, draft: state.Draft) -> None:
    """The short link where the host keeps searches, and the one that carries the text."""
    if not state.settings().session_library:
        st.markdown("**Short link.** For people who use this app; it shows the search as you leave it.")
        st.code(links.short_link(draft), language=None, wrap_lines=True)
    pasted = any(not paper.paper_id for paper in results.query.papers)
    warning = " :red[It contains your text.]" if pasted else ""
    st.markdown(f"**Link with everything inside.** It works wherever this corpus is.{warning}")
    if link := links.packed_link(results.query, results.build_id):
        st.code(link, language=None, wrap_lines=True)
    else:
        st.caption("This text is too long for such a link: save the query as a file instead.")


def take_away(results: Results, draft: state.Draft) -> None:
    """Export in every format, the link, and the query as a file."""
    with st.popover("Export", icon=":material/download:"):
        for name in FORMATS:
            st.download_button(
                FORMAT_NAMES.get(name, name),
                data=partial(export, results, name),
                file_name=f"triptych.{SUFFIXES[name]}",
                on_click="ignore",
                key=f"export-{name}",
                width="stretch",
            )
        st.caption("Into Zotero.")
        to_zotero.offer(results)
        st.caption("The search itself, for a methods section. The JSON can be run again.")
        for name, (suffix, write) in RECORDS.items():
            st.download_button(
                name,
                data=partial(write, results, state.engine().manifest),
                file_name=f"search-record.{suffix}",
                on_click="ignore",
                key=f"record-{suffix}",
                width="stretch",
            )
    with st.popover("Link", icon=":material/link:"):
        _name(draft)
        _links(results, draft)
        st.download_button(
            "Save query",
            data=to_json(results.query, results.build_id),
            file_name="query.json",
            mime="application/json",
            on_click="ignore",
        )
