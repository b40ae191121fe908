"""What one can do with a paper: open it, search on, keep it; and what its score is made of."""

from __future__ import annotations

from typing import Any, NoReturn

import streamlit as st

from pages.ui import keeping, state
from pages.ui.escape import plain
from search.errors import TriptychError
from search.library.files import FIRST_LIST, Kept
from search.types import Evidence, Paper, Result

SCORE_HELP = (
    "A score from 0 to 1 and its word come from judged computer-science abstracts; in other fields take "
    "them as a hint. A pair's share says how much of the sentence match it carries; all shares add up to 1."
)


def parts_in_words(parts: Evidence) -> str:
    """What the score is made of, and the whole paper where it is no part of it."""
    between = ", " if parts.whole_counts else ". Not counted: "
    counted = f"sentences {parts.sentences:.2f}, words {parts.words:.2f}, avoided {parts.avoided:.2f}"
    return f"Before weighting: {counted}{between}whole paper {parts.whole_paper:.2f}."


def actions(paper: Paper, key: str, opened: bool = False, result: Result | None = None) -> None:
    """Search on, keep, open: the row of buttons under every paper; `result` where a search found it."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"actions-{key}"):
        _search_button(paper, key)
        keep(paper, key, result)
        if not opened:
            st.page_link(
                "pages/paper.py", label="Open", icon=":material/article:", query_params={"id": paper.id}
            )


def search_with(paper_id: str) -> NoReturn:
    """Begins a search with a paper of the corpus."""
    state.start((state.engine().example(paper_id),), "From the corpus")
    state.show_search()


def _search_button(paper: Paper, key: str) -> None:
    if st.button("Search with this", icon=":material/search:", key=f"with-{key}-{paper.id}", type="tertiary"):
        search_with(paper.id)


def keep(paper: Paper, key: str, result: Result | None = None) -> None:
    """Puts the paper on a list or takes it off; with several lists, on the one chosen."""
    shelf = state.shelf()
    names = shelf.names or (FIRST_LIST,)
    label, icon = (
        ("Kept", ":material/bookmark_added:") if paper.id in shelf.ids else ("Keep", ":material/bookmark:")
    )
    look: dict[str, Any] = {
        "icon": icon,
        "type": "tertiary",
        "key": f"keep-{key}-{paper.id}",
        "on_click": _keep,
    }
    if len(names) == 1:
        st.button(label, args=(paper, names[0], result), help="Put it on your list or take it off.", **look)
    else:
        st.menu_button(label, names, args=(paper, "", result, f"keep-{key}-{paper.id}"), **look)
    if said := state.visit().said:
        state.visit().said = ""
        st.toast(said)


def _keep(paper: Paper, name: str, result: Result | None, menu: str = "") -> None:
    """Puts the paper on the list or takes it off.

    What was done is said when the page is drawn: anything that a fragment's callback draws takes the place of
    the page's first element, its stylesheet.
    """
    keep_or_drop(paper, name or st.session_state[menu], result)


def keep_or_drop(paper: Paper, name: str, result: Result | None = None) -> None:
    """Puts the paper on the list with where it was found, or takes it off if it is there."""
    here, library = state.visit(), state.library()
    try:
        if name in library.names() and paper.id in library.ids(name):
            library.drop(name, paper.id)
            here.said = f"Taken off “{plain(name)}”."
        else:
            library.keep(name, [Kept(paper, origin=keeping.origin_of(result))])
            here.said = f"Kept on “{plain(name)}”."
    except TriptychError as error:
        here.said = plain(str(error))
    here.shelf = None
