"""A model that reads the chosen sentences of a query and a candidate's abstract at once.

It starts as the default encoder and says what is added to the product's own score: nothing at first, because
its last layer begins with zeros. Whether that is worth serving: docs/studies/close-reading.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, normalize

from search.encoder.labeller import HIDDEN_FROM_ATTENTION, assign
from search.encoder.windows import OUTSIDE, Packer
from search.types import PANELS
from training.hidden_states import autocast
from training.losses import ABSENT
from training.score_parts import Parts

MOST_ASKED, MOST_TITLE, MOST_FOUND = 60, 24, 160
"""Tokens of the query and of its title, and of a candidate; chosen by hand, for speed."""
TITLE, ASKED, FOUND, FOUND_IN_PANEL = range(4)
"""What a token belongs to: it is added to its embedding, for each facet in another way."""
SHARPNESS = 20
"""A candidate's sentences count by the softmax of their cosines times this: nearly the nearest one alone."""
WIDTH = 128
FASTER = 10
"""New weights start at zero and have to get further than the encoder's: their effect is multiplied."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """A query beside `c` candidates, [c, t] each."""

    ids: Tensor
    positions: Tensor
    marks: Tensor
    sentences: Tensor
    """Which sentence of the candidate a token belongs to; -1 for none."""
    present: Tensor
    facet: int


def pair_up(pool: Parts, chosen: Sequence[int], packer: Packer) -> Pairs:
    """The query beside these candidates; of a long abstract the sentences of the panel stay."""
    asked = _asked(pool, packer)
    sides = [_found(pool, place, packer) for place in chosen]
    most = len(asked) + max(map(len, sides))
    rows = []
    for side in sides:
        tokens = [*asked, *side]
        places = [*range(len(asked)), *range(len(side))]
        pads = most - len(tokens)
        rows.append([(*token, place, 1) for token, place in zip(tokens, places, strict=True)] + [PAD] * pads)
    ids, marks, sentences, positions, present = torch.tensor(rows).unbind(-1)
    facet = [str(panel) for panel in PANELS].index(pool.facet)
    return Pairs(ids, positions, marks, sentences, present, facet)


Token = tuple[int, int, int]
"""Its id, what it belongs to, and the sentence."""
PAD = (0, TITLE, OUTSIDE, 0, 0)


def _tokens(packer: Packer, text: str, mark: int, sentence: int = OUTSIDE) -> list[Token]:
    ids = packer.tokenizer.encode(text, add_special_tokens=False).ids
    return [(id, mark, sentence) for id in ids]


def _asked(pool: Parts, packer: Packer) -> list[Token]:
    title = _tokens(packer, pool.query.title, TITLE)[:MOST_TITLE]
    texts = " ".join(pool.query.sentences[place] for place in pool.sentences)
    end = (packer.sep, TITLE, OUTSIDE)
    sentences = _tokens(packer, texts, ASKED)[: MOST_ASKED - len(title) - 3]
    return [(packer.cls, TITLE, OUTSIDE), *title, end, *sentences, end]


def _found(pool: Parts, place: int, packer: Packer) -> list[Token]:
    paper, in_panel = pool.papers[place], pool.in_panel[place]
    end = (packer.sep, FOUND, OUTSIDE)
    title = [*_tokens(packer, paper.title, FOUND)[:MOST_TITLE], end]
    sentences = [
        _tokens(packer, text, FOUND_IN_PANEL if belongs else FOUND, number)
        for number, (text, belongs) in enumerate(zip(paper.sentences, in_panel, strict=True))
    ]
    room, kept = MOST_FOUND - len(title) - 1, set()
    for number in sorted(range(len(sentences)), key=lambda number: -in_panel[number]):
        if room > 0:
            kept.add(number)
        room -= len(sentences[number])
    body = [token for number, tokens in enumerate(sentences) if number in kept for token in tokens]
    return [*title, *body[: MOST_FOUND - len(title) - 1], end]


class CloseReader(nn.Module):
    """Pairs -> what is added to the score of each candidate."""

    def __init__(self, encoder: Any, trained: int, dropout: float) -> None:
        """`encoder` as transformers has it; its upper `trained` layers learn."""
        super().__init__()
        self.embeddings, self.layers = encoder.embeddings, encoder.encoder.layer
        for part in (self.embeddings, *self.layers[: len(self.layers) - trained]):
            part.requires_grad_(False)
        for part in self.modules():
            if isinstance(part, nn.Dropout):
                part.p = dropout
        hidden = encoder.config.hidden_size
        self.marks = nn.Embedding(len(PANELS) * (FOUND_IN_PANEL + 1), hidden)
        self.mix = nn.Linear(5 * hidden, WIDTH)
        self.norm = nn.LayerNorm(WIDTH + 2)
        self.out = nn.Linear(WIDTH + 2, len(PANELS))
        for new in (self.marks.weight, self.out.weight, self.out.bias):
            nn.init.zeros_(new)

    @property
    def device(self) -> torch.device:
        return self.out.weight.device

    def forward(self, pairs: Pairs) -> Tensor:
        """[c]"""
        states = self._read(pairs)
        asked, found = pairs.marks == ASKED, pairs.marks >= FOUND
        query = normalize((states * asked[..., None]).sum(1), dim=-1)
        whole = normalize((states * (found & pairs.present.bool())[..., None]).sum(1), dim=-1)
        belongs = assign(pairs.sentences, int(pairs.sentences.max()) + 1)
        sentences = normalize(belongs @ states, dim=-1)
        near = torch.einsum("cd,cnd->cn", query, sentences).masked_fill(belongs.sum(-1) == 0, ABSENT)
        nearest = normalize(torch.einsum("cn,cnd->cd", (SHARPNESS * near).softmax(-1), sentences), dim=-1)
        both = [part for other in (nearest, whole) for part in (query * other, (query - other).abs())]
        scale = query.shape[-1] ** 0.5  # so that the parts are about as large as a normalised state's
        seen = gelu(self.mix(scale * torch.cat([*both, normalize(states[:, 0], dim=-1)], -1)))
        cosines = [(query * other).sum(-1, keepdim=True) for other in (nearest, whole)]
        return self.out(self.norm(torch.cat([seen, *cosines], -1)))[:, pairs.facet]

    def _read(self, pairs: Pairs) -> Tensor:
        """The last layer's states [c, t, d]."""
        with autocast(self.device):
            marks = self.marks(pairs.marks + pairs.facet * (FOUND_IN_PANEL + 1))
            x = self.embeddings(input_ids=pairs.ids, position_ids=pairs.positions) + FASTER * marks
            bias = ((1 - pairs.present) * HIDDEN_FROM_ATTENTION)[:, None, None, :].to(x.dtype)
            for layer in self.layers:
                x = layer(x, bias)
        return x.float()
