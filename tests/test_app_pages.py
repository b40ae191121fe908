"""Every page through Streamlit's AppTest, on a small real corpus."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import corpora, state
from search.list_files import Kept, ReadingList, dump_lists
from search.types import Choice, Facet, Filters, Paper
from tests.app_corpus import make_corpus

ROOT = Path(__file__).parent.parent
ABSTRACT = (
    "Counting seals from the air\n\n"
    "Abstract: Seals lie on ice floes and are hard to count. We train a convolu-\n"
    "tional neural network on labelled photographs. Errors fall by a third."
)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("app") / "corpus")


@pytest.fixture
def host(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A host with this corpus and a library of its own."""
    monkeypatch.setenv("TRIPTYCH_CORPUS", str(corpus))
    monkeypatch.setenv("TRIPTYCH_LIBRARY", str(tmp_path / "library"))
    state.settings.clear()
    corpora.jobs.clear()
    yield monkeypatch
    state.settings.clear()


def open_app(page: str = "", **parameters: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in parameters.items():
        app.query_params[name] = value
    app.run()
    return app.switch_page(f"pages/{page}.py").run() if page else app


def press(app: AppTest, label: str, place: int = 0) -> AppTest:
    return [button for button in app.button if button.label == label][place].click().run()


def text_of(app: AppTest) -> str:
    """All that a reader sees, without Streamlit's escapes."""
    kinds = (app.title, app.header, app.subheader, app.markdown, app.caption, app.info, app.warning)
    shown = [element.value for kind in (*kinds, app.error, app.success) for element in kind]
    return "\n".join([*shown, *(element.value for element in app.html)]).replace("\\", "")


def titles(app: AppTest) -> list[str]:
    """The titles of the result cards, in order."""
    cards = [element.value for element in app.html if element.value.startswith('<article class="card"><h3>')]
    return [card.split("</h3>")[0].split(">")[-2].removesuffix("</a") for card in cards]


def choices(app: AppTest) -> list[Choice]:
    return [control.value for control in app.segmented_control if control.key.startswith("choice-")]


def link_of(app: AppTest) -> str:
    link = app.query_params["q"]
    return link if isinstance(link, str) else link[0]


def example(app: AppTest) -> AppTest:
    return press(app, "Try it")


@pytest.mark.usefixtures("host")
class TestFind:
    def test_first_result_with_one_click_on_an_example(self) -> None:
        app = example(open_app())
        assert not app.exception
        assert len(titles(app)) == 20
        assert Choice.AVOID in choices(app)

    def test_same_method_different_problem(self) -> None:
        app = example(open_app())
        method = app.title[0].value.split(" with ")[1]
        problem = app.title[0].value.split("\\:")[0]
        found = titles(app)[:5]
        assert all(method in title for title in found)
        assert not any(title.startswith(problem) for title in found)

    def test_pasted_text_is_repaired_split_and_labelled(self) -> None:
        app = open_app()
        app.text_area(key="pasted").set_value(ABSTRACT)
        press(app, "Read it")
        assert app.title[0].value == "Counting seals from the air"
        assert "We train a convolutional neural network on labelled photographs." in text_of(app)
        assert "a convolutional network" in titles(app)[0]

    def test_one_click_chooses_a_panel_and_a_row_can_be_changed(self) -> None:
        app = press(example(open_app()), "All result")
        assert choices(app).count(Choice.MATCH) == 1
        press(app, "Whole abstract")
        assert set(choices(app)) == {Choice.MATCH}
        before = titles(app)
        row = next(control for control in app.segmented_control if control.key.startswith("choice-"))
        row.set_value(Choice.AVOID).run()
        assert choices(app)[0] is Choice.AVOID
        assert titles(app) != before

    def test_a_corrected_facet_changes_what_a_preset_chooses(self) -> None:
        app = example(open_app())
        row = next(box for box in app.selectbox if str(box.key).startswith("facet-"))
        row.set_value(Facet.RESULT).run()
        press(app, "All result")
        assert choices(app)[0] is Choice.MATCH

    def test_nothing_chosen_says_what_to_do(self) -> None:
        app = example(open_app())
        for control in [c for c in app.segmented_control if c.key.startswith("choice-")]:
            control.set_value(Choice.IGNORE)
        app.run()
        assert "tick at least one" in text_of(app)
        assert not app.exception

    def test_filters_restrict_and_an_empty_answer_says_so(self) -> None:
        app = example(open_app())
        app.multiselect(key="filter-fields").set_value(["medicine"]).run()
        assert titles(app)
        assert all(title.startswith("Wait times") for title in titles(app))
        app.multiselect(key="filter-venues").set_value(["Journal of Examples"])
        app.checkbox(key="filter-doi").check().run()
        assert "No paper passes these filters" in text_of(app)

    def test_every_way_of_matching_answers(self) -> None:
        app = example(open_app())
        for matcher in list(app.radio(key="matcher").options):
            app.radio(key="matcher").set_value(_matcher(matcher)).run()
            assert len(titles(app)) == 20, matcher

    def test_more_on_demand(self) -> None:
        app = press(example(open_app()), "Show 20 more")
        assert len(titles(app)) == 35

    def test_triptych_marks_papers_near_in_more_than_one_panel(self) -> None:
        app = example(open_app())
        app.segmented_control(key="view").set_value("Triptych").run()
        for facet in ("background", "method", "result"):
            assert f"[{facet}]" in text_of(app)
        assert "also by" in text_of(app)

    def test_plane_has_a_table_with_the_same_papers(self) -> None:
        app = example(open_app())
        shown = titles(app)
        app.segmented_control(key="view").set_value("Plane").run()
        table = app.table[0].value
        assert [title.replace("\\", "") for title in table["Title"]] == shown
        assert list(table.columns) == ["Title", "Year", "Background", "Method", "Result"]

    def test_an_opened_card_shows_abstract_and_alignment(self) -> None:
        app = example(open_app())
        key = next(each.key for each in app.expander if str(each.key).startswith("details-1-"))
        app.session_state[key] = True
        app.run()
        assert "<mark" in text_of(app)
        assert app.table[0].value["Share"].str.endswith("%").all()

    def test_a_link_reproduces_the_ranking(self) -> None:
        app = example(open_app())
        again = open_app(q=link_of(app))
        assert titles(again) == titles(app)
        assert choices(again) == choices(app)
        assert "corpus has changed" not in text_of(again)

    def test_a_link_from_another_build_says_so(self) -> None:
        from search.query import from_link, to_link

        app = example(open_app())
        saved = from_link(link_of(app))
        again = open_app(q=to_link(saved.query, "another build"))
        assert "corpus has changed" in text_of(again)
        assert titles(again) == titles(app)

    def test_a_link_may_name_what_this_corpus_lacks(self) -> None:
        from search.query import from_link, to_link

        saved = from_link(link_of(example(open_app()))).query
        wanted = Filters(
            2001, 2010, ("Journal of Elsewhere",), ("medicine", "magic"), ids=("test:20", "gone")
        )
        again = open_app(q=to_link(replace(saved, filters=wanted), ""))
        assert not again.exception
        assert titles(again) == ["Wait times in emergency rooms: a study with a convolutional network"]

    @pytest.mark.parametrize("link", ["x", "eJyrVspOzStJLSpWsoqO1VEqLkksLlGyqgUAVPEHRw", "=" * 50, "é"])
    def test_a_damaged_link_gets_a_sentence_and_the_start_page(self, link: str) -> None:
        app = open_app(q=link)
        assert not app.exception
        assert len(app.warning) == 1
        assert "Read it" in [button.label for button in app.button]

    @pytest.mark.parametrize("text", ["", "   ", "\x00\x01", "🙂🙂"])
    def test_unusable_text_gets_a_sentence(self, text: str) -> None:
        app = open_app()
        app.text_area(key="pasted").set_value(text)
        press(app, "Read it")
        assert not app.exception
        assert "reference" not in text_of(app)
        assert app.warning

    def test_hostile_text_is_shown_as_text(self) -> None:
        app = open_app()
        hostile = 'Notes on :red[x] and $y$ [a](javascript:b)\n\nIt is seen that 5 <6 && "7"> 6 `so`.'
        app.text_area(key="pasted").set_value(hostile)
        press(app, "Read it")
        assert app.title[0].value == r"Notes on \:red\[x\] and \$y\$ \[a\]\(javascript\:b\)"
        assert "5 &lt;6 &amp;&amp; &quot;7&quot;&gt; 6 `so`." in text_of(app)

    @pytest.mark.parametrize(
        ("name", "data", "title"),
        [
            (
                "a.bib",
                b"@article{k, title={Seals on ice}, abstract={We count.}}",
                "Seals on ice",
            ),
            ("a.ris", b"TY  - JOUR\nTI  - Seals on ice\nAB  - We count seals.\nER  - \n", "Seals on ice"),
            ("a.nbib", b"PMID- 1\nTI  - Seals on ice\nAB  - We count seals.\n", "Seals on ice"),
        ],
    )
    def test_a_file_can_be_edited_and_used(self, name: str, data: bytes, title: str) -> None:
        app = open_app()
        app.file_uploader(key="file").set_value((name, data, "text/plain")).run()
        assert not app.exception
        assert not app.warning
        assert app.text_input(key=f"file-title-{name}-0").value == title
        app.text_input(key=f"file-title-{name}-0").set_value("Seals, counted")
        press(app, "Use this paper")
        assert app.title[0].value.replace("\\", "") == "Seals, counted"
        assert titles(app)

    @pytest.mark.parametrize(
        ("name", "data"),
        [("a.bib", b""), ("a.pdf", b"%PDF-1.4 broken"), ("a.ris", b"\xff\x00\xfe"), ("a.json", b"{nonsense")],
    )
    def test_a_bad_file_gets_a_sentence(self, name: str, data: bytes) -> None:
        app = open_app()
        app.file_uploader(key="file").set_value((name, data, "text/plain")).run()
        assert not app.exception
        assert app.warning
        assert "reference" not in text_of(app)

    def test_a_saved_query_opens_again(self) -> None:
        from search.query import from_link, to_json

        app = example(open_app())
        saved = from_link(link_of(app))
        again = open_app()
        data = to_json(state.engine().restore(saved.query), saved.build_id).encode()
        again.file_uploader(key="file").set_value(("query.json", data, "application/json")).run()
        press(again, "Open this query")
        assert titles(again) == titles(app)

    def test_the_draft_is_still_there_after_another_page(self) -> None:
        app = press(example(open_app()), "All result")
        before = choices(app)
        app.switch_page("pages/quality.py").run()
        app.switch_page("pages/find.py").run()
        assert choices(app) == before

    def test_two_visitors_do_not_see_each_other(self) -> None:
        first = example(open_app())
        second = open_app()
        assert not titles(second)
        assert titles(first)


def _matcher(label: str) -> object:
    from pages.ui.filters import MATCHERS

    return next(matcher for matcher, (name, _) in MATCHERS.items() if name == label)


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
        assert "36 papers" in text_of(app)
        quotes = [element.value for element in app.html if 'class="panel background"' in element.value]
        assert "Concrete bridges age" in quotes[0] or "Inspectors climb" in quotes[0]
        assert any("badge[" in element.value for element in app.markdown)

    def test_keep_annotate_save_and_open_lists(self) -> None:
        app = press(example(open_app()), "Keep")
        assert "Kept" in [button.label for button in app.button]
        app.switch_page("pages/library.py").run()
        area = next(area for area in app.text_area if area.label == "Note")
        area.set_value("read before writing").run()
        library = state.library()
        (kept,) = library.reading_list("Reading list").kept
        assert kept.note == "read before writing"
        assert "1 paper," in text_of(app)
        press(app, "Remove")
        assert "Nothing kept yet" in text_of(app)

    def test_a_list_file_comes_in_and_a_bad_one_does_not(self) -> None:
        app = open_app("library")
        lists = [ReadingList("Seals", (Kept(Paper("x:1", "Seals on ice"), "why", ("ice",), True),))]
        app.file_uploader(key="lists-file").set_value(("a.json", dump_lists(lists).encode(), "")).run()
        press(app, "Add its lists")
        assert state.library().reading_list("Seals").kept[0].note == "why"
        app.file_uploader(key="lists-file").set_value(("b.json", b"[]", "")).run()
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
        app = press(example(open_app()), "Keep")
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
            json.dumps(run | {"collection": "judged", "split": "all"})
        )
        app = open_app("quality")
        assert app.header[0].value.replace("\\", "") == "More fields, graded by a language model"
        assert "set on these very queries" not in text_of(app)
        assert "python -m evaluation judged --data DIR" in [each.value for each in app.code]

    def test_every_collection_shows_a_command_that_is_there(self) -> None:
        from evaluation.__main__ import make_parser
        from pages.ui import figures

        for collection, template in figures.COMMANDS.items():
            assert collection in figures.NAMES
            make_parser().parse_args(template.format(split="dev").split())

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
