"""What is trained for aspects: the encoder's layers above the one the facet labeller branches off.

The lower layers stay as they are, because the labeller reads them; so the hidden states of a corpus are
computed once (training/states.py) and a step only runs the upper half.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from search.facets import Layer
from search.graph import BERT_NAMES
from training.states import Batch

HIDDEN_FROM_ATTENTION = -1e4


class UpperLayers(nn.Module):
    """Hidden states of the lower layers -> vectors of sentences and papers, pooled as search does."""

    def __init__(self, encoder: nn.Module, layer: int, dropout: float = 0.0) -> None:
        super().__init__()
        config: Any = encoder.config
        self.first = layer
        self.layers = nn.ModuleList()
        for source in encoder.encoder.layer[layer:]:  # type: ignore[union-attr, index]
            own = Layer(config.hidden_size, config.num_attention_heads, config.intermediate_size, dropout)
            there = source.state_dict()
            own.load_state_dict({ours: there[theirs] for ours, theirs in layer_names()})
            self.layers.append(own)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Unit vectors of sentences [b, n, d], zero where there is none, and of papers [b, d]."""
        x = batch.hidden
        bias = ((1 - batch.mask) * HIDDEN_FROM_ATTENTION)[:, None, None, :].to(x.dtype)
        for layer in self.layers:
            x = layer(x, bias)
        with torch.autocast(x.device.type, enabled=False):  # likeness needs all digits
            x = x.float()
            papers = (batch.mask.unsqueeze(-1) * x).sum(1)
            return normalize(batch.assignment @ x, dim=-1), normalize(papers, dim=-1)

    def tensors(self) -> dict[str, Tensor]:
        """The weights under the names BERT gives them."""
        return {
            f"encoder.layer.{self.first + number}.{theirs}": layer.state_dict()[ours].cpu()
            for number, layer in enumerate(self.layers)
            for ours, theirs in layer_names()
        }

    def load_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        for number, layer in enumerate(self.layers):
            prefix = f"encoder.layer.{self.first + number}."
            layer.load_state_dict({ours: tensors[prefix + theirs].float() for ours, theirs in layer_names()})


def layer_names() -> list[tuple[str, str]]:
    """Names of a layer's parameters here and in BERT."""
    return [
        (f"{ours}.{kind}", f"{theirs}.{kind}")
        for ours, theirs in BERT_NAMES.items()
        for kind in ("weight", "bias")
    ]


def interpolated(start: Mapping[str, Tensor], end: Mapping[str, Tensor], share: float) -> dict[str, Tensor]:
    """Weights between two models: start + share · (end - start) (Wortsman et al. 2022, WiSE-FT)."""
    return {name: torch.lerp(start[name].float(), end[name].float(), share) for name in start}
