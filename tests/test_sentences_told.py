"""What a browser tells of the query's sentences, and what the app makes of it."""

from __future__ import annotations

from pages.ui.questions import QUESTIONS
from pages.ui.sentences import MOST_ROWS, describe, follow
from pages.ui.state import Draft
from search.types import Choice, Facet, QueryPaper, QuerySentence

MATCH, IGNORE, AVOID = Choice.MATCH, Choice.IGNORE, Choice.AVOID
FACETS = (Facet.BACKGROUND, Facet.METHOD, Facet.RESULT)


def make_draft(sentences: int = 3) -> Draft:
    made = (QuerySentence(f"Sentence {n}.", facet=FACETS[n % 3], choice=MATCH) for n in range(sentences))
    return Draft(1, "id", (QueryPaper("Seals", tuple(made)),), "")


def choices(draft: Draft) -> list[Choice]:
    return [sentence.choice for sentence in draft.papers[0].sentences]


def test_clicks_are_followed_in_order() -> None:
    clicks = [
        {"number": 1, "ask": "Same finding"},
        {"number": 2, "paper": 0, "sentence": 0, "choice": "avoid"},
        {"number": 3, "paper": 0, "sentence": 2, "weight": 2.5},
    ]
    after = follow(make_draft(), clicks)
    assert choices(after) == [AVOID, IGNORE, MATCH]
    assert after.papers[0].sentences[2].weight == 2.5
    assert after.clicks == 3


def test_a_click_that_is_told_again_is_not_done_again() -> None:
    tick = {"number": 1, "paper": 0, "sentence": 0, "choice": "avoid"}
    once = follow(make_draft(), [tick])
    asked = follow(once, [tick, {"number": 2, "ask": "Whole paper"}])
    assert choices(asked) == [MATCH, MATCH, MATCH]
    assert follow(asked, [tick, {"number": 2, "ask": "Same finding"}]) == asked


def test_a_corrected_label_is_no_longer_doubted() -> None:
    sentence = QuerySentence("We count.", facet=Facet.RESULT, or_facet=Facet.METHOD)
    draft = Draft(1, "id", (QueryPaper("Seals", (sentence,)),), "")
    same = follow(draft, [{"number": 1, "paper": 0, "sentence": 0, "facet": "result"}])
    assert same.papers[0].sentences[0].or_facet is Facet.METHOD
    after = follow(draft, [{"number": 1, "paper": 0, "sentence": 0, "facet": "method"}])
    assert (after.papers[0].sentences[0].facet, after.papers[0].sentences[0].or_facet) == (
        Facet.METHOD,
        None,
    )


def test_what_no_browser_should_say_changes_nothing() -> None:
    draft = make_draft()
    for said in (
        None,
        3,
        "x",
        {},
        {"number": 1},
        [3],
        [None],
        [{}],
        [{"number": "1", "ask": "Same finding"}],
    ):
        assert follow(draft, said) == draft
    place = {"paper": 0, "sentence": 0}
    for click in (
        {"ask": "No question"},
        {"ask": ["Same finding"]},
        {**place, "choice": "like"},
        {**place, "choice": []},
        {**place, "facet": "<b>"},
        {**place, "weight": "2"},
        {**place, "weight": -1},
        {**place, "weight": 1e9},
        {**place, "weight": float("nan")},
        {"paper": 1, "sentence": 0, "choice": "avoid"},
        {"paper": 0, "sentence": -1, "choice": "avoid"},
        {"paper": 0, "sentence": 3, "choice": "avoid"},
        {"paper": "0", "sentence": "0", "choice": "avoid"},
    ):
        assert follow(draft, [{"number": 1, **click}]).papers == draft.papers


def test_a_very_long_paper_is_drawn_in_part_and_says_so() -> None:
    shown = describe(make_draft(MOST_ROWS + 7))["papers"][0]
    assert len(shown["rows"]) == MOST_ROWS
    assert shown["more"].startswith("7 more sentences are not shown")
    assert describe(make_draft())["papers"][0]["more"] == ""


def test_a_question_takes_what_may_be_meant_where_no_label_fits() -> None:
    sure = QuerySentence("We count.", facet=Facet.METHOD)
    doubted = QuerySentence("Errors fall.", facet=Facet.METHOD, or_facet=Facet.RESULT)
    finding = QUESTIONS["Same finding"]
    assert finding.choices(QueryPaper("Seals", (sure, doubted))) == [IGNORE, MATCH]
    result = QuerySentence("Errors fell by a third.", facet=Facet.RESULT)
    assert finding.choices(QueryPaper("Seals", (sure, doubted, result))) == [IGNORE, IGNORE, MATCH]
    shown = describe(Draft(1, "id", (QueryPaper("Seals", (sure,)),), ""))
    assert shown["questions"] == []  # one sentence is asked how it is meant
    shown = describe(Draft(1, "id", (QueryPaper("Seals", (sure, sure)),), ""))
    assert [each["matches"] for each in shown["questions"]] == [False, True, False, True, True]
