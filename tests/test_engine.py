"""Engine.search on a corpus whose right answers are known, and on everything people paste."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from search.engine import Engine
from search.errors import CorpusError, InputError
from search.query import choosing as queries
from search.query import saving
from search.ranking import calibration, plane
from search.types import PANELS, Choice, Facet, Filters, Likeness, Matcher, Paper, Point, Query, QueryPaper
from tests.miniature import METHODS, PROBLEMS, RESULTS, build_miniature, make_paper

TWIN = replace(make_paper("traffic", "trees"), id="preprint", doi="10.2000/other", year=2013)
"""The same paper again: another DOI, a year later."""


@pytest.fixture(scope="module")
def engine(tmp_path_factory) -> Engine:
    return Engine.open(build_miniature(tmp_path_factory.mktemp("corpus"), TWIN))


def found(engine: Engine, *papers: QueryPaper, **options) -> list[str]:
    return [result.paper.id for result in engine.search(Query(papers, **options)).results]


def pasted(problem: str, method: str) -> str:
    return f"My own work\n{PROBLEMS[problem]} {METHODS[method]} {RESULTS[method]}"


# -- the three panels


@pytest.mark.parametrize("problem", PROBLEMS)
def test_by_background_the_same_problem_comes_first(engine, problem):
    asked = queries.choose_facet(engine.example(f"{problem}-graphs"), Facet.BACKGROUND)
    assert set(found(engine, asked, top=3)) <= {f"{problem}-{method}" for method in METHODS}


@pytest.mark.parametrize("method", METHODS)
def test_by_method_the_same_method_comes_first(engine, method):
    asked = queries.choose_facet(engine.example(f"proteins-{method}"), Facet.METHOD)
    assert set(found(engine, asked, top=4)) <= {f"{problem}-{method}" for problem in PROBLEMS}


def test_the_same_problem_by_another_method(engine):
    paper = engine.example("tumours-graphs")
    plain = found(engine, queries.choose_sentences(paper, [0, 1, 2]), top=3)
    assert "graphs" in " ".join(plain)
    avoiding = found(engine, queries.choose_facet(paper, Facet.BACKGROUND, avoid=Facet.METHOD), top=3)
    assert set(avoiding) == {"tumours-trees", "tumours-sampling", "tumours-agents"}


def test_avoided_papers_sink_and_the_evidence_says_so(engine):
    paper = engine.example("fraud-agents")
    ticked = Query((queries.choose_facet(paper, Facet.METHOD),), top=25)
    avoiding = Query((queries.choose_facet(paper, Facet.METHOD, avoid=Facet.BACKGROUND),), top=25)
    before, after = found(engine, *ticked.papers, top=25), found(engine, *avoiding.papers, top=25)
    same_problem = [f"fraud-{method}" for method in METHODS if method != "agents"]
    assert all(after.index(each) > before.index(each) for each in same_problem)
    lowest = engine.search(avoiding).results[-1]
    assert lowest.evidence.avoided > 0.5
    assert engine.search(ticked).results[-1].evidence.avoided == 0


def test_the_triptych_has_a_column_for_each_panel_of_the_paper(engine):
    columns = engine.triptych(engine.example("traffic-sampling"), Filters(), top=3)
    assert tuple(columns) == PANELS
    assert all(result.paper.id.startswith("traffic") for result in columns[Facet.BACKGROUND].results)
    assert all("sampling" in result.paper.id for result in columns[Facet.METHOD].results)


def plane_of(engine: Engine, *papers: QueryPaper, **options) -> dict[str, Point]:
    return {point.paper.id: point for point in engine.plane(Query(papers, **options)).points}


def test_the_plane_parts_problem_from_method(engine):
    points = plane_of(engine, engine.example("proteins-trees"))
    assert len(points) == len(engine.search(Query((engine.example("proteins-trees"),), top=50)).results)
    assert "proteins-trees" not in points
    assert points["proteins-agents"].background > points["fraud-trees"].background
    assert points["fraud-trees"].method > points["proteins-agents"].method
    assert all(0 <= value <= 1 for point in points.values() for value in (point.background, point.method))


@pytest.mark.parametrize("axis", plane.AXES)
@pytest.mark.parametrize("matcher", [None, Matcher.TRANSPORT])
def test_a_likeness_is_the_score_of_a_search_by_that_panel(engine, axis, matcher):
    paper = engine.example("proteins-trees")
    points = plane_of(engine, paper, matcher=matcher)
    found = engine.search(Query((queries.choose_facet(paper, axis),), matcher, top=50)).results
    assert len(found) == len(points)
    for result in found:
        assert getattr(points[result.paper.id], axis) == pytest.approx(result.score, abs=1e-5)


def test_the_plane_does_not_depend_on_what_is_ticked(engine):
    paper = engine.example("proteins-trees")
    ticked = queries.choose_facet(paper, Facet.RESULT, avoid=Facet.METHOD)
    assert plane_of(engine, ticked) == plane_of(engine, paper)


def test_the_plane_joins_records_of_one_paper_and_takes_several_papers(engine):
    points = plane_of(engine, engine.example("fraud-trees"), engine.example("fraud-graphs"))
    assert {"fraud-trees", "fraud-graphs"}.isdisjoint(points)
    joined = points.get("traffic-trees") or points["preprint"]
    assert {joined.paper.id, *joined.duplicates} == {"traffic-trees", "preprint"}


def test_the_plane_needs_both_panels_and_says_which_is_missing(engine):
    paper = queries.choose_facet(engine.example("proteins-trees"), Facet.METHOD)
    no_method = replace(paper, sentences=tuple(each for each in paper.sentences if each.panel != "method"))
    with pytest.raises(InputError, match="labelled method"):
        engine.plane(Query((no_method,)))
    weightless = replace(
        paper, sentences=tuple(replace(e, weight=float(e.panel == "method")) for e in paper.sentences)
    )
    with pytest.raises(InputError, match="labelled background"):
        engine.plane(Query((weightless,)))


def test_the_mix_of_problem_and_method_reorders(engine):
    query = Query((engine.example("tumours-sampling"),))
    points = engine.plane(query).points
    problem = [point.paper.id for point in plane.order(points, 0.0)]
    method = [point.paper.id for point in plane.order(points, 1.0)]
    assert all(each.startswith("tumours") for each in problem[:3])
    assert all("sampling" in each for each in method[:4])


@pytest.mark.parametrize(("share", "panels"), [(0.0, {"background"}), (1.0, {"method"})])
def test_points_are_explained_by_what_counts_in_the_mix(engine, share, panels):
    query = Query((engine.example("tumours-sampling"),))
    first = plane.order(engine.plane(query).points, share)[:5]
    results = engine.explain(query, first, share)
    assert [result.paper.id for result in results.results] == [point.paper.id for point in first]
    assert [result.score for result in results.results] == [plane.mix(point, share) for point in first]
    assert {pair.query_facet.panel for result in results.results for pair in result.pairs} == panels
    assert all(result.paper.abstract for result in results.results)


def test_a_pair_of_each_panel_explains_an_even_mix(engine):
    query = Query((engine.example("tumours-sampling"),))
    result = engine.explain(query, engine.plane(query).points[:1], plane.EVEN).results[0]
    assert {pair.query_facet.panel for pair in result.pairs} == {Facet.BACKGROUND, Facet.METHOD}
    assert sum(pair.share for pair in result.pairs) == pytest.approx(1)


# -- what comes back


def test_a_result_explains_itself(engine):
    asked = queries.choose_facet(engine.example("tumours-sampling"), Facet.METHOD)
    results = engine.search(Query((asked,), top=2))
    result = results.results[0]
    said = METHODS["sampling"].rstrip(".")
    assert result.reason == f"Matches your method sentence 2, “{said}”, with “{said}”."
    pair = result.pairs[0]
    assert (pair.query_text, pair.text) == (METHODS["sampling"], METHODS["sampling"])
    assert (pair.query_facet, pair.facet) == (Facet.METHOD, Facet.METHOD)
    assert sum(each.share for each in result.pairs) == pytest.approx(1)
    assert 0 <= result.score <= 1
    assert result.likeness in (Likeness.NEAR_IDENTICAL, Likeness.SIMILAR)
    assert set(results.seconds) == {"encode", "candidates", "matching", "explanation", "total"}
    assert results.build_id == engine.manifest.build_id


@pytest.mark.parametrize("matcher", [None, *Matcher])
def test_every_matcher_ranks_and_explains(engine, matcher):
    query = Query((engine.example("fraud-graphs"),), matcher=matcher, top=3)
    results = engine.search(query).results
    assert len(results) == 3
    scores = [result.score for result in results]
    assert scores == sorted(scores, reverse=True)
    assert all(sum(pair.share for pair in result.pairs) == pytest.approx(1) for result in results)


def test_the_query_and_its_records_are_left_out(engine):
    everything = found(engine, engine.example("traffic-trees"), top=50)
    assert "traffic-trees" not in everything
    assert "preprint" not in everything
    assert len(everything) == 20


def test_a_pasted_paper_does_not_find_itself(engine):
    paper = make_paper("traffic", "trees")
    assert not {"traffic-trees", "preprint"} & set(
        found(engine, engine.read(paper.title, paper.abstract), top=50)
    )


def test_records_of_one_paper_come_together(engine):
    asked = queries.choose_facet(engine.example("traffic-graphs"), Facet.BACKGROUND)
    results = engine.search(Query((asked,), top=50)).results
    together = [result for result in results if result.duplicates]
    assert [{result.paper.id, *result.duplicates} for result in together] == [{"traffic-trees", "preprint"}]


def test_weights_move_the_ranking(engine):
    paper = engine.read_text(pasted("proteins", "agents"))

    def first(*weights: float) -> str:
        weighed = zip(paper.sentences, weights, strict=True)
        asked = replace(paper, sentences=tuple(replace(each, weight=weight) for each, weight in weighed))
        return found(engine, asked, matcher=Matcher.BEST, top=4)

    assert sum("proteins" in each for each in first(5, 0.1, 0.1)) > sum(
        "proteins" in each for each in first(0.1, 5, 0.1)
    )


def test_the_match_is_what_the_parts_say(engine):
    """Cosines and panels of one candidate, put together by hand as search/ranking/scoring.py tells it."""
    asked = queries.choose_facet(engine.example("fraud-trees"), Facet.METHOD)
    ticked = [k for k, each in enumerate(asked.sentences) if each.choice is Choice.MATCH]
    (result,) = engine.rank_pool(Query((asked,)), ["traffic-graphs"])
    ours, theirs = (
        engine.reader.vectors(engine.example(name)).sentences for name in ("fraud-trees", "traffic-graphs")
    )
    same = np.array([each.facet is Facet.METHOD for each in engine.example("traffic-graphs").sentences])
    assert 0 < same.sum() < len(same)
    favoured = ours[ticked] @ theirs.T + 0.05 * same
    assert result.evidence.sentences == pytest.approx(favoured.max(axis=1).mean(), abs=1e-3)


def test_a_whole_abstract_is_compared_as_a_whole_too(engine):
    paper = engine.example("fraud-trees")
    assert len(paper.sentences) == 3

    def compared(asked: QueryPaper, matcher: Matcher | None = None) -> bool:
        """Whether the whole paper counts; the score is checked in passing."""
        best = engine.search(Query((asked,), matcher=matcher, top=1)).results[0]
        parts = best.evidence
        match = (parts.sentences + parts.whole_paper) / 2 if parts.whole_counts else parts.sentences
        assert best.score == pytest.approx(calibration.readable(match + parts.words), abs=1e-5)
        assert parts.whole_paper != pytest.approx(parts.sentences, abs=1e-3)
        return parts.whole_counts

    assert compared(paper)
    assert compared(paper, Matcher.BEST)
    assert not compared(paper, Matcher.SINGLE)
    assert not compared(queries.choose_sentences(paper, [0, 1]))
    assert not compared(queries.choose_facet(paper, Facet.METHOD))
    assert not compared(engine.read("", f"{PROBLEMS['fraud']} {METHODS['trees']}"))


def test_words_count_less_beside_the_larger_encoder(engine, monkeypatch):
    query = Query((queries.choose_facet(engine.example("tumours-sampling"), Facet.METHOD),), top=1)
    (plain,) = engine.search(query).results
    larger = replace(engine.manifest, encoder="all-mpnet-base-v2-aspects-c10ad63f-r1")
    monkeypatch.setattr(engine.stages, "manifest", larger)
    (less,) = engine.search(query).results
    assert less.paper.id == plain.paper.id
    assert less.evidence == plain.evidence
    evidence = plain.evidence
    assert plain.score == pytest.approx(calibration.readable(evidence.sentences + 1.0 * evidence.words))
    assert less.score == pytest.approx(calibration.readable(evidence.sentences + 0.75 * evidence.words))


def test_a_pool_is_scored_as_in_a_search(engine):
    query = Query((queries.choose_facet(engine.example("fraud-trees"), Facet.METHOD),), top=50)
    searched = [result.paper.id for result in engine.search(query).results]
    pool = engine.rank_pool(query, sorted(searched))
    assert [each.paper_id for each in pool] == searched
    again = {each.paper_id: each.score for each in engine.rank_pool(query, searched[:3])}
    assert all(again[each.paper_id] == pytest.approx(each.score, abs=1e-5) for each in pool[:3])
    with pytest.raises(InputError, match="'absent'"):
        engine.rank_pool(query, [*searched[:2], "absent"])


# -- filters


@pytest.mark.parametrize(
    ("filters", "passes"),
    [
        (Filters(year_from=2013), lambda paper: (paper.year or 0) >= 2013),
        (Filters(year_to=2010), lambda paper: paper.year and paper.year <= 2010),
        (Filters(venues=("Journal of Fraud",)), lambda paper: paper.venue == "Journal of Fraud"),
        (Filters(fields=("proteins", "fraud")), lambda paper: paper.fields[0] in ("proteins", "fraud")),
        (Filters(ids=("bare", "fraud-trees")), lambda paper: paper.id in ("bare", "fraud-trees")),
        (Filters(has_doi=True), lambda paper: paper.doi),
    ],
)
def test_filters_restrict_the_search_itself(engine, filters, passes):
    asked = queries.choose_facet(engine.example("tumours-graphs"), Facet.METHOD)
    results = engine.search(Query((asked,), filters=filters, top=50)).results
    assert results
    assert all(passes(result.paper) for result in results)


def test_filters_that_nothing_passes_give_an_empty_answer(engine):
    results = engine.search(Query((engine.example("bare"),), filters=Filters(year_from=2090)))
    assert (results.results, results.candidates) == ((), 0)
    assert engine.plane(replace(results.query, papers=(engine.example("fraud-trees"),))).points == ()


# -- many papers, saved queries


def test_recommending_from_a_list_finds_what_is_like_its_papers(engine):
    listed = ["tumours-graphs", "tumours-trees", "fraud-sampling", "fraud-agents"]
    results = engine.search(Query(tuple(engine.example(each) for each in listed), top=4)).results
    assert {result.paper.id for result in results} == {
        "tumours-sampling",
        "tumours-agents",
        "fraud-graphs",
        "fraud-trees",
    }
    assert " of “A study of " in results[0].reason


def test_a_link_gives_the_same_ranking(engine):
    query = Query(
        (queries.choose_facet(engine.example("fraud-trees"), Facet.METHOD, Facet.BACKGROUND),), top=7
    )
    saved = saving.from_link(saving.to_link(query, engine.manifest.build_id))
    assert engine.restore(saved.query) == query
    assert found(engine, *engine.restore(saved.query).papers, top=7) == found(engine, *query.papers, top=7)


def test_a_link_to_an_abstract_that_changed_is_refused(engine):
    paper = engine.example("fraud-trees")
    cut = replace(paper, sentences=tuple(replace(each, text="") for each in paper.sentences[:2]))
    with pytest.raises(InputError, match="has changed"):
        engine.restore(Query((cut,)))


# -- whatever is pasted


def test_a_pasted_abstract_is_split_and_labelled(engine):
    paper = engine.read_text(pasted("tumours", "trees"))
    assert paper.title == "My own work"
    assert [sentence.text for sentence in paper.sentences] == [
        PROBLEMS["tumours"],
        METHODS["trees"],
        RESULTS["trees"],
    ]
    assert all(sentence.choice is Choice.MATCH and sentence.facet for sentence in paper.sentences)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("tumours", "tumours"),
        ("What shape does a protein fold into?", "proteins"),
        ("graph neural network, message passing", "graphs"),
        ("<p>Credit card <b>fraud</b> &amp; losses</p>", "fraud"),
        ("Traffic jams 🚗🚦 in cities", "traffic"),
        ("counting birds", "bare"),
    ],
)
def test_words_questions_and_markup_are_answered(engine, text, first):
    assert first in found(engine, engine.read_text(text), top=1)[0]


@pytest.mark.parametrize(
    "text",
    [
        "Ein Staub über Märkte",
        "交通堵塞在大城市",
        "Пробки в больших городах.",
        "x",
        "42",
        "Traffic jams. " * 3500,
        "\u202eesrever",
        "- ; drop table papers; --",
        "'" * 500 + "a",
    ],
)
def test_odd_texts_get_an_answer(engine, text):
    assert len(found(engine, engine.read_text(text), top=5)) == 5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "nothing to search for"),
        (" \n\t ", "nothing to search for"),
        ("🚗🚦", "nothing to search for"),
        ("<p></p>", "nothing to search for"),
        (bytes(range(256)).decode("latin-1") * 3, "binary"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe".decode("utf-8", "replace") * 9, "binary"),
        ("\ud800" * 40, "binary"),
    ],
)
def test_what_is_no_text_gets_one_clear_sentence(engine, text, says):
    with pytest.raises(InputError, match=says):
        engine.read_text(text)


def test_an_unknown_example_is_named(engine):
    with pytest.raises(InputError, match="'nobody'"):
        engine.example("nobody")


# -- threads, corpora


def test_many_searches_at_once_answer_as_one_after_another(engine):
    asked = [Query((engine.example(f"{p}-{m}"),), top=5) for p in PROBLEMS for m in METHODS]
    texts = [Query((engine.read_text(pasted(p, "agents")),), top=5) for p in PROBLEMS]
    alone = [engine.search(query).results for query in [*asked, *texts]]
    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(lambda query: engine.search(query).results, [*asked, *texts] * 4))
    finally:
        sys.setswitchinterval(old)
    assert together == alone * 4


def test_a_folder_without_a_corpus_says_how_to_make_one(tmp_path):
    with pytest.raises(CorpusError, match="index_build"):
        Engine.open(tmp_path)


def test_one_paper_is_a_corpus(tmp_path):
    from index_build.steps import build
    from search.corpus.store import Store
    from search.text.sentences import split_paper

    with Store.create(tmp_path / "store.duckdb") as store:
        store.add([split_paper(Paper("only", "The only paper there is", "It is alone. It is enough."))])
    build(tmp_path)
    alone = Engine.open(tmp_path)
    assert found(alone, alone.read_text("anything at all")) == ["only"]
    assert found(alone, alone.example("only")) == []
    assert np.isfinite(alone.search(Query((alone.read_text("x"),))).results[0].score)
