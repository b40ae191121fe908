"""Facet labeller: hidden states of the shared encoder -> what each sentence does in its abstract.

The labeller does not read text. It branches off the default encoder at hidden state `layer`: the layers
below are shared with the search vectors. What ships weighs a sentence's words and needs no further layer for
them, so that labels cost next to nothing; its teacher has its own, tuned copy of the upper layers. All
sentences of an abstract are labelled at once, each seeing the others, as in Cohan et al. 2019, "Pretrained
Language Models for Sequential Sentence Classification". Where a source says what a sentence is, the store
lets that win (`Snapshot.set_facets`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from search.encoder.labeller_weights import KIND, STEM, labeller_id, read_labeller
from search.encoder.onnx_graph import LEAST_SCORE, distance_bucket
from search.encoder.weight_files import save_trained
from search.errors import ModelError
from search.types import FACETS

HIDDEN_FROM_ATTENTION = -1e4  # finite, so that a row with nothing to look at stays a number


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a labeller; kept beside its weights."""

    layer: int = 3
    """It reads the encoder's hidden state with this number (0 is the embeddings)."""
    layers: int = 3
    hidden: int = 384
    heads: int = 12
    inner: int = 1536
    sentence_layers: int = 1
    """Transformer layers over the sentences' vectors, after the words' layers."""
    sentence_inner: int = 768
    places: int = 16
    """Places counted from the start and from the end before "far away"."""
    pooling: int = 0
    """Parts of a sentence's vector that weigh its words each in its own way; 0 for the plain mean."""
    buckets: int = 0
    """Of distances between words, where the encoder's attention has a bias by them (MPNet)."""
    dropout: float = 0.0


