"""The Judge page: a grade given there is in the project's files."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from evaluation.judging import ADJUDICATOR, Project, make_pool
from search.types import Facet, Paper, Sentence

PAGE = str(Path(__file__).parent.parent / "pages" / "judge.py")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("TRIPTYCH_JUDGING", str(tmp_path))
    return Project(tmp_path)


def fill(project: Project) -> None:
    text = "We count <b>otters</b>."
    papers = [
        Paper(name, f"Title {name}", text, sentences=(Sentence(text, 0, len(text), Facet.METHOD),))
        for name in "qab"
    ]
    project.add(*make_pool("q", Facet.METHOD, {"secret-method": ["a", "b"]}, depth=5), papers)


def opened(judge: str = "") -> AppTest:
    page = AppTest.from_file(PAGE, default_timeout=30).run()
    return page.text_input[0].set_value(judge).run() if judge else page


def test_without_pools_the_page_says_how_to_make_them(project: Project) -> None:
    page = opened()
    assert not page.exception
    assert "pool make" in page.info[0].value


def test_grading_undoing_and_finishing(project: Project) -> None:
    fill(project)
    (pool,) = project.pools()
    page = opened("ada")
    shown = "".join(each.proto.body for each in page.get("html"))
    assert "<mark" in shown
    assert "&lt;b&gt;otters" in shown
    assert "secret-method" not in shown
    page.button(key="grade-2").click().run()
    assert project.grades("ada") == {pool.id: {pool.candidates[0]: 2}}
    page.button[-1].click().run()
    assert project.grades("ada") == {pool.id: {}}
    for grade in (1, 3):
        page.button(key=f"grade-{grade}").click().run()
    assert project.grades("ada")[pool.id] == dict(zip(pool.candidates, (1, 3), strict=True))
    assert "All graded" in page.success[0].value
    assert not page.exception


def test_the_adjudicator_sees_only_what_is_disputed(project: Project) -> None:
    fill(project)
    (pool,) = project.pools()
    first, second = pool.candidates
    project.take("ada", {pool.id: {first: 1, second: 2}})
    project.take("ben", {pool.id: {first: 1, second: 0}})
    page = opened(ADJUDICATOR)
    page.button(key="grade-1").click().run()
    assert project.grades(ADJUDICATOR) == {pool.id: {second: 1}}
    assert "All graded" in page.success[0].value
