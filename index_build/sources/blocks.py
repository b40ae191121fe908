"""Cuts files of tagged lines (RIS, NBIB, Web of Science, BibTeX) into one block of lines per record."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from index_build.markup import to_text
from index_build.sources.records import doi_of
from index_build.sources.rejects import Reason, Reject, attempt, reject
from index_build.sources.streams import LIMIT, read_lines
from search.types import Paper

_OVERHEAD = 60
"""Bytes that a line costs in memory beside its text."""
_TITLES = frozenset({"TI", "T1", "%T"})
_IDENTIFIERS = ("DO", "DI", "UT", "UI", "OID", "%R")
"""Tags of numbers of which a record has one, in any format."""
_BREAK = re.compile("[\ufeff\u2028\u2029\x85\x0b\x0c\x1c-\x1e]")
"""Where another program ended a line, or where a second file was appended to a first."""


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of one record, without their ends, and where it begins."""

    line: int
    lines: tuple[str, ...]

    @property
    def place(self) -> str:
        return f"line {self.line}"

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Layout:
    """How the records of a format are told apart."""

    start: re.Pattern[str]
    """The first line of a record."""
    end: re.Pattern[str] | None = None
    """Its last line; without one, the next record or the file's end closes it."""
    inside: re.Pattern[str] | None = None
    """A line that belongs to a record: after an end, it begins one whose first line is missing."""
    seam: re.Pattern[str] | None = None
    """What begins a line and stands within one where a file without a last line end was appended to."""
    harmless: re.Pattern[str] | None = None
    """Lines outside of records that need no mention: headers, counters, comments."""
    tag: re.Pattern[str] | None = None
    """A tag and its value, in formats that have them."""
    once: frozenset[str] = frozenset()
    """Tags that a record has only once: a second one shows a record whose first line is missing."""


@dataclass(slots=True)
class _Gap:
    """Text that belongs to no record."""

    line: int = 0
    lines: list[str] = field(default_factory=list)

    def add(self, number: int, text: str) -> None:
        self.line = self.line or number
        if len(self.lines) < 50:
            self.lines.append(text)

    def close(self, name: str) -> Iterator[Reject]:
        """One Reject for all of it, if there was any."""
        if self.lines:
            yield reject(name, f"line {self.line}", Reason.OUTSIDE, "\n".join(self.lines))
        self.line, self.lines = 0, []


def read_blocks(stream: io.BufferedReader, name: str, layout: Layout) -> Iterator[Block | Reject]:
    """A block for each record, and a Reject for each stretch of text between them.

    A block over LIMIT is a Reject and is not held.
    """
    lines: list[str] = []
    first, size, gap, skipping = 0, 0, _Gap(), False
    for number, text in _pieces(stream, name, layout.seam):
        if isinstance(text, Reject):
            yield text
            continue
        begins = layout.start.match(text) is not None
        if begins and lines:
            yield Block(first, tuple(lines))
            lines = []
        skipping = skipping and not begins
        if lines:
            lines.append(text)
            size += len(text) + _OVERHEAD
        elif begins or (layout.inside and not skipping and layout.inside.match(text)):
            yield from gap.close(name)
            lines, first, size = [text], number, 0
        elif not skipping and text.strip() and not (layout.harmless and layout.harmless.match(text)):
            gap.add(number, text)
        if lines and layout.end and layout.end.match(text):
            yield Block(first, tuple(lines))
            lines = []
        elif size > LIMIT and lines:
            yield reject(name, f"line {first}", Reason.TOO_LONG, "\n".join(lines[:50]))
            lines, skipping = [], True
    yield from gap.close(name)
    if lines:
        yield Block(first, tuple(lines))


def _pieces(
    stream: io.BufferedReader, name: str, seam: re.Pattern[str] | None
) -> Iterator[tuple[int, str | Reject]]:
    """Lines without their ends; one is cut where it holds the end of another file."""
    for line in read_lines(stream, name):
        if isinstance(line, Reject):
            yield 0, line
            continue
        text = line.text.rstrip("\r\n")
        for piece in _BREAK.split(text) if _BREAK.search(text) else (text,):
            found = seam.search(piece, 1) if seam else None
            if found:
                yield line.number, piece[: found.start()]
                piece = piece[found.start() :]
            yield line.number, piece


