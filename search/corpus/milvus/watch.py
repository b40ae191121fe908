"""Whether all of a build answers: a server that lost a machine gives part of an answer without an error."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from search.corpus.milvus.server import Server, UnreachableError
from search.errors import CorpusError

IDLE = 5.0
"""Seconds after which the counts are compared again where nothing was asked meanwhile. Chosen by hand."""


class Watch:
    """Counts what answers: after every question, before its answer is taken for whole."""

    def __init__(self, server: Server, expected: Mapping[str, int]) -> None:
        """`expected` is the number of rows of each collection."""
        self._server, self._expected = server, dict(expected)
        self._told, self._told_at = "", -IDLE
        self._found = ""
        self._looked = -IDLE
        self._asked = time.monotonic()
        self._lock = threading.Lock()
        self._workers = ThreadPoolExecutor(len(self._expected) or 1, "milvus counts")

    def asked(self) -> None:
        """A question was put: what was counted before says nothing about its answer."""
        self._asked = time.monotonic()

    @property
    def damage(self) -> str:
        """What does not answer, in one sentence; empty while all does."""
        with self._lock:
            now = time.monotonic()
            if self._found or self._asked >= self._looked or now - self._looked > IDLE:
                self._found = self._look()
                self._looked = now
            is_fresh = now - self._told_at < IDLE  # later it may have passed: a machine came back
            return self._found or (self._told if is_fresh else "")

    def _look(self) -> str:
        try:
            counts = dict(
                zip(self._expected, self._workers.map(self._server.count, self._expected), strict=True)
            )
        except UnreachableError as error:
            return str(error)
        except CorpusError as error:
            return f"{error} Not all of the corpus answers."
        missing = {
            name: (counts[name], wanted) for name, wanted in self._expected.items() if counts[name] != wanted
        }
        if not missing:
            return ""
        name, (found, wanted) = next(iter(missing.items()))
        return (
            f"Only part of the corpus {self._server.address} answers ({found:,} of {wanted:,} rows of "
            f"{name}), so results would lack papers without a sign: try again in a minute, or look at the "
            "nodes of the server."
        )

    def tell(self, damage: str) -> None:
        self._told, self._told_at = damage, time.monotonic()

    def wait(self, seconds: float | None = None) -> bool:
        """There is nothing to wait for: the counts are compared with every answer."""
        return True

    def close(self) -> None:
        self._workers.shutdown(wait=False)
