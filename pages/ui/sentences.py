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
    Choice.AVOID: (
        "border-left-style: double;",
        "text-decoration: line-through 1px var(--quiet);",
    ),
}
Rule = Callable[[Facet], Choice]
CHOICE_WORDS = {Choice.MATCH: "Match", Choice.IGNORE: "Ignore", Choice.AVOID: "Avoid"}


def only(facet: Facet) -> Rule:
    return lambda found: Choice.MATCH if found is facet else Choice.IGNORE


def method_not_background(found: Facet) -> Choice:
    return {Facet.METHOD: Choice.MATCH, Facet.BACKGROUND: Choice.AVOID}.get(found, Choice.IGNORE)


PRESETS: dict[str, tuple[Rule, str]] = {
    "Whole abstract": (lambda _: Choice.MATCH, "Match every sentence, and the paper as a whole."),
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
    sentences = (replace(each, choice=rule(_panel(each))) for each in paper.sentences)
    return replace(paper, sentences=tuple(sentences))


def current(draft: Draft) -> tuple[QueryPaper, ...]:
    """The papers of the draft as the rows have them now, drawn or not."""
    return tuple(
        replace(paper, sentences=tuple(_sentence(draft, number, s) for s in range(len(paper.sentences))))
        for number, paper in enumerate(draft.papers)
    )


def edit(draft: Draft) -> None:
    """Draws presets and rows."""
    weigh = _presets(draft)
    st.html(_row_styles(draft))
    for number, paper in enumerate(draft.papers):
        one = len(draft.papers) == 1
        with st.container() if one else st.expander(plain(paper.title) or f"Paper {number + 1}"):
            for position in range(len(paper.sentences)):
                _row(draft, number, position, weigh)


def _row_styles(draft: Draft) -> str:
    """The look of each row by its state. On a key that stays, so that no widget loses the focus."""
    rules = []
    for number, position in _positions(draft):
        sentence = _sentence(draft, number, position)
        row = f".st-key-{_key('row', draft, number, position)}"
        bar, text = _ROW_LOOKS[sentence.choice]
        rules.append(f"{row} {{ --facet: var(--{_panel(sentence)}); {bar} }}{row} .sentence {{ {text} }}")
    return f"<style>{''.join(rules)}</style>"


def _presets(draft: Draft) -> bool:
    panels = {_panel(_sentence(draft, *place)) for place in _positions(draft)}
    with st.container(horizontal=True, gap="xsmall", key="presets"):
        for label, (rule, told) in PRESETS.items():
            matches = any(rule(panel) is Choice.MATCH for panel in panels)
            st.button(
                label,
                help=told if matches else f"{told} No sentence is labelled so: correct a label first.",
                disabled=not matches,
                on_click=_apply,
                args=(draft, rule),
                key=f"preset-{label}",
            )
    return st.toggle(
        "Weigh sentences", key="weigh", persist_state="session", help="Let a sentence count more or less."
    )


def _apply(draft: Draft, rule: Rule) -> None:
    for paper, sentence in _positions(draft):
        facet = _panel(_sentence(draft, paper, sentence))
        st.session_state[_key("choice", draft, paper, sentence)] = rule(facet)


def _row(draft: Draft, number: int, position: int, weigh: bool) -> None:
    sentence = _sentence(draft, number, position)
    name, place = f"Sentence {position + 1}", (draft, number, position)
    values = {"facet": _panel(sentence), "choice": sentence.choice, "weight": sentence.weight}
    for what, value in values.items():
        st.session_state.setdefault(_key(what, *place), value)
    with st.container(key=_key("row", *place), gap="xsmall"):
        st.html(f'<p class="sentence"><span class="place">{position + 1}</span>{markup(sentence.text)}</p>')
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.selectbox(
                f"{name}: facet",
                SHOWN,
                format_func=word,
                key=_key("facet", *place),
                label_visibility="collapsed",
                persist_state="session",
                width=140,
                filter_mode=None,
            )
            st.segmented_control(
                f"{name}: match, ignore or avoid",
                list(Choice),
                required=True,
                format_func=CHOICE_WORDS.__getitem__,
                key=_key("choice", *place),
                label_visibility="collapsed",
                persist_state="session",
            )
        if weigh and sentence.choice is not Choice.IGNORE:
            st.slider(
                f"{name}: weight",
                *(0.25, 4.0),
                step=0.25,
                format="× %.2f",
                key=_key("weight", *place),
                persist_state="session",
            )


def _sentence(draft: Draft, number: int, position: int) -> QuerySentence:
    """A sentence with what its widgets say, or the draft before they are drawn the first time."""
    given, keys, place = draft.papers[number].sentences[position], st.session_state, (draft, number, position)
    shown = _panel(given)
    facet = keys.get(_key("facet", *place)) or shown
    return replace(
        given,
        # An objective is shown as background and stays one unless the visitor changes it.
        facet=given.facet if facet is shown else facet,
        choice=keys.get(_key("choice", *place)) or given.choice,
        weight=keys.get(_key("weight", *place)) or given.weight,
    )


def _panel(sentence: QuerySentence) -> Facet:
    return (sentence.facet or Facet.OTHER).panel


def _positions(draft: Draft) -> Iterator[tuple[int, int]]:
    for number, paper in enumerate(draft.papers):
        for position in range(len(paper.sentences)):
            yield number, position


def _key(what: str, draft: Draft, number: int, position: int) -> str:
    return f"{what}-{draft.number}-{number}-{position}"
