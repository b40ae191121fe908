"""What outlives a rerun: the engine, shared by all visitors, and each visitor's own draft and lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from search.errors import CorpusError
from search.library import Library
from search.settings import Settings, load_settings
from search.types import Query, QueryPaper, Results

if TYPE_CHECKING:
    from search.engine import Engine

OPENING = "Opening the corpus and loading its model: a few seconds, once…"


@dataclass(frozen=True, slots=True)
class Draft:
    """What the visitor searches with; `number` keeps the widgets of two drafts apart."""

    number: int
    papers: tuple[QueryPaper, ...]
    origin: str
    """Where it comes from, as a caption: "Pasted text", "refs.bib"."""
    note: str = ""
    """Something to know about it, such as a corpus that changed since its link was made."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The names of the visitor's lists and the ids of all papers on them."""

    names: tuple[str, ...]
    ids: frozenset[str]


@dataclass(slots=True)
class Visit:
    """The state of one visitor, in one place: nothing else of ours is in the session but widgets."""

    draft: Draft | None = None
    drafts: int = 0
    top: int = 20
    answers: dict[tuple[str, Query], Results] = field(default_factory=dict)
    link: str = ""
    """The packed query that the address bar shows; another one there means a link was opened."""
    linked_ids: tuple[str, ...] | None = None
    """The papers that an opened link restricts the search to."""
    lists: Library | None = None
    """Only where lists live in the session."""
    shelf: Shelf | None = None
    """What is kept, read once per run: every card asks for it."""


def visit() -> Visit:
    return st.session_state.setdefault("visit", Visit())


def is_new() -> bool:
    """Whether this is the visitor's first run; asking makes it the first."""
    new = "visit" not in st.session_state
    visit()
    return new


@st.cache_resource(show_spinner=False)
def settings() -> Settings:
    return load_settings()


def build_id() -> str:
    """The name of the build that `current` points to; empty when there is no corpus."""
    try:
        return (settings().corpus / "current").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def engine() -> Engine:
    """The engine on the current build: opened once, again when the pointer moves."""
    build = build_id()
    if not build:
        raise CorpusError(
            f"There is no corpus in {settings().corpus} yet: run `make demo`, or "
            "`python -m index_build build FILE --out corpus`, or build the demo on the Corpus page."
        )
    return _open(str(settings().corpus), build)


@st.cache_resource(show_spinner=OPENING, max_entries=1)
def _open(corpus: str, build: str) -> Engine:
    # Imported here: the page is drawn before torch is loaded.
    from search.engine import Engine

    return Engine.open(Path(corpus), settings())


def start(papers: tuple[QueryPaper, ...], origin: str, note: str = "") -> None:
    """Begins a new draft; the widgets of the old one are left behind."""
    here = visit()
    here.drafts += 1
    here.draft = Draft(here.drafts, papers, origin, note)
    here.top = 20


def clear() -> None:
    here = visit()
    here.draft = None
    here.link = ""


def search(query: Query) -> Results:
    """The answer to a query; a rerun that changed nothing costs nothing."""
    here = visit()
    asked = (build_id(), query)
    if asked not in here.answers:
        here.answers = dict(list(here.answers.items())[-4:]) | {asked: engine().search(query)}
    return here.answers[asked]


def library() -> Library:
    """The visitor's lists: in the host's store, by sign-in where there is one, or in the session."""
    if settings().session_library:
        here = visit()
        here.lists = here.lists or Library.open(None)
        return here.lists
    return _stored_library(str(settings().library)).of(owner())


@st.cache_resource(show_spinner=False)
def _stored_library(folder: str) -> Library:
    return Library.open(Path(folder))


def shelf() -> Shelf:
    here = visit()
    if here.shelf is None:
        here.shelf = Shelf(tuple(library().names()), frozenset(library().all_ids()))
    return here.shelf


def can_sign_in() -> bool:
    """Whether the host has set up sign-in (docs/hosting.md)."""
    return st.secrets.load_if_toml_exists() and "auth" in st.secrets


def owner() -> str:
    """Who the lists belong to: the signed-in visitor, else nobody in particular."""
    return str(st.user.get("email") or st.user.get("sub") or "") if st.user.get("is_logged_in") else ""


def is_dark() -> bool:
    return st.context.theme.type == "dark"
