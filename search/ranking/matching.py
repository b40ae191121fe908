"""How well a query's sentences match each paper's: pure NumPy, all candidates at once.

Every score is a likeness built from cosines, so higher is nearer. `m` is the number of query sentences,
`S` the sentences of all candidates one after another, `C` the candidates; the sentences of candidate `c`
are `offsets[c]:offsets[c + 1]`.

Mysore, Cohan, Hope: Multi-Vector Models with Textual Guidance for Fine-Grained Scientific Document
Similarity (NAACL 2022), called ASPIRE here, gives the single match, the transport and the attention.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from search.types import Matcher

Floats = NDArray[np.float32]
Integers = NDArray[np.integer]

TEMPERATURE = 0.1
"""Temperature of the softmax that gives each sentence its mass, in units of distance (0 to 2). The source of
the value is not recorded. The smaller it is, the more the nearest sentences alone count."""

BLURS = tuple(np.geomspace(0.2, 0.03, 5, dtype=np.float32))
"""Entropic smoothing of the transport in each round, in units of distance between unit vectors (0 to 2).
Chosen by hand; the tests compare the result with `ot.emd`."""

STEPS = 4
"""Plain Sinkhorn iterations in each round; chosen by hand, with BLURS."""

BLOCK = 256
"""Candidates handled together: few enough that their similarities stay in the processor's cache."""

FEW = 16
"""Number of query sentences up to which one thread compares them: waking more would take longer. Chosen by
hand."""

TINY = np.float32(1e-30)
"""Smallest divisor, in place of zero."""


def similarities(query: Floats, sentences: NDArray[np.floating]) -> Floats:
    """Cosines [m, S] of unit vectors query [m, d] and sentences [S, d] (float16 or float32)."""
    sentences = widen(sentences)
    if len(query) <= FEW:
        return np.einsum("md,sd->ms", query, sentences)
    return query @ sentences.T


def widen(vectors: NDArray[np.floating]) -> Floats:
    """Half precision to single precision, exact for finite numbers, in a third of the time NumPy takes.

    The bits of mantissa and exponent are moved to their new places. The exponents of the two formats count
    from different zeros, so the result is multiplied by 2^112.
    """
    if vectors.dtype != np.float16:
        return vectors.astype(np.float32, copy=False)
    bits = vectors.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= np.int32(~0x70000000)  # the sign was copied into the exponent: keep only one of these bits
    wide = bits.view(np.float32)
    wide *= np.float32(2.0**112)
    return wide


def score(matcher: Matcher, similarity: Floats, offsets: Integers, weights: Floats | None = None) -> Floats:
    """One likeness per candidate [C] from similarities [m, S]; weights [m] say what each sentence counts."""
    weights = _weights(weights, len(similarity))
    scores = np.empty(len(offsets) - 1, dtype=np.float32)
    for chosen, tile, present in _tiles(similarity, offsets):
        scores[chosen] = MATCHERS[matcher](tile, present, weights)
    return scores


def _weights(weights: Floats | None, count: int) -> Floats:
    if weights is None:
        return np.full(count, 1 / count, dtype=np.float32)
    return (weights / weights.sum()).astype(np.float32)


def _tiles(similarity: Floats, offsets: Integers) -> Iterator[tuple[Integers, Floats, NDArray[np.bool_]]]:
    """Blocks of candidates of about one length: positions [c], similarities [m, n, c], present [n, c].

    The candidate is the last axis, so every step of every matcher runs along contiguous memory.
    """
    lengths = np.diff(offsets)
    if not lengths.all():
        raise ValueError("every candidate needs at least one sentence")
    order = np.argsort(lengths, kind="stable")
    for start in range(0, len(order), BLOCK):
        chosen = order[start : start + BLOCK]
        step = np.arange(lengths[chosen[-1]])[:, None]
        present = step < lengths[chosen]
        rows = np.where(present, offsets[chosen] + step, offsets[chosen])
        yield chosen, similarity[:, rows], present


def single(tile: Floats, present: NDArray[np.bool_], weights: Floats) -> Floats:
    """The one nearest pair of sentences: max_ij w_i s_ij (ASPIRE's single match, tsAspire).

    tile [m, n, c], present [n, c], weights [m] summing to 1 -> [c]. The weights are scaled to a largest of 1.
    """
    nearest = np.where(present, tile, -1).max(axis=1)
    return (nearest * (weights / weights.max())[:, None]).max(axis=0)


def best(tile: Floats, present: NDArray[np.bool_], weights: Floats) -> Floats:
    """Each query sentence takes its nearest: sum_i w_i max_j s_ij; shapes as in `single`."""
    return weights @ np.where(present, tile, -1).max(axis=1)


def attention(tile: Floats, present: NDArray[np.bool_], weights: Floats) -> Floats:
    """All pairs, each by its softmax: sum_ij p_ij s_ij, p = softmax_ij(log w_i - d_ij / T) (attAspire)."""
    logits = np.where(present, -distances(tile) / TEMPERATURE, -np.inf)
    attended = np.exp(logits - logits.max(axis=(0, 1))) * weights[:, None, None]
    return (attended * tile).sum(axis=(0, 1)) / attended.sum(axis=(0, 1))


