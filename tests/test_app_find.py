"""The Find page, driven as a visitor would: paste, tick, search, share."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import state
from search.query.saving import to_link
from search.types import Choice, Facet, Filters, Query
from tests.app_driver import (
    choices,
    drawn,
    example,
    link_of,
    lists,
    open_app,
    press,
    results,
    rows,
    search_id,
    tell,
    text_of,
    titles,
)

ABSTRACT = (
    "Counting seals from the air\n\n"
    "Abstract: Seals lie on ice floes and are hard to count. We train a convolu-\n"
    "tional neural network on labelled photographs. Errors fall by a third."
)


def paste(app: AppTest, text: str) -> None:
    app.text_area(key="pasted").set_value(text)
    press(app, "Find papers")


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

    def test_what_avoiding_did_is_said_beside_the_result(self) -> None:
        app = example(open_app())
        problem = app.title[0].value.split("\\:")[0]
        app.session_state["visit"].top += 20
        app.run()
        same = [result for result in results(app) if str(result["title"]).startswith(problem)]
        assert same
        assert all("Moved down: also about “" in str(result["held"]) for result in same)
        press(app, "Same method")
        assert not any(result["held"] for result in results(app))

    def test_pasted_text_is_repaired_split_and_labelled(self) -> None:
        app = open_app()
        app.text_area(key="pasted").set_value(ABSTRACT)
        press(app, "Find papers")
        assert app.title[0].value == "Counting seals from the air"
        assert rows(app)[1]["text"] == "We train a convolutional neural network on labelled photographs."
        assert "a convolutional network" in titles(app)[0]

    def test_one_click_chooses_a_panel_and_a_row_can_be_changed(self) -> None:
        app = press(example(open_app()), "Same finding")
        assert choices(app).count(Choice.MATCH) == 1
        press(app, "Whole paper")
        assert set(choices(app)) == {Choice.MATCH}
        before = titles(app)
        tell(app, paper=0, sentence=0, choice="avoid")
        assert choices(app)[0] is Choice.AVOID
        assert titles(app) != before

    def test_a_corrected_facet_changes_what_a_preset_chooses(self) -> None:
        app = example(open_app())
        tell(app, paper=0, sentence=0, facet="result")
        press(app, "Same finding")
        assert choices(app)[0] is Choice.MATCH

    def test_nothing_chosen_says_what_to_do(self) -> None:
        app = example(open_app())
        for number in range(len(rows(app))):
            tell(app, paper=0, sentence=number, choice="ignore")
        assert "choose at least one" in text_of(app)
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
        app = example(open_app())
        app.session_state["visit"].top += 20
        assert len(titles(app.run())) == 35

    def test_triptych_marks_papers_near_in_more_than_one_panel(self) -> None:
        app = example(open_app())
        app.segmented_control(key="view").set_value("Triptych").run()
        for facet in ("background", "method", "result"):
            assert f"[{facet}]" in text_of(app)
        columns = [each["results"] for each in lists(app)]
        ids = [[result["id"] for result in column] for column in columns]
        assert [len(column) for column in ids] == [8, 8, 8]
        for number, facet in enumerate(("background", "method", "result")):
            for column in columns[:number] + columns[number + 1 :]:
                for result in column:
                    assert (f"also by {facet}" in str(result["near"])) == (result["id"] in ids[number])

    def test_plane_has_a_table_with_the_same_papers(self) -> None:
        app = example(open_app())
        app.segmented_control(key="view").set_value("Plane").run()
        assert not app.exception
        table = app.table[0].value
        assert list(table.columns) == ["Title", "Year", "Problem", "Method"]
        assert [title.replace("\\", "") for title in table["Title"]][:20] == titles(app)
        assert len(table) == 35
        for row, result in zip(table.itertuples(), results(app), strict=False):
            assert f", {row.Problem} · method" in result["notes"][0]
            assert result["notes"][0].endswith(f", {row.Method}")

    def test_plane_says_which_panel_is_missing_and_what_to_do(self) -> None:
        app = open_app()
        app.text_area(key="pasted").set_value("Seals\n\nSeals lie on ice floes and are hard to count.")
        press(app, "Find papers")
        tell(app, paper=0, sentence=0, facet="background")
        app.segmented_control(key="view").set_value("Plane").run()
        assert "No sentence of your text is labelled method" in text_of(app)
        assert "set the label of a sentence to Method" in text_of(app)

    def test_filters_hold_in_the_plane_and_an_empty_one_says_so(self) -> None:
        app = example(open_app())
        app.segmented_control(key="view").set_value("Plane")
        app.multiselect(key="filter-fields").set_value(["medicine"]).run()
        assert all(title.startswith("Wait times") for title in titles(app))
        app.multiselect(key="filter-venues").set_value(["Journal of Examples"])
        app.checkbox(key="filter-doi").check().run()
        assert "No paper passes these filters" in text_of(app)

    def test_a_saved_look_that_is_none_shows_the_list(self) -> None:
        for look in (None, [], {"view": "Map", "plane-mix": "x", "region": [1, 2, "3", float("nan")]}):
            at = AppTest.from_function(_take_up, kwargs={"look": look}).run()
            assert not at.exception
            assert at.session_state["view"] == "List"
            assert at.session_state["visit"].brush.region is None

    def test_a_result_carries_its_abstract_and_pairs(self) -> None:
        first = results(example(open_app()))[0]
        paper = state.engine().store.paper(first["id"])
        assert paper is not None
        assert "".join(text for text, _ in first["abstract"]) == paper.abstract
        assert {facet for _, facet in first["abstract"]} - {""} <= set(map(str, Facet))
        assert "method" in {facet for _, facet in first["abstract"]}
        for pair in first["pairs"]:
            theirs = "".join(text for text, _ in pair["theirsWhole"])
            assert theirs == " ".join(paper.sentences[pair["position"] - 1].text.split())
            assert "".join(text for text, _ in pair["theirs"]).strip("… ") in theirs

    def test_the_method_elsewhere_never_avoids_an_objective(self) -> None:
        app = example(open_app())
        tell(app, paper=0, sentence=0, facet="objective")
        press(app, "This method elsewhere")
        assert choices(app)[0] is Choice.IGNORE
        press(app, "Same problem")
        assert choices(app)[0] is Choice.MATCH

    def test_a_doubtful_label_is_corrected_in_one_click_and_never_avoided(self) -> None:
        state.settings.clear()
        text = "Seals live on ice. We count them by drone. They are many. Ice is white."
        paper = state.engine().read("Seals", text)
        doubted = replace(
            paper,
            sentences=(
                replace(paper.sentences[0], facet=Facet.BACKGROUND, or_facet=Facet.METHOD),
                replace(paper.sentences[1], facet=Facet.METHOD, or_facet=None),
                replace(paper.sentences[2], facet=Facet.BACKGROUND, or_facet=None),
                replace(paper.sentences[3], facet=Facet.BACKGROUND, or_facet=Facet.RESULT),
            ),
        )
        app = open_app(q=to_link(Query((doubted,)), ""))
        press(app, "This method elsewhere")
        # What may be method answers to the method; what may be a result is neither matched nor avoided.
        assert choices(app) == [Choice.MATCH, Choice.MATCH, Choice.AVOID, Choice.IGNORE]
        assert [row["doubt"] for row in rows(app)] == [["method", "method"], None, None, ["result", "result"]]
        tell(app, paper=0, sentence=0, facet="method")
        assert rows(app)[0]["doubt"] is None
        press(app, "Same method")
        assert choices(app) == [Choice.MATCH, Choice.MATCH, Choice.IGNORE, Choice.IGNORE]

    def test_a_question_asks_how_it_is_meant(self) -> None:
        app = open_app()
        paste(app, "counting seals from drones")
        names = ["As a problem", "As a method", "As a finding", "As anything"]
        assert [each["name"] for each in drawn(app, "sentences")[0]["readings"]] == names
        for name, facet in (("As a method", Facet.METHOD), ("As a finding", Facet.RESULT)):
            press(app, name)
            assert [row["facet"] for row in rows(app)] == [facet]
            assert results(app)

    def test_the_verdict_says_what_the_corpus_lacks(self) -> None:
        for text, told in (
            ("Haltungen erkennen. Wir untersuchen kurze Texte sorgfältig.", "another language"),
            ("asdf qwer zxcv uiop hjkl. Vbnm tyui ghjk wert.", "Nothing close here"),
        ):
            app = open_app()
            paste(app, text)
            assert told in text_of(app)

    def test_a_link_reproduces_the_ranking(self) -> None:
        app = example(open_app())
        again = open_app(q=link_of(app))
        assert titles(again) == titles(app)
        assert choices(again) == choices(app)
        assert "corpus has changed" not in text_of(again)

    def test_a_link_from_another_build_says_so(self) -> None:
        from search.query.saving import from_link, to_link

        app = example(open_app())
        saved = from_link(link_of(app))
        again = open_app(q=to_link(saved.query, "another build"))
        assert "corpus has changed" in text_of(again)
        assert titles(again) == titles(app)

    def test_a_link_may_name_what_this_corpus_lacks(self) -> None:
        from search.query.saving import from_link, to_link

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
        assert "Find papers" in [button.label for button in app.button]

    @pytest.mark.parametrize("text", ["", "   ", "\x00\x01", "🙂🙂"])
    def test_unusable_text_gets_a_sentence(self, text: str) -> None:
        app = open_app()
        app.text_area(key="pasted").set_value(text)
        press(app, "Find papers")
        assert not app.exception
        assert "reference" not in text_of(app)
        assert app.warning

    def test_hostile_text_is_shown_as_text(self) -> None:
        app = open_app()
        hostile = 'Notes on :red[x] and $y$ [a](javascript:b)\n\nIt is seen that 5 <6 && "7"> 6 `so`.'
        app.text_area(key="pasted").set_value(hostile)
        press(app, "Find papers")
        assert app.title[0].value == r"Notes on \:red\[x\] and \$y\$ \[a\]\(javascript\:b\)"
        assert rows(app)[-1]["text"] == 'It is seen that 5 <6 && "7"> 6 `so`.'

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
        from search.query.saving import from_link, to_json

        app = example(open_app())
        saved = from_link(link_of(app))
        again = open_app()
        data = to_json(state.engine().restore(saved.query), saved.build_id).encode()
        again.file_uploader(key="file").set_value(("query.json", data, "application/json")).run()
        press(again, "Open this query")
        assert titles(again) == titles(app)

    def test_the_draft_is_still_there_after_another_page(self) -> None:
        app = press(example(open_app()), "Same finding")
        before = choices(app)
        app.switch_page("pages/quality.py").run()
        app.switch_page("pages/find.py").run()
        assert choices(app) == before

    def test_every_search_kept_by_name_can_be_opened_again(self) -> None:
        app = example(open_app())
        history = state.history()
        id = search_id(app)
        for number in range(9):
            history.put(f"copy-{number}", "", "A title", history.content(id))
            history.rename(f"copy-{number}", "", f"Name {number}")
        start = open_app()
        listed = [button.label for button in start.button if (button.key or "").startswith("again-")]
        assert len(listed) == 6  # five with a name and the example, whose copies have names
        assert start.selectbox[0].placeholder == "All 9 searches kept by name"
        start.selectbox[0].select_index(8).run()
        assert search_id(start) == "copy-8"
        assert titles(start) == titles(app)

    def test_two_visitors_do_not_see_each_other(self) -> None:
        first = example(open_app())
        second = open_app()
        assert not titles(second)
        assert titles(first)


def _take_up(look: object) -> None:
    from pages.ui import looks

    looks.take_up(look)


def _matcher(label: str) -> object:
    from pages.ui.filters import MATCHERS

    return next(matcher for matcher, (name, _) in MATCHERS.items() if name == label)
