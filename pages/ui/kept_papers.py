"""A kept paper on the Library page: where it comes from, its note and tags, and its buttons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.ui import html, keeping, links, lists, state
from pages.ui.escape import markup, one_line, plain, told_apart
from search.errors import TriptychError
from search.library.files import Kept, ReadingList
from search.library.store import Library
from search.types import Paper

_NO_BRACKETS = str.maketrans("", "", "[]<>")
"""The label of a text box is drawn as markup even where it is hidden, and its escapes are read aloud."""


def entry(library: Library, name: str, kept: Kept, known: bool, others: list[str]) -> None:
    """Draws it. Not a fragment: Streamlit names those by their place and drops a click on one that has moved,
    as all below a removed paper do."""
    paper, key = kept.paper, f"{name}-{kept.paper.id}"
    with st.container(border=True, key=f"kept-{key}", gap="small"):
        about = html.heading(paper, 3) + html.byline(paper) + _where(kept, known)
        st.html(f'<article class="card">{about}</article>')
        _remarks(library, name, kept, key)
        with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"do-{key}"):
            _ways_on(kept, known, key)
            _changes(library, name, kept, others, key)
        _abstract(kept, key)


def _where(kept: Kept, known: bool) -> str:
    """When it was kept, from which search and why; and that this corpus does not have it."""
    lines = [keeping.told(kept)]
    if not known:
        lines.append(
            f"Not in this corpus; kept from {kept.origin.corpus}."
            if kept.origin.corpus
            else "Not in this corpus; shown as it was kept."
        )
    return "".join(f'<p class="quiet">{markup(line)}</p>' for line in lines)


def _remarks(library: Library, name: str, kept: Kept, key: str) -> None:
    title = one_line(kept.paper.title.translate(_NO_BRACKETS)) or "Untitled"
    save: dict[str, Any] = {
        "on_change": _save,
        "args": (library, name, kept.paper.id, key),
        "label_visibility": "collapsed",
    }
    note, tags = st.columns([3, 2])
    note.text_area(f"Note: {title}", kept.note, 68, key=f"note-{key}", placeholder="Your note", **save)
    tags.multiselect(
        f"Tags: {title}",
        kept.tags,
        kept.tags,
        key=f"tags-{key}",
        accept_new_options=True,
        select_all=False,
        placeholder="Add tags",
        **save,
    )


def _ways_on(kept: Kept, known: bool, key: str) -> None:
    """To the paper, and back to the search it was kept from."""
    title = _hidden(kept.paper)
    if known:
        st.page_link(
            "pages/paper.py",
            label=f"Open{title}",
            icon=":material/article:",
            query_params={"id": kept.paper.id},
        )
    if kept.origin.query and st.button(
        f"Open this search{title}", key=f"search-{key}", type="tertiary", icon=":material/history:"
    ):
        links.open_again(kept.origin)


def _changes(library: Library, name: str, kept: Kept, others: list[str], key: str) -> None:
    """Read or not, on another list, on none."""
    title, paper_id, menu = _hidden(kept.paper), kept.paper.id, f"move-{key}"
    look: dict[str, Any] = {"type": "tertiary"}
    label, icon = ("unread", "mark_email_unread") if kept.read else ("read", "done_all")
    st.button(
        f"Mark as {label}{title}",
        key=f"read-{key}",
        icon=f":material/{icon}:",
        on_click=_mark,
        args=(library, name, paper_id, not kept.read),
        **look,
    )
    if others:
        st.menu_button(
            f"Move{title}",
            others,
            key=menu,
            icon=":material/drive_file_move:",
            on_click=_move,
            args=(library, name, paper_id, menu),
            **look,
        )
    st.button(
        f"Remove{title}",
        key=f"remove-{key}",
        icon=":material/delete:",
        on_click=_remove,
        args=(library, name, kept),
        **look,
    )


def _abstract(kept: Kept, key: str) -> None:
    """The abstract and what matched, sent once they are asked for."""
    details = st.expander(
        f"Abstract{_hidden(kept.paper)}", key=f"abstract-{key}", on_change="rerun", type="compact"
    )
    with details:
        if details.open:
            st.html(html.quotes(kept.origin.quotes) + html.abstract(kept.paper))


def _hidden(paper: Paper) -> str:
    return told_apart(paper.title)


def _save(library: Library, name: str, paper_id: str, key: str) -> None:
    note, tags = st.session_state[f"note-{key}"], st.session_state[f"tags-{key}"]
    _told_if_it_fails(lambda: library.annotate(name, paper_id, note=note or "", tags=tags))


def _mark(library: Library, name: str, paper_id: str, read: bool) -> None:
    _told_if_it_fails(lambda: library.mark(name, paper_id, read))


def _told_if_it_fails(work: Callable[[], None]) -> None:
    """Callbacks draw nothing: what went wrong is said when the page is drawn."""
    try:
        work()
    except TriptychError as error:
        state.visit().said = plain(str(error))


def _move(library: Library, name: str, paper_id: str, menu: str) -> None:
    def work() -> None:
        other = st.session_state[menu]
        moved = library.move(name, other, paper_id)
        state.visit().said = f"Moved to “{plain(other)}”." if moved else f"“{plain(other)}” has it already."

    _told_if_it_fails(work)


def _remove(library: Library, name: str, kept: Kept) -> None:
    def work() -> None:
        now = [each for each in library.reading_list(name).kept if each.paper.id == kept.paper.id]
        library.drop(name, kept.paper.id)
        said = f"Removed “{one_line(kept.paper.title) or 'Untitled'}”."
        lists.keep_removed(said, ReadingList(name, tuple(now)))
        state.visit().shelf = None

    _told_if_it_fails(work)
