"""What outlives a rerun: the engine, shared by all visitors, and each visitor's own draft and lists."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import get_run_yield_check, get_script_run_ctx

from pages.ui import words
from pages.ui.escape import plain
from pages.ui.queue import Queue
from search.corpus.places import corpus_at
from search.errors import CorpusError
from search.history import Before, History, new_id
from search.library.files import ReadingList
from search.library.store import Library
from search.ranking.plane import Region
from search.settings import Settings, load_settings
from search.types import Query, QueryPaper, Results

if TYPE_CHECKING:
    from search.engine import Engine

T = TypeVar("T")
log = logging.getLogger("triptych.app")
ANSWERS = 6
"""Answers kept for each visitor: a list, a triptych, a plane and its list, and what was before."""
OPENING = "Opening the corpus and loading its model: a few seconds, once…"


@dataclass(frozen=True, slots=True)
class Draft:
    """What the visitor searches with; `number` keeps the clicks on two drafts apart."""

    number: int
    id: str
    """Under which the address and the history know it."""
    papers: tuple[QueryPaper, ...]
    origin: str
    """Where it comes from, as a caption: "Pasted text", "refs.bib"."""
    note: str = ""
    """Something to know about it, such as a corpus that changed since its link was made."""
    clicks: int = 0
    """How many clicks on its sentences were taken."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The names of the visitor's lists and the ids of all papers on them."""

    names: tuple[str, ...]
    ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Brush:
    """The region of the plane that is marked, None for all of it."""

    number: int = 0
    """Raised to have the chart drawn anew."""
    drawn: Region | None = None
    """What was marked when the chart was drawn; what is marked since, the browser draws itself."""
    region: Region | None = None


@dataclass(slots=True)
class Visit:
    """The state of one visitor, in one place: nothing else of ours is in the session but widgets."""

    draft: Draft | None = None
    drafts: int = 0
    top: int = 20
    answers: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    """What the engine said last, by the build and what it was asked."""
    brush: Brush = Brush()
    addressed: str = ""
    """The id of the draft that this visit has put into the address."""
    remembered: tuple[str, str] = ("", "")
    """Id and content of the search that was last put into the history."""
    page: str = ""
    """The page drawn last."""
    gone_home: int = 0
    """The last click that led to the start page, by its time."""
    arrived: bool = False
    """Whether this run is the first on its page."""
    key: str = field(default_factory=new_id)
    """Whose searches these are where lists live in the session."""
    linked_ids: tuple[str, ...] | None = None
    """The papers that an opened link restricts the search to."""
    lists: Library | None = None
    """Only where lists live in the session."""
    list: str = ""
    """The list at hand, where there are several: papers are kept on it, and the library shows it."""
    said: str = ""
    """What a button did, to be told once."""
    before: tuple[str, Before | None] = ("", None)
    """The build served now and what the visitor had seen before it."""
    changes: int = 0
    """How often lists were changed as asked; the controls of the library are new ones each time."""
    refused: str = ""
    """Why lists could not be changed as asked, shown beside the controls."""
    removed: tuple[tuple[str, ReadingList], ...] = ()
    """What was removed from the library, the latest last, each in words and as it was."""
    shelf: Shelf | None = None
    """What is kept, read once per run: every card asks for it."""


def visit() -> Visit:
    return cast(Visit, st.session_state.setdefault("visit", Visit()))


def is_new() -> bool:
    """Whether this is the visitor's first run; asking makes it the first."""
    new = "visit" not in st.session_state
    visit()
    return new


@st.cache_resource(show_spinner=False)
def settings() -> Settings:
    return load_settings()


def build_id() -> str:
    """The name of the build that is served; empty when there is no corpus."""
    here = settings()
    return corpus_at(here.place, here.milvus_token, here.milvus_certificate).current()


def engine() -> Engine:
    """The engine on the current build: opened once, again when the pointer moves."""
    build = build_id()
    if not build:
        raise NoCorpusError(
            f"This app has no corpus yet ({settings().place} is empty): run `make demo`, or "
            "`python -m index_build build FILE --out corpus`, or build the demo on the Corpus page."
        )
    return _served().engine(settings().place, build)


def notice() -> str:
    """What visitors should know about the corpus: damage, and which build is served instead."""
    opened = _served().opened
    return opened[2].in_service().notice if opened else ""


class NoCorpusError(CorpusError):
    """Nothing has been built yet."""


