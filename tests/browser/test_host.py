"""The app in a browser under its own content policy, and foreign pages that try to use it."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, expect

from tests.browser.conftest import CHROMIUM, FLAGS, Server, Visit
from tests.browser.test_journeys import make_pdf, upload
from tests.test_host_checks import STREAMLIT, start

pytestmark = pytest.mark.browser

PAGES = ("", "explore?topic=rare+birds", "library", "paper?id=test:00", "corpus", "quality")
OPEN_SOCKET = """
url => new Promise(done => {
    const socket = new WebSocket(url, "streamlit");
    socket.onopen = () => done("open");
    socket.onerror = () => done("refused");
})
"""
FRAME = "url => { document.body.innerHTML = `<iframe src='${url}'></iframe>` }"


def is_fault(message: ConsoleMessage) -> bool:
    """Errors but one kind: below a page's address Streamlit looks for itself in vain first, by a 404."""
    return message.type == "error" and not ("404" in message.text and "/_stcore/" in message.location["url"])


def test_the_content_policy_lets_the_app_work(visit: Visit) -> None:
    visitor = visit()
    complaints: list[str] = []
    visitor.page.on("console", lambda said: complaints.append(said.text) if is_fault(said) else None)
    for page in PAGES:
        visitor.open(page)
    visitor.open().press("Try it")
    for view in ("Triptych", "Plane"):
        visitor.page.get_by_text(view, exact=True).last.click()
        visitor.settle()
    visitor.page.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first.wait_for()
    visitor.page.get_by_role("button", name="Export").click()
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("button", name="BibTeX").click()
    assert download.value.path().stat().st_size
    visitor.open().page.get_by_role("tab", name="Open a file").click()
    upload(
        visitor, "paper.pdf", make_pdf("Counting seals", ["Seals lie on ice floes.", "We train a network."])
    )
    expect(visitor.page.get_by_label("Title", exact=True)).to_have_value("Counting seals")
    visitor.settle()
    assert complaints == []


FAULTY = f"""
from search.engine import Engine
def read_text(self, text):
    raise ValueError(f"cannot read {{text}}")
Engine.read_text = read_text
{STREAMLIT}
"""


def test_a_pasted_text_is_not_in_the_log(chromium: Browser, corpus: Path, tmp_path: Path) -> None:
    server = start(tmp_path, code=FAULTY, TRIPTYCH_CORPUS=str(corpus))
    page = chromium.new_page()
    try:
        page.goto(f"http://localhost:{server.port}")
        page.get_by_label("Title and abstract").fill("Zanzibarquokka\n\nWe count every zanzibarquokka.")
        page.get_by_role("button", name="Find papers", exact=True).click()
        expect(page.get_by_text("Something went wrong")).to_be_visible()
        shown = page.get_by_test_id("stApp").inner_text()
    finally:
        page.close()
        server.stop()
    log = server.log.read_text().lower()
    assert re.findall(r"reference ([0-9a-f]{8})", shown)[0] in log
    assert "valueerror" in log
    assert "quokka" not in log


class Foreign(BaseHTTPRequestHandler):
    """A page of someone else."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Foreign</title><body>Foreign page</body>")

    def log_message(self, *_: object) -> None:
        """Nothing: tests are quiet."""


@pytest.fixture(scope="module")
def foreign() -> Iterator[int]:
    """The port of a web server of someone else."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Foreign) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.fixture
def misled(chromium: Browser) -> Iterator[Browser]:
    """A browser for which a foreign name leads to this machine: what DNS rebinding comes to."""
    flags = [*FLAGS, "--host-resolver-rules=MAP *.example 127.0.0.1"]
    browser = chromium.browser_type.launch(executable_path=CHROMIUM, args=flags)
    yield browser
    browser.close()


def test_a_foreign_page_cannot_use_the_app(misled: Browser, server: Server, foreign: int) -> None:
    app = urlsplit(server.url).port
    page = misled.new_page()
    page.goto(f"http://localhost:{app}/")
    assert page.evaluate(OPEN_SOCKET, f"ws://localhost:{app}/_stcore/stream") == "open"
    for origin in (f"http://evil.example:{foreign}", f"http://localhost:{foreign}"):
        page.goto(origin)
        for name in ("localhost", "127.0.0.1", "evil.example"):
            assert page.evaluate(OPEN_SOCKET, f"ws://{name}:{app}/_stcore/stream") == "refused"
    answer = page.goto(f"http://evil.example:{app}/")
    assert answer is not None
    assert answer.status == 403
    assert "evil.example" in page.inner_text("body")


def test_a_foreign_page_cannot_frame_the_app(misled: Browser, server: Server, foreign: int) -> None:
    page = misled.new_page()
    refused: list[str] = []
    page.on("console", lambda said: refused.append(said.text) if said.type == "error" else None)
    page.goto(f"http://evil.example:{foreign}")
    page.evaluate(FRAME, f"{server.url}/")
    for _ in range(100):
        if refused:
            break
        page.wait_for_timeout(100)
    assert any("frame-ancestors" in text for text in refused), refused
