"""Reads JSON in every layout people have: one record a line, one array, one answer of a web service."""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from index_build.sources.rejects import BadRecord, Reason, Reject, reject
from index_build.sources.streams import CHUNK, LIMIT, is_utf8, read_lines
from search.types import Paper

Record = dict[str, Any]
ToPaper = Callable[[Record], Paper]

_WRAPPED = re.compile(
    rb'\s*(?:\[|\{\s*(?:\n|$|"(?:meta|results|data|items|total|offset|next|token|status)"))'
)
_ENTRANCE = re.compile(r'\s*(?:\[|\{.*?"(?:results|data|items|papers|records)"\s*:\s*\[)', re.DOTALL)
_NEXT_OBJECT = re.compile(r"\}\s*,?\s*(?=\{)")
_BETWEEN = re.compile(r"[\s,]*")


def read_json(stream: io.BufferedReader, name: str, to_paper: ToPaper) -> Iterator[Paper | Reject]:
    """Papers from a JSON file, whichever layout it has."""
    layout = _by_value if _WRAPPED.match(stream.peek(CHUNK)) else _by_line
    return layout(stream, name, to_paper)


def _by_line(stream: io.BufferedReader, name: str, to_paper: ToPaper) -> Iterator[Paper | Reject]:
    for line in read_lines(stream, name):
        if isinstance(line, Reject):
            yield line
        elif text := line.text.strip():
            try:
                record = json.loads(text)
            except ValueError:
                yield reject(name, line.place, Reason.NOT_JSON, text)
            except RecursionError:
                yield reject(name, line.place, Reason.TOO_DEEP, text)
            else:
                yield convert(record, to_paper, name, line.place, text)


def convert(record: object, to_paper: ToPaper, name: str, place: str, raw: str) -> Paper | Reject:
    """The paper of a record, or the reason why it is none."""
    if not isinstance(record, dict):
        return reject(name, place, Reason.NOT_OBJECT, raw)
    try:
        return to_paper(record)
    except BadRecord as bad:
        return reject(name, place, bad.reason, raw)
    except (TypeError, ValueError, AttributeError, LookupError):
        return reject(name, place, Reason.BAD_SHAPE, raw)


class _Window:
    """The stretch of the text that is being looked at; it grows on demand and forgets what is behind it."""

    def __init__(self, stream: io.BufferedReader) -> None:
        encoding = "utf-8" if is_utf8(stream.peek(CHUNK)) else "cp1252"
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._stream = stream
        self.text = ""
        self.at = 0

    def grow(self) -> bool:
        """Reads as much again as there is, so that retrying costs no more than twice; False at the end."""
        rest = self.text[self.at :]
        pieces, wanted = [], max(CHUNK, len(rest))
        while wanted > 0 and (chunk := self._stream.read1(wanted)):
            wanted -= len(chunk)
            pieces.append(self._decoder.decode(chunk).replace("\0", ""))
        self.text, self.at = "".join([rest, *pieces]), 0
        return bool(pieces)

    def skip(self, pattern: re.Pattern[str]) -> bool:
        """Steps over the pattern if it is next."""
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match is not None

    def skip_to_next_object(self) -> bool:
        """After a broken element: to the next that begins, however far; False when there is none."""
        while not (match := _NEXT_OBJECT.search(self.text, self.at)):
            self.at = max(self.at, len(self.text) - CHUNK)
            if not self.grow():
                return False
        self.at = match.end()
        return True


def _by_value(stream: io.BufferedReader, name: str, to_paper: ToPaper) -> Iterator[Paper | Reject]:
    """The elements of one array, or objects one after another, read piece by piece."""
    window, decoder, number = _Window(stream), json.JSONDecoder(), 1
    window.grow()
    window.skip(_ENTRANCE)
    while True:
        window.skip(_BETWEEN)
        while window.at == len(window.text) and window.grow():
            window.skip(_BETWEEN)
        if window.text[window.at : window.at + 1] in ("]", "}", ""):
            return
        place, raw = f"record {number}", window.text[window.at : window.at + 500]
        try:
            record, window.at = decoder.raw_decode(window.text, window.at)
        except (ValueError, RecursionError) as error:
            # A piece that does not parse may only be incomplete.
            if isinstance(error, ValueError) and len(window.text) - window.at < LIMIT and window.grow():
                continue
            yield reject(name, place, _what_is_wrong(error, window), raw)
            if not window.skip_to_next_object():
                return
        else:
            yield convert(record, to_paper, name, place, raw)
        number += 1


def _what_is_wrong(error: Exception, window: _Window) -> Reason:
    if isinstance(error, RecursionError):
        return Reason.TOO_DEEP
    return Reason.TOO_LONG if len(window.text) - window.at >= LIMIT else Reason.NOT_JSON
