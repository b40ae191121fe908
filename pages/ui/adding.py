"""Papers come in through the app: the first corpus, a file of more, and how far that is."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from pages.ui import corpora, faults, fetching, state
from pages.ui.escape import one_line, plain
from search.errors import InputError

NOT_ALLOWED = (
    "This host does not let visitors add papers. Whoever runs it can: "
    "`python -m index_build add FILE --out corpus`."
)
ELSEWHERE = (
    "This corpus is served by Milvus. Papers are added to the folder it is made from, and whoever runs the "
    "host carries them over: `python -m index_build publish DIR --to ADDRESS`."
)


def first_corpus() -> None:
    """What to do when there is nothing to search in."""
    settings = state.settings()
    if settings.address:
        st.info(f"There is no corpus at `{settings.address}` yet. {ELSEWHERE}", icon=":material/database:")
        return
    if settings.demo_at_start and corpora.jobs().last is None:
        with suppress(InputError):  # another visitor was quicker
            _begin_demo()
    if corpora.jobs().is_busy:
        st.info("The corpus is being made: this takes a minute, once.", icon=":material/database:")
        watch()
        return
    st.info(
        "This app has no corpus yet. Build one from your own files with "
        "`python -m index_build build FILE --out corpus`, or take the demo: some 5,000 arXiv papers.",
        icon=":material/database:",
    )
    # A host whose disk is wiped has to build the demo after each start, even if visitors may add nothing.
    if not (settings.allow_import or settings.session_library or settings.demo_at_start):
        st.caption(NOT_ALLOWED)
        return
    if st.button("Build the demo corpus", type="primary", icon=":material/download:"):
        _begin_demo()
        st.rerun()
    watch()
    if fetching.is_allowed():
        with st.expander("Or fetch papers from a live source"):
            fetching.form()


def _begin_demo() -> None:
    settings = state.settings()
    corpora.jobs().begin("Fetching the demo papers", lambda report: corpora.make_demo(settings, report))


def add_papers() -> None:
    """From a file or a live source, with the work under way below."""
    settings = state.settings()
    st.header("Add papers", anchor=False)
    if settings.address:
        st.caption(ELSEWHERE)
        return
    if not settings.allow_import:
        st.caption(NOT_ALLOWED)
        return
    given = st.file_uploader(
        "BibTeX, RIS, NBIB, EndNote, Excel, CSV, JSON or XML",
        key="add-file",
        max_upload_size=settings.upload_mb,
        help=f"Up to {settings.upload_mb} MB and {settings.upload_papers:,} papers at a time.",
    )
    if given is not None and st.button("Add to the corpus", type="primary", icon=":material/add:"):
        name, data = one_line(given.name), given.getvalue()
        corpora.jobs().begin(name, lambda report: corpora.add_file(settings, name, data, report))


@st.fragment(run_every="1s")
@faults.shown()
def watch() -> None:
    """The job under way, or how the last one ended. Its end redraws the page, and so does a new build."""
    now = state.build_id(), corpora.jobs().is_busy
    drawn_for = st.session_state.setdefault("drawn-for", now)
    job = corpora.jobs().last
    if job is None:
        return
    if not job.finished:
        can_stop = job.stoppable and job.step in ("", "fetch")  # what comes then is over soon
        st.progress(job.share, "Stopping…" if job.stopping and can_stop else job.text)
        if can_stop:
            st.button("Stop", icon=":material/stop:", on_click=corpora.jobs().stop, disabled=job.stopping)
    elif job.error:
        st.warning(plain(job.error), icon=":material/info:")
    else:
        st.success(plain(job.outcome), icon=":material/check:")
    if now != drawn_for:
        st.session_state["drawn-for"] = now
        st.rerun()
