"""Takes BibTeX apart: entries out of a file, fields out of an entry, with the slips people make.

Missing commas and keys, two entries on one line and fields that come twice do no harm. An entry whose braces
do not balance has no end and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from index_build.sources.blocks import Block
from index_build.sources.rejects import BadRecord, Reason, Reject, reject

START = re.compile(r"^\s*@\s*[a-zA-Z]+\s*[{(]")
_ENTRY = re.compile(r"@[ \t]{0,20}([a-zA-Z]{1,40})\s{0,20}([{(])")
_BRACE = re.compile(r"[{}]")
_KEY = re.compile(r"""\s*+([^\s,={}"]*+(?:[ \t]++[^\s,={}"]++)*+)\s*+(?=,|$)""")
_KEY_WITHOUT_COMMA = re.compile(r"""\s*+([^\s,={}"]++)[ \t]*+\n""")
_BETWEEN = re.compile(r"[\s,]*+")
_NAME = re.compile(r"([a-zA-Z][\w:.+/-]{0,60}+)\s*+=\s*+")
_QUOTE = re.compile(r'[{}"]')
_WORD = re.compile(r'[^\s,{}"#]+')
_HASH = re.compile(r"\s*#\s*")
_DIVIDER = re.compile(r"[{},]|\n[ \t]{0,20}(?=[a-zA-Z][\w:.+/-]{0,60}+[ \t]{0,20}=)")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: its type in lower case, its key, and its fields by name in lower case, as LaTeX."""

    kind: str
    key: str
    fields: dict[str, str]


def split_entries(block: Block, name: str) -> Iterator[Block | Reject]:
    """The entries in a block that begins with one, and a Reject for text between and after them."""
    text, at, line = block.text, 0, block.line
    while (found := _next_entry(text, at)) is not None:
        yield from _outside(text[at : found.start()], name, line)
        line += text.count("\n", at, found.start())
        end = _end_of(text, found)
        if end < 0:  # broken: the reject names it
            yield Block(line, tuple(text[found.start() :].split("\n")))
            return
        yield Block(line, tuple(text[found.start() : end].split("\n")))
        line += text.count("\n", found.start(), end)
        at = end
    yield from _outside(text[at:], name, line)


def _next_entry(text: str, at: int) -> re.Match[str] | None:
    """The next entry that is not behind a "%", by which people take entries out."""
    while (found := _ENTRY.search(text, at)) is not None:
        if "%" not in text[max(at, text.rfind("\n", at, found.start()) + 1) : found.start()]:
            return found
        at = found.end()
    return None


def _outside(text: str, name: str, line: int) -> Iterator[Reject]:
    rows = [(number, row) for number, row in enumerate(text.split("\n"), line) if not is_comment(row)]
    if rows:
        yield reject(name, f"line {rows[0][0]}", Reason.OUTSIDE, "\n".join(row for _, row in rows))


def is_comment(line: str) -> bool:
    """Whether a line between entries needs no mention: blank, a comment, or a line of Scopus or Cochrane."""
    line = line.strip(" \t\r,}")
    return (
        not line
        or line.startswith(("%", "EXPORT DATE:"))
        or line == "Scopus"
        or _COUNTER.match(line) is not None
    )


_COUNTER = re.compile(r"Record #\d+ of \d+$")
"""What Cochrane writes above each entry."""


def _end_of(text: str, start: re.Match[str]) -> int:
    """Where the entry ends, or -1."""
    if start[2] == "(":
        depth = 0
        for found in re.finditer(r"[{})]", text[start.end() :]):
            depth += {"{": 1, "}": -1, ")": 0}[found[0]]
            if found[0] == ")" and depth == 0:
                return start.end() + found.end()
        return -1
    return _closing(text, start.end())


def _closing(text: str, at: int) -> int:
    """The place behind the brace that closes the one before `at`, or -1. Backslashes do not change depth."""
    depth = 1
    for found in _BRACE.finditer(text, at):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.end()
    return -1


def parse_entry(text: str, abbreviations: Mapping[str, str]) -> Entry:
    """The entry in a text; BadRecord when it has no end or nothing in it."""
    found = _ENTRY.match(text)
    end = _end_of(text, found) if found else -1
    if found is None or end < 0:
        raise BadRecord(Reason.BAD_ENTRY)
    inside = text[found.end() : end - 1]
    key = _KEY.match(inside) or _KEY_WITHOUT_COMMA.match(inside)
    is_string = found[1].lower() == "string"
    at = key.end() if key and not is_string else 0
    return Entry(
        found[1].lower(), key[1] if key and not is_string else "", _fields(inside, at, abbreviations)
    )


def _fields(inside: str, at: int, abbreviations: Mapping[str, str]) -> dict[str, str]:
    """Fields in order; of one that comes twice, the first that is not empty."""
    fields: dict[str, str] = {}
    while at < len(inside):
        between = _BETWEEN.match(inside, at)
        at = between.end() if between else at
        name = _NAME.match(inside, at)
        if name is None:
            at = _next_field(inside, at)
            continue
        value, at = _value(inside, name.end(), abbreviations)
        key = name[1].lower()
        fields[key] = fields.get(key) or value
    return fields


def _next_field(inside: str, at: int) -> int:
    """Over what is no field, to the next comma outside of braces, or to a line that begins with a field."""
    depth = 0
    for found in _DIVIDER.finditer(inside, at):
        depth += {"{": 1, "}": -1}.get(found[0][0], 0)
        if found[0] not in ("{", "}") and depth <= 0:
            return found.end()
    return len(inside)


def _value(inside: str, at: int, abbreviations: Mapping[str, str]) -> tuple[str, int]:
    """The value that begins here, its pieces joined, and where it ends."""
    pieces = []
    while True:
        piece, at = _piece(inside, at, abbreviations)
        pieces.append(piece)
        joined = _HASH.match(inside, at)
        if joined is None:
            return "".join(pieces), at
        at = joined.end()


def _piece(inside: str, at: int, abbreviations: Mapping[str, str]) -> tuple[str, int]:
    """Text in braces or quotes, a number, or an abbreviation."""
    start = inside[at : at + 1]
    if start == "{":
        end = _closing(inside, at + 1)
        return (inside[at + 1 : end - 1], end) if end > 0 else (inside[at + 1 :], len(inside))
    if start == '"':
        end = _closing_quote(inside, at + 1)
        return inside[at + 1 : end - 1], end
    word = _WORD.match(inside, at)
    if word is None:
        return "", at
    return abbreviations.get(word[0].lower(), word[0]), word.end()


def _closing_quote(inside: str, at: int) -> int:
    """The place behind the quote that ends a value: the next one outside of braces."""
    depth = 0
    for found in _QUOTE.finditer(inside, at):
        depth += {"{": 1, "}": -1, '"': 0}[found[0]]
        if found[0] == '"' and depth <= 0:
            return found.end()
    return len(inside) + 1
