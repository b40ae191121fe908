"""Corpus: what is indexed, since when and by which models; add papers where the host allows it."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from pages.ui import charts, corpora, faults, filters, state
from pages.ui.escape import one_line, plain
from search.manifest import Manifest
from search.types import FACETS

NOT_ALLOWED = (
    "This host does not let visitors add papers. Whoever runs it can: "
    "`python -m index_build add FILE --out corpus`."
)
TOP_FIELDS = 15


def page() -> None:
    st.title("Corpus", anchor=False)
    if not state.build_id():
        _first_corpus()
        return
    engine = state.engine()
    _facts(engine.manifest)
    known = filters.facts(state.build_id())
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Years", anchor=False)
        if known.years:
            told = f"Papers from {min(known.years)} to {max(known.years)}."
            st.altair_chart(charts.years(known.years, 220), alt=told)
        st.subheader("Facets", anchor=False)
        shares = engine.store.facet_shares()
        told = ", ".join(f"{facet} {shares.get(facet, 0):.0%}" for facet in FACETS)
        st.altair_chart(charts.facet_shares(shares, state.is_dark()), alt=told)
    with right:
        st.subheader("Fields", anchor=False)
        top = dict(list(known.fields.items())[:TOP_FIELDS])
        if top:
            st.altair_chart(charts.bars(top, "Field"), alt=", ".join(f"{f} {n}" for f, n in top.items()))
        else:
            st.caption("The papers of this corpus name no fields.")
    _add()
    _rejects()


def _facts(manifest: Manifest) -> None:
    built = datetime.fromisoformat(manifest.created)
    with st.container(horizontal=True):
        st.metric("Papers", f"{manifest.papers:,}", width="content")
        st.metric("Sentences", f"{manifest.sentences:,}", width="content")
        st.metric("Built", f"{built:%d %B %Y}", width="content", help=f"{built:%H:%M} UTC")
    with st.expander("Models and versions"):
        st.table(
            {
                "Encoder": plain(manifest.encoder),
                "Facet labels": plain(manifest.facets),
                "Word index": f"BM25, k1 {manifest.bm25_k1:g}, b {manifest.bm25_b:g}",
                "Build": plain(manifest.build_id),
                "Made by": f"Triptych {plain(manifest.package)}",
            },
            hide_header=True,
        )


def _first_corpus() -> None:
    settings = state.settings()
    st.info(
        f"There is no corpus in {plain(str(settings.corpus))} yet. Build one from your own files with "
        "`python -m index_build build FILE --out corpus`, or take the demo: some 5,000 arXiv papers.",
        icon=":material/database:",
    )
    if settings.allow_import:
        if st.button("Build the demo corpus", type="primary"):
            corpora.jobs().begin(
                "Fetching the demo papers", lambda report: corpora.make_demo(settings, report)
            )
        _watch()
    else:
        st.caption(NOT_ALLOWED)


def _add() -> None:
    settings = state.settings()
    st.header("Add papers", anchor=False)
    if not settings.allow_import:
        st.caption(NOT_ALLOWED)
        return
    given = st.file_uploader(
        "BibTeX, RIS, NBIB, CSL-JSON, CSV, JSONL or XML",
        key="add-file",
        max_upload_size=settings.upload_mb,
        help=f"Up to {settings.upload_mb} MB and {settings.upload_papers:,} papers at a time.",
    )
    if given is not None and st.button("Add to the corpus", type="primary", icon=":material/add:"):
        name, data = one_line(given.name), given.getvalue()
        corpora.jobs().begin(name, lambda report: corpora.add_file(settings, name, data, report))
    _watch()


@st.fragment(run_every="1s")
@faults.shown()
def _watch() -> None:
    """The job under way, or how the last one ended. A new build redraws the page."""
    job = corpora.jobs().last
    if job is None:
        return
    if not job.finished:
        st.progress(job.share, job.text)
    elif job.error:
        st.warning(plain(job.error), icon=":material/info:")
    else:
        st.success(plain(job.outcome), icon=":material/check:")
    if state.build_id() != st.session_state.setdefault("corpus-shown", state.build_id()):
        st.session_state["corpus-shown"] = state.build_id()
        st.rerun()


def _rejects() -> None:
    st.header("Rejected records", anchor=False)
    rejected = corpora.rejects(state.settings().corpus)
    if not rejected:
        st.caption("No record of the last imports was rejected.")
        return
    st.caption(f"The first {len(rejected)} records that could not be read, with the reason.")
    st.dataframe(rejected, column_order=["source", "place", "reason", "raw"], hide_index=True)


page()
