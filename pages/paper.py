"""Paper: its three panels, its nearest by each of them, links and citations."""

from __future__ import annotations

import streamlit as st

from pages.ui import coins, frame, html, parts, rights, start, state, triptych, views
from pages.ui.escape import plain, web_addresses
from pages.ui.palette import look, word
from search.exports import FORMATS, cite
from search.types import PANELS, Facet, Paper, Query


def page() -> None:
    state.engine()
    paper_id = st.query_params.get("id", "")
    paper = state.engine().store.paper(paper_id) if paper_id else None
    if paper is None:
        st.title("Paper")
        if paper_id:
            gone = f"No paper of this corpus has the id “{plain(paper_id)}”; it may be gone. Pick another."
            st.warning(gone, icon=":material/info:")
        start.pick(_open)
        return
    st.title(plain(paper.title) or "Untitled", anchor=False)
    st.html(html.byline(paper))
    _links(paper)
    rights.show(paper)
    coins.draw([paper])
    parts.actions(paper, "paper", opened=True)
    _panels(paper)
    st.caption("Below: the nearest papers, searched with the sentences of one panel at a time.")
    triptych.show(Query((state.engine().example(paper.id),)))
    _cite(paper)


def _open(paper_id: str) -> None:
    st.query_params["id"] = paper_id
    st.rerun()


def _links(paper: Paper) -> None:
    with st.container(horizontal=True):
        for label, address in web_addresses(paper).items():
            st.link_button(label, address, icon=":material/open_in_new:")


def _panels(paper: Paper) -> None:
    st.header("Three panels", anchor=False)
    panels = {facet: [s for s in paper.sentences if s.panel is facet] for facet in PANELS}
    for column, (facet, sentences) in zip(st.columns(len(PANELS)), panels.items(), strict=True):
        with column:
            st.subheader(f":{look(facet).name}[{word(facet)}]", anchor=False)
            st.html(html.panel(facet, sentences))
    rest = [s for s in paper.sentences if s.facet is None or s.facet is Facet.OTHER]
    if rest:
        st.subheader(f":{look(Facet.OTHER).name}[The rest]", anchor=False)
        st.html(html.panel(Facet.OTHER, rest))
    with st.expander("The abstract as it reads"):
        st.html(html.abstract(paper, range(len(paper.sentences))))


def _cite(paper: Paper) -> None:
    st.header("Cite", anchor=False)
    names = [views.FORMAT_NAMES.get(name, name) for name in FORMATS]
    for tab, name in zip(st.tabs(names), FORMATS, strict=True):
        tab.code(cite(paper, name), language=None, wrap_lines=True)


frame.draw(page)
