"""What the aspect encoder is asked to do, as losses. `b` papers, `n` sentences each at most, `d` dimensions.

Mysore, Cohan, Hope 2022 (ASPIRE) give the text-supervised single match (section 3.2.2) and the multi-match
by optimal transport (3.2.3). Similarities are cosines of unit vectors throughout.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, log_softmax, relu, softplus

TEMPERATURE = 0.05
MARGIN = 0.1
"""Of the triplet loss, in cosine."""
MASS_TEMPERATURE = 0.1
BLUR, ROUNDS = 0.05, 12
FAR = -9.0
"""Stands for the similarity to a sentence that is not there."""


def pairwise(queries: Tensor, sentences: Tensor, present: Tensor) -> Tensor:
    """[q, b, m, n] similarities of query sentences [q, m, d] to each paper's [b, n, d]; FAR where absent."""
    found = torch.einsum("qmd,bnd->qbmn", queries, sentences)
    return found.masked_fill(~present[None, :, None, :], FAR)


def mean_of_best(similarity: Tensor, ours: Tensor) -> Tensor:
    """[q, b]: every query sentence takes its nearest; similarity [q, b, m, n], ours [q, m] is 0 for pads."""
    best = similarity.amax(-1)
    weights = ours.float() / ours.sum(-1, keepdim=True).clamp(min=1)
    return torch.einsum("qbm,qm->qb", best, weights)


def transport(similarity: Tensor, ours: Tensor, theirs: Tensor) -> Tensor:
    """[q, b] likeness 1 - W²/2 by optimal transport, differentiable: Sinkhorn's iterations in log space.

    similarity [q, b, m, n], ours [q, m] and theirs [b, n] say which sentences are there. Masses are ASPIRE's
    softmax of the nearest distance; the plan is treated as fixed when the cost is derived (envelope theorem).
    """
    seen = ours[:, None, :, None] & theirs[None, :, None, :]
    distance = torch.sqrt((2 - 2 * similarity).clamp(min=1e-6))
    cost = distance.masked_fill(~seen, 1e4)
    with torch.no_grad():
        a = log_softmax(-cost.amin(-1) / MASS_TEMPERATURE, -1)
        b = log_softmax(-cost.amin(-2) / MASS_TEMPERATURE, -1)
        f, g = torch.zeros_like(a), torch.zeros_like(b)
        for _ in range(ROUNDS):
            f = a - torch.logsumexp(g[..., None, :] - cost / BLUR, -1)
            g = b - torch.logsumexp(f[..., :, None] - cost / BLUR, -2)
        plan = torch.exp(f[..., :, None] + g[..., None, :] - cost / BLUR)
    work = (plan * distance.masked_fill(~seen, 0)).sum((-1, -2))
    return 1 - work**2 / 2


def contrast(scores: Tensor, positive: Tensor, allowed: Tensor, kind: str = "infonce") -> Tensor:
    """scores [q, b]; positive [q] is the right paper's column, other allowed [q, b] ones are negatives."""
    scores = scores.masked_fill(~allowed, FAR)
    if kind == "infonce":
        return cross_entropy(scores / TEMPERATURE, positive)
    right = scores.gather(1, positive[:, None])
    others = scores.scatter(1, positive[:, None], FAR)
    return relu(MARGIN + others.amax(1) - right[:, 0]).mean()


def rank_by_grades(scores: Tensor, grades: Tensor) -> Tensor:
    """RankNet (Burges et al. 2005) over one pool: scores [c], grades [c]; pairs count by the difference."""
    ahead = (grades[:, None] - grades[None, :]).clamp(min=0).float()
    lost = softplus(-(scores[:, None] - scores[None, :]) / TEMPERATURE)
    return (ahead * lost).sum() / ahead.sum().clamp(min=1)


def rank_as(scores: Tensor, taught: Tensor) -> Tensor:
    """The teacher's scores [c] of one pool, as a distribution over its papers: KL divergence."""
    ours, theirs = (log_softmax(each / TEMPERATURE, -1) for each in (scores, taught))
    return (theirs.exp() * (theirs - ours)).sum()


def relations(student: Tensor, teacher: Tensor, owner: Tensor) -> Tensor:
    """How a sentence's likeness spreads over the others should be as the teacher says: KL divergence.

    student [k, d] and teacher [k, D] are unit vectors of the same sentences, owner [k] the paper of each;
    sentences of one paper are not compared, they are alike by their context.
    """
    apart = owner[:, None] != owner[None, :]
    some = apart.any(1)

    def spread(vectors: Tensor) -> Tensor:
        near = (vectors @ vectors.T / TEMPERATURE).masked_fill(~apart, -1e4)
        return log_softmax(near[some], -1)

    ours, theirs = spread(student), spread(teacher)
    return (theirs.exp() * (theirs - ours)).sum(-1).mean()


def directions(student: Tensor, teacher: Tensor, mapping: Tensor) -> Tensor:
    """1 - cosine between student @ mapping [k, D] and teacher [k, D]."""
    mapped = torch.nn.functional.normalize(student @ mapping, dim=-1)
    return (1 - (mapped * teacher).sum(-1)).mean()
