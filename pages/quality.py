"""Quality: how good the search is, beside word search and the published systems, and where it fails."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.ui import charts, frame
from pages.ui.escape import plain
from pages.ui.figures import MEASURES, Level, Row, Run, groups, measures, read_published, read_runs

EMPTY = (
    "No figures yet. Fetch the collections and run `python -m evaluation csfcube`; "
    "what it measures appears here."
)
CAVEATS = {"csfcube": " Where a word begins was set on these very queries."}
"""By collection: what to know when reading its levels of likeness."""
HOW = """\
**What is asked.** CSFCube gives a query abstract, a facet, and a pool of abstracts that experts graded from 0
to 3 by likeness in that facet. A system orders the pool; NDCG%20 looks at the first fifth of the order, MAP
counts grades of 2 and more as right. Higher is better; 100 is perfect.

"More fields" asks in the same way about papers on learning, vision, robotics, databases and language. A
language model graded those by the same guidelines, and nothing was trained on them.

**What is ours.** Rows without a source were measured here, by the command shown, with the code the app
searches with. Rows with a source are copied from that paper and were not run here.

**Where it fails.** The method facet is the hardest for every system: the same method is told in different
words in different fields, and a method sentence leans on its neighbours. Read those results with more care.
"""


def page() -> None:
    st.title("How good is the search?", anchor=False)
    runs = read_runs()
    if not runs:
        st.info(EMPTY, icon=":material/query_stats:")
        return
    for run in runs:
        _run(run, [*run.rows, *read_published(run.collection)])
    st.header("How it was measured", anchor=False)
    st.markdown(HOW)


def _run(run: Run, rows: Sequence[Row]) -> None:
    st.header(plain(run.title), anchor=False)
    st.caption(
        plain(" · ".join(filter(None, (run.date, run.encoder, f"{run.queries} queries", run.missing))))
    )
    shown = measures(rows)
    if not shown:
        return
    if len(groups(rows)) > 1:
        st.altair_chart(charts.quality(rows, shown[0], MEASURES[shown[0]]), alt=_best(rows, shown[0]))
    for tab, group in zip(st.tabs([plain(g.capitalize()) for g in groups(rows)]), groups(rows), strict=True):
        tab.table(table([row for row in rows if row.group == group], shown), hide_index=True)
    if run.levels:
        st.subheader("What the words are worth", anchor=False)
        st.caption(
            "How the papers that Triptych shows with each word were judged." + CAVEATS.get(run.collection, "")
        )
        st.table(levels_table(run.levels), hide_index=True)
    if run.skipped:
        with st.expander(f"Not run: {plain(', '.join(run.skipped))}"):
            for method, why in run.skipped.items():
                st.caption(f"{plain(method)}: {plain(why)}")
    st.code(run.command, language=None, wrap_lines=True)


def table(rows: Sequence[Row], shown: Sequence[str]) -> pd.DataFrame:
    """Methods by the first measure, the best first; an empty cell was not reported."""
    ordered = sorted(rows, key=lambda row: -row.measures.get(shown[0], 0))
    columns: dict[str, list[str]] = {"Method": [plain(row.method) for row in ordered]}
    for measure in shown:
        columns[MEASURES[measure]] = [
            f"{row.measures[measure]:.1f}" if measure in row.measures else "" for row in ordered
        ]
    columns["Source"] = [plain(row.source) or "measured here" for row in ordered]
    return pd.DataFrame(columns)


def levels_table(levels: Sequence[Level]) -> pd.DataFrame:
    def share(percent: float | None) -> str:
        return "" if percent is None else f"{percent:.0f} %"

    return pd.DataFrame(
        {
            "Shown as": [plain(level.word) for level in levels],
            "Papers": [f"{level.papers:,}" for level in levels],
            "Judged related or better": [share(level.related) for level in levels],
            "Judged similar or better": [share(level.similar) for level in levels],
        }
    )


def _best(rows: Sequence[Row], measure: str) -> str:
    told = []
    for group in groups(rows):
        best = max((row for row in rows if row.group == group), key=lambda row: row.measures.get(measure, 0))
        told.append(f"{group}: {best.method} {best.measures.get(measure, 0):.1f}")
    return f"Best {MEASURES[measure]} by group. " + "; ".join(told)


frame.draw(page)
