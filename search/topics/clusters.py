"""Papers of a topic in groups, and where they lie on a map; the same input always gives the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Groups = NDArray[np.int64]

MOST = 8
"""Clusters at most: as many colours as a reader tells apart. Chosen by hand."""
PAPERS_EACH = 6
"""Papers for each cluster, where that makes fewer clusters. Chosen by hand."""
FEWEST = 3
"""Papers of a cluster; smaller ones join the nearest. Chosen by hand."""
STARTS = 8
"""Beginnings that are tried; the tightest clusters win. Chosen by hand."""
ROUNDS = 30
"""Rounds of each, at most; they mostly settle within ten."""


def group(vectors: Floats, most: int = MOST) -> Groups:
    """The cluster of each of the vectors [n, d], the largest cluster first; all 0 where there are few."""
    count = min(most, len(vectors) // PAPERS_EACH)
    if count < 2:
        return np.zeros(len(vectors), np.int64)
    own = centred(vectors)
    chance = np.random.default_rng(0)
    tries = [_settle(own, _begin(own, count, chance)) for _ in range(STARTS)]
    groups = max(tries, key=lambda groups: tightness(own, groups))
    return _by_size(_without_small(own, groups))


def centred(vectors: Floats) -> Floats:
    """What sets each vector apart from the mean of all, at unit length."""
    apart = vectors - vectors.mean(axis=0)
    return np.asarray(apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-9), np.float32)


def means(vectors: Floats, groups: Groups) -> Floats:
    """The mean of each group's vectors, at unit length [k, d]."""
    sums = np.eye(int(groups.max()) + 1, dtype=np.float32)[groups].T @ vectors
    return np.asarray(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9), np.float32)


def tightness(vectors: Floats, groups: Groups) -> float:
    """Sum of the cosines between each vector and the mean of its group."""
    return float((vectors * means(vectors, groups)[groups]).sum())


def _begin(vectors: Floats, count: int, chance: np.random.Generator) -> Floats:
    """Vectors far from each other (k-means++): each is drawn by how far it is from those before."""
    chosen = [int(chance.integers(len(vectors)))]
    far = np.full(len(vectors), np.inf)
    while len(chosen) < count:
        far = np.minimum(far, np.maximum(1 - vectors @ vectors[chosen[-1]], 0))
        weight = far.sum()
        if weight <= 0:  # fewer different vectors than clusters
            break
        chosen.append(int(chance.choice(len(vectors), p=far / weight)))
    return vectors[chosen]


def _settle(vectors: Floats, centres: Floats) -> Groups:
    groups = np.argmax(vectors @ centres.T, axis=1)
    for _ in range(ROUNDS):
        closer = np.argmax(vectors @ means(vectors, groups).T, axis=1)
        if (closer == groups).all():
            break
        groups = closer
    return groups


def _without_small(vectors: Floats, groups: Groups) -> Groups:
    groups = np.unique(groups, return_inverse=True)[1]
    sizes = np.bincount(groups)
    large = np.flatnonzero(sizes >= FEWEST)
    if len(large) == 0:
        return np.zeros_like(groups)
    likeness = vectors @ means(vectors, groups)[large].T
    return np.where(sizes[groups] >= FEWEST, groups, large[np.argmax(likeness, axis=1)])


def _by_size(groups: Groups) -> Groups:
    values, numbers, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values))
    return rank[numbers]


def most_central(vectors: Floats, groups: Groups, number: int) -> tuple[int, ...]:
    """The places of one group's vectors, those nearest to its mean first."""
    own = centred(vectors)
    mine = np.flatnonzero(groups == number)
    likeness = own[mine] @ means(own, groups)[number]
    return tuple(mine[np.argsort(-likeness, kind="stable")].tolist())


def spread(vectors: Floats, groups: Groups) -> Floats:
    """Vectors [n, d] on a plane [n, 2], each axis within [-1, 1], so that the groups lie apart.

    The plane is that of the first two principal components: of the groups' means where there are three or
    more, else of the vectors. The sign of a component is free; its largest place is made positive.
    """
    if len(vectors) < 3:
        return np.zeros((len(vectors), 2), np.float32)
    own = centred(vectors)
    fitted = means(own, groups) if groups.max() > 1 else own
    axes = np.linalg.svd(fitted - fitted.mean(axis=0), full_matrices=False)[2][:2]
    places = own @ axes.T
    places *= np.sign(places[np.abs(places).argmax(axis=0), [0, 1]])
    return np.asarray(places / np.maximum(np.abs(places).max(axis=0), 1e-9), np.float32)
