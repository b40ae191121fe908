"""The query's sentences: one component draws questions and rows, and tells what is clicked.

The browser shows a click at once, numbers it, and sends it again with the next ones until an answer says that
it was taken. So no quick click is lost, and none is done twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from pages.ui import state
from pages.ui.components import component
from pages.ui.escape import one_line
from pages.ui.palette import LABELS, word
from pages.ui.questions import QUESTIONS, READINGS
from pages.ui.state import Draft
from search.query.choosing import HIGHEST_WEIGHT
from search.types import Choice, Facet, QueryPaper, QuerySentence, shown_panel

MOST_ROWS = 100
"""Sentences of a paper that are drawn; more make a page that nobody reads."""
CHOICE_WORDS = {Choice.MATCH: "Match", Choice.IGNORE: "Ignore", Choice.AVOID: "Avoid"}
_component = component("sentences")


def edit(draft: Draft) -> None:
    """Draws questions and rows."""
    _component(key="sentences", data=describe(draft), on_told_change=_take)


def _take() -> None:
    """Takes over what was clicked before the page is drawn again."""
    here, told = state.visit(), st.session_state["sentences"]["told"]
    if here.draft and isinstance(told, dict) and told.get("draft") == here.draft.number:
        here.draft = follow(here.draft, told.get("clicks"))


def follow(draft: Draft, clicks: object) -> Draft:
    """The draft after these clicks, without those that were taken before."""
    for click in clicks if isinstance(clicks, list) else []:
        match click:
            case {"number": int(number)} if number > draft.clicks:
                papers = tuple(_after(paper, place, click) for place, paper in enumerate(draft.papers))
                draft = replace(draft, papers=papers, clicks=number)
    return draft


def _after(paper: QueryPaper, place: int, click: dict[str, Any]) -> QueryPaper:
    """A paper after one click; what a browser should not say changes nothing."""
    match click:
        case {"ask": str(name)} if name in QUESTIONS:
            return QUESTIONS[name].ask(paper)
        case {"paper": number, "sentence": int(row)} if number == place and 0 <= row < len(paper.sentences):
            changed = _changed(paper.sentences[row], click)
            return replace(paper, sentences=(*paper.sentences[:row], changed, *paper.sentences[row + 1 :]))
    return paper


def _changed(sentence: QuerySentence, click: dict[str, Any]) -> QuerySentence:
    match click:
        case {"choice": str(choice)} if choice in set(Choice):
            return replace(sentence, choice=Choice(choice))
        case {"facet": str(facet)} if facet in LABELS and facet != _label(sentence):
            return replace(sentence, facet=Facet(facet), or_facet=None)
        case {"weight": int(weight) | float(weight)} if 0 < weight <= HIGHEST_WEIGHT:
            return replace(sentence, weight=float(weight))
    return sentence


def describe(draft: Draft) -> dict[str, Any]:
    """All that the component draws, as text."""
    alone = sum(len(paper.sentences) for paper in draft.papers) == 1
    return {
        "draft": draft.number,
        "taken": draft.clicks,
        "labels": [[str(facet), word(facet), str(shown_panel(facet))] for facet in LABELS],
        "choices": [[str(choice), name] for choice, name in CHOICE_WORDS.items()],
        "questions": [] if alone else _questions(draft),
        "readings": _readings() if alone else [],
        "papers": [_paper(paper, number) for number, paper in enumerate(draft.papers)],
    }


def _questions(draft: Draft) -> list[dict[str, Any]]:
    chosen = [sentence.choice for paper in draft.papers for sentence in paper.sentences]
    asked = {
        name: [choice for paper in draft.papers for choice in question.choices(paper)]
        for name, question in QUESTIONS.items()
    }
    return [
        {
            "name": name,
            "line": question.line,
            "told": question.told,
            "matches": Choice.MATCH in asked[name],
            "asked": asked[name] == chosen,
        }
        for name, question in QUESTIONS.items()
    ]


def _readings() -> list[dict[str, Any]]:
    return [
        {"name": name, "line": reading.line, "told": reading.told, "facet": str(reading.facet)}
        for name, reading in READINGS.items()
    ]


def _paper(paper: QueryPaper, number: int) -> dict[str, Any]:
    more = len(paper.sentences) - MOST_ROWS
    return {
        "title": one_line(paper.title) or f"Paper {number + 1}",
        "more": f"{more:,} more sentences are not shown; the questions hold for them, too."
        if more > 0
        else "",
        "rows": list(map(_row, paper.sentences[:MOST_ROWS])),
        "asked": [question.choices(paper)[:MOST_ROWS] for question in QUESTIONS.values()],
    }


def _row(sentence: QuerySentence) -> dict[str, Any]:
    doubt = sentence.or_facet
    return {
        "text": one_line(sentence.text),
        "facet": str(_label(sentence)),
        "doubt": [str(doubt), word(doubt).lower()] if doubt else None,
        "choice": str(sentence.choice),
        "weight": sentence.weight,
    }


def _label(sentence: QuerySentence) -> Facet:
    """The label that is shown: a sentence without a facet is among the others."""
    return sentence.facet or Facet.OTHER
