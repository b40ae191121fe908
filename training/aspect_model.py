"""What is trained for aspects: the upper layers of an encoder, or low-rank additions to them.

The lower layers stay as they are, because the labeller reads them; so the hidden states of a corpus are
computed once (training/states.py) and a step only runs the upper part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize

from search.aspects import DOWN, UP
from search.errors import ModelError
from search.facets import Layer, nearness
from search.graph import BERT_NAMES, MPNET_NAMES
from training.adapters import adapt
from training.states import Batch

HIDDEN_FROM_ATTENTION = -1e4


class UpperLayers(nn.Module):
    """Hidden states of the lower layers -> vectors of sentences and papers, pooled as search does.

    With a rank the layers' matrices keep their values and only low-rank additions are trained.
    """

    def __init__(self, encoder: nn.Module, layer: int, dropout: float = 0.0, rank: int = 0) -> None:
        super().__init__()
        config: Any = encoder.config
        self.first, self.rank = layer, rank
        self.names = MPNET_NAMES if config.model_type == "mpnet" else BERT_NAMES
        self.layers = nn.ModuleList()
        for source in encoder.encoder.layer[layer:]:  # type: ignore[union-attr, index]
            own = Layer(
                config.hidden_size,
                config.num_attention_heads,
                config.intermediate_size,
                dropout,
                config.layer_norm_eps,
            )
            there = source.state_dict()
            own.load_state_dict({ours: there[theirs] for ours, theirs in layer_names(self.names)})
            self.layers.append(own)
        near = getattr(encoder.encoder, "relative_attention_bias", None)
        self.register_buffer("near", None if near is None else near.weight.data.clone(), persistent=False)
        if rank:
            adapt(self.layers, rank)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Unit vectors of sentences [b, n, d], zero where there is none, and of papers [b, d]."""
        x = batch.hidden
        bias = ((1 - batch.mask) * HIDDEN_FROM_ATTENTION)[:, None, None, :].to(x.dtype)
        if self.near is not None:
            bias = bias + nearness(self.near, x.shape[1]).to(x.dtype)
        for layer in self.layers:
            x = layer(x, bias)
        with torch.autocast(x.device.type, enabled=False):  # likeness needs all digits
            x = x.float()
            papers = (batch.mask.unsqueeze(-1) * x).sum(1)
            return normalize(batch.assignment @ x, dim=-1), normalize(papers, dim=-1)

    def tensors(self) -> dict[str, Tensor]:
        """What was trained under the names the encoder gives it; of low-rank additions, both factors."""
        return {name: tensor.cpu() for name, tensor in self._named().items()}

    def take(self, trained: Mapping[str, NDArray[np.float32]]) -> None:
        """Go on from what was trained before, named as in `tensors`."""
        own = self._named()
        if {name: tuple(one.shape) for name, one in own.items()} != {n: t.shape for n, t in trained.items()}:
            raise ModelError("These weights are of other layers or another rank than what is to be trained.")
        for name, tensor in trained.items():
            own[name].copy_(torch.from_numpy(tensor))

    def _named(self) -> dict[str, Tensor]:
        return {
            f"encoder.layer.{self.first + number}.{theirs}{factor}": state[ours + factor]
            for number, layer in enumerate(self.layers)
            for state in (_factored(layer.state_dict()),)
            for ours, theirs in layer_names(self.names)
            for factor in ((DOWN, UP) if self.rank else ("",))
            if ours + factor in state
        }


def _factored(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A layer's parameters, an addition's factors named after the weight they belong to."""
    return {
        name.replace(".down", f".weight{DOWN}").replace(".up", f".weight{UP}"): state[name] for name in state
    }


def layer_names(names: Mapping[str, str] = BERT_NAMES) -> Iterator[tuple[str, str]]:
    """Names of a layer's parameters here and in the encoder."""
    for ours, theirs in names.items():
        for kind in ("weight", "bias"):
            yield f"{ours}.{kind}", f"{theirs}.{kind}"


def interpolated(start: Mapping[str, Tensor], end: Mapping[str, Tensor], share: float) -> dict[str, Tensor]:
    """Weights between two models: start + share · (end - start) (Wortsman et al. 2022, WiSE-FT).

    Of a low-rank addition one factor alone shrinks, so that the product does, too.
    """
    return {
        name: end[name].float()
        if name.endswith(".down")
        else torch.lerp(start[name].float(), end[name].float(), share)
        for name in start
    }
