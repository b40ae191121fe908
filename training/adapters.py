"""Low-rank additions to layers that stay as they are (Hu et al. 2022, LoRA)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear


class Adapted(nn.Module):
    """A linear layer that is not trained, and a low-rank addition that is.

    x W' + b + x down' up' with down [rank, in] and up [out, rank], which starts at zero.
    """

    def __init__(self, plain: nn.Linear, rank: int) -> None:
        super().__init__()
        self.weight, self.bias = (nn.Parameter(part, False) for part in (plain.weight.data, plain.bias.data))
        self.down = nn.Parameter(torch.randn(rank, plain.in_features) / plain.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(plain.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias) + linear(linear(x, self.down), self.up)

    def merged(self) -> nn.Linear:
        """One linear layer that does the same."""
        plain = nn.Linear(self.down.shape[1], self.up.shape[0], device=self.weight.device)
        plain.weight.data, plain.bias.data = self.weight + self.up @ self.down, self.bias
        return plain


def adapt(layers: nn.ModuleList, rank: int) -> None:
    """Only additions to the layers' matrices are trained from now on."""
    for layer in layers:
        layer.requires_grad_(False)
        for name, part in list(layer.named_children()):
            if isinstance(part, nn.Linear):
                setattr(layer, name, Adapted(part, rank))


def merge(layers: nn.ModuleList) -> None:
    """The additions become part of the matrices."""
    for layer in layers:
        for name, part in list(layer.named_children()):
            if isinstance(part, Adapted):
                setattr(layer, name, part.merged())
