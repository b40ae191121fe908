"""How long the app takes and how much memory: `python docs/measure_app.py`, with the demo corpus built."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

from make_screenshots import find_chromium, open_browser, running_app
from playwright.sync_api import Page

PRESETS = ("All background", "All method", "All result", "Whole abstract")
DRAWN = """() => document.querySelector('[data-test-script-state=notRunning]') !== null
    && document.querySelector('[data-stale=true]') === null
    && document.querySelectorAll('article.card').length >= 20"""


def seconds_to_draw(page: Page, preset: str) -> float:
    """From the click on a preset until twenty new cards are on the page."""
    before, started = page.url, time.perf_counter()
    page.get_by_role("button", name=preset, exact=True).click()
    page.wait_for_function("before => location.href !== before", arg=before)
    page.wait_for_function(DRAWN)
    return time.perf_counter() - started


def resident_mb(process_id: int) -> float:
    for line in Path(f"/proc/{process_id}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("Memory can only be read where there is /proc, as on Linux.")


def main() -> None:
    chromium = find_chromium()
    started = time.perf_counter()
    with running_app() as (url, process_id), open_browser(chromium) as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        page.goto(url)
        page.get_by_role("button", name="Try it").first.wait_for()
        print(f"from start to a usable page: {time.perf_counter() - started:.1f} s")
        page.get_by_role("button", name="Try it").first.click()
        page.wait_for_function(DRAWN)
        print(f"resident after the first search: {resident_mb(process_id):.0f} MB")
        times = [seconds_to_draw(page, preset) for preset in PRESETS * 3]
        print(f"click to results drawn: median {statistics.median(times):.2f} s, worst {max(times):.2f} s")
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
