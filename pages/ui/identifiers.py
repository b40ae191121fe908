"""A DOI, arXiv id, PMID or web address instead of a text: the corpus first, then the sources, if allowed."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from index_build.fetch.identifiers import identifier_of
from index_build.fetch.lookup import hosts, look_up
from pages.ui import links, state
from pages.ui.escape import one_line, plain
from search.corpus.store.addresses import read_identifiers

LONGEST = 500
"""Characters of an address; a longer paste is a text."""
WANTED = "identifier-wanted"


def named_in(text: str) -> str:
    """The identifier or address that the text is; empty where it is something else."""
    text = text.strip()
    if not text or len(text) > LONGEST or "\n" in text or len(text.split()) > 3:
        return ""
    return one_line(text) if read_identifiers(text).is_address and identifier_of(text) else ""


def take_up(named: str, use: Callable[[str], None]) -> None:
    """Begins with the paper if the corpus has it; else it is offered to ask the sources."""
    found = state.engine().store.find(named, 1)
    if found:
        forget()
        use(found[0].id)
    st.session_state[WANTED] = named


def forget() -> None:
    """Something else is searched for now."""
    st.session_state.pop(WANTED, None)


def offer() -> None:
    """What can be done about an identifier that the corpus does not have."""
    if named := st.session_state.get(WANTED, ""):
        st.info(f"This corpus does not have {plain(named)}.", icon=":material/info:")
        ask(named, "paste")


def ask(named: str, key: str) -> None:
    """The button that asks the sources, with what is sent where."""
    settings, identifier = state.settings(), identifier_of(named)
    if identifier is None:
        return
    if not settings.allow_fetch:
        st.caption("This host asks no sources for papers: paste title and abstract instead.")
        return
    first, *others = hosts(identifier, settings)
    also = f", with your contact {settings.contact}" if settings.contact else ""
    told = f"Sent to {first}, and until one knows it to {', '.join(others)}: {identifier}{also}."
    st.caption(plain(f"{told} Nothing else is sent."))
    if st.button("Ask the sources", icon=":material/cloud_download:", key=f"ask-{key}"):
        with st.spinner("Asking…"):
            paper = look_up(named, settings)
        if paper is None:
            st.warning(f"No source knows {plain(str(identifier))}: check it, or paste title and abstract.")
            return
        forget()
        read = state.compute(state.engine().read, paper.title, paper.abstract)
        told = paper.reference.abstract_from
        missing = (
            "" if paper.abstract else "The sources have no abstract of it: only its title is searched with."
        )
        state.start((read,), f"{identifier} from {told or 'a source'}", missing or links.note_on(0, read))
        st.rerun()
