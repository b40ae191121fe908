"""The losses of the encoder. `q` queries, `b` papers, at most `m` and `n` sentences, `d` dimensions.

Mysore, Cohan, Hope 2022 (ASPIRE) define the single match (section 3.2.2) and the multi match by optimal
transport (3.2.3). Similarities are cosines of unit vectors.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, log_softmax, relu, softplus

TEMPERATURE = 0.05
"""Differences of cosines are divided by it in all losses; a usual value for InfoNCE."""
MARGIN = 0.1
"""Of the triplet loss, in cosine; chosen by hand."""
MASS_TEMPERATURE = 0.1
"""Distances are divided by it before the softmax that gives sentences their mass; chosen by hand."""
BLUR = 0.05
"""Strength of the entropy in Sinkhorn's iterations, in units of distance; chosen by hand."""
SINKHORN_ROUNDS = 12
"""Enough to come within 0.03 of the exact cost in tests/training/test_losses.py."""
ABSENT = -9.0
"""Stands for the similarity to a sentence that is not there: lower than any cosine."""


def pairwise(queries: Tensor, sentences: Tensor, present: Tensor) -> Tensor:
    """[q, b, m, n]: similarities of query sentences [q, m, d] to each paper's [b, n, d].

    They are ABSENT where present [b, n] is False.
    """
    found = torch.einsum("qmd,bnd->qbmn", queries, sentences)
    return found.masked_fill(~present[None, :, None, :], ABSENT)


def mean_of_best(similarity: Tensor, ours: Tensor) -> Tensor:
    """[q, b]: each query sentence takes its nearest; the mean of these.

    similarity [q, b, m, n]; ours [q, m] is 0 for pads.
    """
    best = similarity.amax(-1)
    weights = ours.float() / ours.sum(-1, keepdim=True).clamp(min=1)
    return torch.einsum("qbm,qm->qb", best, weights)


def transport(similarity: Tensor, ours: Tensor, theirs: Tensor) -> Tensor:
    """[q, b]: likeness 1 - W²/2, with W the cost of optimal transport by Sinkhorn's iterations in log space.

    similarity [q, b, m, n]; ours [q, m] and theirs [b, n] say which sentences are there. A sentence's mass is
    ASPIRE's softmax of the distance to the nearest. Gradients flow through the cost only, not through the
    plan (envelope theorem).
    """
    seen = ours[:, None, :, None] & theirs[None, :, None, :]
    distance = torch.sqrt((2 - 2 * similarity).clamp(min=1e-6))
    cost = distance.masked_fill(~seen, 1e4)
    with torch.no_grad():
        a = log_softmax(-cost.amin(-1) / MASS_TEMPERATURE, -1)
        b = log_softmax(-cost.amin(-2) / MASS_TEMPERATURE, -1)
        f, g = torch.zeros_like(a), torch.zeros_like(b)
        for _ in range(SINKHORN_ROUNDS):
            f = a - torch.logsumexp(g[..., None, :] - cost / BLUR, -1)
            g = b - torch.logsumexp(f[..., :, None] - cost / BLUR, -2)
        plan = torch.exp(f[..., :, None] + g[..., None, :] - cost / BLUR)
    work = (plan * distance.masked_fill(~seen, 0)).sum((-1, -2))
    return 1 - work**2 / 2


def contrast(scores: Tensor, positive: Tensor, allowed: Tensor, kind: str = "infonce") -> Tensor:
    """scores [q, b]; positive [q] is the column of the right paper, other allowed [q, b] are negatives."""
    scores = scores.masked_fill(~allowed, ABSENT)
    if kind == "infonce":
        return cross_entropy(scores / TEMPERATURE, positive)
    right = scores.gather(1, positive[:, None])
    others = scores.scatter(1, positive[:, None], ABSENT)
    return relu(MARGIN + others.amax(1) - right[:, 0]).mean()


def rank_by_grades(scores: Tensor, grades: Tensor) -> Tensor:
    """RankNet (Burges et al. 2005) over one pool; a pair of papers counts by the difference of its grades.

    scores [c], grades [c].
    """
    ahead = (grades[:, None] - grades[None, :]).clamp(min=0).float()
    lost = softplus(-(scores[:, None] - scores[None, :]) / TEMPERATURE)
    return (ahead * lost).sum() / ahead.sum().clamp(min=1)
