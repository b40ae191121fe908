"""A real server and a real browser for the journeys; pictures of each step go to build/screenshots."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from tests.app_corpus import make_corpus

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "build" / "screenshots"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
PATIENCE = 90_000
"""Milliseconds before a step counts as failed, not how long it may take: machines differ."""

expect.set_options(timeout=PATIENCE)


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    process: subprocess.Popen[bytes]
    corpus: Path
    log: Path

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def start_server(corpus: Path, folder: Path, **settings: str) -> Server:
    """`streamlit run app.py` on a free port, ready to answer."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder.mkdir(parents=True, exist_ok=True)
    env = os.environ | {
        "TRIPTYCH_CORPUS": str(corpus),
        "TRIPTYCH_LIBRARY": str(folder / "library"),
        **{f"TRIPTYCH_{key.upper()}": value for key, value in settings.items()},
    }
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1"]
    log = folder / "server.log"
    with log.open("wb") as written:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=written, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return Server(url, process, corpus, log)
        except OSError:
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
    raise TimeoutError(f"The server did not start:\n{log.read_text()}")


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("browser") / "corpus")


@pytest.fixture(scope="session")
def server(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start_server(corpus, tmp_path_factory.mktemp("server"))
    yield running
    running.stop()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("needs Chromium: install Debian's `chromium` or Google Chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@dataclass(slots=True)
class Visitor:
    """One person at a browser of their own, and all that the browser asked for on the way."""

    page: Page
    home: str
    name: str
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def open(self, path: str = "") -> Visitor:
        self.page.goto(f"{self.home}/{path}")
        return self.settle()

    def settle(self) -> Visitor:
        """Waits until the app has drawn and its script has stopped."""
        self.page.get_by_role("heading", level=1).first.wait_for(timeout=PATIENCE)
        app = self.page.get_by_test_id("stApp")
        for _ in range(2):  # a click takes a moment to start the script
            self.page.wait_for_timeout(300)
            expect(app).to_have_attribute("data-test-script-state", "notRunning")
        return self

    def press(self, name: str, place: int = 0) -> Visitor:
        """A button by its name, with or without what tells it apart from others: "Try it: A title"."""
        self.page.get_by_role("button", name=re.compile(f"^{re.escape(name)}(: |$)")).nth(place).click()
        return self.settle()

    def titles(self) -> list[str]:
        self.page.locator(".item .title").first.wait_for(timeout=PATIENCE)
        return [text.split(". ", 1)[-1] for text in self.page.locator(".item .title").all_inner_texts()]

    def picture(self, step: str) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.wait_for_timeout(400)  # animations of opening panels
        self.page.screenshot(path=PICTURES / f"{self.name}-{step}.png")

    def leave(self) -> None:
        """Nobody may have seen a fault, an error, a frame or a request to anyone else."""
        if self.page.is_closed():
            return
        own = (self.home, "data:", "blob:")
        assert self.errors == []
        assert [url for url in self.requests if not url.startswith(own)] == []
        assert self.page.locator("iframe").count() == 0
        assert "(reference " not in self.text
        self.page.close()

    @property
    def text(self) -> str:
        return self.page.get_by_test_id("stApp").inner_text()


Visit = Callable[..., Visitor]


@pytest.fixture
def visit(chromium: Browser, server: Server, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """Makes visitors and sees them off."""
    visitors: list[Visitor] = []
    contexts = []

    def make(width: int = 1280, dark: bool = False, home: str = server.url) -> Visitor:
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            accept_downloads=True,
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        visitor = Visitor(context.new_page(), home, request.node.name.removeprefix("test_"))
        visitor.page.on("request", lambda asked: visitor.requests.append(_address(asked)))
        visitor.page.on("pageerror", lambda error: visitor.errors.append(str(error)))
        visitor.page.on("dialog", lambda dialog: (visitor.errors.append(dialog.message), dialog.dismiss()))
        visitors.append(visitor)
        return visitor

    yield make
    try:
        for visitor in visitors:
            visitor.leave()
    finally:
        for context in contexts:
            context.close()


def _address(asked: Request) -> str:
    return asked.url.replace("ws://", "http://", 1)
