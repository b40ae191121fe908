"""Same method, different problem: what avoiding does to real, judged papers."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from evaluation.collections import facet_positions, read_csfcube
from evaluation.engine_under_test import fill_store, to_query
from index_build.steps import build
from search.corpus import layout
from search.engine import Engine
from search.query.choosing import choose_sentences
from search.types import Query

TWICE = ("3264891", "11844559", "52194540", "1791179", "2468783")
"""Development queries of CSFCube that were judged for two facets."""
FIRST = 20

pytestmark = [pytest.mark.data, pytest.mark.slow]


@pytest.fixture(scope="module")
def collection(shared_data):
    return read_csfcube(shared_data / "csfcube")


@pytest.fixture(scope="module")
def pairs(collection):
    """Each of these queries by one facet, with the other to be avoided: ten pairs."""
    judged = [query for fold in collection.chosen("dev") for query in fold if query.paper_id in TWICE]
    return [(one, other) for one, other in permutations(judged, 2) if one.paper_id == other.paper_id]


@pytest.fixture(scope="module")
def engine(collection, pairs, tmp_path_factory):
    corpus = tmp_path_factory.mktemp("judged")
    papers = sorted({paper for query, _ in pairs for paper in query.grades})
    fill_store(corpus / layout.STORE, [collection.papers[each] for each in papers])
    build(corpus)
    return Engine.open(corpus)


def test_same_method_different_problem(engine, collection, pairs):
    """What is avoided gives way, and more than what is asked for."""
    found = []
    for query, avoided in pairs:
        paper = collection.papers[query.paper_id]
        both = sorted(set(query.grades) & set(avoided.grades) - {query.paper_id})
        asked, away = (facet_positions(paper, each.facet) for each in (query, avoided))
        ticked = to_query(paper, asked)
        avoiding = Query((choose_sentences(ticked.papers[0], asked, avoid=away),))
        for search in (ticked, avoiding):
            first = [scored.paper_id for scored in engine.rank_pool(search, both)[:FIRST]]
            found += [np.mean([each.grades[paper] for paper in first]) for each in (query, avoided)]
    asked_before, avoided_before, asked_after, avoided_after = np.reshape(found, (-1, 4)).mean(axis=0)
    assert len(pairs) == 10
    assert avoided_after < 0.85 * avoided_before
    assert asked_after > 0.8 * asked_before
    assert avoided_before - avoided_after > asked_before - asked_after
