"""Elements of a text, such as `<sub>2</sub>`, found in one pass however many have no end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    start: int
    end: int
    inside: str
    """What stands between the two tags."""


@dataclass(frozen=True, slots=True)
class Elements:
    """What stands between an opening and the next closing, if it is not too long.

    One expression for both would look for the end again from every beginning: a text of beginnings alone
    would take the square of its length.
    """

    opening: re.Pattern[str]
    closing: re.Pattern[str]
    longest: int
    """Characters between the two."""

    def find(self, text: str) -> Iterator[Found]:
        at, closing = 0, None
        while opening := self.opening.search(text, at):
            if closing is None or closing.start() < opening.end():
                closing = self.closing.search(text, opening.end())
            if closing is None:
                return
            if closing.start() - opening.end() <= self.longest:
                yield Found(opening.start(), closing.end(), text[opening.end() : closing.start()])
                at = closing.end()
            else:
                at = opening.start() + 1

    def sub(self, replace: Callable[[str, str], str], text: str) -> str:
        """The text with each element replaced, given the whole of it and what is inside."""
        parts, at = [], 0
        for found in self.find(text):
            parts += [text[at : found.start], replace(text[found.start : found.end], found.inside)]
            at = found.end
        return "".join([*parts, text[at:]])
