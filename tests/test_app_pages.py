"""The other pages, driven as a visitor would, and what a host can set."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from index_build import demo
from index_build.steps import build
from pages.ui import corpora, state
from search.corpus.layout import PAPER_VECTORS, STORE, current_build
from search.corpus.store import Store
from search.errors import InputError
from search.library.files import Kept, ReadingList, dump_lists
from search.text.sentences import split_paper
from search.types import Paper, Progress
from tests.app_corpus import make_corpus
from tests.app_driver import open_app, press, text_of, titles


def paper_page(paper_id: str) -> AppTest:
    app = open_app()
    app.query_params["id"] = paper_id
    return app.switch_page("pages/paper.py").run()


@pytest.mark.usefixtures("host")
class TestOtherPages:
    def test_paper_shows_panels_nearest_and_five_citations(self) -> None:
        app = open_app()
        app.query_params["id"] = "test:23"
        app.switch_page("pages/paper.py").run()
        assert not app.exception
        assert "Wait times in emergency rooms" in app.title[0].value
        assert "Patients in emergency rooms wait" in text_of(app)
        assert len(app.code) == 5
        assert "10.5555/test.23" in app.code[0].value

    def test_paper_without_an_id_lets_one_pick(self) -> None:
        app = open_app("paper")
        app.text_input(key="pick").set_value("vineyards hidden").run()
        assert any("hidden Markov" in button.label for button in app.button)
        app.text_input(key="pick").set_value("10.5555/test.11").run()
        assert any("Gaussian" in button.label for button in app.button)
        app.text_input(key="pick").set_value("zzz").run()
        assert "No paper of this corpus" in text_of(app)

    def test_paper_that_is_gone_says_so(self) -> None:
        app = open_app()
        app.query_params["id"] = "<b>gone</b>"
        app.switch_page("pages/paper.py").run()
        assert "it may be gone" in text_of(app)

    def test_explore_answers_by_facet(self) -> None:
        app = open_app("explore")
        assert "Type a topic" in text_of(app)
        app.text_input[0].set_value("bridges and their cracks")
        press(app, "Explore")
        assert not app.exception
        assert "6 papers" in text_of(app)
        assert "Shown are the 12 nearest" in text_of(app)
        quotes = [element.value for element in app.html if 'class="panel background"' in element.value]
        assert "Concrete bridges age" in quotes[0] or "Inspectors climb" in quotes[0]
        assert any("badge[" in element.value for element in app.markdown)

    def test_keep_annotate_save_and_open_lists(self) -> None:
        app = press(paper_page("test:23"), "Keep")
        assert "Kept" in [button.label for button in app.button]
        app.switch_page("pages/library.py").run()
        area = next(area for area in app.text_area if area.label.startswith("Note: "))
        area.set_value("read before writing").run()
        library = state.library()
        (kept,) = library.reading_list("Reading list").kept
        assert kept.note == "read before writing"
        assert "1 paper," in text_of(app)
        next(button for button in app.button if button.label.startswith("Remove:")).click().run()
        assert "Nothing kept yet" in text_of(app)
        press(app, "Undo")
        assert library.reading_list("Reading list").kept == (kept,)

    def test_a_list_file_comes_in_and_a_bad_one_does_not(self) -> None:
        app = open_app("library")
        lists = [ReadingList("Seals", (Kept(Paper("x:1", "Seals on ice"), "why", ("ice",), True),))]
        app.file_uploader[0].set_value(("a.json", dump_lists(lists).encode(), "")).run()
        press(app, "Add its lists")
        assert state.library().reading_list("Seals").kept[0].note == "why"
        app.file_uploader[0].set_value(("b.json", b"[]", "")).run()
        press(app, "Add its lists")
        assert "not a list saved by Triptych" in text_of(app)

    def test_recommend_searches_with_the_whole_list(self) -> None:
        known = state.engine().store.papers(["test:00", "test:10"])
        state.library().keep("Networks", [Kept(paper) for paper in known])
        app = press(open_app("library"), "Recommend from this list")
        assert "The list “Networks”" in text_of(app)
        assert not {paper.title for paper in known} & set(titles(app))
        assert "a convolutional network" in titles(app)[0]

    def test_lists_stay_in_the_session_on_a_demo_host(self, host: pytest.MonkeyPatch, tmp_path: Path) -> None:
        host.setenv("TRIPTYCH_SESSION_LIBRARY", "true")
        state.settings.clear()
        app = press(paper_page("test:23"), "Keep")
        app.switch_page("pages/library.py").run()
        assert "live in your browser session only" in text_of(app)
        assert "1 paper," in text_of(app)
        assert "Nothing kept yet" in text_of(open_app("library"))
        assert not (tmp_path / "library").exists()

    def test_quality_reads_result_files(self, host: pytest.MonkeyPatch, tmp_path: Path) -> None:
        from pages.ui import figures

        (tmp_path / "results").mkdir()
        host.setattr(figures, "FOLDER", tmp_path)
        assert "No figures yet" in text_of(open_app("quality"))
        groups = {g: {"map": 40.0, "ndcg_pct20": 60.0} for g in ("all", "method")}
        run = {"collection": "csfcube", "split": "dev", "queries": 24, "methods": {"triptych": groups}}
        (tmp_path / "results" / "csfcube.json").write_text(json.dumps(run))
        row = {"method": "otAspire", "collection": "csfcube", "group": "all", "measures": {"map": 41.2}}
        (tmp_path / "published.json").write_text(json.dumps([row | {"source": "Mysore 2022"}]))
        app = open_app("quality")
        assert not app.exception
        table = app.table[0].value
        assert list(table["Method"]) == ["triptych", "otAspire"]
        assert list(table["MAP"]) == ["40.0", "41.2"]
        assert list(table["Source"]) == ["measured here", "Mysore 2022"]
        # Another encoder's run comes after the default's, and each shows what repeats it.
        (tmp_path / "results" / "a.json").write_text(json.dumps(run | {"preset": "quality"}))
        app = open_app("quality")
        titles = [each.value.replace("\\", "") for each in app.header][:2]
        assert titles == ["CSFCube, dev", "CSFCube, dev, encoder quality"]
        command = "python -m evaluation csfcube --data DIR --split dev"
        assert [each.value for each in app.code] == [command, f"{command} --encoder quality"]

    def test_quality_says_what_the_words_are_worth(self, host: pytest.MonkeyPatch, tmp_path: Path) -> None:
        from pages.ui import figures

        (tmp_path / "results").mkdir()
        host.setattr(figures, "FOLDER", tmp_path)
        levels = [
            {"word": "near identical", "papers": 0},
            {"word": "similar", "papers": 1064, "related": 93.75, "similar": 56.25},
        ]
        run = {"collection": "csfcube", "methods": {"triptych": {"all": {"map": 40.0}}}, "levels": levels}
        (tmp_path / "results" / "csfcube.json").write_text(json.dumps(run))
        app = open_app("quality")
        assert not app.exception
        assert app.table[1].value.to_numpy().tolist() == [
            ["near identical", "0", "", ""],
            ["similar", "1,064", "94 %", "56 %"],
        ]
        assert "set on these very queries" in text_of(app)
        # Other pools were neither judged by experts nor are the words set on them.
        (tmp_path / "results" / "csfcube.json").write_text(
            json.dumps(run | {"collection": "graded-pools", "split": "all"})
        )
        app = open_app("quality")
        assert app.header[0].value.replace("\\", "") == "More fields, graded by a language model"
        assert "set on these very queries" not in text_of(app)
        assert "python -m evaluation graded-pools --data DIR" in [each.value for each in app.code]

    def test_every_collection_shows_a_command_that_is_there(self) -> None:
        from evaluation.__main__ import make_parser
        from pages.ui import figures

        for collection, template in figures.COMMANDS.items():
            assert collection in figures.NAMES
            make_parser().parse_args(template.format(split="dev").split())

    def test_quality_folds_away_what_was_not_run(self, host: pytest.MonkeyPatch, tmp_path: Path) -> None:
        from pages.ui import figures

        (tmp_path / "results").mkdir()
        host.setattr(figures, "FOLDER", tmp_path)
        run = {"collection": "csfcube", "methods": {"triptych": {"all": {"map": 40.0}}}}
        file = tmp_path / "results" / "csfcube.json"
        file.write_text(json.dumps(run))
        assert not open_app("quality").expander
        file.write_text(json.dumps(run | {"skipped": {"scincl": "No model.", "otAspire": "No network."}}))
        app = open_app("quality")
        shown = [app.expander[0].label, *(each.value for each in app.expander[0].caption)]
        assert [each.replace("\\", "") for each in shown] == [
            "Not run: scincl, otAspire",
            "scincl: No model.",
            "otAspire: No network.",
        ]

    def test_quality_names_a_damaged_result_file(self, host: pytest.MonkeyPatch, tmp_path: Path) -> None:
        from pages.ui import figures

        (tmp_path / "results").mkdir()
        (tmp_path / "results" / "csfcube.json").write_text("{")
        host.setattr(figures, "FOLDER", tmp_path)
        assert "csfcube.json cannot be read" in text_of(open_app("quality"))

    def test_corpus_shows_what_is_indexed(self) -> None:
        app = open_app("corpus")
        assert not app.exception
        assert app.metric[0].value == "36"
        assert "No record of the last imports was rejected" in text_of(app)


class TestHosts:
    def test_without_a_corpus_every_page_says_what_to_do(
        self, host: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        host.setenv("TRIPTYCH_CORPUS", str(tmp_path / "none"))
        state.settings.clear()
        for page in ("find", "explore", "paper", "corpus", "library"):
            app = open_app(page)
            assert not app.exception, page
            assert "reference" not in text_of(app)
            if page != "library":
                assert "no corpus" in text_of(app), page

    @pytest.mark.parametrize("page", ["find", "explore"])
    def test_the_first_visit_builds_the_demo_where_the_host_says_so(
        self, page: str, host: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        host.setenv("TRIPTYCH_CORPUS", str(tmp_path / "new"))
        host.setenv("TRIPTYCH_DEMO_AT_START", "true")
        host.setenv("TRIPTYCH_ALLOW_IMPORT", "false")
        state.settings.clear()
        arrived = threading.Event()

        def papers(progress: Progress) -> list[Paper]:
            progress("download", 12_300_000, 83_000_001)
            assert arrived.wait(60)
            return [Paper("one", "A paper", "We count otters. They are many.")]

        host.setattr(demo, "papers", papers)
        for visitor in range(2):  # the second finds it under way
            app = open_app(page)
            assert "being made" in text_of(app), visitor
            assert not app.button, visitor
        arrived.set()
        while corpora.jobs().is_busy:
            time.sleep(0.05)
        assert corpora.jobs().last.outcome == "The demo corpus is ready: 1 paper."
        assert "no corpus" not in text_of(open_app(page))

    def test_a_demo_that_cannot_be_fetched_can_be_tried_again(
        self, host: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        host.setenv("TRIPTYCH_CORPUS", str(tmp_path / "new"))
        host.setenv("TRIPTYCH_DEMO_AT_START", "true")
        state.settings.clear()

        def no_papers(progress: Progress) -> list[Paper]:
            raise InputError("The demo papers could not be downloaded.")

        host.setattr(demo, "papers", no_papers)
        open_app()
        while corpora.jobs().is_busy:
            time.sleep(0.05)
        app = open_app()
        assert "could not be downloaded" in text_of(app)
        assert [button.label for button in app.button] == ["Build the demo corpus"]

    def test_a_damaged_build_gives_way_to_the_one_before_and_the_page_says_so(
        self, host: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        corpus = make_corpus(tmp_path / "damaged")
        with Store.open(corpus / STORE, read_only=False) as store:
            store.add([split_paper(Paper(id="late", title="A late paper", abstract="It came late."))])
        build(corpus)
        with (current_build(corpus) / PAPER_VECTORS).open("r+b") as file:
            file.seek(-100, 2)
            file.write(bytes(50))
        host.setenv("TRIPTYCH_CORPUS", str(corpus))
        state.settings.clear()
        app = open_app("corpus")
        assert not app.exception
        assert "damaged" in app.warning[0].value
        assert "reference" not in text_of(app)

    def test_a_host_can_forbid_adding(self, host: pytest.MonkeyPatch) -> None:
        host.setenv("TRIPTYCH_ALLOW_IMPORT", "false")
        state.settings.clear()
        app = open_app("corpus")
        assert "does not let visitors add papers" in text_of(app)
        assert not app.file_uploader

    def test_a_wrong_setting_is_one_sentence(self, host: pytest.MonkeyPatch) -> None:
        host.setenv("TRIPTYCH_UPLOAD_MB", "lots")
        state.settings.clear()
        app = open_app()
        assert not app.exception
        assert 'The setting "upload_mb"' in text_of(app)

    def test_papers_are_added_and_the_app_serves_the_new_build(
        self, host: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        corpus = make_corpus(tmp_path / "growing")
        host.setenv("TRIPTYCH_CORPUS", str(corpus))
        state.settings.clear()
        before = state.build_id()
        app = open_app("corpus")
        bibtex = b"@article{k, title={Seals on ice floes}, abstract={We count seals. They are many.}}\n@bad{"
        app.file_uploader(key="add-file").set_value(("seals.bib", bibtex, "text/plain")).run()
        press(app, "Add to the corpus")
        job = corpora.jobs().last
        assert job is not None
        for _ in range(600):
            if job.finished:
                break
            time.sleep(0.1)
        assert job.error == ""
        assert "1 paper added" in job.outcome
        assert state.build_id() != before
        app.run()
        assert app.metric[0].value == "37"
        found = state.engine().store.find("seals on ice", 5)
        assert [paper.title for paper in found] == ["Seals on ice floes"]

    def test_a_fault_is_logged_with_the_reference_it_shows(
        self, host: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def broken(*_: object) -> None:
            raise RuntimeError("the disk is on fire")

        host.setattr("pages.ui.start.panel", broken)
        app = open_app()
        assert not app.exception
        assert "disk" not in text_of(app)
        reference = text_of(app).split("(reference ")[1][:8]
        assert reference in caplog.text
        assert "the disk is on fire" in caplog.text


def test_a_list_of_rejects_that_is_damaged_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    sound = '{"source": "a.bib", "place": "entry 1", "reason": "no title", "raw": ""}\n'
    (tmp_path / "rejects.jsonl").write_bytes(
        sound.encode() + b"[1]\n" + b"[" * 100_000 + b"\n\xff\xfe\n" + b'{"source": "b.b'
    )
    assert [each["place"] for each in corpora.rejects(tmp_path)] == ["entry 1"]
    assert corpora.rejects(tmp_path / "nowhere") == []
