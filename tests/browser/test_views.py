"""The plane and the triptych: marked, mixed, kept, opened, exported, left and found again, each twice."""

from __future__ import annotations

import csv
import io
import re

import pytest
from playwright.sync_api import expect

from tests.app_corpus import METHODS, PROBLEMS
from tests.browser.conftest import Visit, Visitor
from tests.browser.test_access import findings, too_wide

pytestmark = pytest.mark.browser
ALL = 35
"""Papers of the corpus but the example."""


def look(visitor: Visitor, view: str) -> Visitor:
    visitor.page.get_by_test_id("stButtonGroup").first.get_by_text(view, exact=True).click()
    return visitor.settle()


def plane(visit: Visit, width: int = 1280) -> Visitor:
    return look(visit(width).open().press("Try it"), "Plane")


def triptych(visit: Visit, width: int = 1280) -> Visitor:
    return look(visit(width).open().press("Try it"), "Triptych")


def own(visitor: Visitor) -> tuple[str, str]:
    """Problem and method of the example."""
    problem, method = visitor.page.get_by_role("heading", level=1).inner_text().split(": a study with ")
    assert problem.lower() in map(str.lower, PROBLEMS)
    assert method in METHODS
    return problem, method


def count(visitor: Visitor) -> int:
    """Papers that the list is drawn from, as its head says."""
    return int(re.findall(r"\d+", visitor.page.locator(".st-key-matches-head").inner_text())[0])


