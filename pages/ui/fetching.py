"""Papers come in from live sources: what is sent where, how much there is, then the work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from index_build.fetch import identifiers
from index_build.fetch.catalogue import SOURCES, source_of, what_is_sent
from index_build.fetch.command import in_words
from index_build.fetch.fetching import count
from index_build.fetch.journal import Journal, Run, has_journal
from index_build.fetch.taking_in import is_behind
from index_build.fetch.updating import Update, fetch_all, serve
from index_build.fetch.values import Stopped, Wish
from pages.ui import corpora, faults, state
from pages.ui.escape import one_line, plain
from pages.ui.words import counted
from search.settings import Settings
from search.types import Progress

TRIES = 2
"""Times a count is asked for while somebody waits."""
SHOWN_MISSING = 50
"""Identifiers without an abstract that are listed; the command line lists all."""
NOT_ALLOWED = "This host fetches no papers from live sources (`allow_fetch`, `allow_import` in its settings)."


@dataclass(frozen=True, slots=True)
class Form:
    """What the form of a source asks for."""

    title: str
    label: str = ""
    placeholder: str = ""
    category: str = ""
    """The label of the field for a category; empty where there is none."""
    days: bool = True
    many_lines: bool = False


FORMS = {
    "arxiv": Form("arXiv", "Query", 'cat:cs.CL AND abs:"question answering"', "Or a whole category"),
    "openalex": Form("OpenAlex", "Words", "faceted search"),
    "pubmed": Form("PubMed", "Query", "sepsis[mesh] AND machine learning"),
    "europepmc": Form("Europe PMC", "Query", "malaria AND SRC:PPR"),
    "semanticscholar": Form("Semantic Scholar", "Query", '"citation recommendation" + ranking'),
    "crossref": Form("Crossref", "Words", "coral bleaching"),
    "biorxiv": Form("bioRxiv", category="Only one category"),
    "openreview": Form("OpenReview", "Venue", "ICLR.cc/2026/Conference", days=False),
    "doi": Form("A list of DOIs, arXiv ids, PMIDs", "The list", "10.1000/xyz", days=False, many_lines=True),
    "references": Form("What a paper cites", "DOI, arXiv id or PMID", "10.1000/xyz", days=False),
    "citations": Form("What cites a paper", "DOI, arXiv id or PMID", "10.1000/xyz", days=False),
    "zotero": Form("My Zotero", category="Only one collection", days=False),
}


def is_allowed() -> bool:
    """Whether visitors may fetch papers into the corpus."""
    return state.settings().allow_fetch and state.settings().allow_import


def section(watch: Callable[[], None]) -> None:
    """The part of the Corpus page; `watch` draws the work under way."""
    st.header("Fetch from a source", anchor=False)
    if not is_allowed():
        st.caption(NOT_ALLOWED)
        watch()
        return
    form()
    watch()
    known()


@st.fragment
@faults.shown()
def form() -> None:
    """Count first; only then can it be fetched."""
    settings = state.settings()
    source = st.selectbox(
        "Source", list(FORMS), format_func=lambda name: FORMS[name].title, key="fetch-source", width=420
    )
    wish = _asked(source, FORMS[source])
    if wish is None:
        st.caption("Nothing is sent before you say so.")
        return
    st.caption(plain(what_is_sent(wish, settings)))
    if st.button("Count", icon=":material/numbers:", help="Asks the source how much there is."):
        st.session_state.pop("fetch-counted", None)
        with st.spinner("Asking the source…"):
            counted_now = count(wish, settings, tries=TRIES)
        st.session_state["fetch-counted"] = (wish, in_words(counted_now), counted_now.records)
    asked, told, records = st.session_state.get("fetch-counted", (None, "", None))
    if asked == wish:
        st.markdown(plain(told))
        label = "Fetch" if records is None else f"Fetch {counted(records, 'record')}"
        if records == 0:
            st.caption("There is nothing to fetch: ask for something else.")
        elif st.button(label, type="primary", icon=":material/download:", disabled=corpora.jobs().is_busy):
            begin([wish], f"Fetching from {FORMS[source].title}")
            st.rerun()


def _asked(source: str, form: Form) -> Wish | None:
    """The wish in the fields; None while they are empty."""
    text = ""
    if form.many_lines:
        text = st.text_area(form.label, key=f"fetch-text-{source}", placeholder=form.placeholder) or ""
    elif form.label:
        text = st.text_input(form.label, key=f"fetch-text-{source}", placeholder=form.placeholder) or ""
    with st.container(horizontal=True):
        category = since = until = server = ""
        if form.category:
            category = st.text_input(form.category, key=f"fetch-category-{source}", width=260) or ""
        if source == "biorxiv":
            server = st.selectbox("Server", ["biorxiv", "medrxiv"], key="fetch-server", width=160)
        if form.days:
            first = st.date_input("From", None, key=f"fetch-from-{source}", width=160)
            last = st.date_input("To", None, key=f"fetch-to-{source}", width=160)
            since, until = (day.isoformat() if day else "" for day in (first, last))
    if not (text.strip() or category.strip() or source in ("biorxiv", "zotero")):
        return None
    wish = _wish(source, one_line(text) if not form.many_lines else text, category.strip(), server)
    return replace(wish, since=since, until=until)


def _wish(source: str, text: str, category: str, server: str) -> Wish:
    match source:
        case "doi":
            return Wish("doi", ids=tuple(identifiers.split_list(text)))
        case "zotero":
            settings = state.settings()
            library = settings.zotero_library if settings.zotero_key else ""
            return Wish("zotero", collection=category, library=library)
        case "biorxiv":
            return Wish("biorxiv", category=category, server=server)
    return Wish(source, text=text, category=category)


def begin(wishes: list[Wish], title: str, news: bool = False) -> None:
    """Fetches in the background; the page watches it and can stop it."""
    settings = state.settings()
    corpora.jobs().begin(title, lambda report: _work(settings, wishes, report, news), stoppable=True)


def _work(settings: Settings, wishes: list[Wish], report: Progress, news: bool) -> str:
    jobs = corpora.jobs()
    try:
        found = fetch_all(settings.corpus, wishes, settings, report, jobs.is_stopping, news)
    except Stopped:
        return "Stopped. What has arrived is kept: go on below when you like."
    if found.has_news or is_behind(settings.corpus):
        found.manifest = serve(settings.corpus, settings, report)
    return _told(found)


def _told(found: Update) -> str:
    stored = found.stored
    came = sum(done.fetched.received for done in found.done)
    parts = [
        f"{counted(came, 'record')} came: {counted(stored.added, 'paper')} added, "
        f"{stored.replaced:,} changed, {stored.unchanged:,} already there, {stored.merged:,} merged.",
        *(f"Missing: {gap}." for gap in found.gaps),
        *found.failed.values(),
    ]
    if found.manifest:
        parts.append(f"The corpus now has {counted(found.manifest.papers, 'paper')}.")
    return " ".join(parts)


@st.fragment
@faults.shown()
def known() -> None:
    """What was fetched before: gone on with, brought up to date, or no longer."""
    settings = state.settings()
    if not has_journal(settings.corpus):
        return
    with Journal(settings.corpus) as journal:
        runs = [(wish, journal.last(wish), journal.missing(wish)) for wish in journal.wishes()]
    if not runs:
        return
    st.subheader("Fetched before", anchor=False)
    if st.button("Bring all up to date", icon=":material/sync:", disabled=corpora.jobs().is_busy):
        begin([wish for wish, _, _ in runs], "Bringing all up to date", news=True)
        st.rerun()
    for wish, run, missing in runs:
        if wish.source not in SOURCES:
            continue
        with st.container(horizontal=True, vertical_alignment="center"):
            unfinished = run is not None and not run.taken_in and not corpora.jobs().is_busy
            told = plain(source_of(wish).told(wish))
            st.markdown(f"{told}  \n:gray[{plain(_state_of(run))}]", width="stretch")
            if unfinished:
                _button("Go on", wish, lambda wish: begin([wish], f"Going on with {wish.source}"))
            _button("Forget", wish, _forget, "Its papers stay; it is no longer brought up to date.")
        for gap in run.gaps if run else ():
            st.caption(plain(f"Missing: {gap}."))
        if missing:
            with st.expander(f"Without an abstract: {len(missing):,}"):
                lines = [f"{word}: {why}" for word, why in list(missing.items())[:SHOWN_MISSING]]
                st.text("\n".join(lines))


def _state_of(run: Run | None) -> str:
    if run is None:
        return "never asked"
    of = f" of {run.announced:,}" if run.announced is not None else ""
    if run.taken_in and run.since:
        return f"{counted(run.received, 'record')} new or changed, {run.began[:10]}"
    if run.taken_in:
        return f"{run.received:,}{of} records, {run.began[:10]}"
    if corpora.jobs().is_busy:
        return "under way"
    return f"not finished: {run.received:,}{of} records so far"


def _button(label: str, wish: Wish, do: Callable[[Wish], None], help: str | None = None) -> None:
    key = f"fetch-{label}-{wish.id}"
    if st.button(label, key=key, type="tertiary", help=help, disabled=corpora.jobs().is_busy):
        do(wish)
        st.rerun()


def _forget(wish: Wish) -> None:
    with Journal(state.settings().corpus) as journal:
        journal.forget(wish)