def transport(tile: Floats, present: NDArray[np.bool_], weights: Floats) -> Floats:
    """Optimal transport between the two sets of sentences: W = sum_ij P_ij d_ij (otAspire).

    P moves the query's masses onto the candidate's at least cost; shapes as in `single`. The
    likeness is 1 - W^2 / 2, the cosine of two unit vectors at distance W.
    """
    distance = distances(tile)
    plan = sinkhorn(distance, *masses(distance, present, weights), present)
    return 1 - (plan * distance).sum(axis=(0, 1)) ** 2 / 2


MATCHERS: dict[Matcher, Callable[[Floats, NDArray[np.bool_], Floats], Floats]] = {
    Matcher.SINGLE: single,
    Matcher.BEST: best,
    Matcher.TRANSPORT: transport,
    Matcher.ATTENTION: attention,
}


def distances(similarity: Floats) -> Floats:
    """Euclidean distance of unit vectors with these cosines: sqrt(2 - 2 s), any shape."""
    return np.sqrt(np.maximum(2 - 2 * similarity, 0))


def masses(distance: Floats, present: NDArray[np.bool_], weights: Floats) -> tuple[Floats, Floats]:
    """What each sentence has to move: a_i = w_i exp(-min_j d_ij / T) / Z and b_j = exp(-min_i d_ij / T) / Z.

    distance [m, n, c], present [n, c], weights [m] -> [m, c] and [n, c], each summing to 1 over sentences.
    """
    ours = np.where(present, distance, np.inf).min(axis=1)
    theirs = np.where(present, distance.min(axis=0), np.inf)
    a = np.exp((ours.min(axis=0) - ours) / TEMPERATURE) * weights[:, None]
    b = np.exp((theirs.min(axis=0) - theirs) / TEMPERATURE)
    return a / a.sum(axis=0), b / b.sum(axis=0)


def sinkhorn(cost: Floats, a: Floats, b: Floats, present: NDArray[np.bool_]) -> Floats:
    """Entropic transport plans [m, n, c] for costs [m, n, c] and masses a [m, c], b [n, c].

    Sinkhorn's iterations (Cuturi 2013) on P = exp(f_i + g_j - C_ij / blur), the potentials kept in log space.
    Between two updates of the potentials a few plain scalings are enough (Schmitzer 2019), which saves nine
    of ten exponentials.
    """
    cost = np.where(present, cost, np.inf)
    f, g = cost.min(axis=1), np.zeros_like(b)
    for blur in BLURS:
        plan = np.exp((f[:, None] + g - cost) / blur)
        v = np.ones_like(b)
        for _ in range(STEPS):
            u = a / np.maximum(np.einsum("mnc,nc->mc", plan, v), TINY)
            v = b / np.maximum(np.einsum("mnc,mc->nc", plan, u), TINY)
        f += blur * np.log(np.maximum(u, TINY))
        g += blur * np.log(np.maximum(v, TINY))
    return _settle(np.exp((f[:, None] + g - cost) / blur), a, b)


def _settle(plan: Floats, a: Floats, b: Floats) -> Floats:
    """The plan with exact marginals: shrink the excess, spread what is missing (Altschuler et al. 2017)."""
    plan *= np.minimum(a / np.maximum(plan.sum(axis=1), TINY), 1)[:, None]
    plan *= np.minimum(b / np.maximum(plan.sum(axis=0), TINY), 1)
    left, right = a - plan.sum(axis=1), b - plan.sum(axis=0)
    return plan + left[:, None] * right / np.maximum(right.sum(axis=0), TINY)


def shares(matcher: Matcher, similarity: Floats, weights: Floats | None = None) -> Floats:
    """How much of one candidate's match each pair carries: [m, n] from similarities [m, n], summing to 1.

    For the transport this is the exact plan (`ot.emd`): few pairs, and none that smoothing invented.
    """
    weights = _weights(weights, len(similarity))
    plan = np.zeros_like(similarity)
    if matcher is Matcher.TRANSPORT:
        return exact_plan(similarity, weights)
    if matcher is Matcher.ATTENTION:
        logits = -distances(similarity) / TEMPERATURE
        plan = np.exp(logits - logits.max()) * weights[:, None]
        return plan / plan.sum()
    nearest = similarity.argmax(axis=1)
    if matcher is Matcher.BEST:
        plan[np.arange(len(plan)), nearest] = weights
        return plan
    first = int((similarity.max(axis=1) * weights).argmax())
    plan[first, nearest[first]] = 1
    return plan


def exact_plan(similarity: Floats, weights: Floats) -> Floats:
    """The optimal plan [m, n] for similarities [m, n] under ASPIRE's masses, by network simplex."""
    distance = distances(similarity)
    present = np.ones((similarity.shape[1], 1), dtype=bool)
    a, b = masses(distance[:, :, None], present, weights)
    a, b = a[:, 0].astype(np.float64), b[:, 0].astype(np.float64)
    import ot  # takes 2 seconds and 96 MB, and only this matcher needs it

    plan: NDArray[np.float64] = ot.emd(a / a.sum(), b / b.sum(), distance.astype(np.float64))
    return plan.astype(np.float32)
