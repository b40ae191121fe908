"""A visitor who comes again: the corpus has grown, a label was wrong, a record and a printout are wanted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from index_build.steps import build
from search.corpus.layout import STORE
from search.corpus.store import Store
from search.text.sentences import split_paper
from search.types import Paper
from tests.app_corpus import make_corpus
from tests.browser.conftest import Server, Visit, Visitor, start_server
from tests.browser.test_journeys import ABSTRACT
from tests.browser.test_twice import paste

pytestmark = pytest.mark.browser


def add_paper(corpus: Path) -> None:
    late = Paper(
        id="late",
        title="Counting seals from satellites",
        abstract="Seals lie on ice floes and are hard to count. We train a neural network on pictures.",
    )
    with Store.open(corpus / STORE, read_only=False) as store:
        store.add([split_paper(late)])
    build(corpus)


@pytest.fixture
def growing(tmp_path: Path) -> Server:
    return start_server(make_corpus(tmp_path / "corpus"), tmp_path / "server")


def test_what_is_new_since_the_last_visit_is_counted_and_marked(visit: Visit, growing: Server) -> None:
    try:
        first = visit(home=growing.url).open()
        paste(first, ABSTRACT)
        first.press("Link")
        first.page.get_by_label("Keep this search as").fill("Seals")
        first.page.keyboard.press("Enter")
        first.settle()
        add_paper(growing.corpus)
        for _ in range(2):  # a reload does not make it old
            again = visit(home=growing.url).open()
            expect(again.page.get_by_text("1 paper added since your last visit")).to_be_visible()
            expect(again.page.get_by_role("button", name="Seals").get_by_text("1 new")).to_be_visible()
        again.page.get_by_role("button", name="Seals").first.click()
        again.settle()
        item = again.page.locator(".item", has_text="Counting seals from satellites")
        expect(item.get_by_text("New", exact=True)).to_be_visible()
        assert again.page.locator(".item .new").count() == 1
    finally:
        growing.stop()


def test_a_record_is_downloaded_and_opens_as_the_same_search(visit: Visit, tmp_path: Path) -> None:
    visitor = paste(visit().open(), ABSTRACT)
    shown = titles(visitor)
    visitor.press("Export")
    with visitor.page.expect_download() as saved:
        visitor.page.get_by_role("button", name="Record (JSON)").click()
    record = tmp_path / "record.json"
    saved.value.save_as(record)
    assert [each["title"] for each in json.loads(record.read_text())["record"]["results"]] == shown
    again = visit().open()
    again.page.get_by_role("tab", name="Open a file").click()
    again.page.locator("input[type=file]").set_input_files(record)
    again.press("Open this query")
    assert titles(again) == shown


@pytest.mark.parametrize("width", [1280, 390])
def test_a_question_in_words_is_asked_how_it_is_meant(visit: Visit, width: int) -> None:
    visitor = paste(visit(width=width).open(), "counting seals from the air")
    for name in ("As a method", "As a finding", "As a method"):
        visitor.press(name)
        chosen = visitor.page.get_by_role("button", name=name, exact=True)
        expect(chosen).to_have_attribute("aria-pressed", "true")
    assert titles(visitor)
    expect(visitor.page.get_by_role("radiogroup", name="Sentence 1: match, ignore or avoid")).to_have_count(0)
    visitor.picture(f"{width}-meant")


def test_a_printout_holds_the_results_and_no_controls(visit: Visit) -> None:
    visitor = paste(visit().open(), ABSTRACT)
    visitor.page.emulate_media(media="print")
    expect(visitor.page.locator(".item").first).to_be_visible()
    expect(visitor.page.locator(".yours .text").first).to_be_visible()
    for control in ("New search", "Export", "Same method"):
        expect(visitor.page.get_by_role("button", name=control, exact=True)).not_to_be_visible()
    assert visitor.page.locator(".keep:visible").count() == 0
    height = visitor.page.evaluate("document.querySelector('.stMain').scrollHeight")
    assert visitor.page.evaluate("document.querySelector('.stMain').clientHeight") == height
    visitor.picture("print")


def titles(visitor: Visitor) -> list[str]:
    expect(visitor.page.locator(".item .title").first).to_be_visible()
    return [text.split(". ", 1)[1] for text in visitor.page.locator(".item .title").all_inner_texts()]
