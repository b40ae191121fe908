"""Corpus: what is indexed, since when and by which models; add papers where the host allows it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import streamlit as st

from index_build import merging
from pages.ui import adding, charts, corpora, fetching, filters, frame, state
from pages.ui.escape import plain
from search.corpus.manifest import Manifest
from search.errors import CorpusError
from search.types import FACETS

TOP_FIELDS = 15
"""Fields in the chart, the largest first; more do not fit a screen."""
MOST_MERGES = 500
"""Papers in the table of merged records; the command line shows all."""


def page() -> None:
    st.title("Corpus", anchor=False)
    engine = state.engine()
    _facts(engine.manifest)
    known = filters.facts(state.build_id())
    left, right = st.columns(2, gap="large")
    with left:
        st.header("Years", anchor=False)
        if known.years:
            told = f"Papers from {min(known.years)} to {max(known.years)}."
            st.altair_chart(charts.years(known.years, 220), alt=told)
        st.header("Facets", anchor=False)
        shares = engine.store.facet_shares()
        told = ", ".join(f"{facet} {shares.get(facet, 0):.0%}" for facet in FACETS)
        st.altair_chart(charts.facet_shares(shares, state.is_dark()), alt=told)
    with right:
        st.header("Fields", anchor=False)
        top = dict(list(known.fields.items())[:TOP_FIELDS])
        if top:
            st.altair_chart(charts.bars(top, "Field"), alt=", ".join(f"{f} {n}" for f, n in top.items()))
        else:
            st.caption("The papers of this corpus name no fields.")
    adding.add_papers()
    if not state.settings().address:  # what is elsewhere is fetched and merged where it is built
        fetching.section(adding.watch)
        _merges()
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


@st.cache_data(max_entries=1, show_spinner=False)
def _merge_rows(corpus: Path, build: str) -> list[dict[str, str]]:
    """One row for each record that shares its paper with others; the build tells when to read again."""
    return merging.rows(merging.report(corpus).merges[:MOST_MERGES])


def _merges() -> None:
    st.header("Merged records", anchor=False)
    try:
        rows = _merge_rows(state.settings().corpus, state.build_id())
    except CorpusError:
        st.caption("The records cannot be read while papers are added.")
        return
    if not rows:
        st.caption("No two records were taken for the same paper.")
        return
    st.caption(
        "Records that became one paper, why, and what each gave to it. To part them: "
        "`python -m index_build split RECORD`, then build again."
    )
    st.dataframe(rows, column_order=list(merging.COLUMNS[1:]), hide_index=True)


def _rejects() -> None:
    st.header("Rejected records", anchor=False)
    rejected = corpora.rejects(state.settings().corpus)
    if not rejected:
        st.caption("No record of the last imports was rejected.")
        return
    st.caption(f"The first {len(rejected)} records that could not be read, with the reason.")
    st.dataframe(rejected, column_order=["source", "place", "reason", "raw"], hide_index=True)


frame.draw(page)
