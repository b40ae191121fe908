"""Three worked examples: of the demo corpus if it is the one, else of whatever corpus there is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import streamlit as st

from pages.ui import state
from search.types import PANELS, Paper

LOOKED_AT = 300
"""Papers spread over a corpus among which examples are looked for."""


@dataclass(frozen=True, slots=True)
class Example:
    paper_id: str
    title: str
    question: str
    """One of QUESTIONS in `questions.py`."""
    ask: str
    """What a reader would ask, in their words."""


DEMO_IDS = ("arxiv:1810.04567", "arxiv:2004.12130", "arxiv:2010.04922")
"""Of the demo, one for each of ASKS: copulas for patients who drop out, a pandemic, what attention shows."""
ASKS = (
    ("This method elsewhere", "Where else is this method used, away from its problem?"),
    ("Same problem", "Who else works on this problem, in whatever way?"),
    ("Same finding", "Who else found what this paper found?"),
)


@st.cache_data(show_spinner=False, max_entries=2)
def worked(build_id: str) -> tuple[Example, ...]:
    """One example for each of ASKS; fewer when the corpus is too small for that."""
    papers = _of_the_demo() or _clear_ones()
    return tuple(
        Example(paper.id, paper.title, question, ask)
        for paper, (question, ask) in zip(papers, ASKS, strict=False)
    )


def _of_the_demo() -> list[Paper]:
    found = {paper.id: paper for paper in state.engine().store.papers(DEMO_IDS)}
    return [found[each] for each in DEMO_IDS] if len(found) == len(DEMO_IDS) else []


def _clear_ones() -> list[Paper]:
    """Papers whose abstracts show all three panels clearly, from a spread over the corpus."""
    store = state.engine().store
    return sorted(store.papers_by_row(store.spread(LOOKED_AT)), key=_clarity, reverse=True)[: len(ASKS)]


def _clarity(paper: Paper) -> tuple[int, int]:
    """Two sentences of each panel are best, more of one is no better, and short is easier to read."""
    panels = Counter(sentence.panel for sentence in paper.sentences)
    shown = sum(min(panels[facet], 2) for facet in PANELS)
    return shown, -len(paper.sentences)
