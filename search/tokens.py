"""Title and sentences -> windows of token ids in which every token knows the sentence it belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

OUTSIDE = -1
"""Owner of a token that belongs to the paper but to no sentence: title, [CLS], [SEP]."""
CONTEXT = -2
"""Owner of a token that only gives context here: another window owns it."""


@dataclass(frozen=True, slots=True)
class Document:
    """What is encoded together: a title (may be empty) and the sentences of its abstract."""

    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """One input of the model: a whole paper, or a stretch of a long one."""

    document: int
    ids: NDArray[np.int32]
    owner: NDArray[np.int32]
    """Per token: the sentence it belongs to, OUTSIDE or CONTEXT."""

    @property
    def rows(self) -> range:
        """The sentences that own tokens here; they are always neighbours."""
        owned = self.owner[self.owner >= 0]
        return range(int(owned[0]), int(owned[-1]) + 1) if len(owned) else range(0)


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
    limit: int
    """Most tokens the model takes at once."""
    overlap: int

    def pack(self, documents: Sequence[Document]) -> Iterator[Window]:
        texts = [text for document in documents for text in (document.title, *document.sentences)]
        encodings = iter(self.tokenizer.encode_batch_fast(texts, add_special_tokens=False))
        for number, document in enumerate(documents):
            title = next(encodings).ids
            # A sentence without a single token (empty, control characters) still gets a vector.
            sentences = [next(encodings).ids or [self.unk] for _ in document.sentences]
            yield from self._windows(number, title, sentences)

    def _windows(self, number: int, title: list[int], sentences: list[list[int]]) -> Iterator[Window]:
        head = [self.cls, *title, self.sep] if title else [self.cls]
        body = np.array([token for ids in sentences for token in ids], np.int32)
        owner = np.repeat(np.arange(len(sentences), dtype=np.int32), [len(ids) for ids in sentences])
        if len(head) > self.limit // 2:  # an endless title is read in windows like the rest
            body = np.concatenate([np.array(head[1:], np.int32), body])
            owner = np.concatenate([np.full(len(head) - 1, OUTSIDE, np.int32), owner])
            head = [self.cls]
        room = self.limit - len(head) - 1
        for turn, (start, end, mine) in enumerate(spread(len(body), room, self.overlap)):
            window_owner = np.full(len(head) + end - start + 1, OUTSIDE if turn == 0 else CONTEXT, np.int32)
            window_owner[len(head) : -1] = CONTEXT
            window_owner[len(head) + mine.start - start : len(head) + mine.stop - start] = owner[
                mine.start : mine.stop
            ]
            ids = np.concatenate([np.array(head, np.int32), body[start:end], [self.sep]], dtype=np.int32)
            yield Window(number, ids, window_owner)


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
    cuts = [
        0,
        *((later + earlier + room) // 2 for earlier, later in pairwise(starts)),
        length,
    ]
    return [(start, start + room, range(cuts[turn], cuts[turn + 1])) for turn, start in enumerate(starts)]
