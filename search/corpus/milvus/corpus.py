"""A corpus on Milvus: which of its builds is served, said by one pointer."""

from __future__ import annotations

import math
import threading
import time
from pathlib import Path

from search.corpus.manifest import Manifest
from search.corpus.milvus.about import About, read_about
from search.corpus.milvus.address import read_address
from search.corpus.milvus.build import MilvusBuild
from search.corpus.milvus.server import Server, connect
from search.corpus.milvus.shapes import ABOUT, PARTS, build_of, collection_of
from search.errors import CorpusError

STALE = 2.0
"""Seconds after which the pointer is read again. Chosen by hand."""


class MilvusCorpus:
    """The builds of one name on a server. One connection, made when something is first asked."""

    def __init__(self, address: str, token: str = "", certificate: Path | None = None) -> None:
        self.address = read_address(address, token, certificate)
        self._lock = threading.Lock()
        self._connected: Server | None = None
        self._pointed, self._looked = "", -math.inf

    def _server(self) -> Server:
        with self._lock:
            if self._connected is None:
                self._connected = connect(self.address)
            return self._connected

    def current(self) -> str:
        """As of a moment ago: pages ask many times for each click."""
        if time.monotonic() - self._looked > STALE:
            self._pointed = self._point()
            self._looked = time.monotonic()
        return self._pointed

    def forget(self) -> None:
        """Read the pointer anew: it has just been moved."""
        self._looked = -math.inf

    def _point(self) -> str:
        return build_of(self.address.name, self._server().pointed(self.address.name))

    def builds(self) -> list[str]:
        """The served one alone: others stay until readers have left them, but may answer no longer."""
        build = self._point()
        if not build:
            raise CorpusError(
                f"There is no corpus {self.address}; publish one with `python -m index_build publish DIR "
                f"--to {self.address}`."
            )
        return [build]

    def manifest(self, build: str) -> Manifest:
        return self._read(build).manifest

    def _read(self, build: str) -> About:
        """What a build says of itself, once all of it is loaded: a server is healthy long before."""
        name, server = self.address.name, self._server()
        for part in (ABOUT, *PARTS):
            server.wake(collection_of(name, build, part))
            if not server.is_loaded(collection := collection_of(name, build, part)):
                raise CorpusError(
                    f"The collection {collection} of {self.address} is not loaded yet: wait a minute, then "
                    "try again, or publish the corpus again."
                )
        return read_about(server, collection_of(name, build, ABOUT))

    def open(self, build: str, manifest: Manifest) -> MilvusBuild:
        """Concrete collections of one build, whose counts are those of its manifest."""
        server = self._server()
        about = self._read(build)
        if about.sparse and not server.abilities.sparse:
            raise CorpusError(
                f"The corpus {self.address} needs a server with sparse vectors (Milvus 2.4 or later), and "
                f"this one is {server.abilities.version}: publish it again to this one, or use a later one."
            )
        opened = MilvusBuild(server, about)
        if problem := opened.health.damage:
            opened.close()
            raise CorpusError(problem)
        return opened

    def notice_of(self, damage: str, served: Manifest) -> str:
        """Nothing stands in for anything here."""
        return ""
