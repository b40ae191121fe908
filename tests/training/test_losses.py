"""Losses against slow oracles and sums worked by hand, and what must not change them."""

from __future__ import annotations

import numpy as np
import ot
import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from training import losses


def unit(*shape: int, seed: int = 0) -> Tensor:
    return normalize(torch.randn(*shape, generator=torch.Generator().manual_seed(seed)), dim=-1)


def present(*lengths: int) -> Tensor:
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def exact_transport(ours: Tensor, theirs: Tensor) -> float:
    """Linear programming between masses by the nearest distance, as in ASPIRE."""
    distance = np.sqrt(np.maximum(2 - 2 * (ours @ theirs.T).double().numpy(), 0))
    masses = [np.exp(-distance.min(axis=axis) / losses.MASS_TEMPERATURE) for axis in (1, 0)]
    work = ot.emd2(*(mass / mass.sum() for mass in masses), distance)
    return 1 - work**2 / 2


def test_transport_is_that_of_linear_programming_but_for_the_smoothing() -> None:
    queries, papers = (4, 1, 3), (5, 2, 1, 7)
    ours, theirs = unit(3, 4, 8, seed=1), unit(4, 7, 8, seed=2)
    similarity = losses.pairwise(ours, theirs, present(*papers))
    found = losses.transport(similarity, present(*queries), present(*papers))
    for q, m in enumerate(queries):
        for b, n in enumerate(papers):
            # One sentence on a side leaves nothing to choose, so nothing to smooth.
            tolerance = 1e-5 if min(m, n) == 1 else 0.03
            expected = exact_transport(ours[q, :m], theirs[b, :n])
            assert float(found[q, b]) == pytest.approx(expected, abs=tolerance)


def test_pads_change_no_score_and_get_no_gradient() -> None:
    ours, theirs = unit(1, 5, 8, seed=3), unit(1, 6, 8, seed=4)
    here, there = present(3, 5)[:1], present(4, 6)[:1]
    padded = losses.pairwise(ours, theirs, there).requires_grad_()
    bare = losses.pairwise(ours[:, :3], theirs[:, :4], torch.ones(1, 4, dtype=torch.bool))
    whole = torch.ones(1, 3, dtype=torch.bool)
    found = losses.transport(padded, here, there)
    torch.testing.assert_close(found, losses.transport(bare, whole, torch.ones(1, 4, dtype=torch.bool)))
    (gradient,) = torch.autograd.grad(found.sum(), padded)
    seen = here[:, None, :, None] & there[None, :, None, :]
    assert (gradient[~seen] == 0).all()
    assert (gradient[seen] >= 0).all()
    assert gradient[seen].max() > 0
    torch.testing.assert_close(losses.mean_of_best(padded, here), losses.mean_of_best(bare, whole))


def test_mean_of_best_against_a_loop() -> None:
    queries, papers = (2, 3), (4, 1, 2)
    ours, theirs = unit(2, 3, 8, seed=5), unit(3, 4, 8, seed=6)
    found = losses.mean_of_best(losses.pairwise(ours, theirs, present(*papers)), present(*queries))
    for q, m in enumerate(queries):
        for b, n in enumerate(papers):
            best = [max(float(ours[q, i] @ theirs[b, j]) for j in range(n)) for i in range(m)]
            assert float(found[q, b]) == pytest.approx(np.mean(best), abs=1e-6)


def test_rank_loss_by_hand() -> None:
    scores = torch.tensor([0.30, 0.25, 0.10])
    # Pairs ahead: 0 over 1 by 1, 0 over 2 by 3, 1 over 2 by 2; differences of score in twentieths.
    lost = [np.log1p(np.exp(-difference / 0.05)) for difference in (0.05, 0.20, 0.15)]
    expected = (1 * lost[0] + 3 * lost[1] + 2 * lost[2]) / 6
    assert float(losses.rank_by_grades(scores, torch.tensor([3, 2, 0]))) == pytest.approx(expected, rel=1e-5)


def test_rank_loss_is_lower_the_better_the_order_agrees() -> None:
    scores, grades = torch.tensor([0.5, 0.4, 0.3, 0.2]), torch.tensor([3, 2, 1, 0])
    orders = ([0, 1, 2, 3], [1, 0, 2, 3], [3, 2, 1, 0])
    agreeing, swapped, reversed_ = (float(losses.rank_by_grades(scores[order], grades)) for order in orders)
    assert agreeing < swapped < reversed_
    assert float(losses.rank_by_grades(scores, torch.ones(4, dtype=torch.long))) == 0


def test_contrast_by_hand() -> None:
    scores, right = torch.tensor([[0.5, 0.45, 0.9], [0.1, 0.3, 0.6]]), torch.tensor([0, 1])
    allowed = torch.tensor([[True, True, False], [True, True, True]])
    kept = [np.exp(np.array([0.5, 0.45]) / 0.05), np.exp(np.array([0.3, 0.1, 0.6]) / 0.05)]
    expected = np.mean([-np.log(row[0] / row.sum()) for row in kept])
    assert float(losses.contrast(scores, right, allowed)) == pytest.approx(expected, rel=1e-5)
    # Hinges against the hardest other: 0.1 + 0.45 - 0.5 and 0.1 + 0.6 - 0.3.
    assert float(losses.contrast(scores, right, allowed, "triplet")) == pytest.approx((0.05 + 0.4) / 2)
    clear = torch.tensor([[0.9, 0.1, 0.99], [0.1, 0.9, 0.2]])
    assert float(losses.contrast(clear, right, allowed, "triplet")) == 0
