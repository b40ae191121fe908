"""The usual ways to do what the engine does, timed on the same corpus: `ot.emd2`, flat Faiss, `rank_bm25`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import faiss
import numpy as np
import ot
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi
from scipy.stats import spearmanr

from search.engine import Engine
from search.ranking import matching
from search.text.tokenizer import tokenize
from search.types import Document, Facet, Matcher, Paper

MATCHED, DEPTH = 1000, 400
BLOCK = 8192
"""Papers that are read together."""
Made = TypeVar("Made")


def measure(engine: Engine, papers: Sequence[Paper]) -> dict[str, float]:
    """Each baseline with these papers as queries."""
    figures = transport(engine, papers) | brute_force(engine, papers)
    return figures | {"rank_bm25_p50_ms": rank_bm25(engine, papers)}


def timed(work: Callable[..., Made], *given: Any) -> tuple[float, Made]:
    """Milliseconds and what was made."""
    started = time.perf_counter()
    made = work(*given)
    return 1000 * (time.perf_counter() - started), made


def asked_sentences(engine: Engine, paper: Paper) -> NDArray[np.float32]:
    """Vectors [m, d] of the paper's method sentences, or of all where it has none."""
    texts = tuple(sentence.text for sentence in paper.sentences)
    vectors = engine.encoder.encode_one(Document(paper.title, texts)).sentences
    method = [place for place, one in enumerate(paper.sentences) if one.facet is Facet.METHOD]
    return vectors[method] if method else vectors


def transport(engine: Engine, papers: Sequence[Paper]) -> dict[str, float]:
    """1,000 candidates by batched Sinkhorn, reading included, and by a loop of `ot.emd2` without reading."""
    ours, loop, agreement = [], [], []
    for paper in papers:
        asked = asked_sentences(engine, paper)
        near = engine.store.near_papers(asked[:1], MATCHED)[1][0]
        reading, sentences = timed(engine.store.sentences, near)
        offsets = sentences.offsets
        comparing, similarity = timed(matching.similarities, asked, sentences.vectors)
        moving, scores = timed(matching.score, Matcher.TRANSPORT, similarity, offsets)
        ours.append(reading + comparing + moving)
        looping, exact = timed(emd2_loop, similarity, offsets)
        loop.append(looping)
        agreement.append(spearmanr(scores, -exact)[0])
    return {
        "transport_p50_ms": float(np.median(ours)),
        "emd2_loop_p50_ms": float(np.median(loop)),
        "emd2_loop_times_transport": float(np.median(loop) / np.median(ours)),
        "spearman_with_emd2_least": float(np.min(agreement)),
    }


def emd2_loop(similarity: NDArray[np.float32], offsets: NDArray[np.integer]) -> NDArray[np.float64]:
    """ASPIRE's distance [C] of one candidate after the other, from cosines [m, S]."""
    distance = matching.distances(similarity).astype(np.float64)
    found = np.empty(len(offsets) - 1)
    for place in range(len(found)):
        cost = np.ascontiguousarray(distance[:, offsets[place] : offsets[place + 1]])
        a = np.exp(-cost.min(axis=1) / matching.TEMPERATURE)
        b = np.exp(-cost.min(axis=0) / matching.TEMPERATURE)
        found[place] = ot.emd2(a / a.sum(), b / b.sum(), cost)
    return found


def brute_force(engine: Engine, papers: Sequence[Paper]) -> dict[str, float]:
    """The nearest sentences by an exact flat index in memory, and by the engine's index."""
    flat = faiss.IndexFlatIP(engine.encoder.dimension)
    for rows in _blocks(engine):
        flat.add(engine.store.sentences(rows).vectors.astype(np.float32))
    exact, ours = [], []
    for paper in papers:
        asked = asked_sentences(engine, paper)
        ours.append(timed(engine.store.near_sentences, asked, DEPTH)[0])
        exact.append(timed(flat.search, asked, DEPTH)[0])
    return {"sentence_index_p50_ms": float(np.median(ours)), "flat_faiss_p50_ms": float(np.median(exact))}


def rank_bm25(engine: Engine, papers: Sequence[Paper]) -> float:
    """`rank_bm25` scoring every paper for a whole abstract."""
    papers_of = (engine.store.papers_by_row(rows) for rows in _blocks(engine))
    texts = (f"{each.title} {each.abstract}" for block in papers_of for each in block)
    index = BM25Okapi([tokenize(text) for text in texts])
    terms = [tokenize(f"{paper.title} {paper.abstract}") for paper in papers]
    return float(np.median([timed(index.get_scores, each)[0] for each in terms]))


def _blocks(engine: Engine) -> Iterator[NDArray[np.integer]]:
    """All rows, some thousand at a time."""
    rows = engine.store.spread(engine.manifest.papers)
    for start in range(0, len(rows), BLOCK):
        yield rows[start : start + BLOCK]
