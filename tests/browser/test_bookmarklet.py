"""The bookmarklet on pages as arXiv, PubMed, the ACL Anthology and publishers make them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Visit
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SCRIPT = (ROOT / "docs" / "bookmarklet.js").read_text(encoding="utf-8")
TITLE, ABSTRACT = "Folding & unfolding", "Proteins fold. We watch them. They do."
PAGES = {
    "arxiv": f"""<title>[2101.00001] Folding</title>
        <meta name="citation_title" content="Folding &amp; unfolding">
        <blockquote class="abstract mathjax"><span class="descriptor">Abstract:</span>  {ABSTRACT}
        </blockquote>""",
    "pubmed": f"""<meta name="citation_title" content="Folding &amp; unfolding">
        <meta name="description" content="Proteins fold. We ...">
        <div id="abstract"><h2>Abstract</h2><div class="abstract-content selected" id="eng-abstract">
        <p>{ABSTRACT}</p></div><p>Keywords: x</p></div>""",
    "acl": f"""<meta content="Folding &amp; unfolding" name="citation_title">
        <div class="card-body acl-abstract">
        <h5>Abstract</h5><span>{ABSTRACT}</span></div>""",
    "meta": f"""<meta name="DC.Title" content="Folding &amp; unfolding">
        <meta name="citation_abstract" content="&lt;jats:p&gt;{ABSTRACT}&lt;/jats:p&gt;">""",
    "open graph": f"""<meta property="og:title" content="Folding &amp; unfolding">
        <meta property="og:description" content="{ABSTRACT}">""",
    "section": f"""<title>Folding &amp; unfolding</title><section class="abstract"><h2>Abstract</h2>
        <p>{ABSTRACT}</p></section>""",
}


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    opened = chromium.new_page()
    yield opened
    opened.close()


def sent(page: Page, html: str, select: str = "") -> str:
    """The text that the script opens Triptych with."""
    page.set_content(f"<!doctype html><html><head></head><body>{html}</body></html>")
    page.evaluate("window.opened = []; window.open = (address) => { window.opened.push(address); }; 0")
    if select:
        page.evaluate(f"getSelection().selectAllChildren(document.querySelector({select!r}))")
    page.evaluate(SCRIPT)
    (address,) = page.evaluate("window.opened")
    parts = urlsplit(address)
    assert (parts.scheme, parts.netloc, parts.path) == ("http", "localhost:8501", "/")
    return parse_qs(parts.query)["t"][0]


@pytest.mark.parametrize("kind", PAGES)
def test_title_and_abstract_are_sent(page: Page, kind: str) -> None:
    assert sent(page, PAGES[kind]) == f"{TITLE}\n{ABSTRACT}"


def test_what_is_selected_wins(page: Page) -> None:
    html = PAGES["arxiv"] + "<p id='mine'>Only this.</p>"
    assert sent(page, html, "#mine") == f"{TITLE}\nOnly this."


def test_the_line_to_copy_is_the_script(page: Page) -> None:
    path = ROOT / "docs" / "make_bookmarklet.py"
    spec = importlib.util.spec_from_file_location("make_bookmarklet", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    line = module.one_line(SCRIPT)
    assert line in (path.parent / "bookmarklet.md").read_text(encoding="utf-8")
    page.set_content(PAGES["acl"])
    page.evaluate("window.opened = []; window.open = (address) => { window.opened.push(address); }; 0")
    page.evaluate(unquote(line.removeprefix("javascript:")))
    assert "Folding" in page.evaluate("window.opened")[0]


def test_the_app_begins_with_what_is_sent(visit: Visit) -> None:
    text = quote("Counting birds\nWe train a convolutional neural network on recordings. Errors fall.")
    visitor = visit().open(f"?t={text}")
    expect(visitor.page.get_by_role("heading", name="Counting birds")).to_be_visible()
    assert "convolutional network" in visitor.titles()[0]
    assert "t=" not in visitor.page.url.split("?")[1]
