"""The Judge page: a grade given there is in the project's files."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from evaluation.annotation_store import ADJUDICATOR, Project, make_pool
from search.types import Facet, Paper, Sentence
from tests.app_driver import open_app, text_of

PAGE = str(Path(__file__).parent.parent / "pages" / "judge.py")


@pytest.fixture
def project(host: pytest.MonkeyPatch, tmp_path: Path) -> Project:
    host.setenv("TRIPTYCH_JUDGING", str(tmp_path))
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
    assert "annotate make" in page.info[0].value
    assert str(project.folder) in page.info[0].value.replace("\\", "")


def test_the_app_has_the_page_where_judging_is_switched_on(project: Project) -> None:
    fill(project)
    app = open_app("judge")
    assert not app.exception
    assert app.title[0].value == "Judge"


def test_without_a_folder_the_page_is_not_listed_and_says_that_it_is_off(host: pytest.MonkeyPatch) -> None:
    host.delenv("TRIPTYCH_JUDGING", raising=False)
    listed: list[str] = []
    made = st.Page
    host.setattr(st, "Page", lambda file, **rest: listed.append(file.stem) or made(file, **rest))
    assert not open_app().exception
    assert "find" in listed
    assert "judge" not in listed
    assert "switched off" in text_of(opened())


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
