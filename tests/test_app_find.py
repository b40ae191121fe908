"""The Find page, driven as a visitor would: paste, tick, search, share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pages.ui import state
from search.types import Choice, Facet, Filters
from tests.app_driver import choices, example, link_of, open_app, press, text_of, titles

ABSTRACT = (
    "Counting seals from the air\n\n"
    "Abstract: Seals lie on ice floes and are hard to count. We train a convolu-\n"
    "tional neural network on labelled photographs. Errors fall by a third."
)


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
