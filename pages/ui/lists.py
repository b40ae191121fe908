"""Making, renaming, deleting, saving and opening lists, and taking back what was removed."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui import state
from pages.ui.escape import plain
from pages.ui.words import counted
from search.errors import InputError, TriptychError
from search.library.files import FIRST_LIST, ReadingList, dump_lists, load_lists
from search.library.store import Library

MOST_REMOVED = 20
"""Removals that can be taken back, the latest first; chosen by hand."""


def choose(library: Library) -> str:
    """Draws the choice of a list beside what can be done with lists; the name of the one chosen, if any.

    After each change the controls have new keys. What the browser still says of the old ones, because a file
    arrives or a key is pressed before it has drawn the change, then chooses no other list and adds no file.
    """
    here = state.visit()
    if here.arrived:
        here.removed, here.refused = (), ""
    names = library.names()
    offered = names or [FIRST_LIST]
    place = offered.index(here.list) if here.list in offered else 0
    left, right = st.columns([3, 1], gap="large", vertical_alignment="bottom")
    with left:
        here.list = st.selectbox("List", offered, place, key=f"library-list-{here.changes}")
    name = here.list if names else ""
    with (
        right,
        st.popover(
            "Manage lists",
            key=f"manage-lists-{here.changes}",  # a new one is closed
            icon=":material/playlist_add:",
            width="stretch",
        ),
    ):
        _manage(library, name)
    _take_back(library)
    return name


def _manage(library: Library, name: str) -> None:
    if refused := state.visit().refused:
        st.warning(plain(refused), icon=":material/info:")
    with st.form("new-list", clear_on_submit=True, border=False):
        st.text_input("New list", placeholder="Name", key="new-name")
        st.form_submit_button("Create list", on_click=_make, args=(library,))
    if name:
        with st.form("rename-list", clear_on_submit=True, border=False):
            st.text_input("New name for this list", placeholder=name, key="other-name")
            st.form_submit_button("Rename", on_click=_rename, args=(library, name))
        with st.container(horizontal=True):
            st.download_button(
                "Save lists",
                lambda: dump_lists(library.reading_list(each) for each in library.names()),
                "triptych-lists.json",
                "application/json",
                on_click="ignore",
            )
            st.button("Delete this list", on_click=_delete, args=(library, name))
    most = state.settings().upload_mb
    key = f"lists-file-{state.visit().changes}"
    if st.file_uploader("Open a saved list file", type="json", key=key, max_upload_size=most):
        st.button("Add its lists", on_click=_add, args=(library, key))


def _try(work: Callable[[], str]) -> None:
    """Does what a button asks for; what comes of it is chosen, or the reason against it is shown."""
    here = state.visit()
    try:
        name = work()
    except TriptychError as error:
        here.refused = str(error)
        return
    here.refused, here.shelf, here.changes = "", None, here.changes + 1
    if name:
        here.list = name


def _make(library: Library) -> None:
    _try(lambda: library.create(st.session_state["new-name"] or ""))


def _rename(library: Library, name: str) -> None:
    _try(lambda: library.rename(name, st.session_state["other-name"] or ""))


def _delete(library: Library, name: str) -> None:
    def work() -> str:
        removed = library.reading_list(name)
        library.delete(name)
        keep_removed(f"“{name}” deleted with {counted(len(removed.kept), 'paper')}.", removed)
        return ""

    _try(work)


def _add(library: Library, key: str) -> None:
    """Adds the file that is in the box now: when the button was drawn it may have been another."""

    def work() -> str:
        if not (given := st.session_state.get(key)):
            raise InputError("The file has not arrived yet: wait a moment and press “Add its lists” again.")
        lists = load_lists(given.getvalue())
        added = library.keep_lists(lists)
        state.visit().said = f"{counted(added, 'paper')} added; those already here kept their notes."
        return library.create(lists[0].name) if lists else ""

    _try(work)


def keep_removed(said: str, removed: ReadingList) -> None:
    """Remembers what was removed, so that it can be taken back."""
    here = state.visit()
    here.removed = (*here.removed, (said, removed))[-MOST_REMOVED:]


def _take_back(library: Library) -> None:
    here = state.visit()
    if here.removed:
        said, _ = here.removed[-1]
        with st.container(horizontal=True, vertical_alignment="center", key="removed"):
            st.markdown(plain(said), width="content")
            st.button("Undo", icon=":material/undo:", on_click=_undo, args=(library,), key="undo")


def _undo(library: Library) -> None:
    here = state.visit()
    if here.removed:  # a second quick click may find nothing left
        _, removed = here.removed[-1]
        here.removed = here.removed[:-1]
        _try(lambda: _put_back(library, removed))


def _put_back(library: Library, removed: ReadingList) -> str:
    library.keep_lists([removed])
    return removed.name
