"""What is known of a paper beside its text: withdrawn or not, whose abstract it is, how it came here."""

from __future__ import annotations

import streamlit as st

from pages.ui.escape import plain
from search.types import Paper

LIBRARY = "Zotero"


def notes_on(paper: Paper) -> list[str]:
    """Lines under a result."""
    reference = paper.reference
    told = [f"{reference.status.capitalize()} by its source"] if reference.status else []
    in_library = [origin for origin in reference.origins if origin.startswith(LIBRARY)]
    if in_library:
        told.append(f"Already in your library ({', '.join(in_library)})")
    told += [
        origin.capitalize() for origin in reference.origins if origin.startswith(("cites ", "cited by "))
    ]
    return told


def show(paper: Paper) -> None:
    """The same in full, on the paper's own page."""
    reference = paper.reference
    if reference.status:
        st.warning(f"Its source marks this paper as {plain(reference.status)}.", icon=":material/warning:")
    lines = []
    if reference.abstract_from:
        under = (
            f" Licence as stated there: {reference.abstract_licence}." if reference.abstract_licence else ""
        )
        lines.append(f"Abstract from {reference.abstract_from}.{under}")
    if reference.origins:
        lines.append(f"Came here by: {'; '.join(reference.origins)}.")
    for line in lines:
        st.caption(plain(line))
    for note in reference.notes:
        st.markdown(f":material/sticky_note_2: {plain(note)}")
