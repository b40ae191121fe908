"""A topic's terms, hits and map: worked by hand and on the small corpus."""

from __future__ import annotations

import numpy as np
import pytest

from search.engine import Engine
from search.topics import characteristic_terms, explore, find_hits, spread
from search.types import PANELS, Facet, Filters, Paper, Sentence
from tests.app_corpus import METHODS, make_corpus


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return Engine.open(make_corpus(tmp_path_factory.mktemp("topics") / "corpus"))


def test_a_topic_is_answered_by_each_facet(engine: Engine) -> None:
    topic = explore(engine, "small cracks in bridges made of concrete")
    assert {paper.id for paper in topic.papers[:6]} == {f"test:1{m}" for m in range(6)}
    for facet in PANELS:
        hits = topic.hits[facet]
        assert [hit.likeness for hit in hits] == sorted((hit.likeness for hit in hits), reverse=True)
        assert len({hit.paper.id for hit in hits}) == len(hits)
        for hit in hits:
            sentence = hit.paper.sentences[hit.position]
            assert sentence.facet is not None
            assert sentence.facet.panel is facet
    assert topic.hits[Facet.BACKGROUND][0].paper.id.startswith("test:1")


def test_terms_tell_methods_from_problems(engine: Engine) -> None:
    topic = explore(engine, "predictions and how sure they are")
    words = {facet: {word for term in terms for word in term.split()} for facet, terms in topic.terms.items()}
    of_methods = {word for text in METHODS.values() for word in text.lower().replace(".", "").split()}
    assert words[Facet.METHOD]
    assert words[Facet.METHOD] <= of_methods | {word.rstrip("s") for word in of_methods}
    assert not words[Facet.METHOD] & words[Facet.BACKGROUND]


def test_filters_hold(engine: Engine) -> None:
    topic = explore(engine, "bridges", Filters(year_from=2010))
    assert topic.papers
    assert all(paper.year and paper.year >= 2010 for paper in topic.papers)
    nothing = explore(engine, "bridges", Filters(year_from=2900))
    assert nothing.papers == ()
    assert all(not nothing.hits[facet] and not nothing.terms[facet] for facet in PANELS)


def test_the_best_sentence_of_each_panel_is_the_hit() -> None:
    sentences = (
        Sentence("a", 0, 1, Facet.OBJECTIVE),
        Sentence("b", 2, 3, Facet.BACKGROUND),
        Sentence("c", 4, 5, Facet.RESULT),
        Sentence("d", 6, 7, Facet.OTHER),
    )
    paper = Paper("x", "T", "a b c d", sentences=sentences)
    vectors = np.array([[1, 0], [0.6, 0.8], [0, 1], [1, 0]], np.float32)
    hits, kept = find_hits([paper], [vectors], np.array([0, 1], np.float32))
    assert [(hit.text, hit.facet) for hit in hits] == [("c", Facet.RESULT), ("b", Facet.BACKGROUND)]
    assert hits[1].likeness == pytest.approx(0.8)
    assert kept == pytest.approx(vectors[[2, 1]])


def test_characteristic_terms_by_hand() -> None:
    method = [["kernel", "fit"], ["kernel", "fit"], ["kernel", "data"]]
    result = [["error", "falls", "data"], ["error", "falls"], ["error", "data"]]
    texts = {Facet.METHOD: method, Facet.RESULT: result}
    terms = characteristic_terms(texts, usual=lambda term: float(term == "falls"))
    assert terms == {Facet.METHOD: ("kernel",), Facet.RESULT: ("error", "data")}


def test_spread_keeps_neighbours_and_bounds() -> None:
    near = np.array([[1, 0, 0], [0.99, 0.1, 0], [0, 1, 0], [0, 0.99, 0.1]], np.float32)
    places = spread(near)
    assert places.shape == (4, 2)
    assert np.abs(places).max() == pytest.approx(1)
    apart = np.linalg.norm(places[0] - places[2])
    assert np.linalg.norm(places[0] - places[1]) < apart
    assert np.linalg.norm(places[2] - places[3]) < apart
    assert spread(near[:2]) == pytest.approx(np.zeros((2, 2)))
    assert spread(near) == pytest.approx(spread(near.copy()))


def test_what_everybody_writes_is_not_characteristic() -> None:
    method = [["however", "kernel"]] * 4
    texts = {Facet.METHOD: method, Facet.RESULT: [["error"]] * 4}
    assert characteristic_terms(texts)[Facet.METHOD] == ("however kernel",)
    often = characteristic_terms(texts, usual=lambda term: {"however": 0.3}.get(term, 0.01))
    assert often[Facet.METHOD] == ("kernel",)
    as_usual = characteristic_terms(texts, usual=lambda term: 0.06 if term == "kernel" else 0.9)
    assert as_usual[Facet.METHOD] == ("kernel",)
    rare_topic = {Facet.METHOD: [["kernel"]] * 3 + [[]] * 37, Facet.RESULT: [["error"]] * 40}
    assert characteristic_terms(rare_topic, usual=lambda term: 0.06)[Facet.METHOD] == ()
