"""How good a ranking is: the field's measures, and CSFCube's own where they differ.

Average precision, precision, recall, reciprocal rank and trec_eval's NDCG come from `ir_measures`.
Two of CSFCube's figures (Mysore et al. 2021) exist nowhere else, so they are written here:
R-precision as published, and NDCG whose second rank is not discounted, cut at a share of the pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ir_measures
import numpy as np
from ir_measures import AP, RR, P, R, nDCG

Scores = Mapping[str, Mapping[str, float]]
"""Query id -> paper id -> score, higher is better."""
Found = dict[str, dict[str, float]]
"""The same as a method returns them."""
Grades = Mapping[str, Mapping[str, int]]
"""Query id -> paper id -> grade."""
Values = dict[str, dict[str, float]]
"""Query id -> measure -> value in percent."""

POOL_MEASURES = ("map", "r_precision", "precision_20", "recall_20", "ndcg", "ndcg_pct20")
BEIR_MEASURES = {"map": AP, "ndcg_10": nDCG @ 10, "recall_30": R @ 30, "recall_100": R @ 100, "mrr": RR}
MDCR_MEASURES = {"map": AP, "ndcg": nDCG, "recall_5": R @ 5}
LARGE_POOL_MEASURES = {"map": AP, "ndcg": nDCG, "recall_30": R @ 30}


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Paper ids, best first; equal scores in the order of the ids, which knows nothing of the grades."""
    return sorted(scores, key=lambda paper: (-scores[paper], paper))


def pool_values(scores: Scores, grades: Grades, relevant_from: int) -> Values:
    """CSFCube's measures of every scored query, in percent.

    Grades count as they are in NDCG; elsewhere a paper is relevant from the grade `relevant_from` on.
    """
    binary = {"map": AP(rel=relevant_from), "precision_20": P(rel=relevant_from) @ 20}
    values = trec_values(scores, grades, binary | {"recall_20": R(rel=relevant_from) @ 20})
    for query, mine in values.items():
        gains = [grades[query][paper] for paper in ranked(scores[query])]
        relevant = [grade >= relevant_from for grade in gains]
        mine["r_precision"] = 100 * r_precision(relevant)
        mine["ndcg"] = 100 * ndcg(gains, len(gains))
        mine["ndcg_pct20"] = 100 * ndcg(gains, len(gains) // 5)
    return {query: {name: mine[name] for name in POOL_MEASURES} for query, mine in values.items()}


def trec_values(scores: Scores, grades: Grades, measures: Mapping[str, ir_measures.Measure]) -> Values:
    """Measures of `ir_measures` for every scored query, in percent; a query without relevant papers has 0."""
    names = {measure: name for name, measure in measures.items()}
    # trec_eval breaks ties in its own way: ranks as scores keep the order ours.
    run = {
        query: {paper: -rank for rank, paper in enumerate(ranked(found))} for query, found in scores.items()
    }
    judged = {query: dict(grades[query]) for query in scores}
    values: Values = {query: dict.fromkeys(measures, 0.0) for query in scores}
    for metric in ir_measures.iter_calc(list(names), judged, run):
        values[metric.query_id][names[metric.measure]] = 100 * metric.value
    return values


def r_precision(relevant: Sequence[bool]) -> float:
    """R-precision as CSFCube publishes it: precision at the rank of the last relevant paper.

    Not the usual precision at R; kept because published rows use it. 0 where nothing is relevant.
    """
    places = np.flatnonzero(relevant)
    return len(places) / (int(places[-1]) + 1) if len(places) else 0.0


def ndcg(gains: Sequence[float], depth: int) -> float:
    """NDCG at a depth: DCG = g_1 + sum_{r >= 2} g_r / log2(r), over the DCG of the best order.

    This is the form of Järvelin and Kekäläinen (2002) with base 2, where ranks 1 and 2 weigh the same;
    CSFCube uses it with grades as gains and a fifth of the pool, rounded down, as depth.
    """
    best = _dcg(sorted(gains, reverse=True)[:depth])
    return _dcg(gains[:depth]) / best if best else 0.0


def _dcg(gains: Sequence[float]) -> float:
    discounts = np.log2(np.maximum(np.arange(1, len(gains) + 1), 2))
    return float(np.sum(np.asarray(gains, dtype=float) / discounts))


def mean(values: Values, queries: Sequence[str]) -> dict[str, float]:
    """Each measure's mean over the queries."""
    names = values[queries[0]]
    return {name: float(np.mean([values[query][name] for query in queries])) for name in names}


def mean_of_folds(values: Values, folds: Sequence[Sequence[str]]) -> dict[str, float]:
    """The mean of the folds' means (Mysore et al. 2021): a fold counts the same whatever its size."""
    means = [mean(values, fold) for fold in folds]
    return {name: float(np.mean([fold[name] for fold in means])) for name in means[0]}