def read_tagged(stream: io.BufferedReader, name: str, layout: Layout) -> Iterator[Block | Reject]:
    """The same for a format with tags, where records that lack their first line are told apart, too."""
    for block in read_blocks(stream, name, layout):
        if isinstance(block, Reject) or layout.tag is None:
            yield block
        else:
            yield from _split_headless(block, layout.tag, layout.once, name)


def first_values(values: Mapping[str, list[str]]) -> dict[str, str]:
    """The first value of each tag that is not empty, as plain text."""
    return {tag: to_text(next(filter(None, texts), "")) for tag, texts in values.items()}


def values_of(block: Block, tag: re.Pattern[str]) -> defaultdict[str, list[str]]:
    """All values of each tag. Lines without a tag go on with the value before, and stay lines of it."""
    values: defaultdict[str, list[str]] = defaultdict(list)
    name = ""
    for line in block.lines:
        found = tag.match(line)
        if found:
            name = found[1]
            values[name].append(found[2].strip())
        elif name and line.strip():
            values[name][-1] = _joined(values[name][-1], line.strip())
    return values


_CUT = re.compile(r"[^\W_]-\Z")
_GOES_ON = re.compile(r"(?!(?:and|or|to|und|et|y)\b)[^\W_]")


def _joined(text: str, line: str) -> str:
    """Two lines of a value; one that was broken behind a hyphen ("COVID-", "19") is one word again."""
    return text + line if _CUT.search(text) and _GOES_ON.match(line) else f"{text}\n{line}"


def _split_headless(
    block: Block, tag: re.Pattern[str], once: frozenset[str], name: str
) -> Iterator[Block | Reject]:
    """The block, cut at the blank line before each record that lacks its first line.

    Such a record shows by a tag that records have only `once`. One without a blank line before it shows by
    another title.
    """
    for whole in _split_at_blanks(block, tag, once):
        for part in _split_at_titles(whole, tag, once):
            yield part
            if doubled := _two_in_one(part, tag, name):
                yield doubled


def _two_in_one(block: Block, tag: re.Pattern[str], name: str) -> Reject | None:
    """Whether a record has two different identifiers: the text between two records is lost."""
    if sum(line.lstrip().startswith(_IDENTIFIERS) for line in block.lines) < 2:
        return None
    values: defaultdict[str, set[str]] = defaultdict(set)
    for line in block.lines:
        found = tag.match(line)
        if found and found[1] in _IDENTIFIERS and found[2].strip():
            values[found[1]].add(doi_of(found[2]) or found[2].strip())
    doubled = any(len(each) > 1 for each in values.values())
    return reject(name, block.place, Reason.DOUBLED, block.text) if doubled else None


def _split_at_blanks(block: Block, tag: re.Pattern[str], once: frozenset[str]) -> Iterator[Block]:
    if all(map(str.strip, block.lines)):
        yield block
        return
    seen: set[str] = set()
    start = blank = 0
    for number, line in enumerate(block.lines):
        found = tag.match(line)
        if not line.strip():
            blank = number
        elif found and found[1] in once & seen and blank > start:
            yield Block(block.line + start, block.lines[start:blank])
            start = blank + 1
            seen = {match[1] for text in block.lines[start : number + 1] if (match := tag.match(text))}
        elif found:
            seen.add(found[1])
    yield Block(block.line + start, block.lines[start:])


def _split_at_titles(block: Block, tag: re.Pattern[str], once: frozenset[str]) -> Iterator[Block]:
    """The block, cut before each line that gives it another title than it has."""
    if sum(line.lstrip()[:2] in _TITLES for line in block.lines) < 2:
        yield block
        return
    titles: dict[str, str] = {}
    start = 0
    for number, line in enumerate(block.lines):
        found = tag.match(line)
        if not found or found[1] not in _TITLES & once or not found[2].strip():
            continue
        if titles.setdefault(found[1], found[2].strip()) != found[2].strip():
            yield Block(block.line + start, block.lines[start:number])
            titles, start = {found[1]: found[2].strip()}, number
    yield Block(block.line + start, block.lines[start:])


def papers_of(
    blocks: Iterator[Block | Reject], name: str, to_paper: Callable[[Block], Paper]
) -> Iterator[Paper | Reject]:
    """The paper of each block, or why it gives none."""
    for block in blocks:
        if isinstance(block, Reject):
            yield block
        else:
            yield attempt(lambda block=block: to_paper(block), name, block.place, block.text)  # type: ignore[misc]
