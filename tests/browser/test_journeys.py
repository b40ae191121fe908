"""What people come for, step by step, in a real browser."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, expect

from index_build.sources import read_bytes
from search.types import Paper
from tests.browser.conftest import Server, Visit, Visitor, start_server

pytestmark = pytest.mark.browser

ABSTRACT = (
    "Counting seals from the air\n\n"
    "Seals lie on ice floes and are hard to count. We train a convolutional neural network on "
    "labelled photographs. Errors fall by a third compared with counting by hand."
)


def make_pdf(title: str, lines: list[str]) -> bytes:
    """A one-page PDF with a large title and an abstract."""
    text = [f"BT /F1 20 Tf 60 740 Td ({title}) Tj ET", "BT /F1 12 Tf 60 700 Td (Abstract) Tj ET"]
    text += [f"BT /F1 10 Tf 60 {680 - 14 * n} Td ({line}) Tj ET" for n, line in enumerate(lines)]
    stream = "\n".join(text).encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    data, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(data)
    data += b"xref\n0 5\n0000000000 65535 f \n" + table
    return data + b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % start


def upload(visitor: Visitor, name: str, data: bytes) -> None:
    file: FilePayload = {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    visitor.page.locator("input[type=file]").set_input_files(file)


def heading(visitor: Visitor) -> str:
    return visitor.page.get_by_role("heading", level=1).first.inner_text()


def test_example_to_result(visit: Visit) -> None:
    visitor = visit().open()
    visitor.picture("1-start")
    visitor.press("Try it")
    found = visitor.titles()
    assert len(found) == 20
    visitor.picture("2-result")
    page = visitor.page
    page.locator(".item .title").first.click()
    expect(page.locator("mark").first).to_be_visible()
    expect(page.locator(".pair").first).to_contain_text("alike")
    visitor.picture("3-opened")
    page.get_by_role("button", name=re.compile("^Show 20 more")).click()
    expect(page.locator(".item")).to_have_count(35)
    expect(page.locator("mark").first).to_be_visible()
    page.locator(".item .title").first.click()
    expect(page.locator("mark")).to_have_count(0)


def test_a_sentence_and_its_matches_light_up_together(visit: Visit) -> None:
    visitor = visit().open().press("Try it").press("Whole paper")
    page = visitor.page
    sentence = page.locator(".item .match").first.get_attribute("data-sentence") or ""
    row = page.locator(f'.row[data-sentence="{sentence}"]')
    page.locator(".item .match").first.hover()
    expect(page.locator(".row.pointed")).to_have_count(1)
    expect(row).to_contain_class("pointed")
    row.hover()
    expect(page.locator(".item .match.pointed").first).to_be_visible()
    page.get_by_role("heading", level=1).first.hover()
    expect(page.locator(".pointed")).to_have_count(0)


def test_the_sentences_stay_in_view_while_the_list_scrolls(visit: Visit) -> None:
    visitor = visit().open()
    page = visitor.page
    page.get_by_label("Title and abstract").fill(
        "Seals\n\n" + "We count all seals that lie on the ice. " * 30
    )
    visitor.press("Find papers")
    page.locator(".item").nth(15).scroll_into_view_if_needed()
    expect(page.get_by_role("heading", level=1).first).not_to_be_in_viewport()
    expect(page.locator(".row").first).to_be_in_viewport()
    page.locator(".row").last.scroll_into_view_if_needed()  # they scroll in a column of their own
    expect(page.locator(".row").last).to_be_in_viewport()
    expect(page.locator(".item").nth(15)).to_be_in_viewport()


@pytest.mark.parametrize("width", [1280, 390])
def test_one_question_looks_active(visit: Visit, width: int) -> None:
    """Also where several would choose the same sentences, as where all are background."""
    visitor = visit(width).open()
    page = visitor.page
    page.get_by_label("Title and abstract").fill(ABSTRACT)
    visitor.press("Find papers")
    for number in (1, 2, 3):
        if width < 640:
            page.get_by_role("button", name=re.compile(f"^Sentence {number}: ")).click()
        page.get_by_label(f"Sentence {number}: label").select_option("background")
        visitor.settle()
    active = page.locator(".question[aria-pressed=true] .name")
    for name in ("Whole paper", "Same problem", "Whole paper"):
        visitor.press(name)
        expect(active).to_have_text([name])
    page.reload()
    visitor.settle()
    expect(active).to_have_text(["Whole paper"])


def test_paste_tick_avoid_export(visit: Visit, tmp_path: Path) -> None:
    visitor = visit().open()
    page = visitor.page
    page.get_by_label("Title and abstract").fill(ABSTRACT)
    visitor.press("Find papers")
    expect(page.get_by_role("heading", level=1).first).to_have_text("Counting seals from the air")
    for number, choice in ((1, "Avoid"), (3, "Ignore")):
        row = page.get_by_role("radiogroup", name=f"Sentence {number}: match, ignore or avoid")
        row.get_by_role("radio", name=choice).click()
        visitor.settle()
    visitor.picture("1-ticked")
    assert all("a convolutional network" in title for title in visitor.titles()[:4])
    page.get_by_role("button", name="Export").click()
    visitor.picture("2-export")
    with page.expect_download() as download:
        page.get_by_role("button", name="BibTeX").click()
    file = tmp_path / "triptych.bib"
    download.value.save_as(file)
    read = [paper for paper in read_bytes(file.read_bytes(), file.name) if isinstance(paper, Paper)]
    assert [paper.title for paper in read] == visitor.titles()


def test_keyboard_alone(visit: Visit) -> None:
    """From the text box to a changed choice without a mouse."""
    visitor = visit().open()
    page = visitor.page
    page.get_by_label("Title and abstract").focus()
    page.keyboard.insert_text(ABSTRACT)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1).first).to_have_text("Counting seals from the air")
    visitor.settle()
    in_rows = """() => {
        const hosts = [...document.querySelectorAll("*")];
        const yours = hosts.find(each => each.shadowRoot?.querySelector(".yours"));
        return yours?.shadowRoot.activeElement?.type === "radio";
    }"""
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate(in_rows):
            break
    assert page.evaluate(in_rows)
    page.keyboard.press("ArrowRight")
    visitor.settle()
    assert page.evaluate(in_rows), "the focus is lost"
    row = page.get_by_role("radiogroup", name="Sentence 1: match, ignore or avoid")
    expect(row.get_by_role("radio", name="Ignore")).to_be_checked()


@pytest.mark.parametrize("kind", ["s=", "q="])
def test_both_links_in_a_new_browser(visit: Visit, kind: str) -> None:
    first = visit().open().press("Try it")
    shown = first.titles()
    first.page.get_by_role("button", name="Link", exact=True).click()
    expect(first.page.get_by_text("It contains your text.")).to_have_count(0)  # only the paper's id
    for button in first.page.get_by_role("button", name="Copy to clipboard").all():
        expect(button).to_be_visible()  # before the mouse is there
    link = first.page.locator("code", has_text=f"?{kind}").inner_text()
    second = visit()
    second.page.goto(link)
    second.settle()
    assert second.titles() == shown
    second.picture("1-opened")


def test_triptych_and_plane(visit: Visit) -> None:
    visitor = visit().open().press("Try it")
    page = visitor.page
    page.get_by_text("Triptych", exact=True).last.click()
    expect(page.get_by_role("heading", name="Nearest by method")).to_be_visible()
    expect(page.get_by_text("also by", exact=False).first).to_be_visible()
    visitor.settle().picture("1-triptych")
    page.get_by_text("Plane", exact=True).click()
    visitor.settle()
    chart = page.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first
    expect(chart).to_be_visible()
    visitor.picture("2-plane")
    page.get_by_text("The same as a table").click()
    expect(page.get_by_role("table")).to_contain_text("convolutional")


def test_pdf_upload(visit: Visit) -> None:
    visitor = visit().open()
    page = visitor.page
    page.get_by_role("tab", name="Open a file").click()
    lines = ["Seals lie on ice floes and are hard to count.", "We train a convolutional neural network."]
    data = make_pdf("Counting seals from the air", lines)
    page.locator("input[type=file]").set_input_files(
        {"name": "a.pdf", "mimeType": "application/pdf", "buffer": data}
    )
    expect(page.get_by_label("Title", exact=True)).to_have_value("Counting seals from the air")
    page.get_by_label("Title", exact=True).fill("Counting seals, edited")
    visitor.picture("1-edit")
    visitor.press("Use this paper")
    expect(page.get_by_role("heading", level=1).first).to_have_text("Counting seals, edited")
    assert "convolutional" in visitor.titles()[0]


def test_keep_save_and_open_a_list(visit: Visit, tmp_path: Path) -> None:
    visitor = visit().open().press("Try it")
    page = visitor.page
    kept = visitor.titles()[0]
    page.get_by_role("button", name=f"Keep: {kept}").click()
    expect(page.get_by_role("button", name=f"Kept: {kept}")).to_be_visible()
    page.get_by_role("link", name="Library").first.click()
    expect(page.get_by_role("heading", level=1).first).to_have_text("Library")
    page.get_by_label(f"Note: {kept}").fill("Read before writing")
    page.get_by_label(f"Note: {kept}").blur()
    visitor.settle().picture("1-library")
    page.get_by_role("button", name="Manage lists").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save lists").click()
    file = tmp_path / "lists.json"
    download.value.save_as(file)
    assert json.loads(file.read_text())["lists"][0]["papers"][0]["note"] == "Read before writing"
    page.keyboard.press("Escape")
    visitor.press(f"Remove: {kept}")
    expect(page.get_by_text("Nothing kept yet")).to_be_visible()
    page.get_by_role("button", name="Manage lists").click()
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Add its lists").click()
    expect(page.locator("article.card h3")).to_have_text(kept)
    expect(page.get_by_label(f"Note: {kept}")).to_have_value("Read before writing")


def test_explore_and_paper(visit: Visit) -> None:
    visitor = visit().open("explore")
    page = visitor.page
    page.get_by_label("Topic").fill("rare birds in forest recordings")
    visitor.press("Explore")
    expect(page.get_by_role("heading", name="Which methods")).to_be_visible()
    expect(page.get_by_test_id("stVegaLiteChart").first).to_be_visible()
    visitor.picture("1-explore")
    page.get_by_role("link", name="Open").first.click()
    expect(page.get_by_role("heading", name="Nearest by method")).to_be_visible()
    visitor.settle().picture("2-paper")
    page.get_by_role("tab", name="RIS").click()
    expect(page.get_by_text("TY  - ").first).to_be_visible()


def test_bad_input_of_every_kind_gets_a_sentence(visit: Visit) -> None:
    visitor = visit().open("?q=not-a-link")
    page = visitor.page
    expect(page.get_by_text("This link is damaged")).to_be_visible()
    visitor.open().press("Find papers")
    expect(page.get_by_text("There is nothing to search for")).to_be_visible()
    page.get_by_label("Title and abstract").fill("🙂🙂🙂")
    visitor.press("Find papers")
    expect(page.get_by_text("There is nothing to search for")).to_be_visible()
    page.get_by_role("tab", name="Open a file").click()
    for name, data in (("x.pdf", b"%PDF-1.4 not really"), ("x.bib", b"\x00\xff"), ("x.json", b"{}")):
        upload(visitor, name, data)
        expect(page.get_by_role("tabpanel").get_by_role("alert")).to_be_visible()
        visitor.settle()
    visitor.picture("1-file")
    visitor.open("paper?id=%3Cscript%3Ealert(1)%3C%2Fscript%3E")
    expect(page.get_by_text("<script>alert(1)</script>")).to_be_visible()


def test_hostile_texts_are_only_texts(visit: Visit, tmp_path: Path) -> None:
    hostile = '<img src=x onerror=alert(1)> [a](javascript:alert(2)) :red[b] $c$ "><script>alert(3)</script>'
    hostile += " ![x](http://evil.example/p.png)"
    paper = {
        "id": "x:1",
        "title": hostile,
        "abstract": hostile,
        "url": "javascript:alert(4)",
        "venue": hostile,
    }
    entry = {"paper": paper, "note": hostile, "tags": [hostile], "read": False, "added": ""}
    content = {"format": "triptych-lists", "version": 1, "lists": [{"name": hostile[:70], "papers": [entry]}]}
    file = tmp_path / "lists.json"
    file.write_text(json.dumps(content))
    visitor = visit().open("library")
    page = visitor.page
    page.get_by_role("button", name="Manage lists").click()
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Add its lists").click()
    visitor.settle()
    expect(page.locator("article.card h3")).to_have_text(hostile)
    assert page.locator("article.card a").count() == 0
    visitor.picture("1-library")
    visitor.press("Recommend from this list")
    assert page.locator("img[src=x]").count() == 0
    visitor.picture("2-find")


def test_two_visitors_do_not_see_each_other(visit: Visit) -> None:
    one = visit().open().press("Try it", 0)
    two = visit().open().press("Try it", 1)
    assert heading(one) != heading(two)
    shown = two.titles()
    one.press("Same finding")
    two.page.reload()
    assert two.settle().titles() == shown


def test_a_fresh_server_visited_on_another_page_draws_the_whole_app(
    visit: Visit, corpus: Path, tmp_path: Path
) -> None:
    fresh = start_server(corpus, tmp_path / "fresh")
    try:
        visitor = visit(home=fresh.url).open("quality")
        expect(visitor.page.get_by_role("link", name="Find")).to_be_visible()
        expect(visitor.page.get_by_role("heading", level=1).first).to_have_text("How good is the search?")
        assert visitor.page.title() == "Quality · Triptych"
        visitor.leave()
    finally:
        fresh.stop()


def test_add_papers_then_find_them(visit: Visit, corpus: Path, tmp_path: Path) -> None:
    own = tmp_path / "corpus"
    shutil.copytree(corpus, own)
    host: Server = start_server(own, tmp_path / "host")
    try:
        visitor = visit(home=host.url).open("corpus")
        page = visitor.page
        visitor.picture("1-corpus")
        bibtex = b"@article{k, title={Seals on drifting ice}, abstract={Seals lie on ice. We count them.}}"
        upload(visitor, "s.bib", bibtex)
        page.get_by_role("button", name="Add to the corpus").click()
        expect(page.get_by_text("The corpus now has 37 papers")).to_be_visible()
        expect(page.get_by_test_id("stMetricValue").first).to_have_text("37")
        visitor.settle().picture("2-added")
        visitor.open("paper")
        page.get_by_label("Part of a title").fill("drifting ice")
        expect(page.get_by_role("button", name="Seals on drifting ice")).to_be_visible()
        visitor.leave()
    finally:
        host.stop()


def test_a_host_without_a_corpus_builds_the_demo_for_its_first_visitor(visit: Visit, tmp_path: Path) -> None:
    """The real demo, fetched where it is not in the cache yet: nobody has to click."""
    server = start_server(
        tmp_path / "corpus", tmp_path, demo_at_start="true", allow_import="false", session_library="true"
    )
    try:
        visitor = visit(home=server.url)
        visitor.page.goto(f"{server.url}/explore")
        expect(visitor.page.get_by_text("The corpus is being made")).to_be_visible()
        visitor.picture("1-making")
        expect(visitor.page.get_by_label("Topic")).to_be_visible(timeout=300_000)
        visitor.page.get_by_role("link", name="Find").first.click()
        visitor.settle().press("Try it")
        assert len(visitor.titles()) == 20
        visitor.picture("2-ready")
    finally:
        server.stop()
