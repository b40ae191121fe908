"""Explore in a browser: clusters, the map, methods against problems, and searches that begin there."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, Visitor
from tests.browser.test_access import findings, too_wide

pytestmark = pytest.mark.browser
TOPIC = "explore?topic=rare+birds+in+forest+recordings"


def click_cell(visitor: Visitor, across: float, row: int) -> None:
    """Clicks into the table: `across` its width, `row` from 1 on. Its cells are drawn, not elements."""
    table = visitor.page.get_by_test_id("stDataFrame")
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    visitor.page.mouse.click(box["x"] + across * box["width"], box["y"] + 36 + 40 * (row - 0.5))
    visitor.settle()


def test_a_cluster_begins_a_search_and_back_returns(visit: Visit) -> None:
    visitor = visit().open(TOPIC)
    page = visitor.page
    expect(page.get_by_role("heading", name="Clusters")).to_be_visible()
    name = page.locator("[class*=st-key-cluster-] strong").first.inner_text()
    page.get_by_role("button", name=re.compile("^Search with this: ")).first.click()
    visitor.settle()
    expect(page.get_by_role("heading", level=1).first).to_have_text(f"Cluster: {name}")
    assert visitor.titles()
    page.go_back()
    expect(page.get_by_label("Topic")).to_have_value("rare birds in forest recordings")
    visitor.settle()
    page.go_forward()  # and is called so again
    expect(page.get_by_role("heading", level=1).first).to_have_text(f"Cluster: {name}")
    visitor.settle().press("New search")
    expect(page.get_by_role("button", name=re.compile(f"^Cluster: {re.escape(name)}"))).to_be_visible()


def test_a_number_of_the_table_opens_its_papers(visit: Visit) -> None:
    visitor = visit().open(TOPIC)
    page = visitor.page
    expect(page.get_by_role("heading", name="Methods and problems")).to_be_visible()
    click_cell(visitor, 0.9, 1)
    opened = page.get_by_role("heading", level=3, name=re.compile(r"^\d+ papers?: method “"))
    expect(opened).to_be_visible()
    visitor.picture("cell")
    click_cell(visitor, 0.9, 2)
    expect(opened).to_have_count(1)


def test_chosen_clusters_narrow_what_is_below(visit: Visit) -> None:
    visitor = visit().open(TOPIC)
    page = visitor.page
    quotes = page.locator(".panel.background")
    quotes.first.wait_for()
    before = quotes.all_inner_texts()
    page.get_by_role("combobox", name="Show only").click()
    page.get_by_role("option").first.click()
    page.keyboard.press("Escape")
    visitor.settle()
    first = quotes.all_inner_texts()
    assert len(first) > 0
    page.get_by_role("combobox", name="Show only").click()
    page.get_by_role("option").first.click()
    page.keyboard.press("Escape")
    visitor.settle()
    assert len(quotes.all_inner_texts()) == len(before)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_accessible_and_fits_with_the_table_and_the_numbers_open(
    visit: Visit, width: int, dark: bool
) -> None:
    visitor = visit(width, dark).open(TOPIC)
    visitor.page.get_by_text("The numbers").click()
    click_cell(visitor, 0.9, 1)
    visitor.picture(f"{width}-{'dark' if dark else 'light'}")
    assert findings(visitor) == []
    assert not too_wide(visitor)


def test_nothing_in_the_way_of_the_next_topic(visit: Visit) -> None:
    visitor = visit().open(TOPIC)
    page = visitor.page
    page.get_by_role("combobox", name="Show only").click()
    page.get_by_role("option").first.click()
    page.keyboard.press("Escape")
    visitor.settle()
    page.get_by_label("Topic").fill("cracks in bridges")
    page.keyboard.press("Enter")
    visitor.settle()
    expect(page.get_by_role("heading", name=re.compile(r"^\d+ papers?$"))).to_be_visible()
    expect(page.get_by_placeholder("All clusters")).to_be_visible()
