"""Four ways to begin: paste a paper, pick one of the corpus, open a file, or take an example."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui import examples, faults, links, state
from pages.ui.escape import one_line, plain
from pages.ui.html import authors
from pages.ui.sentences import PRESETS, Rule, chosen_by
from search.errors import InputError
from search.query import MOST_CHARACTERS, from_json
from search.types import Paper

PLACEHOLDER = "Title on the first line, then the abstract. A question or a few keywords work too."
FILE_TYPES = ["bib", "ris", "nbib", "pdf", "json", "txt"]
FOUND = 8
"""Papers shown while one types."""


def panel() -> None:
    """All four ways, with the examples last: they need the corpus, the text box does not."""
    paste, corpus, file = st.tabs(["Paste a paper", "Pick from the corpus", "Open a file"])
    with paste, faults.shown():
        _paste()
    below = st.container()
    with corpus:
        pick(use)
    with file, faults.shown():
        _file()
    with below:
        _examples()


def _paste() -> None:
    with st.form("paste", border=False):
        text = st.text_area(
            "Title and abstract", key="pasted", height=190, placeholder=PLACEHOLDER, max_chars=MOST_CHARACTERS
        )
        if st.form_submit_button("Read it", type="primary", icon=":material/notes:"):
            state.start((state.engine().read_text(text or ""),), "Pasted text")
            st.rerun()


@st.fragment
@faults.shown()
def pick(chosen: Callable[[str], None]) -> None:
    """Finds a paper of the corpus while one types and hands its id on."""
    label = "Part of a title, a DOI or an arXiv id"
    text = st.text_input(label, key="pick", type="search", live="300ms", placeholder="Search titles")
    if not text:
        st.caption("Type at least a few letters; the papers found appear here.")
        return
    found = state.engine().store.find(text, FOUND)
    if not found:
        st.caption(f"No paper of this corpus has “{plain(text)}” in its title, DOI or arXiv id.")
    for paper in found:
        label = f"{plain(paper.title)}  \n:gray[{plain(short_byline(paper))}]"
        if st.button(label, key=f"pick-{paper.id}", type="tertiary"):
            chosen(paper.id)


def short_byline(paper: Paper) -> str:
    return " · ".join(part for part in (authors(paper), str(paper.year or "")) if part)


def use(paper_id: str, rule: Rule | None = None) -> None:
    """Begins with a paper of the corpus, all of it or the part a preset chooses."""
    paper = state.engine().example(paper_id)
    state.start((chosen_by(paper, rule) if rule else paper,), "From the corpus")
    st.rerun()


def _file() -> None:
    given = st.file_uploader(
        "BibTeX, RIS, NBIB, PDF, or a query saved here",
        type=FILE_TYPES,
        key="file",
        max_upload_size=state.settings().upload_mb,
    )
    if given is None:
        st.caption("Of a PDF the title and abstract on its first page are used; you can edit them first.")
    elif given.name.lower().endswith(".json") and b'"triptych_query"' in given.getvalue()[:2000]:
        if st.button("Open this query", type="primary"):
            links.take_up(from_json(given.getvalue().decode("utf-8", "replace")), one_line(given.name))
            st.rerun()
    else:
        _edit_and_use(given.name, given.getvalue())


def _edit_and_use(name: str, data: bytes) -> None:
    papers = _papers_of(name, data)
    number = 0
    if len(papers) > 1:
        number = st.selectbox(
            f"{len(papers)} papers in this file; search with",
            range(len(papers)),
            format_func=lambda position: one_line(papers[position].title) or f"Paper {position + 1}",
        )
    paper = papers[number]
    title = st.text_input("Title", paper.title, key=f"file-title-{name}-{number}")
    abstract = st.text_area("Abstract", paper.abstract, height=190, key=f"file-abstract-{name}-{number}")
    if st.button("Use this paper", type="primary"):
        state.start((state.engine().read(title or "", abstract or ""),), one_line(name))
        st.rerun()


@st.cache_data(show_spinner="Reading the file…", max_entries=8)
def _papers_of(name: str, data: bytes) -> list[Paper]:
    """The papers of an uploaded file; InputError when there is none."""

    from index_build.sources import Reject, read_bytes

    if data.startswith(b"%PDF") or name.lower().endswith(".pdf"):
        from index_build.pdf import read_pdf

        return [read_pdf(data)]
    records = list(read_bytes(data, name))
    papers = [record for record in records if isinstance(record, Paper)]
    if not papers:
        reasons = {record.reason for record in records if isinstance(record, Reject)}
        why = f" ({'; '.join(sorted(reasons)[:2])})" if reasons else ""
        raise InputError(f"No paper was found in {one_line(name)}{why}: try BibTeX, RIS, NBIB or PDF.")
    return papers


def _examples() -> None:
    shown = examples.worked(state.build_id())
    if not shown:
        return
    st.header("Or start from an example", anchor=False)
    for column, example in zip(st.columns(len(shown)), shown, strict=True):
        with column, st.container(border=True, height="stretch"):
            st.markdown(f"**{example.ask}**")
            st.caption(plain(example.title))
            if st.button("Try it", key=f"example-{example.paper_id}", icon=":material/play_arrow:"):
                use(example.paper_id, PRESETS[example.preset][0])
