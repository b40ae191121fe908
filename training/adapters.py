"""Low-rank additions to linear layers that stay as they are (Hu et al. 2022, LoRA)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear


class Adapted(nn.Module):
    """A linear layer that is not trained, and a low-rank addition that is.

    y = x W' + b + x down' up', with down [rank, in] and up [out, rank]; up starts at zero.
    """

    def __init__(self, plain: nn.Linear, rank: int) -> None:
        super().__init__()
        self.weight, self.bias = (nn.Parameter(part, False) for part in (plain.weight.data, plain.bias.data))
        self.down = nn.Parameter(torch.randn(rank, plain.in_features) / plain.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(plain.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias) + linear(linear(x, self.down), self.up)


def adapt(layers: nn.ModuleList, rank: int) -> None:
    """Freeze the layers and give each of their matrices a low-rank addition."""
    for layer in layers:
        layer.requires_grad_(False)
        for name, part in list(layer.named_children()):
            if isinstance(part, nn.Linear):
                setattr(layer, name, Adapted(part, rank))
