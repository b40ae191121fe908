"""The Library page, the filters and the look-up of papers, each journey twice in a row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from search.library.files import Kept, ReadingList, dump_lists
from search.types import Facet, Paper, Sentence
from tests.browser.conftest import Server, Visit, Visitor, start_server
from tests.browser.test_access import findings, too_wide

pytestmark = pytest.mark.browser

ABSTRACT = "Seals lie on ice. We count them from the air."
FOREIGN = Paper(
    "x:1",
    "Seals on ice floes",
    ABSTRACT,
    ("Lo, Bea",),
    2004,
    sentences=(
        Sentence(ABSTRACT[:17], 0, 17, Facet.OBJECTIVE),
        Sentence(ABSTRACT[18:], 18, len(ABSTRACT), Facet.METHOD),
    ),
)


@pytest.fixture
def home(corpus: Path, tmp_path: Path) -> Iterator[str]:
    """A server with an empty library of its own."""
    own: Server = start_server(corpus, tmp_path / "own")
    yield own.url
    own.stop()


def keep_two(visitor: Visitor) -> list[str]:
    """Keeps the first two results of an example and goes to the library."""
    visitor.open().press("Try it")
    kept = visitor.titles()[:2]
    for title in kept:
        visitor.page.get_by_role("button", name=f"Keep: {title}").click()
        expect(visitor.page.get_by_role("button", name=f"Kept: {title}")).to_be_visible()
    to_library(visitor)
    return kept


def to_library(visitor: Visitor) -> None:
    visitor.page.get_by_role("link", name="Library").first.click()
    expect(visitor.page.get_by_role("heading", level=1).first).to_have_text("Library")
    visitor.settle()


def in_manage(page: Page, label: str, text: str, button: str) -> None:
    page.get_by_role("button", name="Manage lists").click()
    page.get_by_label(label).fill(text)
    page.get_by_role("button", name=button, exact=True).click()


def test_why_a_paper_was_kept_and_back_to_its_search(visit: Visit, home: str) -> None:
    visitor = visit(home=home)
    page = visitor.page
    kept = keep_two(visitor)
    lines = page.get_by_text(re.compile(r"^Kept \d+ \w{3} \d{4} from “.+” because it matches your"))
    expect(lines).to_have_count(2)
    visitor.picture("1-kept")
    for title in kept:
        page.get_by_role("button", name=f"Open this search: {title}").click()
        expect(page.get_by_role("button", name=f"Kept: {kept[0]}")).to_be_visible()
        assert "s=" in page.url
        visitor.settle()
        assert visitor.titles()[:2] == kept
        to_library(visitor)


def test_lists_are_made_renamed_deleted_and_taken_back(visit: Visit, home: str) -> None:
    visitor = visit(home=home).open("library")
    page = visitor.page
    lists = page.get_by_role("combobox", name="List")
    for name in ("Ice", "Sea"):
        in_manage(page, "New list", name, "Create list")
        expect(lists).to_have_value(name)
    for name in ("Sea ice", "Sea and ice"):
        in_manage(page, "New name for this list", name, "Rename")
        expect(lists).to_have_value(name)
    in_manage(page, "New name for this list", "Ice", "Rename")
    expect(page.get_by_text("There is a list")).to_be_visible()
    page.keyboard.press("Escape")
    for name in ("Sea and ice", "Ice"):
        page.get_by_role("button", name="Manage lists").click()
        page.get_by_role("button", name="Delete this list").click()
        expect(page.get_by_text(f"“{name}” deleted with 0 papers.")).to_be_visible()
    visitor.picture("1-deleted")
    for name in ("Ice", "Sea and ice"):
        page.get_by_role("button", name="Undo").click()
        expect(lists).to_have_value(name)
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)


def test_papers_are_moved_marked_removed_and_brought_back(visit: Visit, home: str) -> None:
    visitor = visit(home=home)
    page = visitor.page
    kept = keep_two(visitor)
    titles = page.locator("article.card h3")
    in_manage(page, "New list", "Later", "Create list")
    expect(page.get_by_text("Nothing kept yet")).to_be_visible()
    for name, other in (("Reading list", "Later"), ("Later", "Reading list")):
        page.get_by_label("List", exact=True).click()
        page.get_by_role("option", name=name).click()
        expect(titles).to_have_count(2)
        for title in kept:
            page.get_by_role("button", name=f"Move: {title}", exact=True).click()
            page.get_by_text(other, exact=True).last.click()
            expect(titles.filter(has_text=title)).to_have_count(0)
        expect(page.get_by_text("Nothing kept yet")).to_be_visible()
    page.get_by_label("List", exact=True).click()
    page.get_by_role("option", name="Reading list").click()
    for number, title in enumerate(kept, 1):
        page.get_by_role("button", name=f"Mark as read: {title}").click()
        expect(page.get_by_text(f"2 papers, {number} read.")).to_be_visible()
    for title in kept:  # fast, without waiting for the page in between
        page.get_by_role("button", name=f"Remove: {title}").click()
    expect(page.get_by_text("Nothing kept yet")).to_be_visible()
    for number in (1, 2):
        page.get_by_role("button", name="Undo").click()
        expect(titles).to_have_count(number)
    expect(page.get_by_text("2 papers, 2 read.")).to_be_visible()


def test_a_paper_of_another_corpus_is_shown_and_exported(visit: Visit, home: str, tmp_path: Path) -> None:
    visitor = visit(home=home).open("library")
    page = visitor.page
    file = tmp_path / "lists.json"
    file.write_text(dump_lists([ReadingList("Seals", (Kept(FOREIGN, "mine", ("ice",)),))]), encoding="utf-8")
    page.get_by_role("button", name="Manage lists").click()
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Add its lists").click()
    expect(page.get_by_text("Not in this corpus; shown as it was kept.")).to_be_visible()
    page.locator("summary").filter(has_text="Abstract").click()
    expect(page.get_by_text(ABSTRACT)).to_be_visible()
    page.get_by_role("button", name="Export").click()
    visitor.picture("1-export")
    for _ in range(2):
        for label, wanted in (
            ("Annotated bibliography (Markdown)", ("Note: mine", "Tags: ice")),
            ("Problem, method, result (CSV)", ("“Seals lie on ice.”", "mine", "ice")),
            ("Problem, method, result (Markdown)", ("*Objective:* “Seals lie on ice.”", "mine", "ice")),
            ("Markdown", ("mine", "Tags: ice")),
        ):
            with page.expect_download() as download:
                page.get_by_role("button", name=label, exact=True).click()
            download.value.save_as(tmp_path / "written")
            written = (tmp_path / "written").read_text(encoding="utf-8")
            assert [each for each in wanted if each not in written] == [], label


def test_lists_that_were_just_added_are_shown(visit: Visit, home: str, tmp_path: Path) -> None:
    """Also the second time, with several lists, into a list of the same name, and before the page has drawn
    the file that replaces the last one."""
    visitor = visit(home=home)
    page = visitor.page
    keep_two(visitor)
    tag = "t" * 91  # as long as lists of 0.7 had them
    for number, name in enumerate((" Seals  at sea ", "Ice", "Seals at sea", "Reading list", "Ice"), 1):
        page.get_by_role("radio", name="Read", exact=True).click()  # this filter hides what is new
        visitor.settle()
        added = Paper(f"x:{number}", f"Added {number}", ABSTRACT)
        file = tmp_path / f"{number}.json"
        file.write_text(dump_lists([ReadingList(name, (Kept(added, tags=(tag,)),))]), encoding="utf-8")
        page.get_by_role("button", name="Manage lists").click()
        page.locator("input[type=file]").set_input_files(file)
        page.get_by_role("button", name="Add its lists").click()
        expect(page.get_by_text("1 paper added")).to_be_visible()
        expect(page.get_by_role("combobox", name="List")).to_have_value(" ".join(name.split()))
        expect(page.locator("article.card h3").filter(has_text=added.title)).to_be_visible()
        expect(page.get_by_text("1 paper added")).to_have_count(0)
    visitor.picture("1-added")


def test_a_quick_second_file_is_the_one_that_is_added(visit: Visit, home: str, tmp_path: Path) -> None:
    visitor = visit(home=home).open("library")
    page = visitor.page
    page.get_by_role("button", name="Manage lists").click()
    for name in ("First", "Second"):
        file = tmp_path / f"{name}.json"
        file.write_text(dump_lists([ReadingList(name, (Kept(FOREIGN),))]), encoding="utf-8")
        page.locator("input[type=file]").set_input_files(file)
        expect(page.get_by_text(file.name)).to_be_visible()
    page.get_by_role("button", name="Add its lists").click()
    expect(page.get_by_role("combobox", name="List")).to_have_value("Second")


FIELDS = """() => [...document.querySelectorAll("[data-testid=stMultiSelect]")]
    .flatMap(box => [...box.querySelectorAll("*")].filter(part => !part.children.length))
    .map(part => part.textContent.trim())
    .filter(text => ["acoustics", "building", "farming", "medicine"].includes(text))"""
"""The fields that stand in the box."""


def test_enter_in_a_filter_takes_one_and_not_all(visit: Visit, home: str) -> None:
    visitor = visit(home=home).open().press("Try it")
    page = visitor.page
    page.get_by_role("button", name="Filters").click()
    field = page.get_by_role("combobox", name="Field")
    for number in (1, 2):  # "building" and "farming" both match
        field.fill("ing")
        expect(page.get_by_role("option", name="acoustics")).to_have_count(0)
        field.press("Enter")
        page.wait_for_function(f"({FIELDS})().length >= {number}")
        expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
        assert len(page.evaluate(FIELDS)) == number
    visitor.picture("1-filter")
    page.keyboard.press("Escape")


def test_papers_are_looked_up_by_address_author_and_title_with_slips(visit: Visit, home: str) -> None:
    visitor = visit(home=home).open("paper")
    page = visitor.page
    expect(page.get_by_text("Small typing errors do not matter.")).to_be_visible()
    box = page.get_by_label("Part of a title")
    first = "Bird song in noisy recordings: a study with Gaussian processes"
    for _ in range(2):
        for text in (
            "https://doi.org/10.5555/TEST.01",
            "https://publisher.example/doi/full/10.5555/test.01?x=1",
            "test:01",
            "brid song guassian proceses",
            "author0 given 2001 bird",
        ):
            box.fill(text)
            expect(page.get_by_role("button", name=first)).to_be_visible()
            expect(page.get_by_role("button", name=re.compile("Given Author0.* 2001"))).to_be_visible()
        box.fill("https://doi.org/10.5555/none")
        expect(page.get_by_text("No paper of this corpus fits")).to_be_visible()
    visitor.picture("1-nothing")
    box.fill("brid song guassian")
    visitor.settle().picture("2-found")
    page.get_by_role("button", name=first).press("Enter")
    # Both pages are there for a moment while one takes the place of the other.
    expect(page.get_by_role("heading", level=1, name=first)).to_be_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_kept_papers_are_accessible_and_fit(visit: Visit, home: str, width: int, dark: bool) -> None:
    visitor = visit(width, dark, home)
    page = visitor.page
    visitor.open().press("Try it")
    for _ in range(2):
        page.get_by_role("button", name=re.compile("^Keep: ")).first.click()
        visitor.settle()
    visitor.open("library")
    page.locator("summary").filter(has_text="Abstract").first.click()
    visitor.settle()
    page.get_by_role("button", name=re.compile("^Remove: ")).last.click()
    visitor.settle().picture("1-library")
    assert findings(visitor) == []
    assert not too_wide(visitor)
    page.get_by_role("button", name="Undo").click()
    visitor.settle()
    page.get_by_role("button", name="Manage lists").click()
    visitor.picture("2-manage")
    assert findings(visitor) == []
    names = page.eval_on_selector_all(
        "[class*=st-key-kept-] :is(button, textarea)", "all => all.map(e => e.ariaLabel || e.innerText)"
    )
    assert not {name for name in names if name.strip() in ("Remove", "Note", "Move")}
