"""Papers by words of their titles, names of their authors and years, also where a word has a slip or two.

Each word is kept once with the papers that have it. A slip is looked for among the words, of which there are
far fewer than papers, and most of those are passed over by their letters alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from search.corpus.store.identity import normalise_title

Rows = NDArray[np.int32]
Batch = tuple[Sequence[str], NDArray[np.integer], Rows]
"""Words, then for each occurrence the number of its word and the row of its paper."""
Near = Callable[[Sequence[str], str, int], dict[str, int]]
"""(words, word, limit) -> those of the words that are at most `limit` edits away from the word, each with its
number of edits."""

MOST_WORDS = 20
"""Words of a text that are looked for; longer titles are told apart by fewer."""
PREFIX, INSIDE, SLIP, MISSING = 0.5, 1.0, 2.0, 6.0
"""What a word costs that begins with, holds, or has slips against the typed one, or is not there; an exact
one costs nothing. In this order, chosen by hand."""
SHORTEST_INSIDE = 3
"""Letters a text needs to be looked for within words; in scripts without spaces, one is enough."""
ONE_SLIP, TWO_SLIPS = 4, 7
"""Letters from which a word may have one slip or two; in shorter ones every other word would fit."""
WORDS_PER_MISSING = 4
"""One word in this many may be missing from a title: a pasted title may differ. Chosen by hand."""
_LAST = "\U0010ffff"


class TitleWords:
    """Built once for a store; safe to share between threads, for nothing in it changes."""

    def __init__(self, batches: Iterable[Batch], papers: int, near: Near) -> None:
        numbers: dict[str, int] = {}
        found, rows = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for words, occurrences, of_papers in batches:
            ids = [numbers.setdefault(normalise_title(word).replace(" ", ""), len(numbers)) for word in words]
            found.append(np.array(ids, np.int32)[occurrences])
            rows.append(of_papers)
        self._words = sorted(numbers)
        rank = np.empty(len(numbers), np.int32)
        rank[[numbers[word] for word in self._words]] = np.arange(len(numbers), dtype=np.int32)
        ranked = rank[np.concatenate(found)]
        self._rows: Rows = np.concatenate(rows)[np.argsort(ranked, kind="stable")]
        counts = np.bincount(ranked, minlength=len(numbers))
        self._offsets = np.concatenate([[0], np.cumsum(counts)])
        self._letters = np.array([_letters(word) for word in self._words], np.uint64)
        self._lengths = np.array([len(word) for word in self._words], np.int32)
        self._joined = "".join(f"{word}\n" for word in self._words)
        self._starts = np.concatenate([[0], np.cumsum(self._lengths + 1)])
        self._papers, self._near = papers, near

    def find(self, text: str) -> tuple[Rows, NDArray[np.float32]]:
        """Rows of papers that have all words, and their costs; with slips where there are none without."""
        words = list(dict.fromkeys(normalise_title(text).split()))[:MOST_WORDS]
        if not words or not self._words:
            return np.empty(0, np.int32), np.empty(0, np.float32)
        costs = np.stack([self._costs(word) for word in words])
        known = np.isfinite(costs).any(axis=1)
        for place in np.flatnonzero(~known):
            self._add_others(words[place], costs[place])
        total = costs.sum(axis=0)
        if not np.isfinite(total).any():
            for place in np.flatnonzero(known):
                self._add_others(words[place], costs[place])
            total = costs.sum(axis=0)
        if not np.isfinite(total).any():
            missing = np.isinf(costs)
            total = np.where(missing, MISSING, costs).sum(axis=0)
            total[missing.sum(axis=0) > len(words) // WORDS_PER_MISSING] = np.inf
        rows = np.flatnonzero(np.isfinite(total)).astype(np.int32)
        return rows, total[rows]

    def _costs(self, word: str) -> NDArray[np.float32]:
        """[P]: 0 where a paper has the word, more where it has one that begins so, else infinite."""
        costs = np.full(self._papers, np.inf, np.float32)
        first, end = bisect_left(self._words, word), bisect_left(self._words, word + _LAST)
        costs[self._rows_of(first, end)] = PREFIX
        if first < end and self._words[first] == word:
            costs[self._rows_of(first, first + 1)] = 0
        return costs

    def _add_others(self, word: str, costs: NDArray[np.float32]) -> None:
        """Words that hold this one, or are a slip from it; two slips where there is none with one."""
        for number in self._holding(word):
            self._lower(costs, number, INSIDE)
        for edits in range(1, 1 + (len(word) >= ONE_SLIP) + (len(word) >= TWO_SLIPS)):
            # An edit changes two letters at most and the length by one.
            other = np.bitwise_count(self._letters ^ np.uint64(_letters(word)))
            alike = (other <= 2 * edits) & (np.abs(self._lengths - len(word)) <= edits)
            candidates = [self._words[number] for number in np.flatnonzero(alike)]
            found = self._near(candidates, word, edits)
            for each, distance in found.items():
                self._lower(costs, bisect_left(self._words, each), SLIP + distance)
            if found.keys() - {word}:
                return

    def _lower(self, costs: NDArray[np.float32], number: int, cost: float) -> None:
        rows = self._rows_of(number, number + 1)
        costs[rows] = np.minimum(costs[rows], cost)

    def _holding(self, word: str) -> Iterator[int]:
        """The numbers of the words that hold this one."""
        if len(word) < SHORTEST_INSIDE and word.isascii():
            return
        place = self._joined.find(word)
        while place >= 0:
            number = int(np.searchsorted(self._starts, place, "right")) - 1
            yield number
            place = self._joined.find(word, int(self._starts[number + 1]))

    def _rows_of(self, first: int, end: int) -> Rows:
        return self._rows[self._offsets[first] : self._offsets[end]]


def _letters(word: str) -> int:
    """One bit for each letter that a word has."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) & 63)
    return bits
