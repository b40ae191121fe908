"""The result list: one component draws all results, opens evidence in place and asks for what is clicked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import streamlit as st

from pages.ui import coins, faults, html, parts, rights, state
from pages.ui.components import component
from pages.ui.escape import one_line, web_addresses
from pages.ui.palette import word
from search.library.files import FIRST_LIST
from search.ranking.explanation import HELD_BACK
from search.ranking.phrases import mark, phrase
from search.text.tokenizer import tokenize
from search.types import Facet, Likeness, Pair, Paper, Result, Results, shown_panel

STEP = 20
"""Results in a list at first, and more at a time; chosen by hand."""
LONGEST_KNOWN = 30
"""Characters of a word whose terms are remembered: the same few words make up most of what is drawn."""
LONGEST_PAIR = 2000
"""Characters of two sentences whose marks are remembered; a pasted text may be one sentence of any length."""
LEVELS = {Likeness.NEAR_IDENTICAL: 4, Likeness.SIMILAR: 3, Likeness.RELATED: 2, Likeness.UNRELATED: 1}
_component = component("results")


@dataclass(frozen=True, slots=True)
class Drawing:
    """How a list is drawn, where it is not the only one or says more of each paper."""

    key: str = "results"
    label: str = "Papers that match"
    more: bool = True
    """Whether more can be asked for."""
    keeps_place: bool = True
    """Whether Back and a reload return to the place in the list."""
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Lines under the byline, by the paper's id."""
    also: Mapping[str, Sequence[Facet]] = field(default_factory=dict)
    """Other panels that a paper is near by, by its id."""


PLAIN = Drawing()


@st.fragment
@faults.shown()
def show(results: Results, search_id: str, drawing: Drawing = PLAIN) -> None:
    """Draws the list; keeping a paper redraws it alone, without another search."""
    draw(results, search_id, drawing)


def draw(results: Results, search_id: str, drawing: Drawing) -> None:
    """The same inside a fragment of one's own, for lists that are redrawn together."""
    shown = _component(
        key=drawing.key,
        data=describe(results, search_id, drawing),
        on_asked_change=lambda: _keep(results, drawing.key),
    )
    coins.draw(result.paper for result in results.results)
    if said := state.visit().said:
        state.visit().said = ""
        st.toast(said)
    if shown.asked:
        _follow(shown.asked)


def _keep(results: Results, key: str) -> None:
    """What changes the list itself happens before it is drawn again."""
    asked = st.session_state[key]["asked"] or {}
    result = next((each for each in results.results if each.paper.id == asked.get("id")), None)
    if asked.get("do") == "keep" and result:
        parts.keep_or_drop(result.paper, str(asked.get("name") or FIRST_LIST), result)
    elif asked.get("do") == "list":
        state.visit().list = str(asked.get("name"))


def _follow(asked: dict[str, Any]) -> None:
    match asked.get("do"):
        case "search":
            parts.search_with(str(asked["id"]))
        case "open":
            st.switch_page("pages/paper.py", query_params={"id": str(asked["id"])})
        case "more":
            state.visit().top += STEP
            st.rerun()


def describe(results: Results, search_id: str, drawing: Drawing = PLAIN) -> dict[str, Any]:
    """All that the component draws, as text."""
    shelf, one = state.shelf(), len(results.query.papers) == 1
    lists = shelf.names or (FIRST_LIST,)
    chosen = state.visit().list
    new = state.are_new([result.paper.id for result in results.results])
    more = drawing.more and len(results.results) == results.query.top
    return {
        "search": search_id if drawing.keeps_place else "",
        "label": drawing.label,
        "lists": list(lists),
        "list": chosen if chosen in lists else lists[0],
        "more": f"Show {STEP} more" if more else "",
        "results": [
            _result(result, result.paper.id in shelf.ids, one, drawing) | {"new": is_new}
            for result, is_new in zip(results.results, new, strict=True)
        ],
    }


def _result(result: Result, kept: bool, one: bool, drawing: Drawing) -> dict[str, Any]:
    paper = result.paper
    return {
        "id": paper.id,
        "title": one_line(paper.title) or "Untitled",
        "address": next(iter(web_addresses(paper).values()), ""),
        "byline": one_line(html.byline_text(paper)),
        "word": result.likeness.capitalize(),
        "level": LEVELS[result.likeness],
        "score": round(result.score, 2),
        "held": _held(result),
        "notes": [*rights.notes_on(paper), *drawing.notes.get(paper.id, ())],
        "near": [(str(shown_panel(facet)), f"also by {facet}") for facet in drawing.also.get(paper.id, ())],
        "kept": kept,
        "pairs": [_pair(pair, one) for pair in result.pairs],
        "abstract": _abstract(paper, {pair.position for pair in result.pairs}),
        "also": f"Also in the corpus as {', '.join(result.duplicates)}." if result.duplicates else "",
        "parts": parts.parts_in_words(result.evidence),
    }


def _held(result: Result) -> str:
    """What holding it against the paper did that it is like what is avoided."""
    if result.held_back < HELD_BACK:
        return ""
    named = " and ".join(f"“{term}”" for term in result.held_by)
    return f"Moved down: also about {named}" if named else "Moved down: also like what you avoid"


def _pair(pair: Pair, one: bool) -> dict[str, Any]:
    number = f"{pair.query_paper}-{pair.query_sentence}"
    name = "Yours" if one else f"Paper {pair.query_paper + 1}"
    texts = pair.query_text, pair.text, pair.shared_terms, pair.near_terms
    known = len(pair.query_text) + len(pair.text) <= LONGEST_PAIR
    return {
        "sentence": number,
        "facet": str(shown_panel(pair.query_facet)),
        "theirFacet": str(shown_panel(pair.facet)),
        "word": word(pair.query_facet),
        "theirWord": word(pair.facet),
        "yoursName": f"{name}, {pair.query_sentence + 1}",
        "position": pair.position + 1,
        "likeness": round(pair.similarity, 2),
        **(_known_pair if known else _marked)(*texts),
    }


def _marked(
    yours: str, theirs: str, shared: tuple[str, ...], near: tuple[tuple[str, str], ...]
) -> dict[str, Any]:
    """Both sentences of a pair, in short and whole, with their words marked; not to be changed."""
    sides = {"yours": (one_line(yours), 0), "theirs": (one_line(theirs), 1)}
    marked: dict[str, Any] = {}
    for name, (text, side) in sides.items():
        near_words = [each[side] for each in near]
        marked[name] = phrase(text, shared, _terms, near_words)
        marked[f"{name}Whole"] = mark(text, shared, _terms, near_words)
    return marked


_known_pair = lru_cache(4000)(_marked)
"""Of some visitors' results; a few megabytes. The next search of a visitor shows many of the same pairs."""


def _terms(word: str) -> list[str]:
    return _known_terms(word) if len(word) <= LONGEST_KNOWN else tokenize(word)


@lru_cache(20_000)  # more words than the results of some visitors have; a few megabytes
def _known_terms(word: str) -> list[str]:
    return tokenize(word)


def _abstract(paper: Paper, matched: set[int]) -> list[tuple[str, str]]:
    """The abstract in pieces, those that matched with their facet."""
    pieces, end = [], 0
    for position, sentence in enumerate(paper.sentences if paper.abstract else ()):
        between = paper.abstract[end : sentence.start]
        facet = str(shown_panel(sentence.facet)) if position in matched else ""
        pieces += [(between, ""), (sentence.text, facet)]
        end = sentence.end
    return [piece for piece in (*pieces, (paper.abstract[end:], "")) if piece[0]]
