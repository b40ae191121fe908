"""Same method, different problem: what avoiding does to real, judged papers."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.pools import facet_positions, read_csfcube
from evaluation.product import fill_store, to_query
from index_build.steps import build
from search import manifest as layout
from search.engine import Engine
from search.query import choose_sentences
from search.types import Facet, Query

QUERY = "52194540"
"""A CSFCube paper judged both for its method and for its background."""
FIRST = 20

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def judged(shared_data, tmp_path_factory):
    """The engine on the papers judged for both facets, the query paper, and the grades of each facet."""
    collection = read_csfcube(shared_data / "csfcube")
    grades = {
        facet: collection.queries[f"{QUERY}_{facet}"].grades for facet in (Facet.METHOD, Facet.BACKGROUND)
    }
    both = sorted(set(grades[Facet.METHOD]) & set(grades[Facet.BACKGROUND]))
    corpus = tmp_path_factory.mktemp("judged")
    fill_store(corpus / layout.STORE, [collection.papers[each] for each in both])
    build(corpus)
    return Engine.open(corpus), collection.papers[QUERY], grades, both


def test_same_method_different_problem(judged):
    engine, paper, grades, both = judged
    method, background = (facet_positions(paper, facet) for facet in (Facet.METHOD, Facet.BACKGROUND))
    ticked = to_query(paper, method)
    avoiding = Query((choose_sentences(ticked.papers[0], method, avoid=background),))

    def mean_grade(query: Query, facet: Facet) -> float:
        first = [scored.paper_id for scored in engine.rank_pool(query, both)[:FIRST]]
        return float(np.mean([grades[facet][each] for each in first]))

    assert mean_grade(avoiding, Facet.BACKGROUND) < 0.5 * mean_grade(ticked, Facet.BACKGROUND)
    assert mean_grade(avoiding, Facet.METHOD) > 0.6 * mean_grade(ticked, Facet.METHOD)
