"""The upper layers of an encoder, which are trained, over kept hidden states of its lower layers.

The lower layers stay as they are because the facet labeller reads them. So their hidden states are computed
once for each corpus (training/hidden_states.py), and a training step only runs the upper part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize, pad

from search.encoder.fine_tuned import DOWN, UP
from search.encoder.labeller import HIDDEN_FROM_ATTENTION, Layer, nearness
from search.encoder.onnx_graph import BERT_NAMES, MPNET_NAMES
from search.encoder.weight_files import Tensors
from search.errors import ModelError
from training.adapters import adapt
from training.corpus import Corpus
from training.hidden_states import Batch, autocast

PAPERS_PER_PASS = 7
"""Papers that go through the model at once in training: papers of similar length, so there are few pads."""
PAPERS_PER_SCORING = 240
"""Papers whose vectors are computed in one go when a model is scored: they fit in memory."""


class UpperLayers(nn.Module):
    """Hidden states of the lower layers -> vectors of sentences and papers, pooled as in search.

    With a rank the layers keep their values, and only low-rank additions to them are trained.
    """

    def __init__(self, encoder: Any, layer: int, dropout: float = 0.0, rank: int = 0) -> None:
        super().__init__()
        config = encoder.config
        self.first, self.rank = layer, rank
        self.names = MPNET_NAMES if config.model_type == "mpnet" else BERT_NAMES
        self.layers = nn.ModuleList()
        for source in encoder.encoder.layer[layer:]:
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

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Unit vectors of sentences [b, n, d], zero where there is none, and of papers [b, d]."""
        x = batch.hidden
        bias = ((1 - batch.mask) * HIDDEN_FROM_ATTENTION)[:, None, None, :].to(x.dtype)
        if self.near is not None:
            bias = bias + nearness(self.near, x.shape[1]).to(x.dtype)
        for layer in self.layers:
            x = layer(x, bias)
        with torch.autocast(x.device.type, enabled=False):  # cosines need full precision
            x = x.float()
            papers = (batch.mask.unsqueeze(-1) * x).sum(1)
            return normalize(batch.assignment @ x, dim=-1), normalize(papers, dim=-1)

    def tensors(self) -> dict[str, Tensor]:
        """What was trained, under the encoder's own names; of low-rank additions both factors."""
        return {name: tensor.cpu() for name, tensor in self._named().items()}

    def take(self, trained: Tensors) -> None:
        """Go on from what was trained before, named as in `tensors`."""
        own = self._named()
        if {name: tuple(one.shape) for name, one in own.items()} != {n: t.shape for n, t in trained.items()}:
            raise ModelError(
                "The weights to start from are of other layers or of another rank than what is trained now: "
                "give the same `--encoder`, `--upper` and `--rank` as they were trained with."
            )
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
    """A layer's parameters; the factors of an addition are named after the weight they belong to."""
    return {
        name.replace(".down", f".weight{DOWN}").replace(".up", f".weight{UP}"): state[name] for name in state
    }


def layer_names(names: Mapping[str, str] = BERT_NAMES) -> Iterator[tuple[str, str]]:
    """The name of each parameter of a layer, here and in the encoder."""
    for ours, theirs in names.items():
        for kind in ("weight", "bias"):
            yield f"{ours}.{kind}", f"{theirs}.{kind}"


def interpolate(start: Mapping[str, Tensor], end: Mapping[str, Tensor], share: float) -> dict[str, Tensor]:
    """Weights between two models: start + share · (end - start) (Wortsman et al. 2022, WiSE-FT).

    Of a low-rank addition only the factor `up` is scaled: their product then shrinks by the same share.
    """
    return {
        name: end[name].float()
        if name.endswith(".down")
        else torch.lerp(start[name].float(), end[name].float(), share)
        for name in start
    }


@dataclass(frozen=True, slots=True)
class PaperBatch:
    """Vectors of several papers, with gradients."""

    sentences: Tensor
    """[b, n, d]"""
    present: Tensor
    """[b, n]: whether the paper has this sentence."""
    wholes: Tensor
    """[b, d]"""


def read_papers(model: UpperLayers, corpus: Corpus, papers: Sequence[int]) -> PaperBatch:
    """Vectors of these papers; papers of similar length go through the model together."""
    order = np.argsort([corpus.length(paper) for paper in papers], kind="stable")
    most = max(len(corpus.documents[paper].sentences) for paper in papers)
    sentences, wholes, present = [], [], []
    for rows in np.array_split(order, max(1, len(papers) // PAPERS_PER_PASS)):
        batch = corpus.batch([papers[row] for row in rows], model.device)
        with autocast(model.device):
            some, whole = model(batch)
        more = most - some.shape[1]
        sentences.append(pad(some, (0, 0, 0, more)))
        present.append(pad(batch.assignment.sum(-1) > 0, (0, more)))
        wholes.append(whole)
    back = torch.from_numpy(np.argsort(order)).to(model.device)
    return PaperBatch(torch.cat(sentences)[back], torch.cat(present)[back], torch.cat(wholes)[back])


@dataclass(frozen=True, slots=True)
class PaperVectors:
    """Unit vectors of one paper: its sentences [n, d] and the whole [d]."""

    sentences: NDArray[np.float32]
    whole: NDArray[np.float32]


@torch.inference_mode()
def encode_papers(model: UpperLayers, corpus: Corpus, papers: Sequence[int]) -> dict[int, PaperVectors]:
    """The vectors of these papers, for scoring."""
    model.eval()
    order = sorted(set(papers), key=corpus.length)
    found: dict[int, PaperVectors] = {}
    for start in range(0, len(order), PAPERS_PER_SCORING):
        some = order[start : start + PAPERS_PER_SCORING]
        batch = read_papers(model, corpus, some)
        for row, paper in enumerate(some):
            count = len(corpus.documents[paper].sentences)
            sentences, whole = batch.sentences[row, :count], batch.wholes[row]
            found[paper] = PaperVectors(sentences.cpu().numpy(), whole.cpu().numpy())
    return found
