"""Four ways to begin: paste a paper, pick one of the corpus, open a file, or take an example."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui import examples, faults, identifiers, links, state
from pages.ui.escape import one_line, plain, told_apart
from pages.ui.html import authors
from pages.ui.questions import QUESTIONS, Question
from pages.ui.words import counted
from search.errors import TriptychError
from search.history import Entry
from search.query.saving import from_json
from search.types import Paper

PLACEHOLDER = (
    "Title on the first line, then the abstract. A question, a few keywords, a DOI or an arXiv id work too."
)
FILE_TYPES = ["bib", "ris", "nbib", "enw", "xml", "cff", "pdf", "json", "txt"]
RECENT = 5
"""Searches with a name, and as many without, that the start page lists."""
WHAT_TO_TYPE = (
    "Words of the title, an author and a year (“smith 2019”), a DOI, an arXiv or PubMed id, or its web "
    "address. Small typing errors do not matter."
)
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
        _recent()
        _examples()


def _paste() -> None:
    with st.form("paste", border=False):
        text = st.text_area("Title and abstract", key="pasted", height=190, placeholder=PLACEHOLDER)
        if st.form_submit_button("Find papers", type="primary", icon=":material/search:"):
            if named := identifiers.named_in(text or ""):
                identifiers.take_up(named, use)
            else:
                identifiers.forget()
                links.begin_with_text(text or "")
                st.rerun()
    identifiers.offer()


@st.fragment
@faults.shown()
def pick(chosen: Callable[[str], None]) -> None:
    """Finds a paper of the corpus while one types and hands its id on."""
    label = "Part of a title, an author, an id or an address"
    text = st.text_input(label, key="pick", type="search", live="300ms", placeholder="Look up a paper")
    if not text:
        st.caption(WHAT_TO_TYPE)
        return
    found = state.engine().store.find(text, FOUND)
    if not found:
        st.caption(f"No paper of this corpus fits “{plain(text[:100])}”. Try fewer words, or an id.")
        if chosen is use and (named := identifiers.named_in(text)):
            identifiers.ask(named, "pick")
    for paper in found:
        label = f"{plain(paper.title)}  \n:gray[{plain(short_byline(paper))}]"
        if st.button(label, key=f"pick-{paper.id}", type="tertiary"):
            chosen(paper.id)


def short_byline(paper: Paper) -> str:
    return " · ".join(part for part in (authors(paper), str(paper.year or "")) if part)


def use(paper_id: str, question: Question | None = None) -> None:
    """Begins with a paper of the corpus, all of it or the part a preset chooses."""
    paper = state.engine().example(paper_id)
    state.start((question.ask(paper) if question else paper,), "From the corpus")
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
    papers, number = _papers_of(name, data), 0
    if len(papers) > (most := state.settings().upload_papers):
        papers = papers[:most]
        st.caption(f"This file has more than {most:,} papers: the first {most:,} are offered.")
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
        read = state.compute(state.engine().read, title or "", abstract or "")
        state.start((read,), one_line(name), links.note_on(len(abstract or ""), read))
        st.rerun()


@st.cache_data(show_spinner="Reading the file…", max_entries=8)
def _papers_of(name: str, data: bytes) -> list[Paper]:
    """The papers of an uploaded file, read where it can stop nobody; InputError when there is none."""
    from index_build.isolated import papers_in

    return papers_in(one_line(name), data, state.settings().upload_papers + 1)  # to know of more


def _recent() -> None:
    """Searches of before: those with a name first, then the latest."""
    if not state.settings().history:
        return
    history, owner, before = state.history(), state.searcher(), state.before()
    if before:
        grown = counted(state.engine().manifest.papers - before.papers, "paper")
        st.info(
            f"{grown} added since your last visit on {before.when:%-d %B}. They are marked “New” in results.",
            icon=":material/fiber_new:",
        )
    named, latest = history.named(owner), history.recent(owner, RECENT)
    if not named and not latest:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("Your searches", anchor=False, width="content")
        st.button(
            "Clear",
            type="tertiary",
            help="Forgets all searches without a name.",
            on_click=_clear,
            args=(owner,),
        )
    with st.container(gap=None):
        for entry in [*named[:RECENT], *latest]:
            _offer(entry)
    if len(named) > RECENT:
        kept = st.selectbox(
            "Kept by name",
            named,
            index=None,
            format_func=lambda entry: one_line(f"{entry.name} · {entry.title}"),
            placeholder=f"All {len(named)} searches kept by name",
            label_visibility="collapsed",
        )
        if kept:
            _open(kept.id)


def _offer(entry: Entry) -> None:
    """A search to be opened again; one with a name says how many of its results are new."""
    label = f"**{plain(entry.name)}** · " if entry.name else ""
    label += plain(entry.title) or "Untitled"
    when = f"{entry.last_used:%-d %B, %H:%M}"
    if entry.name and state.before():
        new = _new_in(state.build_id(), state.history().content(entry.id))
        when += f" · {new} new" if new else ""
    if st.button(f"{label}  :gray[{when}]", key=f"again-{entry.id}", type="tertiary"):
        _open(entry.id)


def _open(id: str) -> None:
    st.query_params["s"] = id
    st.rerun()


def _clear(owner: str) -> None:
    try:
        state.history().clear(owner)
    except TriptychError as error:
        st.toast(plain(str(error)))


@st.cache_data(show_spinner=False, max_entries=100)
def _new_in(build_id: str, content: str) -> int:
    """How many results of a kept search are new."""
    try:
        query = state.engine().restore(from_json(content).query)
        results = state.compute(state.engine().search, query).results
    except TriptychError:  # its papers are gone, or it was never finished: opening it says so
        return 0
    return sum(state.are_new([result.paper.id for result in results]))


def _examples() -> None:
    shown = examples.worked(state.build_id())
    if not shown:
        return
    st.header("Or start from an example", anchor=False)
    for column, example in zip(st.columns(len(shown)), shown, strict=True):
        with column, st.container(border=True, height="stretch"):
            st.markdown(f"**{example.ask}**")
            st.caption(plain(example.title))
            label = f"Try it{told_apart(example.title)}"
            if st.button(label, key=f"example-{example.paper_id}", icon=":material/play_arrow:"):
                use(example.paper_id, QUESTIONS[example.question])
