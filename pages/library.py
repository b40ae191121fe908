"""Library: kept papers on named lists, with why they were kept, notes, tags and read marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from pages.ui import frame, keeping, kept_papers, lists, state
from pages.ui.escape import plain
from pages.ui.views import FORMAT_NAMES
from pages.ui.words import counted
from search.errors import InputError, TriptychError
from search.exports import FORMATS, SUFFIXES, Citation, write
from search.exports.annotated import AnnotatedPaper, Match, write_annotated
from search.exports.panel_table import write_panel_csv, write_panel_markdown
from search.library.files import Kept, ReadingList
from search.library.store import Library
from search.query.choosing import MOST_PAPERS
from search.types import Paper, Sentence

IN_SESSION = "Lists on this host live in your browser session only: save them to a file before you leave."
SHARED = "This library is shared by everyone who uses this app."
EMPTY = "Nothing kept yet. Press “Keep” under a paper on the Find or Paper page, or open a saved list file."
MARKS = {"All": None, "Unread": False, "Read": True}
STEP = 25
"""Papers drawn at once; each has half a dozen controls. Chosen by hand."""
MOST_TAGS = 100
"""Tags that a list is narrowed by, the most used; each is a button. Chosen by hand."""
OF_LISTS: dict[str, tuple[str, Callable[[str, Sequence[AnnotatedPaper]], str]]] = {
    "Annotated bibliography (Markdown)": ("annotated.md", write_annotated),
    "Problem, method, result (CSV)": ("panels.csv", lambda _, papers: write_panel_csv(papers)),
    "Problem, method, result (Markdown)": ("panels.md", write_panel_markdown),
}
"""Exports that only lists have: the name of the file and what writes it."""


def page() -> None:
    st.title("Library")
    _whose()
    library = state.library()
    name = lists.choose(library)
    _tell()
    if not name or not (reading_list := library.reading_list(name)).kept:
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


def _tell() -> None:
    if said := state.visit().said:
        state.visit().said = ""
        st.toast(said)


def _actions(library: Library, reading_list: ReadingList) -> None:
    with st.container(horizontal=True):
        if st.button("Recommend from this list", type="primary", icon=":material/auto_awesome:"):
            recommend(reading_list)
        with st.popover("Export", icon=":material/download:"):
            name = reading_list.name
            for label, (file, writer) in OF_LISTS.items():
                _download(label, partial(_annotated, library, name, writer), file)
            for form in FORMATS:
                written = partial(_written, library, name, form)
                _download(FORMAT_NAMES.get(form, form), written, f"list.{SUFFIXES[form]}")
    st.header(plain(reading_list.name), anchor=False)
    st.caption(
        f"{counted(len(reading_list.kept), 'paper')}, {sum(kept.read for kept in reading_list.kept)} read."
    )


def _download(label: str, written: Callable[[], str], file: str) -> None:
    key = f"list-export-{label}"
    st.download_button(label, written, file, on_click="ignore", key=key, width="stretch")


def _written(library: Library, name: str, form: str) -> str:
    """The list as it is when the button is pressed, with notes written since the page was drawn."""
    kept = library.reading_list(name).kept
    return write([Citation(each.paper, _remarks(each), tags=each.tags) for each in kept], form)


def _remarks(kept: Kept) -> str:
    """The note and the reason, each on a line of its own."""
    return "\n".join(part for part in (kept.note, kept.origin.reason) if part)


def _annotated(library: Library, name: str, writer: Callable[[str, Sequence[AnnotatedPaper]], str]) -> str:
    return writer(name, [_annotated_paper(kept) for kept in library.reading_list(name).kept])


def _annotated_paper(kept: Kept) -> AnnotatedPaper:
    day = keeping.day_of(kept.added)
    found = f" from “{kept.origin.title}”" if kept.origin.title else ""
    return AnnotatedPaper(
        paper=_with_sentences(kept.paper),
        kept=f"Kept{f' {day}' if day else ''}{found}.",
        reason=kept.origin.reason,
        note=kept.note,
        tags=kept.tags,
        matches=tuple(Match(quote.theirs, quote.facet, quote.yours) for quote in kept.origin.quotes),
    )


def _with_sentences(paper: Paper) -> Paper:
    """A paper kept before sentences were stored is labelled now."""
    if paper.sentences or not paper.abstract:
        return paper
    engine = state.engine()
    if (known := engine.store.paper(paper.id)) and known.abstract == paper.abstract:
        return known
    return _labelled(paper)


def _labelled(paper: Paper) -> Paper:
    read = state.compute(state.engine().read, paper.title, paper.abstract)
    sentences, text = [], ""
    for each in read.sentences:
        text = f"{text} {each.text}".strip()
        sentences.append(Sentence(each.text, len(text) - len(each.text), len(text), each.facet))
    return replace(paper, abstract=text, sentences=tuple(sentences))


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
    state.show_search()


def _show(library: Library, reading_list: ReadingList) -> None:
    changes = state.visit().changes
    counts = Counter(tag for kept in reading_list.kept for tag in kept.tags)
    tags = sorted(tag for tag, _ in counts.most_common(MOST_TAGS))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        mark = st.segmented_control(
            "Show", list(MARKS), default="All", required=True, key=f"library-mark-{changes}"
        )
        wanted = []
        if tags:
            wanted = st.pills(
                "Tags", tags, selection_mode="multi", format_func=plain, key=f"library-tags-{changes}"
            )
    shown = [
        kept
        for kept in reading_list.kept
        if MARKS[mark] in (None, kept.read) and set(wanted) <= set(kept.tags)
    ]
    known = _known([kept.paper.id for kept in shown])
    others = [name for name in library.names() if name != reading_list.name]
    most = st.session_state.setdefault("library-most", STEP)
    for kept in shown[:most]:
        kept_papers.entry(library, reading_list.name, kept, kept.paper.id in known, others)
    if len(shown) > most:
        st.button(f"Show {STEP} more", on_click=_show_more)


def _show_more() -> None:
    st.session_state["library-most"] += STEP


def _known(ids: list[str]) -> set[str]:
    """Which of the papers the corpus has; where there is none to ask, none."""
    if not state.build_id():
        return set()
    try:
        rows = state.engine().store.rows_of(ids)
    except TriptychError:  # the lists are there without the corpus
        return set()
    return {paper_id for paper_id, row in zip(ids, rows, strict=True) if row >= 0}


frame.draw(page)
