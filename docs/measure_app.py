"""How long the app takes and how much memory: `python docs/measure_app.py`, with the demo corpus built."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

from make_screenshots import find_chromium, open_browser, running_app
from playwright.sync_api import Browser, Page

QUESTIONS = ("Same problem", "Same method", "Same finding", "Whole paper")
VISITORS, SEARCHES = 10, 50
"""Visitors at once and their searches together, before memory is read again."""
BEFORE = {
    "memory": "0.7.0: 511 MB",
    "layout": "0.7.0: none complete, 15721 px, 32 tab stops",
    "many": "0.7.0: 850 MB",
}
"""What 0.7.0 took with the same corpus on 2 cores; its page cannot be driven by this script any more."""
DRAWN = """before => {
    const host = [...document.querySelectorAll('.st-key-results *')].find(each => each.shadowRoot);
    const items = [...host?.shadowRoot.querySelectorAll('.item') ?? []].map(each => each.innerText);
    return document.querySelector('[data-test-script-state=notRunning]') !== null
        && document.querySelector('[data-stale=true]') === null
        && items.length >= 20 && items.join() !== before && items.join();
}"""


def seconds_to_draw(page: Page, question: str) -> float:
    """From the click on a question until twenty new results are on the page."""
    before, started = page.evaluate(DRAWN, ""), time.perf_counter()
    page.get_by_role("button", name=question, exact=True).click()
    page.wait_for_function(DRAWN, arg=before)
    return time.perf_counter() - started


def open_page(browser: Browser, url: str) -> Page:
    """A visitor with a browser profile of their own, at the first page."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(120_000)
    page.goto(url)
    page.get_by_role("button", name="Try it").first.wait_for()
    return page


def try_example(page: Page, place: int = 0) -> None:
    page.get_by_role("button", name="Try it").nth(place).click()
    page.wait_for_function(DRAWN, arg="")


def open_visit(browser: Browser, url: str) -> Page:
    page = open_page(browser, url)
    try_example(page)
    return page


def layout(page: Page) -> str:
    """What fits the first screen, how long twenty results are, and how far the keyboard has to go."""
    whole = """() => {
        const host = [...document.querySelectorAll('.st-key-results *')].find(each => each.shadowRoot);
        const items = [...host.shadowRoot.querySelectorAll('.item')].map(one => one.getBoundingClientRect());
        return [items.filter(each => each.bottom <= innerHeight).length,
                document.querySelector('[data-testid=stMain]').scrollHeight];
    }"""
    page.set_viewport_size({"width": 1280, "height": 860})
    complete, height = page.evaluate(whole)
    page.evaluate("document.activeElement?.blur()")
    for stops in range(1, 100):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement?.classList.contains('skip')"):
            page.keyboard.press("Enter")
        if page.evaluate("document.activeElement?.closest('.st-key-results') !== null"):
            return f"{complete} complete results on the first screen, {height} px in all, {stops} tab stops"
    return f"{complete} complete results on the first screen, {height} px in all"


def resident_mb(process_id: int) -> float:
    for line in Path(f"/proc/{process_id}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("Memory can only be read where there is /proc, as on Linux.")


def main() -> None:
    chromium = find_chromium()
    started = time.perf_counter()
    with running_app() as (url, process_id), open_browser(chromium) as browser:
        page = open_page(browser, url)
        print(f"from start to a usable page: {time.perf_counter() - started:.1f} s")
        try_example(page)
        print(f"resident after the first search: {resident_mb(process_id):.0f} MB ({BEFORE['memory']})")
        print(f"1280 x 860: {layout(page)} ({BEFORE['layout']})")
        times = [seconds_to_draw(page, question) for question in QUESTIONS * 3]
        print(f"click to results drawn: median {statistics.median(times):.2f} s, worst {max(times):.2f} s")
        visitors = [open_visit(browser, url) for _ in range(VISITORS)]
        for search in range(SEARCHES):
            seconds_to_draw(visitors[search % VISITORS], QUESTIONS[search // VISITORS % len(QUESTIONS)])
        told = f"{VISITORS} visitors at once and {SEARCHES} searches"
        print(f"resident after {told}: {resident_mb(process_id):.0f} MB ({BEFORE['many']})")
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
