"""Pictures of the app for the README and the docs: `make screenshots`, with the demo corpus built."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SIZE = {"width": 1280, "height": 860}
FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking".split()
TOPIC = "explaining the predictions of neural networks"


@contextmanager
def running_app() -> Iterator[tuple[str, int]]:
    """The app on a free port, with an empty library: its address and process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://localhost:{port}"
    with tempfile.TemporaryDirectory() as library:
        env = os.environ | {"TRIPTYCH_LIBRARY": library}
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL)
        try:
            _wait_for(url)
            yield url, process.pid
        finally:
            process.terminate()
            process.wait()


def _wait_for(url: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=2).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("The app did not start: try `streamlit run app.py`.")


def find_chromium() -> str:
    chromium = which("chromium") or which("chromium-browser") or which("google-chrome")
    if chromium is None:
        raise SystemExit("This needs Chromium: install Debian's `chromium` or Google Chrome.")
    return chromium


@contextmanager
def open_browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


def take(page: Page, name: str) -> None:
    page.mouse.move(0, 0)
    page.wait_for_selector("[data-test-script-state=notRunning]")
    page.wait_for_timeout(1500)  # charts fade in
    page.screenshot(path=DOCS / f"{name}.png")
    print(f"docs/{name}.png")


def tour(page: Page, url: str) -> None:
    """The views the README shows, in the order a visitor meets them."""
    page.goto(url)
    page.get_by_role("button", name="Try it").first.click()
    page.locator(".item").first.wait_for()
    take(page, "find")
    for view in ("Triptych", "Plane"):
        page.get_by_text(view, exact=True).last.click()
        page.get_by_text("Nearest by" if view == "Triptych" else "From same problem").first.wait_for()
        take(page, view.lower())
    page.goto(f"{url}/explore?topic={TOPIC.replace(' ', '+')}")
    page.get_by_role("heading", name="Which methods").wait_for()
    take(page, "explore")


def main() -> None:
    chromium = find_chromium()
    with running_app() as (url, _), open_browser(chromium) as browser:
        tour(browser.new_page(viewport=SIZE), url)
        dark = browser.new_page(viewport=SIZE, color_scheme="dark")
        dark.goto(url)
        dark.get_by_role("button", name="Try it").first.click()
        dark.locator(".item").first.wait_for()
        take(dark, "find-dark")


if __name__ == "__main__":
    main()
