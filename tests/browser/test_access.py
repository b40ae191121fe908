"""Everyone can use it: axe-core finds nothing serious, no page is wider than a phone, headings make sense."""

from __future__ import annotations

from importlib.resources import files
from itertools import pairwise

import pytest

from tests.browser.conftest import Visit, Visitor

pytestmark = pytest.mark.browser
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
STREAMLITS_OWN = [['[data-testid="stSidebarNav"]'], ['[data-testid="stTable"]']]
"""Its menu of sections puts a div into a list; its tables scroll without a focus (browsers give them one)."""
PAGES = ("", "explore?topic=rare+birds", "library", "paper?id=test:00", "corpus", "quality")
VIEWS = ("List", "Triptych", "Plane")


def findings(visitor: Visitor) -> list[str]:
    """Serious and critical violations of WCAG 2.1 A and AA, with the elements concerned."""
    visitor.page.evaluate(AXE)
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
    options = {"runOnly": {"type": "tag", "values": rules}}
    result = visitor.page.evaluate(
        "([without, options]) => axe.run({exclude: without}, options)", [STREAMLITS_OWN, options]
    )
    return [
        f"{found['id']}: {node['html'][:160]} ({node['failureSummary'][:120]})"
        for found in result["violations"]
        if found["impact"] in ("serious", "critical")
        for node in found["nodes"]
    ]


def too_wide(visitor: Visitor) -> bool:
    script = "document.querySelector('[data-testid=stMain]').scrollWidth > window.innerWidth"
    return bool(visitor.page.evaluate(script))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_are_accessible_and_fit(visit: Visit, width: int, dark: bool) -> None:
    visitor = visit(width, dark)
    for page in PAGES:
        visitor.open(page).picture(page.split("?")[0] or "start")
        assert findings(visitor) == [], page
        assert not too_wide(visitor), page


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_results_are_accessible_and_fit(visit: Visit, width: int, dark: bool) -> None:
    visitor = visit(width, dark).open().press("Try it")
    for view in VIEWS:
        visitor.page.get_by_text(view, exact=True).last.click()
        visitor.settle().picture(view.lower())
        assert findings(visitor) == [], view
        assert not too_wide(visitor), view


def test_headings_go_down_one_level_at_a_time(visit: Visit) -> None:
    visitor = visit().open()
    for page in PAGES:
        visitor.open(page)
        levels = visitor.page.eval_on_selector_all(
            "h1, h2, h3, h4, h5, h6", "all => all.map(h => +h.tagName[1])"
        )
        assert levels[0] == 1, page
        assert levels.count(1) == 1, page
        assert all(after <= before + 1 for before, after in pairwise(levels)), (page, levels)
