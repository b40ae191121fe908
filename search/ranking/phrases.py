"""The part of a sentence that carries a match: few words, around those that both sentences share."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

LONGEST = 9
"""Words of a phrase; about what fits half a line of the result list."""
REACH = 3
"""Words that a phrase may begin earlier, to start where a clause does."""
_WORD = re.compile(r"\S+")
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
) -> list[Segment]:
    """The phrase with most of the shared and near terms, cut into segments; dots where text is left out."""
    words, kinds = _read(text, shared, near, terms_of)
    start, end = _window(words, [kind != PLAIN for kind in kinds], longest)
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
    words = [match.group() for match in _WORD.finditer(text)]
    kinds = {part: NEAR for term in near for part in terms_of(term)}
    kinds |= {part: SHARED for term in shared for part in terms_of(term)}
    found = ([kinds[part] for part in terms_of(word) if part in kinds] for word in words)
    return words, [min(each, default=PLAIN) for each in found]


def _window(words: Sequence[str], hits: Sequence[bool], longest: int) -> tuple[int, int]:
    """Start and end of the first stretch with the most hits, begun at a clause where one is near."""
    count = sum(hits[:longest])
    best, most = 0, count
    for start in range(1, max(len(words) - longest + 1, 1)):
        count += hits[start + longest - 1] - hits[start - 1]
        if count > most:
            best, most = start, count
    if len(words) <= longest:
        return 0, len(words)
    if best <= REACH:
        return 0, longest
    first = next((place for place in range(best, best + longest) if place < len(hits) and hits[place]), best)
    for place in range(min(first, len(words) - 1), max(first - REACH, 0), -1):
        if words[place - 1].endswith(_CLAUSE_ENDS):
            return place, min(place + longest, len(words))
    start = max(0, first - REACH)
    return start, min(start + longest, len(words))


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