class Layer(nn.Module):
    """One transformer layer as in BERT: attention, then a feed-forward net, each added and normalised."""

    def __init__(self, hidden: int, heads: int, inner: int, dropout: float, epsilon: float = 1e-12) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(hidden, hidden) for _ in range(4))
        self.attention_norm = nn.LayerNorm(hidden, eps=epsilon)
        self.grow, self.shrink = nn.Linear(hidden, inner), nn.Linear(inner, hidden)
        self.norm = nn.LayerNorm(hidden, eps=epsilon)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """x [b, t, h]; bias [b, 1 or heads, 1 or t, t] is added to the attention scores."""
        batch, length, hidden = x.shape
        query, key, value = (
            part(x).view(batch, length, self.heads, hidden // self.heads).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        seen = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        seen = seen.transpose(1, 2).reshape(batch, length, hidden)
        x = self.attention_norm(x + self.dropout(self.out(seen)))
        return self.norm(x + self.dropout(self.shrink(nn.functional.gelu(self.grow(x)))))


def assign(sentence_index: Tensor, count: int) -> Tensor:
    """Which token belongs to which sentence: [b, t] indices (-1 for none) -> [b, count, t] of 0 and 1."""
    places = torch.arange(count, device=sentence_index.device)
    return (sentence_index.unsqueeze(1) == places.view(1, -1, 1)).to(torch.float32)


class FacetLabeller(nn.Module):
    """Own upper layers over the shared lower ones, a look across the sentences, and five probabilities."""

    def __init__(self, shape: Shape | None = None, id: str = "untrained") -> None:
        super().__init__()
        self.shape = shape = shape or Shape()
        self.id = id
        self.layer = shape.layer
        self.starts = nn.Embedding(shape.places, shape.hidden)
        self.ends = nn.Embedding(shape.places, shape.hidden)
        self.depth = nn.Linear(2, shape.hidden)
        self.first = nn.Parameter(torch.zeros(shape.hidden))
        self.words = nn.ModuleList(
            Layer(shape.hidden, shape.heads, shape.inner, shape.dropout) for _ in range(shape.layers)
        )
        self.sentences = nn.ModuleList(
            Layer(shape.hidden, shape.heads, shape.sentence_inner, shape.dropout)
            for _ in range(shape.sentence_layers)
        )
        self.dropout = nn.Dropout(shape.dropout)
        if shape.pooling:
            self.pool = nn.Linear(shape.hidden, shape.pooling)
            nn.init.zeros_(self.pool.weight)
            nn.init.zeros_(self.pool.bias)
        self.head = nn.Linear(shape.hidden, len(FACETS))
        if shape.buckets:
            self.register_buffer("near", torch.zeros(shape.buckets, shape.heads))
        for place in (self.starts.weight, self.ends.weight, self.depth.weight, self.depth.bias):
            nn.init.zeros_(place)

    def forward(self, hidden: Tensor, attention_mask: Tensor, assignment: Tensor) -> Tensor:
        """Probabilities [b, n, 5] in the order of FACETS.

        hidden [b, t, h] is the encoder's hidden state number `layer`; attention_mask [b, t] is 1 for real
        tokens; assignment [b, n, t] is 1 where a token belongs to a sentence (see `assign`), so title and
        special tokens belong to none. Rows past a document's last sentence mean nothing. No shape depends
        on values: the encoder can be exported together with the labeller as one graph.
        """
        return self.logits(hidden, attention_mask, assignment).softmax(-1)

    def logits(self, hidden: Tensor, attention_mask: Tensor, assignment: Tensor) -> Tensor:
        """Scores [b, n, 5] before the softmax."""
        assignment = assignment.to(hidden.dtype)
        place = self._place(assignment)
        mine = assignment.sum(1)  # [b, t]: 1 for a sentence's token
        earlier = nn.functional.pad(assignment, (1, 0))[..., :-1]
        opens = mine - (assignment * earlier).sum(1)
        x = hidden + assignment.transpose(1, 2) @ place + opens.unsqueeze(-1) * self.first
        bias = _bias(_visible(mine, attention_mask.to(hidden.dtype)))
        if self.shape.buckets:
            bias = bias + nearness(self.near, hidden.shape[1])
        for layer in self.words:
            x = layer(x, bias)
        lengths = assignment.sum(-1, keepdim=True)
        x = self._pooled(x, assignment, lengths)
        bias = _bias((lengths.squeeze(-1) > 0).to(hidden.dtype))
        for number, layer in enumerate(self.sentences):
            x = layer(x + place if number == 0 else x, bias)
        return self.head(self.dropout(x))

    def _pooled(self, x: Tensor, assignment: Tensor, lengths: Tensor) -> Tensor:
        """Words to sentences: their mean, or for each part of the vector a mean by weights of its own."""
        if not self.shape.pooling:
            return assignment @ x / lengths.clamp(min=1)
        scores = self.pool(x).float()
        weights = (scores - scores.amax(1, keepdim=True)).clamp(min=LEAST_SCORE).exp()
        weights = weights.repeat_interleave(x.shape[-1] // self.shape.pooling, -1)
        with torch.autocast(x.device.type, enabled=False):  # small weights need the range of 32 bits
            owners = assignment.float()
            means = owners @ (weights * x.float()) / (owners @ weights).clamp(min=1e-30)
        return means.to(x.dtype)

    def _place(self, assignment: Tensor) -> Tensor:
        """Where each sentence stands: from the start, from the end, in parts of the whole: [b, n, h]."""
        present = (assignment.sum(-1) > 0).to(torch.long)
        number = present.cumsum(1) - 1
        total = present.sum(1, keepdim=True)
        most = self.shape.places - 1
        depth = torch.stack([number / total.clamp(min=1), total.expand_as(number) / 16.0], -1)
        return (
            self.starts(number.clamp(0, most))
            + self.ends((total - 1 - number).clamp(0, most))
            + self.depth(depth.to(assignment.dtype))
        )


def _visible(mine: Tensor, mask: Tensor) -> Tensor:
    """Tokens that are looked at, [b, t]: the sentences' own and the opening and closing special tokens.

    The title is not, so that labels hardly change with it; the special tokens are, because the copied
    attention heads rest on them when they have nothing to look for.
    """
    opening = mask - nn.functional.pad(mask, (1, 0))[:, :-1]
    closing = mask - nn.functional.pad(mask, (0, 1))[:, 1:]
    return torch.clamp(mine * mask + opening + closing, 0, 1)


def _bias(seen: Tensor) -> Tensor:
    """[b, t] of 0 and 1 -> what is added to attention scores, [b, 1, 1, t]."""
    return ((1 - seen) * HIDDEN_FROM_ATTENTION)[:, None, None, :]


def nearness(near: Tensor, length: int) -> Tensor:
    """MPNet's bias by distance: table [buckets, heads] -> [1, heads, length, length]."""
    place = np.arange(length)
    buckets = distance_bucket(place[None, :] - place[:, None], len(near))
    return near[torch.from_numpy(buckets).to(near.device)].permute(2, 0, 1)[None]


def load_labeller(folder: Path | None = None) -> FacetLabeller:
    """The labeller of `read_labeller` to run in torch, in float32."""
    weights = read_labeller(folder)
    try:
        labeller = FacetLabeller(Shape(**weights.shape), weights.id)
        labeller.load_state_dict({name: torch.from_numpy(one) for name, one in weights.tensors.items()})
    except (RuntimeError, ValueError, TypeError) as error:
        raise ModelError(
            f"The facet labeller does not have the sizes that {STEM}.json gives: "
            f"fetch both files again, or train it with `{KIND.command}`."
        ) from error
    return labeller.eval()


def save_labeller(labeller: FacetLabeller, folder: Path, notes: dict[str, Any] | None = None) -> str:
    """Write weights (half precision) and card to `folder`; returns the labeller's id."""
    tensors = {name: tensor.cpu() for name, tensor in labeller.state_dict().items()}
    card = {"shape": asdict(labeller.shape) | {"dropout": 0.0}} | (notes or {})
    return labeller_id(save_trained(tensors, folder, STEM, card))
