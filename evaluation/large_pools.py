"""Citation recommendation in pools of growing size, where BM25 holds its own.

After section 3 of Medić and Šnajder (2022): a query paper's candidates are what it cites and papers drawn
at random, none published after it. BM25's k1 and b are tuned on other queries. All methods read title and
abstract. Pools are nested, and no method's score depends on the other candidates, so each query is scored
once in its largest pool.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product as combinations
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from bm25s.tokenization import Tokenized, Tokenizer
from numpy.typing import NDArray

from evaluation import engine_under_test as product
from evaluation.collection_files import find_file, read_papers, read_records
from evaluation.collections import data_hash
from evaluation.metrics import LARGE_POOL_MEASURES, mean, trec_values
from evaluation.results import save, write_json
from evaluation.runner import show_progress
from evaluation.tables import SHORT, number, table
from search.corpus.bm25 import LexicalIndex
from search.engine import Engine
from search.errors import InputError
from search.text.sentences import split_paper
from search.text.tokenizer import tokenize, weigh_terms
from search.types import Paper

SIZES = (500, 2000, 5000, 15000)
"""Papers in the pools that are compared."""
K1 = (0.8, 1.2, 1.6, 2.0)
B = (0.3, 0.5, 0.75, 0.9, 1.0)
"""Parameters of BM25 that are tried: around the usual 1.2 and 0.75."""
FEWEST_CITED = 5
"""Papers that a query paper must cite; with fewer its figures say little. Chosen by hand."""
CORPUS = "citations"
"""What the corpus of all its papers is called in the cache."""
Floats = NDArray[np.float32]
Pools = Mapping[str, NDArray[np.int64]]
"""Query -> candidates as positions in the corpus, what it cites first."""


@dataclass(frozen=True, slots=True)
class Citations:
    papers: Mapping[str, Paper]
    cited: Mapping[str, tuple[str, ...]]
    """Query -> papers it cites, none newer than itself."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("pools of growing size")
    group.add_argument(
        "--large-pools", type=Path, metavar="DIR", help="papers.jsonl and cite_pairs.jsonl (.gz)"
    )
    group.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="papers drawn for each pool")
    group.add_argument("--sample", type=int, default=200, help="query papers measured (default: 200)")
    group.add_argument(
        "--validation", type=int, default=100, help="query papers for tuning BM25 (default: 100)"
    )
    group.add_argument(
        "--limit", type=int, metavar="N", help="a corpus of N papers drawn from it, to save time"
    )
    group.add_argument("--seed", type=int, default=1)


def run(args: argparse.Namespace) -> int:
    citations = read_citations(args.large_pools)
    sizes = sorted(args.sizes)
    queries, validation = choose_queries(citations, args.sample, args.validation, args.seed)
    if args.limit:
        citations = shrink(citations, [*queries, *validation], args.limit, args.seed)
    pools = draw_pools(citations, [*queries, *validation], sizes[-1], args.seed)
    terms = read_terms([_text(paper) for paper in citations.papers.values()])
    k1, b = tune(terms, citations, validation, pools, sizes)
    engine = product.open_engine(CORPUS, citations.papers, args.encoder, show_progress)
    scores = {
        "bm25": by_words(index_words(terms, k1, b), citations, queries, pools),
        "dense": by_vectors(engine, citations, queries, pools),
        "triptych": by_product(engine, citations, queries, pools),
    }
    found = {
        name: {size: measure(citations, queries, pools, mine, size) for size in sizes}
        for name, mine in scores.items()
    }
    figures = {
        "collection": "large_pools",
        "queries": len(queries),
        "papers": len(citations.papers),
        "bm25": {"k1": k1, "b": b, "tuned_on": len(validation)},
        "pool_sizes": {size: mean_size(citations, queries, pools, size) for size in sizes},
        "methods": found,
    }
    print(describe(figures))
    if args.json:
        write_json(args.json, figures)
    if args.save:
        save("large-pools", figures, engine.manifest.encoder, data_hash(citations.papers.values()))
    return 0


def read_citations(folder: Path) -> Citations:
    """Papers with a year and an abstract, and who cites whom among them."""
    known = (
        paper for paper in read_papers(find_file(folder, "papers.jsonl")) if paper.year and paper.abstract
    )
    papers = {paper.id: paper for paper in known}
    cited: dict[str, dict[str, None]] = defaultdict(dict)
    for pair in read_records(find_file(folder, "cite_pairs.jsonl")):
        one, other = papers.get(pair["citing"]), papers.get(pair["cited"])
        if one and other and one.id != other.id and _year(other) <= _year(one):
            cited[one.id][other.id] = None
    return Citations(papers, {query: tuple(found) for query, found in cited.items()})


