"""Judge: grade the papers of a pool by one facet, without knowing which method found them."""

from __future__ import annotations

import streamlit as st

from evaluation.annotation_store import (
    ADJUDICATOR,
    GRADES,
    GUIDELINES,
    Judged,
    Pool,
    Project,
    disputed,
    waiting,
)
from pages.ui import frame, html, state
from pages.ui.escape import plain
from search.types import Paper

OFF = "Judging is switched off here: set `judging` to a folder of pools in the settings."
EMPTY = (
    "There is nothing to judge in `{folder}` yet. Make pools with "
    "`python -m evaluation annotate make --query PAPER_ID --project {folder}`, then grade them here."
)
HOW = """\
Read the marked sentences of the query, then the abstract beside it, and grade how alike the two papers are
**in this facet only**. Grade what is written, not how good the paper is. When in doubt between two grades
take the lower one. Two people judge on their own; where they differ, a third, named `adjudicator`, decides.
"""


def page() -> None:
    st.title("Judge", anchor=False)
    folder = state.settings().judging
    if folder is None:
        st.info(OFF, icon=":material/gavel:")
        return
    project = Project(folder)
    pools = project.pools()
    if not pools:
        st.info(EMPTY.format(folder=plain(str(project.folder))), icon=":material/gavel:")
        return
    left, right = st.columns(2, vertical_alignment="bottom")
    judge = left.text_input(
        "Your name, one word", key="judge-name", help=f"The one who decides: {ADJUDICATOR}"
    )
    chosen = right.selectbox("Pool", pools, format_func=lambda pool: _title(project, pool), key="judge-pool")
    with st.expander("How to grade"):
        st.markdown(HOW)
        st.markdown("\n".join(f"- **{grade}**: {meaning}" for grade, meaning in GRADES.items()))
    if judge and chosen:
        _grade(project, judge.strip(), chosen)


def _grade(project: Project, judge: str, pool: Pool) -> None:
    grades = project.grades(judge)
    candidates = _candidates(project, judge, pool)
    left = [paper for paper in waiting(pool, grades) if paper in candidates]
    st.progress(
        1 - len(left) / max(len(candidates), 1), f"{len(candidates) - len(left)} of {len(candidates)} graded"
    )
    if not left:
        st.success("All graded, thank you. Choose another pool.", icon=":material/task_alt:")
        _undo(project, judge, pool, grades)
        return
    papers = project.papers()
    ours, theirs = st.columns(2, gap="large")
    with ours:
        st.caption(f"The query. {GUIDELINES[pool.facet]}")
        _show(papers[pool.query], pool)
    with theirs:
        st.caption("The paper to grade")
        _show(papers[left[0]], None)
        for column, (grade, meaning) in zip(st.columns(len(GRADES)), sorted(GRADES.items()), strict=True):
            if column.button(str(grade), key=f"grade-{grade}", help=meaning, width="stretch"):
                project.grade(judge, pool, left[0], grade)
                st.rerun()
    _undo(project, judge, pool, grades)


def _candidates(project: Project, judge: str, pool: Pool) -> tuple[str, ...]:
    """The whole pool, or for the adjudicator what the two judges dispute."""
    others = [project.grades(name) for name in project.judges() if name != ADJUDICATOR]
    if judge != ADJUDICATOR:
        return pool.candidates
    return disputed(pool, *others[:2]) if len(others) >= 2 else ()


def _undo(project: Project, judge: str, pool: Pool, grades: Judged) -> None:
    """The last grade can be taken back: it is the last one in the file."""
    given = list(grades.get(pool.id, {}))
    if given and st.button("Take back the last grade", icon=":material/undo:"):
        project.take_back(judge, pool, given[-1])
        st.rerun()


def _show(paper: Paper, pool: Pool | None) -> None:
    marked = [
        place for place, sentence in enumerate(paper.sentences) if pool and sentence.panel is pool.facet
    ]
    st.html(html.heading(paper, 3) + html.byline(paper) + html.abstract(paper, marked))


def _title(project: Project, pool: Pool) -> str:
    paper = project.papers().get(pool.query)
    return f"{paper.title if paper else pool.query}: {pool.facet}"


frame.draw(page)
