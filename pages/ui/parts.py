"""Result cards with what one can do with them: open, search on, keep."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.ui import charts, faults, html, state
from pages.ui.escape import plain
from pages.ui.palette import badge
from search.list_files import FIRST_LIST, Kept
from search.types import Evidence, Facet, Pair, Paper, Result, Results

SCORE_HELP = (
    "A score from 0 to 1 and its word come from judged computer-science abstracts; in other fields take "
    "them as a hint. A pair's share says how much of the sentence match it carries; all shares add up to 1."
)


def result_list(results: Results) -> None:
    for number, result in enumerate(results.results, 1):
        card(result, number, len(results.query.papers))


@st.fragment
@faults.shown()
def card(result: Result, number: int, query_papers: int = 1) -> None:
    """One result; opening it or keeping it redraws this card alone."""
    with st.container(border=True, gap="xsmall", key=f"card-{number}"):
        st.html(html.card(result, number, query_papers))
        details = st.expander(
            "Abstract and alignment",
            key=f"details-{number}-{result.paper.id}",
            on_change="rerun",
            type="compact",
        )
        with details:
            if details.open:
                evidence(result)
        actions(result.paper, f"card-{number}")


def evidence(result: Result) -> None:
    """The abstract with its matched sentences marked, and the whole alignment as picture and table."""
    st.html(html.abstract(result.paper, {pair.position for pair in result.pairs}))
    if result.duplicates:
        st.caption(f"Also in the corpus as {plain(', '.join(result.duplicates))}.")
    chart = charts.alignment(result.pairs, len(result.paper.sentences), state.is_dark())
    st.altair_chart(chart, alt=in_words(result.pairs))
    st.table(alignment_table(result.pairs), hide_index=True)
    st.caption(parts_in_words(result.evidence))


def parts_in_words(parts: Evidence) -> str:
    """What the score is made of, and the whole paper where it is no part of it."""
    between = ", " if parts.whole_counts else ". Not counted: "
    counted = f"sentences {parts.sentences:.2f}, words {parts.words:.2f}, avoided {parts.avoided:.2f}"
    return f"Before weighting: {counted}{between}whole paper {parts.whole_paper:.2f}."


def in_words(pairs: tuple[Pair, ...]) -> str:
    """The alignment for those who do not see it."""
    told = [f"yours {p.query_sentence + 1} on theirs {p.position + 1}, {p.share:.0%}" for p in pairs[:8]]
    return "Alignment of sentences: " + "; ".join(told)


def alignment_table(pairs: tuple[Pair, ...]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Share": [f"{pair.share:.0%}" for pair in pairs],
            "Likeness": [f"{pair.similarity:.2f}" for pair in pairs],
            "Yours": [_cell(pair.query_sentence, pair.query_facet, pair.query_text) for pair in pairs],
            "Theirs": [_cell(pair.position, pair.facet, pair.text) for pair in pairs],
            "Shared words": [plain(", ".join(pair.shared_terms)) for pair in pairs],
        }
    )


def _cell(position: int, facet: Facet | None, text: str) -> str:
    return f"{badge(facet)} {plain(f'{position + 1}. {text}')}"


def actions(paper: Paper, key: str, opened: bool = False) -> None:
    """Search on, keep, open: the row of buttons under every paper."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"actions-{key}"):
        search_with(paper, key)
        keep(paper, key)
        if not opened:
            st.page_link(
                "pages/paper.py", label="Open", icon=":material/article:", query_params={"id": paper.id}
            )


def search_with(paper: Paper, key: str) -> None:
    if st.button("Search with this", icon=":material/search:", key=f"with-{key}-{paper.id}", type="tertiary"):
        state.start((state.engine().example(paper.id),), "From the corpus")
        st.switch_page("pages/find.py")


def keep(paper: Paper, key: str) -> None:
    """Puts the paper on a list or takes it off; with several lists, on the one chosen."""
    shelf = state.shelf()
    names = shelf.names or (FIRST_LIST,)
    label, icon = (
        ("Kept", ":material/bookmark_added:") if paper.id in shelf.ids else ("Keep", ":material/bookmark:")
    )
    look = {"icon": icon, "type": "tertiary", "key": f"keep-{key}-{paper.id}", "on_click": _keep}
    if len(names) == 1:
        st.button(label, args=(paper, names[0]), help="Put it on your list or take it off.", **look)
    else:
        st.menu_button(label, names, args=(paper, "", f"keep-{key}-{paper.id}"), **look)


@faults.shown()
def _keep(paper: Paper, name: str, menu: str = "") -> None:
    library, name = state.library(), name or st.session_state[menu]
    if name in library.names() and paper.id in library.ids(name):
        library.drop(name, paper.id)
        st.toast(f"Taken off “{plain(name)}”.")
    else:
        library.keep(name, [Kept(paper)])
        st.toast(f"Kept on “{plain(name)}”.")
    state.visit().shelf = None
