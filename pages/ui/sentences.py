"""The query's sentences as rows: a facet that can be corrected and a choice of match, ignore, avoid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.ui import state
from pages.ui.escape import markup, plain
from pages.ui.palette import LABELS, word
from pages.ui.state import Draft
from search.types import Choice, Facet, QueryPaper, QuerySentence

_ROW_LOOKS = {
    Choice.MATCH: ("", ""),
    Choice.IGNORE: ("border-left-style: dotted;", "color: var(--quiet);"),
    Choice.AVOID: ("border-left-style: double;", "color: var(--quiet); font-style: italic;"),
}
Rule = Callable[[QuerySentence], Choice]
MOST_ROWS = 40
"""Sentences of a paper that are drawn; each takes the browser a few milliseconds."""
CHOICE_WORDS = {Choice.MATCH: "Match", Choice.IGNORE: "Ignore", Choice.AVOID: "Avoid"}


def only(*facets: Facet) -> Rule:
    return lambda sentence: Choice.MATCH if _label(sentence) in facets else Choice.IGNORE


def method(sentence: QuerySentence) -> Choice:
    """The method, and what a paper announces where that names its method."""
    return Choice.MATCH if sentence.serves(Facet.METHOD) else Choice.IGNORE


def method_elsewhere(sentence: QuerySentence) -> Choice:
    """Only what is surely background is avoided, and never what a paper announces."""
    return Choice.AVOID if sentence.surely(Facet.BACKGROUND) else method(sentence)


QUESTIONS: dict[str, tuple[Rule, str]] = {
    "Same problem": (
        only(Facet.BACKGROUND, Facet.OBJECTIVE),
        "Who works on this, in whatever way? Matches background and objective.",
    ),
    "Same method": (
        method,
        "Who goes about it the same way? Matches the method, and objectives that name it.",
    ),
    "Same finding": (only(Facet.RESULT), "Who found the same? Matches the results."),
    "This method elsewhere": (
        method_elsewhere,
        "Where else is this method used? Matches the method and avoids the background.",
    ),
    "Whole paper": (lambda _: Choice.MATCH, "What is alike in every way? Matches all sentences."),
}
"""What one can ask of a paper, and which sentences that matches and avoids."""
READINGS = {
    "As a problem": (
        Facet.BACKGROUND,
        "Who works on this? Compares it with what papers say of their problem.",
    ),
    "As a method": (
        Facet.METHOD,
        "Who goes about it this way? Compares it with what papers say of their method.",
    ),
    "As a finding": (Facet.RESULT, "Who found this? Compares it with what papers say of their results."),
    "As anything": (Facet.OTHER, "Compares it with every sentence alike."),
}
"""How a single sentence, a title, a question or keywords can be meant, and the label that stands for it."""


def chosen_by(paper: QueryPaper, rule: Rule) -> QueryPaper:
    """The paper with every sentence's choice as the rule has it."""
    sentences = (replace(each, choice=rule(each)) for each in paper.sentences)
    return replace(paper, sentences=tuple(sentences))


def current(draft: Draft) -> tuple[QueryPaper, ...]:
    """The papers of the draft as the rows have them now, drawn or not."""
    return tuple(
        replace(paper, sentences=tuple(_sentence(draft, number, s) for s in range(len(paper.sentences))))
        for number, paper in enumerate(draft.papers)
    )


def edit(draft: Draft) -> None:
    """Draws questions and rows."""
    weigh = _readings(draft) if len(list(_positions(draft))) == 1 else _questions(draft)
    st.html(_row_styles(draft))
    for number, paper in enumerate(draft.papers):
        one = len(draft.papers) == 1
        with st.container(key="rows") if one else st.expander(plain(paper.title) or f"Paper {number + 1}"):
            for position in range(min(len(paper.sentences), MOST_ROWS)):
                _row(draft, number, position, weigh)
            if (more := len(paper.sentences) - MOST_ROWS) > 0:
                st.caption(f"{more:,} more sentences are not shown; the questions above hold for them, too.")


def _row_styles(draft: Draft) -> str:
    """The look of each row by its state. On a key that stays, so that no widget loses the focus."""
    rules = []
    for number, position in _positions(draft):
        if position >= MOST_ROWS:
            continue
        sentence = _sentence(draft, number, position)
        row = f".st-key-{_key('row', draft, number, position)}"
        bar, text = _ROW_LOOKS[sentence.choice]
        colour = f"--facet: var(--{_label(sentence).panel});"
        rules.append(f"{row} {{ {colour} {bar} }}{row} .sentence {{ {text} }}")
    return f"<style>{''.join(rules)}</style>"


