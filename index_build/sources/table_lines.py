"""The lines of a table as `csv` wants them, which can be given again where a quote has no end."""

from __future__ import annotations

import io
from collections import deque

from index_build.sources.rejects import Reason, Reject
from index_build.sources.streams import read_lines
from index_build.sources.table_columns import Header, names_of


class Lines:
    """The lines as csv wants them, with the number of the last one and the rejects on the way."""

    def __init__(self, stream: io.BufferedReader, name: str) -> None:
        self._lines = read_lines(stream, name)
        self._rejects: list[Reject] = []
        self._given: list[str] = []
        self._again: deque[str] = deque()
        self.number = 0

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else self._read()
        self.number += 1
        self._given.append(line)
        return line

    def _read(self) -> str:
        for line in self._lines:
            if not isinstance(line, Reject):
                return line.text.rstrip("\r\n").replace("\r", " ") + "\n"
            self.number += line.reason == Reason.TOO_LONG
            self._rejects.append(line)
        raise StopIteration

    def settle(self) -> None:
        """What was given so far made a row."""
        self._given = []

    def swallowed(self, row: list[str], header: Header) -> bool:
        """Whether a quote without end made one row of several: its lines have the right width, not it."""
        if not header.quoted or header.width < 2 or len(row) == header.width:
            return False
        return any(len(names_of(line, header.delimiter)) == header.width for line in self._given[1:])

    def take_back(self) -> None:
        """Give all lines of the last row but its first one again."""
        self._again.extendleft(reversed(self._given[1:]))
        self.number -= len(self._given) - 1
        self._given = []

    def skip_past_quote(self) -> None:
        """After a cell without end: on to the line with the next quote, where it may have ended."""
        while (line := next(self, None)) is not None and '"' not in line:
            self.settle()
        self.settle()

    def take_rejects(self) -> list[Reject]:
        taken, self._rejects = self._rejects, []
        return taken