def choose_queries(
    citations: Citations, sample: int, validation: int, seed: int
) -> tuple[list[str], list[str]]:
    """Papers that cite enough others here: those measured, and others for tuning."""
    able = sorted(query for query, cited in citations.cited.items() if len(cited) >= FEWEST_CITED)
    if len(able) < 2:
        raise InputError(
            f"Only {len(able)} papers cite {FEWEST_CITED} others of this corpus: a larger one is needed."
        )
    order = [able[place] for place in np.random.default_rng(seed).permutation(len(able))]
    # A small corpus is shared out in the same proportion.
    cut = min(sample, max(1, len(able) * sample // (sample + validation)))
    return order[:cut], order[cut : cut + validation]


def shrink(citations: Citations, queries: Sequence[str], most: int, seed: int) -> Citations:
    """The queries, what they cite, and others drawn at random up to `most` papers."""
    kept = dict.fromkeys([*queries, *(paper for query in queries for paper in citations.cited[query])])
    others = [paper for paper in citations.papers if paper not in kept]
    drawn = np.random.default_rng(seed).permutation(len(others))[: max(most - len(kept), 0)]
    chosen = kept.keys() | {others[place] for place in drawn}
    papers = {paper: found for paper, found in citations.papers.items() if paper in chosen}
    return Citations(papers, {query: citations.cited[query] for query in queries})


def draw_pools(citations: Citations, queries: Sequence[str], size: int, seed: int) -> Pools:
    """What each query cites, then up to `size` other papers not newer than it, in random order."""
    ids = list(citations.papers)
    places = {paper: place for place, paper in enumerate(ids)}
    years = np.array([_year(paper) for paper in citations.papers.values()])
    pools = {}
    for turn, query in enumerate(queries):
        mine = np.array([places[paper] for paper in citations.cited[query]])
        others = np.flatnonzero(years <= _year(citations.papers[query]))
        others = np.setdiff1d(others, [*mine, places[query]])
        drawn = np.random.default_rng([seed, turn]).permutation(others)[:size]
        pools[query] = np.concatenate([mine, drawn])
    return pools


def measure(
    citations: Citations, queries: Sequence[str], pools: Pools, scores: Mapping[str, Floats], size: int
) -> dict[str, float]:
    """Means over the queries in their pools of this size; `scores` go along the largest pools."""
    found, grades = {}, {}
    for query in queries:
        count = len(citations.cited[query])
        pool = [str(place) for place in pools[query][: count + size]]
        found[query] = dict(zip(pool, map(float, scores[query]), strict=False))
        grades[query] = dict.fromkeys(pool[:count], 1)
    return mean(trec_values(found, grades, LARGE_POOL_MEASURES), list(queries))


def mean_size(citations: Citations, queries: Sequence[str], pools: Pools, size: int) -> float:
    """The year rule and the size of the corpus may leave fewer papers than were asked for."""
    return float(np.mean([min(len(pools[query]), len(citations.cited[query]) + size) for query in queries]))


def tune(
    terms: Tokenized,
    citations: Citations,
    validation: Sequence[str],
    pools: Pools,
    sizes: Sequence[int],
) -> tuple[float, float]:
    """The k1 and b with the best MAP on the validation queries in pools of the middle size."""
    size = sizes[len(sizes) // 2]

    def quality(pair: tuple[float, float]) -> float:
        scores = by_words(index_words(terms, *pair), citations, validation, pools)
        return measure(citations, validation, pools, scores, size)["map"]

    return max(combinations(K1, B), key=quality) if validation else (1.2, 0.75)


def read_terms(texts: list[str]) -> Tokenized:
    """The product's search terms of all texts as numbers, found once for every k1 and b."""
    tokenizer = Tokenizer(lower=False, splitter=tokenize, stopwords=[])
    return tokenizer.tokenize(texts, return_as="tuple", allow_empty=False, show_progress=False)


def index_words(terms: Tokenized, k1: float, b: float) -> LexicalIndex:
    """The product's word search over the terms of all papers, kept in memory."""
    index = bm25s.BM25(k1=k1, b=b, method="lucene", csc_backend="scipy")
    index.index(terms, create_empty_token=False, show_progress=False)
    parts = (index.scores[name] for name in ("data", "indices", "indptr", "num_docs"))
    return LexicalIndex(index.vocab_dict.get, *parts)


def by_words(
    words: LexicalIndex, citations: Citations, queries: Sequence[str], pools: Pools
) -> dict[str, Floats]:
    """BM25 with title and abstract along each pool."""
    return {
        query: words.scores(weigh_terms([(_text(citations.papers[query]), 1.0)]))[pools[query]]
        for query in queries
    }


def by_vectors(
    engine: Engine, citations: Citations, queries: Sequence[str], pools: Pools
) -> dict[str, Floats]:
    """Cosines of whole-paper vectors along each pool."""
    rows = engine.store.rows_of(list(citations.papers))
    mine = dict(zip(queries, engine.store.rows_of(queries), strict=True))
    everything = engine.store.spread(engine.manifest.papers)
    vectors = engine.store.whole_vectors(everything).astype(np.float32)
    places = np.searchsorted(everything, rows)
    own = {query: vectors[np.searchsorted(everything, mine[query])] for query in queries}
    return {query: vectors[places[pools[query]]] @ own[query] for query in queries}


def by_product(
    engine: Engine, citations: Citations, queries: Sequence[str], pools: Pools
) -> dict[str, Floats]:
    """The scores of a user's search with the whole abstract, along each pool."""
    ids = np.array(list(citations.papers))
    found = {}
    for done, query in enumerate(queries, start=1):
        pool = ids[pools[query]].tolist()
        paper = split_paper(citations.papers[query])
        asked = product.to_query(paper, range(len(paper.sentences)))
        scores = {one.paper_id: one.score for one in engine.rank_pool(asked, pool)}
        found[query] = np.array([scores[each] for each in pool], np.float32)
        show_progress("rank", done, len(queries))
    return found


def describe(figures: Mapping[str, Any]) -> str:
    sizes = list(figures["pool_sizes"])
    rows = [
        [name, SHORT[each], *(number(found[size][each]) for size in sizes)]
        for name, found in figures["methods"].items()
        for each in LARGE_POOL_MEASURES
    ]
    heads = [f"{figures['queries']} queries", "pools:", *map(str, sizes)]
    tuned = "BM25 tuned on {tuned_on} other queries: k1 {k1}, b {b}".format(**figures["bm25"])
    return f"{table(rows, heads)}\n\n{tuned}"


def _text(paper: Paper) -> str:
    return f"{paper.title} {paper.abstract}"


def _year(paper: Paper) -> int:
    return paper.year or 0
