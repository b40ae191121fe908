"""Title and sentences -> windows of token ids in which every token knows the sentence it belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from search.types import Document

OUTSIDE = -1
"""Owner of a token that belongs to the paper but to no sentence: title, [CLS], [SEP]."""
CONTEXT = -2
"""Owner of a token that only gives context here: another window owns it."""


@dataclass(frozen=True, slots=True)
class Window:
    """One input of the model: a whole paper, or a stretch of a long one."""

    document: int
    """Position among the documents that were packed together."""
    ids: NDArray[np.int32]
    owner: NDArray[np.int32]
    """Per token: the sentence it belongs to, OUTSIDE or CONTEXT."""
    rows: range
    """The sentences that own tokens here; they are always neighbours, and so are their tokens."""

    def membership(self, first_only: bool) -> NDArray[np.float32]:
        """Which tokens make which vector, [1 + s, t] of 0 and 1: the paper, then the sentences of `rows`.

        The paper's vector is made of all tokens, or of the first one where the model was trained so.
        """
        sentences = np.array(self.rows, np.int32)[:, None] == self.owner
        paper = np.arange(len(self.ids)) == 0 if first_only else self.owner != CONTEXT
        return np.vstack([paper, sentences]).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Packer:
    """Packs `[CLS] title [SEP] sentence sentence … [SEP]` (Mysore et al. 2022), windowed where too long.

    Sentences are tokenised one by one and their ids concatenated, so spans are exact whatever the
    tokenizer does to white space. The title opens every window; the rest moves on with `overlap`
    tokens in common, and a token is owned by the window that shows most of its surroundings.
    """

    tokenizer: Tokenizer
    cls: int
    sep: int
    unk: int
    limit: int = 512
    """Most tokens the model takes at once."""
    overlap: int = 128
    prompt: tuple[int, ...] = ()
    """Tokens that stand before every title, because the model was trained with them."""
    pools_prompt: bool = True
    """Whether these, and the token that opens every text, count in the paper's vector."""

    def pack(self, documents: Sequence[Document]) -> Iterator[Window]:
        texts = [text for document in documents for text in (document.title, *document.sentences)]
        encodings = iter(self.tokenizer.encode_batch_fast(texts, add_special_tokens=False))
        for number, document in enumerate(documents):
            title = next(encodings).ids
            # A sentence without a single token (empty, control characters) still gets a vector.
            sentences = [next(encodings).ids or [self.unk] for _ in document.sentences]
            yield from self._windows(number, title, sentences)

    def _windows(self, number: int, title: list[int], sentences: list[list[int]]) -> Iterator[Window]:
        opening = [self.cls, *self.prompt]
        head = np.array([*opening, *title, self.sep] if title else opening)
        body = np.array([token for ids in sentences for token in ids], np.int64)
        owner = np.repeat(np.arange(len(sentences)), [len(ids) for ids in sentences])
        if len(head) > self.limit // 2:  # an endless title is read in windows like the rest
            body = np.concatenate([head[len(opening) :], body])
            owner = np.concatenate([np.full(len(head) - len(opening), OUTSIDE), owner])
            head = head[: len(opening)]
        for start, end, mine in spread(len(body), self.limit - len(head) - 1, self.overlap):
            owners = np.full(end - start, CONTEXT)
            owners[mine.start - start : mine.stop - start] = owner[mine.start : mine.stop]
            edge = OUTSIDE if start == 0 else CONTEXT
            ends = np.full(len(head), edge), np.full(1, edge)
            if not self.pools_prompt:
                ends[0][: len(opening)] = CONTEXT
            yield Window(
                number,
                np.concatenate([head, body[start:end], [self.sep]]).astype(np.int32),
                np.concatenate([ends[0], owners, ends[1]]).astype(np.int32),
                _rows(owners),
            )


def _rows(owners: NDArray[np.int64]) -> range:
    owned = owners[owners >= 0]
    return range(int(owned[0]), int(owned[-1]) + 1) if len(owned) else range(0)


def spread(length: int, room: int, overlap: int) -> list[tuple[int, int, range]]:
    """Windows `(start, end, owned tokens)` of at most `room` tokens that cover `length` tokens.

    Neighbours share at least `overlap` tokens and split them in the middle; the owned ranges
    partition `range(length)`.
    """
    if length <= room:
        return [(0, length, range(length))]
    overlap = min(overlap, room // 2)
    count = -(-(length - overlap) // (room - overlap))
    starts = [turn * (length - room) // (count - 1) for turn in range(count)]
    cuts = [0, *((later + earlier + room) // 2 for earlier, later in pairwise(starts)), length]
    return [(start, start + room, range(cuts[turn], cuts[turn + 1])) for turn, start in enumerate(starts)]


def batches(windows: Sequence[Window], tokens: int) -> Iterator[list[Window]]:
    """Runs of neighbours, each of at most `tokens` tokens counting pads, or of one window."""
    batch: list[Window] = []
    for window in windows:
        if batch and longest([*batch, window]) * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


def longest(batch: Sequence[Window]) -> int:
    return max(len(window.ids) for window in batch)