def _questions(draft: Draft) -> bool:
    """The questions as buttons, the one in force pressed in; whether weights are shown."""
    now = [_sentence(draft, *place) for place in _positions(draft)]
    with st.container(horizontal=True, gap="xsmall", key="questions"):
        for name, (rule, told) in QUESTIONS.items():
            matches = any(rule(each) is Choice.MATCH for each in now)
            asked = all(rule(each) is each.choice for each in now)
            st.button(
                name,
                help=told if matches else f"{told} No sentence is labelled so: correct a label first.",
                type="primary" if asked and matches else "secondary",
                disabled=not matches,
                on_click=_apply,
                args=(draft, rule),
                key=f"ask-{name}",
            )
    return st.toggle(
        "Weigh sentences", key="weigh", persist_state="session", help="Let a sentence count more or less."
    )


def _apply(draft: Draft, rule: Rule) -> None:
    for place in _positions(draft):
        sentence = _sentence(draft, *place)
        if (choice := rule(sentence)) is not sentence.choice:
            _set("choice", draft, *place, choice)


def _readings(draft: Draft) -> bool:
    """How the one sentence is meant, as buttons; it has no weight, because there is no other."""
    place = next(_positions(draft))
    now = _label(_sentence(draft, *place))
    with st.container(horizontal=True, gap="xsmall", key="questions"):
        for name, (facet, told) in READINGS.items():
            st.button(
                name,
                help=told,
                type="primary" if now.panel is facet else "secondary",
                on_click=_correct,
                args=(draft, *place, facet),
                key=f"as-{facet}",
            )
    return False


def _correct(draft: Draft, number: int, position: int, facet: Facet) -> None:
    _set("facet", draft, number, position, facet)


def _set(what: str, draft: Draft, number: int, position: int, value: Choice | Facet) -> None:
    """Sets a control by a new one in its place.

    The browser goes on telling the value of the old one until it has drawn this: a second quick click would
    bring it back.
    """
    state.visit().rounds[_name(what, draft, number, position)] += 1
    st.session_state[_key(what, draft, number, position)] = value


def _take_over(what: str, draft: Draft, number: int, position: int, key: str) -> None:
    """Takes a click over that met a control which is no longer the one in its place."""
    now = _key(what, draft, number, position)
    if key != now and (clicked := st.session_state.get(key)) is not None:
        st.session_state[now] = clicked


def _row(draft: Draft, number: int, position: int, weigh: bool) -> None:
    sentence = _sentence(draft, number, position)
    name, place = f"Sentence {position + 1}", (draft, number, position)
    values = {"facet": _label(sentence), "choice": sentence.choice, "weight": sentence.weight}
    for what, value in values.items():
        st.session_state.setdefault(_key(what, *place), value)
    with st.container(key=_key("row", *place), gap="xsmall"):
        st.html(f'<p class="sentence"><span class="place">{position + 1}</span>{markup(sentence.text)}</p>')
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.selectbox(
                f"{name}: facet",
                LABELS,
                format_func=word,
                label_visibility="collapsed",
                persist_state="session",
                width=140,
                filter_mode=None,
                **_tied("facet", *place),
            )
            st.segmented_control(
                f"{name}: match, ignore or avoid",
                list(Choice),
                required=True,
                format_func=CHOICE_WORDS.__getitem__,
                label_visibility="collapsed",
                persist_state="session",
                **_tied("choice", *place),
            )
            if sentence.or_facet:
                st.button(
                    f"{position + 1} may be {word(sentence.or_facet).lower()}",
                    help="The label is a guess. Click to change it.",
                    type="tertiary",
                    icon=":material/swap_horiz:",
                    on_click=_correct,
                    args=(*place, sentence.or_facet),
                    key=_key("doubt", *place),
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
    shown = _label(given)
    facet = keys.get(_key("facet", *place)) or shown
    return replace(
        given,
        facet=given.facet if facet is shown else facet,
        or_facet=given.or_facet if facet is shown else None,
        choice=keys.get(_key("choice", *place)) or given.choice,
        weight=keys.get(_key("weight", *place)) or given.weight,
    )


def _label(sentence: QuerySentence) -> Facet:
    """The label that is shown: a sentence without a facet is among the others."""
    return sentence.facet or Facet.OTHER


def _positions(draft: Draft) -> Iterator[tuple[int, int]]:
    for number, paper in enumerate(draft.papers):
        for position in range(len(paper.sentences)):
            yield number, position


def _tied(what: str, draft: Draft, number: int, position: int) -> dict[str, Any]:
    """The key of a control and what follows a click on it."""
    key = _key(what, draft, number, position)
    return {"key": key, "on_change": _take_over, "args": (what, draft, number, position, key)}


def _key(what: str, draft: Draft, number: int, position: int) -> str:
    name = _name(what, draft, number, position)
    again = state.visit().rounds[name]
    return f"{name}-{again}" if again else name


def _name(what: str, draft: Draft, number: int, position: int) -> str:
    return f"{what}-{draft.number}-{number}-{position}"
