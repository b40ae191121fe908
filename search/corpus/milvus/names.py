"""What has a name in a build: terms, ids, venues, fields and sources, looked up by their hash."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from search.corpus.milvus.server import Server
from search.corpus.milvus.shapes import TERM, hash_of

TOGETHER = 4_000
"""Names that are looked up with one question. Chosen by hand."""
REMEMBERED = 200_000
"""Terms whose counts are kept: some 30 MB. They never change in a build."""


@dataclass(frozen=True, slots=True)
class Name:
    number: int
    """Of a term or a filter value; the row of a paper."""
    count: int
    """Papers that have it."""


class Names:
    """Safe to use from many threads."""

    def __init__(self, server: Server, collection: str) -> None:
        self._server, self._collection = server, collection
        self._terms: dict[str, Name] = {}
        self._lock = threading.Lock()

    def find(self, wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], list[Name]]:
        """What has each of these kinds and texts, in the order of their rows; without what is not there."""
        found: dict[tuple[str, str], list[Name]] = {}
        for some in _several(wanted):
            hashes = {hash_of(*each): each for each in some}
            keys = sorted({first for first, _ in hashes})
            rows = self._server.rows(
                self._collection, f"key in {keys}", ("row", "key", "check", "number", "count")
            )
            for row in sorted(rows, key=lambda row: row["row"]):
                if (name := hashes.get((row["key"], row["check"]))) is not None:
                    found.setdefault(name, []).append(Name(row["number"], row["count"]))
        return found

    def terms(self, wanted: Collection[str]) -> dict[str, Name]:
        """The terms with their numbers and the papers that have them; a term of none has number -1."""
        known = self._terms
        fresh = [term for term in dict.fromkeys(wanted) if term not in known]
        if fresh:
            found = self.find([(TERM, term) for term in fresh])
            read = {term: next(iter(found.get((TERM, term), ())), Name(-1, 0)) for term in fresh}
            with self._lock:
                if len(known) + len(read) > REMEMBERED:
                    known = self._terms = {term: name for term, name in known.items() if term in wanted}
                known |= read
        return {term: known[term] for term in wanted}


def _several(values: Iterable[tuple[str, str]]) -> Iterator[Sequence[tuple[str, str]]]:
    left = iter(values)
    while some := list(islice(left, TOGETHER)):
        yield some
