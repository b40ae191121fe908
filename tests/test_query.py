"""Choosing sentences, and queries that survive a file and a link."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.errors import InputError
from search.query import choosing as queries
from search.query import saving
from search.types import Choice, Facet, Filters, Matcher, Query, QueryPaper, QuerySentence

PAPER = QueryPaper(
    title="Learning with noisy labels",
    sentences=(
        QuerySentence("Labels are noisy.", Facet.BACKGROUND),
        QuerySentence("We want to be robust.", Facet.OBJECTIVE),
        QuerySentence("We pre-train twice.", Facet.METHOD),
        QuerySentence("Errors fall by half.", Facet.RESULT),
    ),
)
MATCH, IGNORE, AVOID = Choice


def choices(paper: QueryPaper) -> list[Choice]:
    return [sentence.choice for sentence in paper.sentences]


def test_a_facet_takes_all_its_sentences_and_an_objective_is_background():
    assert choices(queries.choose_facet(PAPER, Facet.BACKGROUND)) == [MATCH, MATCH, IGNORE, IGNORE]
    assert choices(queries.choose_facet(PAPER, Facet.METHOD)) == [IGNORE, IGNORE, MATCH, IGNORE]


def test_same_method_different_problem():
    chosen = queries.choose_facet(PAPER, Facet.METHOD, avoid=Facet.BACKGROUND)
    assert choices(chosen) == [AVOID, IGNORE, MATCH, IGNORE]


def test_an_announced_method_is_matched_and_what_is_doubted_or_announced_is_not_avoided():
    doubted = QuerySentence("Noise may help.", Facet.BACKGROUND, or_facet=Facet.RESULT)
    announced = QuerySentence("We propose to train twice.", Facet.OBJECTIVE, or_facet=Facet.METHOD)
    paper = QueryPaper("", (*PAPER.sentences, doubted, announced))
    chosen = queries.choose_facet(paper, Facet.METHOD, avoid=Facet.BACKGROUND)
    assert choices(chosen) == [AVOID, IGNORE, MATCH, IGNORE, IGNORE, MATCH]
    problem = queries.choose_facet(paper, Facet.BACKGROUND)
    assert choices(problem) == [MATCH, MATCH, IGNORE, IGNORE, MATCH, MATCH]


def test_sentences_one_by_one_and_all():
    assert choices(queries.choose_sentences(PAPER, [1, 2], avoid=[0])) == [AVOID, MATCH, MATCH, IGNORE]
    assert choices(queries.choose_sentences(PAPER, range(4))) == [MATCH] * 4


@pytest.mark.parametrize(
    ("match", "avoid", "says"),
    [([4], [], "no sentence 5"), ([0], [-1], "no sentence 0"), ([1, 2], [2], "Sentence 3 is both")],
)
def test_impossible_choices_are_named_as_the_user_counts(match, avoid, says):
    with pytest.raises(InputError, match=says):
        queries.choose_sentences(PAPER, match, avoid)


def test_a_facet_without_sentences_says_what_to_do():
    with pytest.raises(InputError, match=r"labelled other.*choose sentences"):
        queries.choose_facet(PAPER, Facet.OTHER)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        (Query(()), "nothing to search for"),
        (Query((QueryPaper("", (QuerySentence("  "),)),)), "nothing to search for"),
        (Query((queries.choose_sentences(PAPER, []),)), "No sentence is set to"),
        (Query((PAPER,), top=0), "1 to 1000 results, not 0"),
        (Query((PAPER,) * 201), "up to 200 papers"),
        (Query((QueryPaper("", (QuerySentence("a"), QuerySentence("b", weight=float("nan")))),)), "weight"),
    ],
)
def test_what_cannot_be_answered_is_said(query, says):
    with pytest.raises(InputError, match=says):
        queries.check(query)


def test_an_answerable_query_passes():
    queries.check(Query((PAPER,)))


# A lone surrogate is no text: it cannot be written to any file.
words = st.text(st.characters(codec="utf-8"), max_size=60)
sentences = st.builds(
    QuerySentence,
    text=words,
    facet=st.none() | st.sampled_from(Facet),
    choice=st.sampled_from(Choice),
    weight=st.floats(0, 10),
)
papers = st.builds(
    QueryPaper, title=words, sentences=st.lists(sentences, max_size=5).map(tuple), paper_id=st.just("")
)
filters = st.builds(
    Filters,
    year_from=st.none() | st.integers(1500, 2100),
    venues=st.lists(words, max_size=3).map(tuple),
    ids=st.none() | st.lists(words, min_size=1, max_size=3).map(tuple),
    has_doi=st.booleans(),
)
any_query = st.builds(
    Query,
    papers=st.lists(papers, max_size=3).map(tuple),
    matcher=st.none() | st.sampled_from(Matcher),
    filters=filters,
    top=st.integers(1, 100),
)


@given(any_query, words)
def test_a_query_survives_a_file_and_a_link(query, build_id):
    assert saving.from_json(saving.to_json(query, build_id)) == saving.SavedQuery(query, build_id)
    assert saving.from_link(saving.to_link(query, build_id)) == saving.SavedQuery(query, build_id)


def test_an_empty_list_of_papers_stays_a_filter():
    query = Query((PAPER,), filters=Filters(ids=()))
    assert saving.from_json(saving.to_json(query)).query.filters.ids == ()


def test_a_link_to_a_corpus_paper_is_short_and_holds_no_text():
    paper = QueryPaper(PAPER.title, PAPER.sentences, paper_id="arxiv:2101.00001")
    link = saving.to_link(Query((paper,)), "20260101")
    assert len(link) < 400
    assert [sentence.text for sentence in saving.from_link(link).query.papers[0].sentences] == [""] * 4


def damaged(**changes: object) -> str:
    return json.dumps(json.loads(saving.to_json(Query((PAPER,)))) | changes)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not a query saved"),
        ("[1]", "not a query saved"),
        ("\x00\xff", "not a query saved"),
        ("[" * 100_000, "not a query saved"),
        (damaged(triptych_query=9), "version 9"),
        (damaged(papers=3), "damaged"),
        (damaged(matcher="magic"), "magic"),
        (damaged(filters={"colour": ["red"]}), "colour"),
        (damaged(filters={"year_from": {"a": 1}}), "damaged"),
        (damaged(top="many"), "damaged"),
    ],
)
def test_a_damaged_file_gives_one_sentence(text, says):
    with pytest.raises(InputError, match=says):
        saving.from_json(text)


@pytest.mark.parametrize("link", ["", "abc", "%%%", saving.to_link(Query((PAPER,)))[:-20]])
def test_a_damaged_link_gives_one_sentence(link):
    with pytest.raises(InputError, match="copy it again"):
        saving.from_link(link)
