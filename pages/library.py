"""Library: kept papers on named lists, with notes, tags and read marks."""

from __future__ import annotations

import streamlit as st

from pages.ui import faults, frame, html, state
from pages.ui.escape import plain
from pages.ui.views import FORMAT_NAMES
from pages.ui.words import counted
from search.errors import InputError
from search.exports import FORMATS, SUFFIXES, Reference, write
from search.library import Library
from search.list_files import FIRST_LIST, Kept, ReadingList, dump_lists, load_lists
from search.query import MOST_PAPERS

IN_SESSION = "Lists on this host live in your browser session only: save them to a file before you leave."
SHARED = "Nobody signs in to this app, so everyone who uses it shares these lists."
EMPTY = "Nothing kept yet. Press “Keep” under a paper on the Find or Paper page, or open a saved list file."
MARKS = {"All": None, "Unread": False, "Read": True}


def page() -> None:
    st.title("Library")
    _whose()
    library = state.library()
    names = library.names()
    left, right = st.columns([3, 1], gap="large", vertical_alignment="bottom")
    with left:
        chosen = st.selectbox("List", names or [FIRST_LIST], key="library-list")
    with right, st.popover("Manage lists", icon=":material/playlist_add:", width="stretch"), faults.shown():
        _manage(library, chosen if names else "")
    if not names or not (reading_list := library.reading_list(chosen)).kept:
        st.info(EMPTY, icon=":material/bookmark:")
        return
    _actions(library, reading_list)
    _show(library, reading_list)


def _whose() -> None:
    """Says where the lists are and who sees them, and signs in where the host offers it."""
    if state.settings().session_library:
        st.caption(IN_SESSION)
    elif state.owner():
        st.caption(f"The lists of {plain(state.owner())}.")
        st.button("Sign out", on_click=st.logout)
    elif state.can_sign_in():
        st.caption("Sign in to keep lists of your own; these are shared by all who have not.")
        st.button("Sign in", on_click=st.login, icon=":material/login:")
    else:
        st.caption(SHARED)


def _manage(library: Library, name: str) -> None:
    """Make, rename, delete, save and open lists."""
    with st.form("new-list", clear_on_submit=True, border=False):
        new = st.text_input("New list", placeholder="Name")
        if st.form_submit_button("Make it"):
            library.create(new or "")
            st.rerun()
    if name:
        with st.form("rename-list", clear_on_submit=True, border=False):
            new = st.text_input("New name for this list", placeholder=name)
            if st.form_submit_button("Rename"):
                library.rename(name, new or "")
                st.rerun()
        st.download_button(
            "Save lists",
            lambda: dump_lists(library.reading_list(each) for each in library.names()),
            "triptych-lists.json",
            "application/json",
            on_click="ignore",
        )
        if st.checkbox("Delete this list with its notes") and st.button("Delete", type="primary"):
            library.delete(name)
            st.rerun()
    _open_file(library)


def _open_file(library: Library) -> None:
    given = st.file_uploader("Open a saved list file", type="json", key="lists-file")
    if given is not None and st.button("Add its lists"):
        added = sum(library.keep(each.name, each.kept) for each in load_lists(given.getvalue()))
        st.toast(f"{counted(added, 'paper')} added; those already here kept their notes.")
        st.rerun()


def _actions(library: Library, reading_list: ReadingList) -> None:
    with st.container(horizontal=True):
        if st.button("Recommend from this list", type="primary", icon=":material/auto_awesome:"):
            recommend(reading_list)
        with st.popover("Export", icon=":material/download:"):
            for name in FORMATS:
                st.download_button(
                    FORMAT_NAMES.get(name, name),
                    data=lambda name=name: _written(library, reading_list.name, name),
                    file_name=f"list.{SUFFIXES[name]}",
                    on_click="ignore",
                    key=f"list-export-{name}",
                    width="stretch",
                )
    st.header(plain(reading_list.name), anchor=False)
    st.caption(
        f"{counted(len(reading_list.kept), 'paper')}, {sum(kept.read for kept in reading_list.kept)} read."
    )


def _written(library: Library, name: str, form: str) -> str:
    """The list as it is when the button is pressed, with notes written since the page was drawn."""
    return write([Reference(kept.paper, kept.note) for kept in library.reading_list(name).kept], form)


def recommend(reading_list: ReadingList) -> None:
    """Searches with all papers of the list that have a text to search with."""
    engine = state.engine()
    known = {paper.id for paper in engine.store.papers([kept.paper.id for kept in reading_list.kept])}
    queries = tuple(
        engine.example(kept.paper.id)
        if kept.paper.id in known
        else engine.read(kept.paper.title, kept.paper.abstract)
        for kept in reading_list.kept[:MOST_PAPERS]
    )
    if not queries:
        raise InputError("This list is empty: keep a paper first.")
    state.start(queries, f"The list “{reading_list.name}”")
    st.switch_page("pages/find.py")


def _show(library: Library, reading_list: ReadingList) -> None:
    tags = sorted({tag for kept in reading_list.kept for tag in kept.tags})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        mark = st.segmented_control("Show", list(MARKS), default="All", required=True, key="library-mark")
        wanted = []
        if tags:
            wanted = st.pills("Tags", tags, selection_mode="multi", format_func=plain, key="library-tags")
    for kept in reading_list.kept:
        if MARKS[mark] in (None, kept.read) and set(wanted) <= set(kept.tags):
            _entry(library, reading_list.name, kept)


@st.fragment
@faults.shown()
def _entry(library: Library, name: str, kept: Kept) -> None:
    paper, key = kept.paper, f"{name}-{kept.paper.id}"
    save = {"on_change": _save, "args": (library, name, paper.id, key)}
    with st.container(border=True):
        st.html(f'<article class="card">{html.heading(paper, 3)}{html.byline(paper)}</article>')
        words, marks = st.columns([5, 1])
        words.text_area("Note", kept.note, 68, key=f"note-{key}", placeholder="Why it matters", **save)
        words.multiselect(
            "Tags",
            kept.tags,
            kept.tags,
            key=f"tags-{key}",
            accept_new_options=True,
            placeholder="Add",
            **save,
        )
        marks.checkbox("Read", kept.read, key=f"read-{key}", **save)
        marks.page_link("pages/paper.py", label="Open", query_params={"id": paper.id})
        if marks.button("Remove", key=f"remove-{key}", type="tertiary"):
            library.drop(name, paper.id)
            st.rerun()


def _save(library: Library, name: str, paper_id: str, key: str) -> None:
    note, tags, read = (st.session_state[f"{what}-{key}"] for what in ("note", "tags", "read"))
    library.annotate(name, paper_id, note=note or "", tags=tags, read=read)


frame.draw(page)
