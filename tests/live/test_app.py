"""Fetching in the app: the form, the count, the work and its end; an identifier on Find; what results say."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import coins, corpora, state
from search.types import Kind, Paper, Reference
from tests.app_corpus import make_corpus
from tests.app_driver import open_app, press, results, text_of
from tests.live import world
from tests.live.client import Servers


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("live") / "corpus")


@pytest.fixture
def host(
    running: Servers, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[pytest.MonkeyPatch]:
    running.reset(records=20)
    monkeypatch.setenv("TRIPTYCH_CORPUS", str(corpus))
    monkeypatch.setenv("TRIPTYCH_LIBRARY", str(tmp_path / "library"))
    for name, value in running.environment(most=1000).items():
        monkeypatch.setenv(name, value)
    state.settings.clear()
    yield monkeypatch
    state.settings.clear()
    corpora.jobs.clear()


def wait(app: AppTest, until: str) -> AppTest:
    for _ in range(300):
        if until in text_of(app.run()):
            return app
        time.sleep(0.2)
    raise AssertionError(text_of(app))


@pytest.mark.slow
@pytest.mark.usefixtures("host")
def test_count_then_fetch_then_again(running: Servers) -> None:
    app = open_app("corpus")
    assert "Nothing is sent before you say so" in text_of(app)
    app.selectbox(key="fetch-source").set_value("crossref").run()
    app.text_input(key="fetch-text-crossref").set_value("rivers").run()
    assert "Sent to 127.0.0.1" in text_of(app)
    assert running.asked("crossref") == []
    press(app, "Count")
    assert "20 records in about" in text_of(app)
    press(app, "Fetch 20 records")
    wait(app, "20 papers added")
    assert "Crossref, rivers" in text_of(app)
    press(app, "Bring all up to date")
    wait(app, "0 papers added")
    assert not app.exception


@pytest.mark.usefixtures("host")
def test_stop_and_go_on(running: Servers) -> None:
    running.reset(records=20, delay=0.5)
    app = open_app("corpus")
    app.selectbox(key="fetch-source").set_value("crossref").run()
    app.text_input(key="fetch-text-crossref").set_value("lakes").run()
    press(app, "Count")
    press(app, "Fetch 20 records")
    app.run()
    press(app, "Stop")
    wait(app, "Stopped. What has arrived is kept")
    assert "not finished" in text_of(app)
    assert "Go on" in [button.label for button in app.button]


@pytest.mark.usefixtures("host")
def test_a_source_that_is_down_is_said(running: Servers) -> None:
    running.reset(always="503")
    app = open_app("corpus")
    app.selectbox(key="fetch-source").set_value("pubmed").run()
    app.text_input(key="fetch-text-pubmed").set_value("rivers").run()
    press(app, "Count")
    assert "gave no usable answer" in text_of(app)


@pytest.mark.parametrize("name", ["ALLOW_FETCH", "ALLOW_IMPORT"])
def test_where_the_host_forbids_it(name: str, host: pytest.MonkeyPatch) -> None:
    host.setenv(f"TRIPTYCH_{name}", "false")
    state.settings.clear()
    app = open_app("corpus")
    assert "This host fetches no papers" in text_of(app)
    assert "Count" not in [button.label for button in app.button]


@pytest.mark.usefixtures("host")
def test_an_identifier_of_the_corpus_opens_its_paper(running: Servers) -> None:
    app = open_app()
    app.text_area(key="pasted").set_value(" https://doi.org/10.5555/TEST.23 ")
    press(app, "Find papers")
    assert "emergency rooms" in app.title[0].value
    assert not any(source["asked"] for source in running.log().values())


@pytest.mark.usefixtures("host")
def test_an_identifier_from_elsewhere_is_asked_for_after_a_click(running: Servers) -> None:
    record = world.make(20)[5]
    app = open_app()
    app.text_area(key="pasted").set_value(f"arXiv:{record.arxiv_id}v2")
    press(app, "Find papers")
    assert "This corpus does not have arXiv:" in text_of(app)
    assert "Sent to 127.0.0.1" in text_of(app)
    assert not any(source["asked"] for source in running.log().values())
    press(app, "Ask the sources")
    assert record.title in app.title[0].value
    assert len(results(app)) > 0
    assert len(running.asked("arxiv")) == 1


@pytest.mark.usefixtures("host")
def test_an_identifier_that_nobody_knows(running: Servers) -> None:
    app = open_app()
    app.text_area(key="pasted").set_value("10.5555/nobody.knows.it")
    press(app, "Find papers")
    press(app, "Ask the sources")
    assert "No source knows" in text_of(app)


def test_an_identifier_where_the_host_asks_nobody(host: pytest.MonkeyPatch) -> None:
    host.setenv("TRIPTYCH_ALLOW_FETCH", "false")
    state.settings.clear()
    app = open_app()
    app.text_area(key="pasted").set_value("10.5555/nobody.knows.it")
    press(app, "Find papers")
    assert "This host asks no sources" in text_of(app)
    assert "Ask the sources" not in [button.label for button in app.button]


@pytest.mark.usefixtures("host")
def test_a_text_is_still_a_text() -> None:
    app = open_app()
    app.text_area(key="pasted").set_value(
        "Cracks in bridges as in 10.5555/test.23 and others\nWe look for cracks."
    )
    press(app, "Find papers")
    assert "Cracks in bridges" in app.title[0].value


@pytest.mark.usefixtures("host")
def test_results_carry_coins() -> None:
    app = press(open_app(), "Try it")
    spans = [element.value for element in app.html if "Z3988" in element.value]
    assert spans
    assert spans[0].count("Z3988") == len(results(app))


def test_coins_hold_what_zotero_reads() -> None:
    paper = Paper(
        "a", 'Rain & "snow" <b>', "", ("Author, Ann", "Bee, Bo"), 2024, "Journal", doi="10.1/x",
        reference=Reference(kind=Kind.ARTICLE, volume="7", pages="1-9", issn=("1234-5678",)),
    )  # fmt: skip
    span = coins.span(paper)
    assert "<b>" not in span
    assert "rft.atitle=Rain+%26+%22snow%22+%3Cb%3E" in span
    assert "rft.au=Author%2C+Ann" in span
    assert "info%3Adoi%2F10.1%2Fx" in span
    assert "rft.genre=article" in span
