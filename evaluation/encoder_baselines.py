"""The encoder baselines of the CSFCube and ASPIRE papers, for any encoder that can be loaded.

Contextual vectors are as the model gives them, not of unit length, because the papers' distances are.
Mysore, Cohan, Hope: Multi-Vector Models with Textual Guidance for Fine-Grained Scientific Document
Similarity (NAACL 2022); Cohan et al.: SPECTER (ACL 2020); Ostendorff et al.: SciNCL (EMNLP 2022).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import ot
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import softmax

from evaluation.array_cache import kept
from evaluation.collections import Collection, PoolQuery, data_hash, facet_positions
from evaluation.metrics import Found
from evaluation.transformer import Reader
from search.encoder.loading import load_encoder
from search.encoder.pretrained import find_weights
from search.types import Document, Paper

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Vectors:
    """What a model says of the papers in a list: sentence vectors [S, d] one paper after another."""

    rows: dict[str, int]
    offsets: NDArray[np.int64]
    sentences: Floats
    papers: Floats
    """[P, d], one per paper: its [CLS] vector."""

    def of(self, paper: str, places: Sequence[int] | None = None) -> Floats:
        start, end = self.offsets[self.rows[paper]], self.offsets[self.rows[paper] + 1]
        return self.sentences[start:end] if places is None else self.sentences[start:end][list(places)]


def nearest_pair(query: Floats, candidate: Floats) -> float:
    """-min_ij d_ij: one matching pair of sentences is enough (tsAspire, maxAspire)."""
    return -float(cdist(query, candidate).min())


def attention(query: Floats, candidate: Floats) -> float:
    """-sum_ij p_ij d_ij with p = softmax over all pairs of -d_ij (attAspire)."""
    distance = cdist(query, candidate)
    return -float((softmax(-distance) * distance).sum())


def transport(query: Floats, candidate: Floats) -> float:
    """-sum_ij P_ij d_ij, P the optimal plan between softmax(-min_j d_ij) and softmax(-min_i d_ij) (otAspire).

    Solved exactly; the paper's own Sinkhorn with blur 0.05 comes close to it.
    """
    distance = cdist(query, candidate)
    return -float(ot.emd2(softmax(-distance.min(axis=1)), softmax(-distance.min(axis=0)), distance))


def largest_cosine(query: Floats, candidate: Floats) -> float:
    """max_ij cos(q_i, c_j), for sentence encoders."""
    return 1 - float(cdist(query, candidate, "cosine").min())


MATCHING: dict[str, Callable[[Floats, Floats], float]] = {
    "tsAspire": nearest_pair,
    "maxAspire": nearest_pair,
    "attAspire": attention,
    "otAspire": transport,
    "sentences": largest_cosine,
}


def rank_by_sentences(
    collection: Collection, queries: Sequence[PoolQuery], family: str, encoder: str
) -> Found:
    """Query facet sentences against all sentences of each candidate, by the matching of the family."""
    vectors = encode(collection, queries, encoder, alone=family == "sentences")
    found: Found = {}
    for query in queries:
        asked = vectors.of(query.paper_id, facet_positions(collection.papers[query.paper_id], query.facet))
        found[query.id] = {paper: MATCHING[family](asked, vectors.of(paper)) for paper in query.grades}
    return found


def rank_by_abstract(collection: Collection, queries: Sequence[PoolQuery], encoder: str) -> Found:
    """-L2 between [CLS] vectors of `title [SEP] abstract`; facets play no part (SPECTER and its kin)."""
    vectors = encode(collection, queries, encoder, alone=False)
    found: Found = {}
    for query in queries:
        pool = vectors.papers[[vectors.rows[paper] for paper in query.grades]]
        distance = np.linalg.norm(pool - vectors.papers[vectors.rows[query.paper_id]], axis=1)
        found[query.id] = dict(zip(query.grades, map(float, -distance), strict=True))
    return found


def encode(collection: Collection, queries: Sequence[PoolQuery], name: str, alone: bool) -> Vectors:
    """Vectors of the queries and their pools, computed once per model and kept on disk.

    `alone` reads each sentence without title and neighbours.
    """
    weights = find_weights(name)
    wanted = sorted({paper for query in queries for paper in (query.paper_id, *query.grades)})
    papers = [collection.papers[paper] for paper in wanted]
    key = f"{'alone' if alone else 'together'}-{weights.name}-{weights.sha256[:8]}-{data_hash(papers)}"
    table = kept(key, lambda: read_alone(name, papers) if alone else read_together(weights.folder, papers))
    offsets = np.concatenate([[0], np.cumsum([len(paper.sentences) for paper in papers])])
    rows = {paper: row for row, paper in enumerate(wanted)}
    return Vectors(rows, offsets, table[: offsets[-1]], table[offsets[-1] :])


def read_alone(name: str, papers: Sequence[Paper]) -> Floats:
    """Each sentence by itself [S, d], of unit length: for cosines the product's own encoder will do."""
    single = (Document("", (sentence.text,)) for paper in papers for sentence in paper.sentences)
    return np.concatenate([one.sentences for one in load_encoder(name).encode(single)])


def read_together(folder: Path, papers: Sequence[Paper]) -> Floats:
    """Sentence vectors [S, d] of all papers in their context, then the papers' first tokens [P, d]."""
    texts = [Document(paper.title, tuple(one.text for one in paper.sentences)) for paper in papers]
    sentences, firsts = zip(*Reader(folder).read(texts), strict=True)
    return np.concatenate([*sentences, np.stack(firsts)])
