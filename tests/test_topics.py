"""A topic's papers, clusters, hits and map: worked by hand and on the small corpus."""

from __future__ import annotations

import numpy as np
import pytest

from search.engine import Engine
from search.topics import FEWEST, UNNAMED, clusters, explore, find_hits, named_clusters
from search.types import PANELS, Document, Facet, Filters, Paper, Sentence
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


def test_a_topic_is_read_once_not_as_title_and_sentence(engine: Engine) -> None:
    """The likeness of a hit is the cosine to the topic as a search would encode it."""
    text = "small cracks in bridges made of concrete"
    right = engine.encoder.encode_one(Document("", (text,))).paper
    twice = engine.encoder.encode_one(Document(text, (text,))).paper
    assert right @ twice < 0.995
    hit = explore(engine, text).hits[Facet.BACKGROUND][0]
    row = int(engine.store.rows_of([hit.paper.id])[0])
    sentence = engine.vectors_of(row).sentences[hit.position]
    assert hit.likeness == pytest.approx(float(sentence @ right), abs=1e-5)
    assert hit.likeness != pytest.approx(float(sentence @ twice), abs=1e-4)


def test_the_total_counts_what_is_related_and_few_are_filled_up(engine: Engine) -> None:
    bridges = explore(engine, "small cracks in bridges made of concrete")
    assert 6 <= bridges.related < 36
    assert not bridges.bounded
    assert len(bridges.papers) == max(bridges.related, FEWEST)
    nothing = explore(engine, "medieval tax law of Bohemian monasteries")
    assert nothing.related < FEWEST
    assert len(nothing.papers) == FEWEST


def test_the_total_is_bounded_where_as_many_are_related_as_were_looked_for(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search.topics.COMPARED", 3)
    assert explore(engine, "small cracks in bridges made of concrete").bounded


def test_terms_tell_methods_from_problems(engine: Engine) -> None:
    topic = explore(engine, "predictions and how sure they are")
    words = {f: {w for term in terms for w in term.text.lower().split()} for f, terms in topic.terms.items()}
    of_methods = {word for text in METHODS.values() for word in text.lower().replace(".", "").split()}
    assert words[Facet.METHOD]
    assert words[Facet.METHOD] <= of_methods
    assert not words[Facet.METHOD] & words[Facet.BACKGROUND]


def test_clusters_hold_each_paper_once_and_have_names_of_the_papers(engine: Engine) -> None:
    topic = explore(engine, "a study of errors in current practice")
    held = sorted(place for cluster in topic.clusters for place in cluster.papers)
    assert held == list(range(len(topic.papers)))
    assert len({cluster.name for cluster in topic.clusters}) == len(topic.clusters) > 1
    for cluster in topic.clusters:
        for phrase in cluster.name.split(", ") if cluster.name != UNNAMED else ():
            texts = (topic.papers[p].title + " " + topic.papers[p].abstract for p in cluster.papers)
            assert sum(phrase.lower() in text.lower() for text in texts) >= 3
    assert topic == explore(engine, "a study of errors in current practice")


def test_problems_and_methods_are_grouped_each_by_itself(engine: Engine) -> None:
    """Each paper of the corpus is one of six problems and one of six methods."""
    topic = explore(engine, "rare birds in forest recordings")
    problems = topic.sides[Facet.BACKGROUND]
    assert len(problems) > 1
    birds = {f"test:0{m}" for m in range(6)}
    assert birds in [{topic.papers[place].id for place in cluster.papers} for cluster in problems]
    for side in topic.sides.values():
        held = [place for cluster in side for place in cluster.papers]
        assert len(held) == len(set(held))
        assert set(held) <= set(range(len(topic.papers)))


def test_filters_hold(engine: Engine) -> None:
    topic = explore(engine, "bridges", Filters(year_from=2010))
    assert topic.papers
    assert all(paper.year and paper.year >= 2010 for paper in topic.papers)
    nothing = explore(engine, "bridges", Filters(year_from=2900))
    assert nothing.papers == nothing.clusters == nothing.places == ()
    assert all(not nothing.hits[facet] and not nothing.terms[facet] for facet in PANELS)


def test_the_best_sentence_of_each_panel_is_the_hit() -> None:
    sentences = (
        Sentence("a", 0, 1, Facet.OBJECTIVE),
        Sentence("b", 2, 3, Facet.BACKGROUND),
        Sentence("c", 4, 5, Facet.RESULT),
        Sentence("d", 6, 7, Facet.OTHER),
    )
    paper = Paper("x", "T", "a b c d", sentences=sentences)
    hits = find_hits([paper], [np.array([0, 0.8, 1, 0.9], np.float32)])
    assert [hit.text for hit in hits[Facet.BACKGROUND]] == ["b"]
    assert hits[Facet.BACKGROUND][0].likeness == pytest.approx(0.8)
    assert [hit.text for hit in hits[Facet.RESULT]] == ["c"]
    assert hits[Facet.METHOD] == ()


def heaps(*sizes: int) -> clusters.Floats:
    """Vectors in heaps of these sizes, each heap around an axis of its own."""
    chance = np.random.default_rng(1)
    middles = np.repeat(np.eye(len(sizes), 16, dtype=np.float32), sizes, axis=0)
    return np.asarray(middles + 0.05 * chance.normal(size=middles.shape), np.float32)


def test_vectors_in_heaps_are_grouped_by_heap() -> None:
    groups = clusters.group(heaps(5, 9, 7))
    assert [len(set(part.tolist())) for part in np.split(groups, [5, 14])] == [1, 1, 1]
    assert np.bincount(groups).tolist() == [9, 7, 5]


def test_no_cluster_is_smaller_than_three_and_few_papers_make_none() -> None:
    groups = clusters.group(heaps(2, 30, 30))
    assert np.bincount(groups).min() >= clusters.FEWEST
    assert clusters.group(heaps(4, 4)).tolist() == [0] * 8
    assert clusters.group(np.ones((40, 4), np.float32)).tolist() == [0] * 40


def test_central_papers_come_first() -> None:
    vectors = heaps(20, 20)
    vectors[3] = (vectors[3] + vectors[30]) / 2  # between the heaps
    groups = clusters.group(vectors)
    central = clusters.most_central(vectors, groups, int(groups[3]))
    assert central[-1] == 3
    assert sorted(central) == np.flatnonzero(groups == groups[3]).tolist()


def test_clusters_without_a_name_come_together_at_the_end() -> None:
    vectors, groups = heaps(5, 4, 3), np.repeat([0, 1, 2], [5, 4, 3])
    named = named_clusters(vectors, groups, ["", "kernels", ""])
    assert [(cluster.name, len(cluster.papers)) for cluster in named] == [("kernels", 4), (UNNAMED, 8)]
    assert named_clusters(vectors, groups, ["", "", ""]) == ()


def test_the_map_keeps_neighbours_and_bounds() -> None:
    vectors = heaps(8, 8, 8)
    groups = np.repeat([0, 1, 2], 8)
    places = clusters.spread(vectors, groups)
    assert places.shape == (24, 2)
    assert np.abs(places).max() == pytest.approx(1)
    assert np.linalg.norm(places[0] - places[1]) < np.linalg.norm(places[0] - places[9])
    assert clusters.spread(vectors[:2], groups[:2]) == pytest.approx(np.zeros((2, 2)))
    assert places == pytest.approx(clusters.spread(vectors.copy(), groups))