@dataclass(slots=True)
class _Served:
    """The one open engine; visitors who come while it is opened wait for it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    opened: tuple[Path | str, str, Engine] | None = None

    def engine(self, corpus: Path | str, build: str) -> Engine:
        with self.lock:
            if self.opened is None or self.opened[:2] != (corpus, build):
                self.opened = corpus, build, _open(corpus)
            return self.opened[2].in_service()


@st.cache_resource(show_spinner=False)
def _served() -> _Served:
    return _Served()


def _open(corpus: Path | str) -> Engine:
    """Opens the corpus, with a bar while its model is downloaded."""
    from search.engine import Engine  # here, so that the page is drawn before the model's libraries load

    if get_script_run_ctx(suppress_warning=True) is None:  # a program asks: there is no page to draw on
        return Engine.open(corpus, settings())
    with st.spinner(OPENING):
        bar = st.empty()

        def report(step: str, done: int, total: int) -> None:
            bar.progress(words.share(done, total), words.progress(step, done, total))

        engine = Engine.open(corpus, settings(), report)
        bar.empty()
    return engine


def compute(work: Callable[..., T], *given: Any, same: Hashable = None) -> T:
    """The work, done by one of a few threads that all visitors share, when it is this visitor's turn.

    Each thread keeps the memory it once needed, and every click of a visitor runs in another: ten visitors
    and fifty searches took 545 MB when each searched in its own. Work with an equal `same` is done once for
    all who wait for it. A visitor who clicks on meanwhile does not wait: what has not begun is dropped.
    """
    whose = owner() or visit().key
    return _queue().ask(whose, partial(work, *given), same, get_run_yield_check() or _stay)


def take_turn(whose: str, work: Callable[[], T]) -> T:
    """The same for a program, which waits for its turn as a visitor does."""
    return _queue().ask(whose, work)


def _stay() -> None:
    """Where there is no run that could be given up, as in tests, nobody goes on."""


@st.cache_resource(show_spinner=False)
def _queue() -> Queue:
    return Queue(max(2, os.cpu_count() or 2))


def start(papers: tuple[QueryPaper, ...], origin: str, note: str = "", id: str = "") -> None:
    """Begins a new draft; clicks on the old one count no more."""
    here = visit()
    here.drafts += 1
    here.draft = Draft(here.drafts, id or new_id(), papers, origin, note)
    here.top = 20
    mark(None)


def show_search() -> NoReturn:
    """Goes to the search that was just begun, in one step of the browser's history."""
    here = visit()
    assert here.draft is not None
    if here.page != "find":
        st.switch_page("pages/find.py", query_params={"s": here.draft.id})
    st.query_params["s"] = here.draft.id
    st.rerun()


def clear() -> None:
    """Back to the start page."""
    visit().draft = None
    st.query_params.pop("s", None)


def search(query: Query) -> Results:
    """The answer to a query; a rerun that changed nothing costs nothing."""
    return answer(engine().search, query)


def answer(work: Callable[..., T], *given: Any) -> T:
    """What the engine's work on this gave; what was asked for last is kept."""
    answers = visit().answers
    asked = (build_id(), work.__name__, *given)
    answers[asked] = answers.pop(asked) if asked in answers else compute(work, *given, same=asked)
    while len(answers) > ANSWERS:
        answers.pop(next(iter(answers)))
    return cast(T, answers[asked])


def mark(region: Region | None) -> None:
    """Marks a region of the plane, or none, and has the chart show it."""
    here = visit()
    here.brush = Brush(here.brush.number + 1, region, region)


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


@st.cache_resource(show_spinner=False)
def _stored_history(folder: str) -> History:
    return History.open(Path(folder) if folder else None)


def history() -> History:
    """The searches of all visitors; in memory where the host keeps nothing."""
    keeps = settings().history and not settings().session_library
    return _stored_history(str(settings().library) if keeps else "")


def searcher() -> str:
    """Whose searches the start page lists: the signed-in visitor's, this session's, or the app's."""
    return visit().key if settings().session_library else owner()


def before() -> Before | None:
    """The corpus at this visitor's last visit, if it has grown since: later papers are new."""
    here, build = visit(), build_id()
    if settings().history and here.before[0] != build:
        papers = engine().manifest.papers
        try:
            here.before = build, history().see(searcher(), build, papers)
        except CorpusError as error:  # results are shown also where the disk is full
            log.warning("A visit could not be noted (%s)", type(error.__cause__).__name__)
            return None
    return here.before[1]


def are_new(papers: Sequence[str]) -> list[bool]:
    """Which papers came after the last visit."""
    if (seen := before()) is None:
        return [False] * len(papers)
    return [bool(arrival >= seen.papers) for arrival in engine().store.arrivals(papers)]


def shelf() -> Shelf:
    """What is kept; nothing where the library cannot be read, which is said beside the results."""
    here = visit()
    if here.shelf is None:
        try:
            here.shelf = Shelf(tuple(library().names()), frozenset(library().all_ids()))
        except CorpusError as error:
            here.shelf, here.said = Shelf((), frozenset()), plain(str(error))
    return here.shelf


def can_sign_in() -> bool:
    """Whether the host has set up sign-in (docs/hosting.md)."""
    return st.secrets.load_if_toml_exists() and "auth" in st.secrets


def owner() -> str:
    """Who the lists belong to: the signed-in visitor, else nobody in particular."""
    return str(st.user.get("email") or st.user.get("sub") or "") if st.user.get("is_logged_in") else ""


def is_dark() -> bool:
    return st.context.theme.type == "dark"
