"""The part of a sentence that carries a match: few words, around those that both sentences share."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate

LONGEST = 38
"""Characters among which a phrase has its hits: what half a line of the result list holds at 1280 pixels."""
SHOWN = 64
"""Characters of a phrase, for wider lines."""
REACH = 3
"""Words before the first hit where no clause begins."""
_CLAUSE_ENDS = (",", ";", ":", "(", "—", "–")

PLAIN, SHARED, NEAR = 0, 1, 2
Segment = tuple[str, int]
"""A piece of text, and whether both sentences share it or the other has a word that is near in meaning."""
Terms = Callable[[str], Sequence[str]]
"""The terms of a word as search counts them."""


def phrase(
    text: str,
    shared: Collection[str],
    terms_of: Terms,
    near: Collection[str] = (),
    longest: int = LONGEST,
    shown: int = SHOWN,
) -> list[Segment]:
    """The phrase with most of the shared and near terms, cut into segments; dots where text is left out."""
    words, kinds = _read(text, shared, near, terms_of)
    places = list(accumulate((len(word) + 1 for word in words), initial=0))
    start = _start(words, places, (kind != PLAIN for kind in kinds), longest)
    end = _end(places, start, shown)
    return [
        *([("… ", PLAIN)] if start else []),
        *_segments(words[start:end], kinds[start:end]),
        *([(" …", PLAIN)] if end < len(words) else []),
    ]


def mark(text: str, shared: Collection[str], terms_of: Terms, near: Collection[str] = ()) -> list[Segment]:
    """The whole sentence, with the words that both share and those near in meaning marked."""
    return _segments(*_read(text, shared, near, terms_of))


def _read(
    text: str, shared: Collection[str], near: Collection[str], terms_of: Terms
) -> tuple[list[str], list[int]]:
    """The words of a text and the kind of each."""
    words = text.split()
    kinds = {part: NEAR for term in near for part in terms_of(term)}
    kinds |= {part: SHARED for term in shared for part in terms_of(term)}
    parts = map(terms_of, words)
    return words, [PLAIN if kinds.keys().isdisjoint(each) else _kind(each, kinds) for each in parts]


def _kind(parts: Sequence[str], kinds: Mapping[str, int]) -> int:
    return min(kinds[part] for part in parts if part in kinds)


def _start(words: Sequence[str], places: Sequence[int], hits: Iterable[bool], longest: int) -> int:
    """The word that begins the stretch with the most hits, at a clause where one is near.

    `places` are where words begin, in characters, and the end of the last one.
    """
    spots = [word for word, hit in enumerate(hits) if hit]
    if not spots:
        return 0
    within = [bisect_left(spots, _end(places, word, longest)) - number for number, word in enumerate(spots)]
    number = within.index(max(within))
    first, last = spots[number], spots[number + max(within) - 1]
    earliest = first
    while earliest and _end(places, earliest - 1, longest) > last:
        earliest -= 1
    clauses = (
        word for word in range(earliest, first + 1) if not word or words[word - 1].endswith(_CLAUSE_ENDS)
    )
    return next(clauses, max(earliest, first - REACH))


def _end(places: Sequence[int], start: int, longest: int) -> int:
    """The end of the stretch of at most `longest` characters from this word, or of the word alone."""
    return max(start + 1, bisect_right(places, places[start] + longest + 1) - 1)


def _segments(words: Sequence[str], kinds: Sequence[int]) -> list[Segment]:
    """Words joined again by spaces, neighbours of one kind in one piece."""
    segments: list[Segment] = []
    for number, (word, found) in enumerate(zip(words, kinds, strict=True)):
        for text, kind in ((" " if number else "", PLAIN), (word, found)):
            if segments and segments[-1][1] == kind:
                segments[-1] = segments[-1][0] + text, kind
            elif text:
                segments.append((text, kind))
    return segments
