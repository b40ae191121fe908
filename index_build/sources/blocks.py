"""Cuts files of tagged lines (RIS, NBIB, Web of Science, BibTeX) into one block of lines per record."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from index_build.sources.rejects import BadRecord, Reason, Reject, reject
from index_build.sources.streams import LIMIT, read_lines
from search.types import Paper

_OVERHEAD = 60
"""Bytes that a line costs in memory beside its text."""


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of one record, without their ends, and where it begins."""

    place: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def read_blocks(
    stream: io.BufferedReader, name: str, start: re.Pattern[str], end: re.Pattern[str] | None = None
) -> Iterator[Block | Reject]:
    """A block from each line that matches `start` up to one that matches `end`, or to the next start.

    What stands between records is left out; a block over LIMIT is a Reject and is not held.
    """
    lines: list[str] = []
    place, size = "", 0
    for line in read_lines(stream, name):
        if isinstance(line, Reject):
            yield line
            continue
        text = line.text.rstrip("\r\n")
        if start.match(text):
            if lines:
                yield Block(place, tuple(lines))
            lines, place, size = [text], line.place, 0
        elif lines:
            lines.append(text)
            size += len(text) + _OVERHEAD
            if end and end.match(text):
                yield Block(place, tuple(lines))
                lines = []
            elif size > LIMIT:
                yield reject(name, place, Reason.TOO_LONG, "\n".join(lines[:50]))
                lines = []
    if lines:
        yield Block(place, tuple(lines))


def papers_of(
    blocks: Iterator[Block | Reject], name: str, to_paper: Callable[[Block], Paper]
) -> Iterator[Paper | Reject]:
    """The paper of each block, or why it gives none."""
    for block in blocks:
        if isinstance(block, Reject):
            yield block
            continue
        try:
            yield to_paper(block)
        except BadRecord as bad:
            yield reject(name, block.place, bad.reason, block.text)