def drag(visitor: Visitor, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Marks a region of the chart; both places as parts of its width and height."""
    chart = visitor.page.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first
    chart.scroll_into_view_if_needed()
    visitor.page.wait_for_timeout(500)  # the chart fades in
    box = chart.bounding_box()
    assert box
    mouse = visitor.page.mouse
    mouse.move(box["x"] + start[0] * box["width"], box["y"] + start[1] * box["height"])
    mouse.down()
    mouse.move(box["x"] + end[0] * box["width"], box["y"] + end[1] * box["height"], steps=8)
    mouse.up()
    visitor.page.wait_for_timeout(500)  # the chart waits a moment before it tells
    visitor.settle()


def slide(visitor: Visitor, key: str) -> None:
    visitor.page.get_by_role("slider", name="From same problem to same method").press(key)
    visitor.page.wait_for_timeout(500)
    visitor.settle()


def test_brushing_filters_the_list_and_show_all_takes_it_back(visit: Visit) -> None:
    visitor = plane(visit)
    assert count(visitor) == ALL
    everything = visitor.titles()
    for _ in range(2):
        drag(visitor, (0.2, 0.2), (0.6, 0.5))
        expect(visitor.page.get_by_text("inside what you marked")).to_be_visible()
        assert 0 < count(visitor) < ALL
        assert len(visitor.titles()) == min(20, count(visitor))
        _, method = own(visitor)
        assert any(method in title for title in visitor.titles())
        visitor.picture("marked")
        visitor.press("Show all")
        assert count(visitor) == ALL
        assert visitor.titles() == everything


def test_a_corner_can_be_chosen_by_keyboard(visit: Visit) -> None:
    visitor = plane(visit)
    problem, method = own(visitor)
    corner = visitor.page.get_by_role("radio", name="Same method, different problem").or_(
        visitor.page.get_by_role("button", name="Same method, different problem")
    )
    for _ in range(2):
        corner.first.press("Enter")
        visitor.settle()
        found = visitor.titles()
        assert len(found) == 5
        assert all(method in title and not title.startswith(problem) for title in found)
        corner.first.press("Enter")
        visitor.settle()
        assert count(visitor) == ALL


def test_the_slider_reorders(visit: Visit) -> None:
    visitor = plane(visit)
    problem, method = own(visitor)
    for _ in range(2):
        slide(visitor, "Home")
        assert all(title.startswith(problem) for title in visitor.titles()[:5])
        slide(visitor, "End")
        assert all(method in title for title in visitor.titles()[:5])


def test_other_fields_say_what_the_method_is_used_for_there(visit: Visit) -> None:
    visitor = plane(visit)
    problem, _ = own(visitor)
    toggle = visitor.page.get_by_text("Only papers from other fields")
    told = visitor.page.locator(".note", has_text="There used for:")
    for _ in range(2):
        toggle.click()
        visitor.settle()
        found = visitor.titles()
        assert not any(title.startswith(problem) for title in found)
        expect(told).to_have_count(len(found))
        background = next(text for name, text in PROBLEMS.items() if found[0].lower().startswith(name))
        expect(told.first).to_contain_text(background.split(". ")[0])
        toggle.click()
        visitor.settle()
        expect(told).to_have_count(0)


def test_the_plane_is_found_again_as_it_was_left(visit: Visit) -> None:
    visitor = plane(visit)
    page = visitor.page
    slide(visitor, "End")
    page.get_by_text("Only papers from other fields").click()
    visitor.settle()
    drag(visitor, (0.2, 0.2), (0.6, 0.6))
    shown = visitor.titles()
    assert 0 < count(visitor) < ALL
    for _ in range(2):
        page.reload()
        visitor.settle()
        assert visitor.titles() == shown
        expect(page.get_by_role("button", name="Show all")).to_be_visible()
    page.locator(".item .title").first.click()
    page.get_by_role("link", name=re.compile("^Open its page")).click()
    page.wait_for_url("**/paper?*")
    visitor.settle()
    page.go_back()
    page.get_by_role("button", name="Show all").wait_for()
    visitor.settle()
    assert visitor.titles() == shown
    visitor.press("Show all")
    assert len(visitor.titles()) == 20


def test_another_search_and_back_keeps_each_view(visit: Visit) -> None:
    visitor = triptych(visit)
    page = visitor.page
    first = page.get_by_role("heading", level=1).inner_text()
    page.locator(".item .title").first.click()
    page.get_by_role("button", name=re.compile("^Search with this paper")).first.click()
    expect(page.get_by_role("heading", level=1)).not_to_have_text(first)
    look(visitor.settle(), "List")
    page.go_back()
    expect(page.get_by_role("heading", level=1).first).to_have_text(first)
    expect(page.get_by_role("heading", name="Nearest by method")).to_be_visible()
    visitor.settle()
    page.go_forward()
    expect(page.get_by_role("heading", level=1)).not_to_have_text(first)
    expect(page.get_by_role("heading", name="What matches")).to_be_visible()
    visitor.settle().press("New search").press("Try it")
    expect(page.get_by_role("heading", name="What matches")).to_be_visible()


def test_keeping_in_the_triptych_shows_in_every_column(visit: Visit) -> None:
    visitor = triptych(visit)
    page = visitor.page
    item = page.locator(".item", has_text="also by").first
    title = item.locator(".title").inner_text().split(". ", 1)[1]
    stars = page.get_by_role("button", name=re.compile(rf"^(Keep|Kept): {re.escape(title)}$"))
    assert stars.count() > 1
    for pressed in ("true", "false"):
        stars.last.click()
        visitor.settle()
        for place in range(stars.count()):
            expect(stars.nth(place)).to_have_attribute("aria-pressed", pressed)


def test_evidence_opens_and_closes_in_the_triptych(visit: Visit) -> None:
    visitor = triptych(visit)
    page = visitor.page
    second = page.locator(".st-key-panel-method .item .title").first
    for _ in range(2):
        second.press("Enter")
        expect(page.locator(".st-key-panel-method .details")).to_have_count(1)
        expect(page.locator(".details")).to_have_count(1)
        expect(page.locator(".details .pair").first).to_contain_text("alike")
        visitor.picture("evidence")
        assert findings(visitor) == []
        second.press("Enter")
        expect(page.locator(".details")).to_have_count(0)


def test_the_triptych_is_exported_with_the_panels_of_each_paper(visit: Visit) -> None:
    visitor = triptych(visit)
    page = visitor.page
    shown = {text.split(". ", 1)[1] for text in page.locator(".item .title").all_inner_texts()}
    for _ in range(2):
        page.get_by_role("button", name="Export", exact=True).click()
        with page.expect_download() as download:
            page.get_by_role("button", name="CSV", exact=True).click()
        rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))
        assert {row["title"] for row in rows} == shown
        assert len(rows) == len(shown)
        assert all(row["note"].startswith("Nearest by ") for row in rows)
        assert any(re.match(r"Nearest by \w+ \(number \d\) and by \w+", row["note"]) for row in rows)
        page.keyboard.press("Escape")
    page.get_by_role("button", name="Link", exact=True).click()
    expect(page.locator("code", has_text="?s=")).to_be_visible()


def test_a_phone_shows_one_column_at_a_time(visit: Visit) -> None:
    visitor = triptych(visit, 390)
    page = visitor.page
    for panel in ("Method", "Result", "Background"):
        page.locator(".st-key-panels").get_by_text(panel, exact=True).click()
        visitor.settle()
        for name in ("background", "method", "result"):
            column = page.get_by_role("heading", name=f"Nearest by {name}")
            expect(column).to_be_visible(visible=name == panel.lower())
        assert not too_wide(visitor)
    page.locator(".st-key-panels").get_by_text("Result", exact=True).click()
    visitor.settle()
    page.reload()
    expect(page.get_by_role("heading", name="Nearest by result")).to_be_visible()
    visitor.settle()
