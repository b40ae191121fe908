"""The stretch of a JSON text that is being looked at: values out of it, and on behind broken ones."""

from __future__ import annotations

import codecs
import io
import json
import re
from typing import Any

from index_build.sources.charsets import errors_for, guess
from index_build.sources.streams import CHUNK, LIMIT

_SCAN = 4 * CHUNK
"""Characters that are searched for the end of a broken element, by its brackets."""
_BETWEEN = re.compile(r"[\s,\ufeff]*")
_BRACKET = re.compile(r'[{}\[\]"]')
_REST_OF_STRING = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NEXT_KEY = re.compile(r'(?=\{\s{0,200}"[^"{}]{1,80}"\s{0,20}:)')
"""The next object, behind words that stand between values."""
_NEXT_OBJECT = re.compile(r"[}\]][\s,\[\ufeff]*+(?=\{)")


class Window:
    """The stretch of the text that is being looked at; it grows on demand and forgets what is behind it."""

    def __init__(self, stream: io.BufferedReader | None, text: str = "") -> None:
        encoding = guess(stream.peek(CHUNK)).encoding if stream else "utf-8"
        self._decoder = codecs.getincrementaldecoder(encoding)(errors_for(encoding))
        self._stream = stream
        self._hopeless = 0
        self.text = text
        self.at = 0
        self.dropped = 0
        """Characters that are behind the window."""

    def grow(self) -> bool:
        """Reads as much again as there is, so that retrying costs no more than twice; False at the end."""
        if self._stream is None:
            return False
        rest = self.text[self.at :]
        pieces, wanted = [], max(CHUNK, len(rest))
        while wanted > 0 and (chunk := self._stream.read1(wanted)):
            wanted -= len(chunk)
            pieces.append(self._decoder.decode(chunk).replace("\0", ""))
        self.dropped += self.at
        self.text, self.at = "".join([rest, *pieces]), 0
        return bool(pieces)

    def peek(self, between: re.Pattern[str] = _BETWEEN) -> str:
        """The next character after what may stand between values; nothing at the end."""
        while True:
            match = between.match(self.text, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.grow():
                return ""

    def decode(self) -> Any:
        """The value that begins here; ValueError or RecursionError when there is none."""
        while True:
            try:
                value, self.at = DECODER.raw_decode(self.text, self.at)
            except ValueError as error:
                if not self.is_cut(error) or len(self.text) - self.at >= LIMIT or not self.grow():
                    raise
            else:
                if self.at < len(self.text) or not isinstance(value, int | float) or not self.grow():
                    return value

    def is_cut(self, error: ValueError) -> bool:
        """Whether the value may only be incomplete: it breaks at the end of what was read."""
        if not isinstance(error, json.JSONDecodeError):
            return False
        return error.msg.startswith("Unterminated string") or error.pos >= len(self.text) - 10

    def recover(self, error: Exception, first_key: str) -> bool:
        """Goes on after a broken element: behind its last bracket, else at what looks like a record."""
        good = error.pos - self.at if isinstance(error, json.JSONDecodeError) else 0
        end = self._balanced_end()
        if end > 0:
            self.at = end
            return True
        is_stray = self.text[self.at : self.at + 1].isalpha()
        self.at = min(self.at + max(1, good), len(self.text))
        key = re.escape(json.dumps(first_key, ensure_ascii=False))
        following = _NEXT_KEY if is_stray else _NEXT_OBJECT
        following = re.compile(rf"(?=\{{\s{{0,200}}{key}\s{{0,20}}:)") if first_key else following
        while not (match := following.search(self.text, self.at)):
            self.at = max(self.at, len(self.text) - CHUNK)
            if not self.grow():
                return False
        self.at = match.end()
        return True

    def _balanced_end(self) -> int:
        """Where the brackets that open here are all closed, strings left aside; 0 when that is not near."""
        if self.dropped + self.at < self._hopeless or self.text[self.at : self.at + 1] not in ("{", "["):
            return 0
        while len(self.text) - self.at < _SCAN and self.grow():
            pass
        closers: list[str] = []
        at, limit = self.at, self.at + _SCAN
        while (match := _BRACKET.search(self.text, at, limit)) is not None:
            at = match.end()
            if match[0] == '"':
                rest = _REST_OF_STRING.match(self.text, at, limit)
                if rest is None:
                    at = limit
                    break
                at = rest.end()
            elif match[0] in _CLOSER:
                closers.append(_CLOSER[match[0]])
            elif closers.pop() != match[0]:
                break
            elif not closers:
                return at
        # What was searched once in vain is not searched again.
        self._hopeless = self.dropped + (at if closers else limit)
        return 0


_CLOSER = {"{": "}", "[": "]"}
DECODER = json.JSONDecoder(strict=False)
