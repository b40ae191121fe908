"""What people do again, do fast, or do halfway: each of these went wrong once."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, Visitor
from tests.browser.test_journeys import ABSTRACT, heading

pytestmark = pytest.mark.browser

START = "Find papers by the part that matters"


def paste(visitor: Visitor, text: str) -> Visitor:
    visitor.page.get_by_label("Title and abstract").fill(text)
    return visitor.press("Find papers")


def history_length(visitor: Visitor) -> int:
    return int(visitor.page.evaluate("history.length"))


@pytest.mark.parametrize("way", ["New search", "Find", "logo"])
def test_a_new_search_can_be_begun_again_and_again(visit: Visit, way: str) -> None:
    visitor = visit().open()
    for number in (1, 2):
        paste(visitor, ABSTRACT.replace("seals", f"seals {number}", 1))
        assert heading(visitor) == f"Counting seals {number} from the air"
        if way == "New search":
            visitor.press("New search")
        elif way == "Find":
            visitor.page.get_by_role("link", name="Find").first.click()
        else:
            visitor.page.get_by_test_id("stHeaderLogo").first.click()
        expect(visitor.page.get_by_role("heading", level=1).first).to_have_text(START)
        visitor.settle()
        assert heading(visitor) == START
        assert "s=" not in visitor.page.url


@pytest.mark.parametrize("gap", [60, 250, 700])
def test_quick_steps_back_and_forward_end_where_the_address_says(visit: Visit, gap: int) -> None:
    visitor = paste(visit().open(), ABSTRACT)
    page, first = visitor.page, visitor.page.get_by_role("heading", level=1).first
    for _ in range(2):
        if "s=" in page.url:
            visitor.press("New search")
        paste(visitor, ABSTRACT.replace("Counting seals", "Counting bears"))
        page.evaluate(
            """gap => ["back", "forward", "back", "forward"].forEach(
                (step, number) => setTimeout(() => history[step](), number * gap))""",
            gap,
        )
        page.wait_for_timeout(4 * gap + 500)
        visitor.settle()
        # A busy browser passes over steps that come too quickly, so either may be the end.
        address = page.url
        expect(first).to_have_text("Counting bears from the air" if "s=" in address else START)
        visitor.settle()
        assert page.url == address


def test_one_entry_of_history_per_page_and_back_goes_through_all_of_them(visit: Visit) -> None:
    visitor = visit().open("explore")
    page = visitor.page
    page.get_by_label("Topic").fill("rare birds in forest recordings")
    visitor.press("Explore")
    page.get_by_role("button", name=re.compile("^Search with this: ")).first.click()
    cluster = page.get_by_role("heading", level=1, name=re.compile("^Cluster: "))
    expect(cluster).to_be_visible()
    visitor.settle()
    searched = cluster.inner_text()
    page.locator(".item .title").first.click()
    page.get_by_role("link", name=re.compile("^Open its page")).click()
    page.wait_for_url("**/paper?id=*")
    opened = heading(visitor.settle())
    visitor.press("Search with this")
    page.wait_for_url(re.compile("/\\?s="))
    visitor.settle()
    steps = [opened, searched, "Explore a topic", "Explore a topic"]
    for _ in range(2):
        for go, titles in ((page.go_back, steps), (page.go_forward, [*steps[-2::-1], opened])):
            for title in titles:
                go()
                expect(page.get_by_role("heading", level=1, name=title, exact=True)).to_be_visible()
                visitor.settle()
    expect(page.get_by_role("heading", name="What matches")).to_be_visible()


def test_another_page_and_back_by_the_menu_keeps_the_search(visit: Visit) -> None:
    visitor = paste(visit().open(), ABSTRACT)
    for page in ("Library", "Explore"):
        visitor.page.get_by_role("link", name=page).first.click()
        visitor.settle()
        visitor.page.get_by_role("link", name="Find").first.click()
        expect(visitor.page.get_by_role("heading", level=1).first).to_have_text("Counting seals from the air")
        visitor.settle()


def test_earlier_searches_are_listed_opened_named_and_cleared(visit: Visit) -> None:
    visitor = visit().open()
    page = visitor.page
    for title in ("Counting seals once", "Counting seals twice"):
        paste(visitor, ABSTRACT.replace("Counting seals from the air", title))
        visitor.press("New search")
    page.get_by_role("button", name=re.compile("^Counting seals once")).click()
    expect(page.get_by_role("heading", level=1).first).to_have_text("Counting seals once")
    visitor.settle()
    page.get_by_role("button", name="Link", exact=True).click()
    page.get_by_label("Keep this search as").fill("Seals")
    page.get_by_label("Keep this search as").press("Enter")
    expect(page.get_by_text("Kept.", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    visitor.press("New search").press("Clear")
    expect(page.get_by_role("button", name=re.compile("^Seals · Counting seals once"))).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Counting seals twice"))).to_have_count(0)


def test_keeping_twice_leaves_the_page_as_it_looks(visit: Visit) -> None:
    visitor = visit().open().press("Try it")
    page = visitor.page
    looks = "() => getComputedStyle(document.querySelector('.stHtml')).lineHeight"
    sheets = (
        "() => [...document.querySelectorAll('style')].filter(s => s.textContent.includes('.pairs')).length"
    )
    before = page.evaluate(looks), page.evaluate(sheets)
    for said, label in (("Kept on", "Keep"), ("Taken off", "Kept")) * 2:
        page.get_by_role("button", name=re.compile(f"^{label}: ")).first.click()
        expect(page.get_by_text(said).first).to_be_visible()
        visitor.settle()
        assert (page.evaluate(looks), page.evaluate(sheets)) == before


def test_explore_takes_one_topic_after_another(visit: Visit) -> None:
    visitor = visit().open("explore")
    page = visitor.page
    for topic in ("bridges", "vineyards", "wait times", "bridges"):
        page.get_by_label("Topic").fill(topic)
        page.get_by_role("button", name="Explore").click()
        page.wait_for_url(re.compile("topic=" + topic.replace(" ", r"(\+|%20)")))
        visitor.settle()
        expect(page.get_by_label("Topic")).to_have_value(topic)
        expect(page.get_by_role("heading", name=re.compile(r"^\d+ papers?$"))).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Topic")).to_have_value("wait times")


def test_quick_keys_on_the_years_are_all_counted(visit: Visit) -> None:
    visitor = paste(visit().open(), ABSTRACT)
    page = visitor.page
    page.get_by_role("button", name="Filters").click()
    first = page.get_by_role("slider").first
    first.focus()
    start = int(first.input_value())
    for _ in range(10):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(120)
    visitor.settle()
    assert int(first.input_value()) == start + 10
    assert "From a link" not in visitor.text


def test_quick_clicks_on_sentences_are_all_counted(visit: Visit) -> None:
    visitor = paste(visit().open(), ABSTRACT)
    page = visitor.page
    for _ in range(2):
        for choice in ("Ignore", "Match", "Avoid"):
            for number in (1, 2):
                row = page.get_by_role("radiogroup", name=f"Sentence {number}: match, ignore or avoid")
                row.get_by_role("radio", name=choice).click(delay=10)
        visitor.settle()
        for number in (1, 2):
            row = page.get_by_role("radiogroup", name=f"Sentence {number}: match, ignore or avoid")
            expect(row.get_by_role("radio", name="Avoid")).to_be_checked()
    assert "From a link" not in visitor.text


QUESTION_AND_TICK = """async ([question, choice, wait]) => {
    const hosts = () => [...document.querySelectorAll("*")];
    const yours = () => hosts().find(each => each.shadowRoot?.querySelector(".yours")).shadowRoot;
    const find = where => yours().querySelector(where);
    find(`button[aria-label="${question}"]`).click();
    await new Promise(done => setTimeout(done, wait));
    find(`[aria-label^="Sentence 1:"] input[value=${choice}]`).click();
}"""
"""A question, and a sentence so soon after it that the page has not drawn the question yet."""


def test_a_question_is_not_undone_by_a_quick_click_on_a_sentence(visit: Visit) -> None:
    visitor = paste(visit().open(), ABSTRACT)
    rows = visitor.page.locator(".choice label:has(:checked)")
    visitor.page.get_by_role("button", name=re.compile("^3 may be result")).click()
    visitor.settle()
    for wait in (0, 50, 100, 150, 200, 300, 400, 600):
        visitor.press("Whole paper")
        expect(rows).to_have_text(["Match", "Match", "Match"])
        visitor.page.evaluate(QUESTION_AND_TICK, ["Same finding", "avoid", wait])
        expect(rows).to_have_text(["Avoid", "Ignore", "Match"])
        visitor.settle()
        expect(rows).to_have_text(["Avoid", "Ignore", "Match"])
    visitor.page.reload()
    visitor.settle()
    expect(rows).to_have_text(["Avoid", "Ignore", "Match"])


def test_a_very_long_text_is_cut_and_says_so(visit: Visit) -> None:
    visitor = visit().open()
    paste(visitor, ABSTRACT + " More of it follows here, on and on." * 2000)
    assert heading(visitor) == "Counting seals from the air"
    expect(visitor.page.get_by_text("first 50,000 characters were read")).to_be_visible()
    assert len(visitor.titles()) == 20


def test_a_reload_finds_text_and_choices_again(visit: Visit) -> None:
    visitor = visit().open()
    visitor.page.get_by_label("Title and abstract").fill(ABSTRACT)
    visitor.page.get_by_role("button", name="Find papers", exact=True).click()
    visitor.page.wait_for_url(re.compile("s="))
    for _ in range(2):
        visitor.page.reload()
        visitor.settle()
        assert heading(visitor) == "Counting seals from the air"
    row = visitor.page.get_by_role("radiogroup", name="Sentence 1: match, ignore or avoid")
    row.get_by_role("radio", name="Avoid").click()
    visitor.settle()
    visitor.page.reload()
    visitor.settle()
    expect(row.get_by_role("radio", name="Avoid")).to_be_checked()


def test_a_reload_finds_what_was_typed_and_not_yet_searched_with(visit: Visit) -> None:
    visitor = visit().open()
    box = visitor.page.get_by_label("Title and abstract")
    for way in ("typed", "pressed"):
        box.fill(ABSTRACT)
        if way == "pressed":
            visitor.page.get_by_role("button", name="Find papers", exact=True).click(no_wait_after=True)
        visitor.page.reload()
        visitor.settle()
        if box.count():  # the reload may have come after the search was kept
            expect(box).to_have_value(ABSTRACT)
            visitor.press("Find papers")
        assert heading(visitor) == "Counting seals from the air"
        visitor.press("New search")
        expect(box).to_have_value("")
        visitor.page.reload()
        visitor.settle()
        expect(box).to_have_value("")


def test_one_entry_of_history_per_search_and_back_shows_it_as_it_was_left(visit: Visit) -> None:
    visitor = paste(visit().open(), ABSTRACT)
    entries = history_length(visitor)
    visitor.press("Same problem").press("Whole paper").press("Same problem")
    first = visitor.titles()
    assert history_length(visitor) == entries
    page = visitor.page
    page.locator(".item .title").first.click()
    page.get_by_role("button", name=re.compile("^Search with this paper")).click()
    visitor.settle()
    assert history_length(visitor) <= entries + 2  # the page is chosen, then the search is named
    second = heading(visitor)
    assert second != "Counting seals from the air"
    visitor.page.go_back()
    expect(visitor.page.get_by_role("heading", level=1).first).to_have_text("Counting seals from the air")
    visitor.settle()
    assert visitor.titles() == first
    visitor.page.go_forward()
    expect(visitor.page.get_by_role("heading", level=1).first).to_have_text(second)
