"""The query's sentences as rows: a facet that can be corrected and a choice of match, ignore, avoid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import streamlit as st

from pages.ui.escape import markup, plain
from pages.ui.palette import SHOWN, word
from pages.ui.state import Draft
from search.types import Choice, Facet, QueryPaper, QuerySentence

_ROW_LOOKS = {
    Choice.MATCH: ("", ""),
    Choice.IGNORE: ("border-left-style: dotted;", "color: var(--quiet);"),
    Choice.AVOID: ("border-left-style: double;", "text-decoration: line-through 1px;"),
}
Rule = Callable[[Facet], Choice]
CHOICE_WORDS = {Choice.MATCH: "Match", Choice.IGNORE: "Ignore", Choice.AVOID: "Avoid"}


def only(facet: Facet) -> Rule:
    return lambda found: Choice.MATCH if found is facet else Choice.IGNORE


def method_not_background(found: Facet) -> Choice:
    return {Facet.METHOD: Choice.MATCH, Facet.BACKGROUND: Choice.AVOID}.get(found, Choice.IGNORE)


PRESETS: dict[str, tuple[Rule, str]] = {
    "Whole abstract": (lambda _: Choice.MATCH, "Match every sentence."),
    "All background": (only(Facet.BACKGROUND), "Papers on the same problem."),
    "All method": (only(Facet.METHOD), "Papers that go about it the same way."),
    "All result": (only(Facet.RESULT), "Papers that report the same finding."),
    "Same method, different problem": (
        method_not_background,
        "Match the method, avoid the background: where else is this method used?",
    ),
}


def chosen_by(paper: QueryPaper, rule: Rule) -> QueryPaper:
    """The paper with every sentence's choice as the rule has it."""
    sentences = (replace(each, choice=rule((each.facet or Facet.OTHER).panel)) for each in paper.sentences)
    return replace(paper, sentences=tuple(sentences))


def edit(draft: Draft) -> tuple[QueryPaper, ...]:
    """Draws presets and rows; returns the papers of the draft as they are chosen now."""
    weigh = _presets(draft)
    st.html(_row_styles(draft))
    if len(draft.papers) == 1:
        return (_paper_rows(draft, 0, weigh),)
    papers = []
    for number, paper in enumerate(draft.papers):
        with st.expander(plain(paper.title) or f"Paper {number + 1}"):
            papers.append(_paper_rows(draft, number, weigh))
    return tuple(papers)


def _row_styles(draft: Draft) -> str:
    """The look of each row by its state. On a key that stays, so that no widget loses the focus."""
    rules = []
    for number, position in _positions(draft):
        facet, choice = _now(draft, number, position)
        row = f".st-key-{_key('row', draft, number, position)}"
        rules.append(f"{row} {{ --facet: var(--{facet}); {_ROW_LOOKS[choice][0]} }}")
        rules.append(f"{row} .sentence {{ {_ROW_LOOKS[choice][1]} }}")
    return f"<style>{''.join(rules)}</style>"


def _presets(draft: Draft) -> bool:
    with st.container(horizontal=True, gap="xsmall", key="presets"):
        for label, (rule, help_text) in PRESETS.items():
            st.button(label, help=help_text, on_click=_apply, args=(draft, rule), key=f"preset-{label}")
    return st.toggle(
        "Weigh sentences", key="weigh", persist_state="session", help="Let a sentence count more or less."
    )


def _apply(draft: Draft, rule: Rule) -> None:
    for paper, sentence in _positions(draft):
        facet, _ = _now(draft, paper, sentence)
        st.session_state[_key("choice", draft, paper, sentence)] = rule(facet)


def _paper_rows(draft: Draft, number: int, weigh: bool) -> QueryPaper:
    paper = draft.papers[number]
    rows = [_row(draft, number, position, weigh) for position in range(len(paper.sentences))]
    return replace(paper, sentences=tuple(rows))


def _row(draft: Draft, number: int, position: int, weigh: bool) -> QuerySentence:
    sentence = draft.papers[number].sentences[position]
    facet, choice = _now(draft, number, position)
    name = f"Sentence {position + 1}"
    with st.container(key=_key("row", draft, number, position), gap="xsmall"):
        st.html(f'<p class="sentence"><span class="place">{position + 1}</span>{markup(sentence.text)}</p>')
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            facet = st.selectbox(
                f"{name}: facet",
                SHOWN,
                index=SHOWN.index(facet),
                format_func=word,
                key=_key("facet", draft, number, position),
                label_visibility="collapsed",
                persist_state="session",
                width=150,
                filter_mode=None,
            )
            choice = st.segmented_control(
                f"{name}: match, ignore or avoid",
                list(Choice),
                default=choice,
                required=True,
                format_func=CHOICE_WORDS.__getitem__,
                key=_key("choice", draft, number, position),
                label_visibility="collapsed",
                persist_state="session",
            )
        weight = sentence.weight
        if weigh and choice is not Choice.IGNORE:
            weight = _weight(draft, number, position, name, weight)
    return replace(sentence, facet=_keep_objective(sentence.facet, facet), choice=choice, weight=weight)


def _weight(draft: Draft, number: int, position: int, name: str, weight: float) -> float:
    key = _key("weight", draft, number, position)
    label = f"{name}: weight"
    return st.slider(label, 0.25, 4.0, weight, 0.25, format="× %.2f", key=key, persist_state="session")


def _now(draft: Draft, number: int, position: int) -> tuple[Facet, Choice]:
    """The row's facet and choice: the widget's, or the draft's before it is drawn the first time."""
    sentence = draft.papers[number].sentences[position]
    shown = (sentence.facet or Facet.OTHER).panel
    facet = st.session_state.get(_key("facet", draft, number, position), shown)
    choice = st.session_state.get(_key("choice", draft, number, position), sentence.choice)
    return facet or shown, choice or sentence.choice


def _keep_objective(old: Facet | None, shown: Facet) -> Facet:
    """An objective is shown as background; it only changes when the visitor changes it."""
    return old if old is not None and old.panel is shown else shown


def _positions(draft: Draft) -> Iterator[tuple[int, int]]:
    for number, paper in enumerate(draft.papers):
        for position in range(len(paper.sentences)):
            yield number, position


def _key(what: str, draft: Draft, number: int, position: int) -> str:
    return f"{what}-{draft.number}-{number}-{position}"
