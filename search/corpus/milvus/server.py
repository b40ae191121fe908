"""A Milvus server as we use it: few calls, and each error as one sentence."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from search.corpus.milvus.address import Address
from search.errors import CorpusError, SettingsError

T = TypeVar("T")
REQUIREMENTS = "requirements-milvus.txt"
CONNECTING, ASKING, CHANGING, LOADING = 10.0, 60.0, 300.0, 24 * 3600.0
"""Seconds after which a server is given up: to answer at all, to a question, to a change, to load a build."""
MOST_FOUND = 16_384
"""The most that Milvus returns to one search or query."""
READING, STRICT = "Eventually", "Strong"
"""What was sealed is read as it is there; counts that decide wait until all that was written can be seen."""
_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})")


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a server can do."""

    version: str
    number: tuple[int, int]
    sparse: bool
    """Vectors with few numbers of many, which words are searched with: from 2.4 on. Earlier servers take a
    collection that has them and then fall over it."""
    half: bool
    """Vectors of 16-bit numbers."""
    several: bool
    """Several replicas: the small server within a Python process has no nodes."""


def abilities_of(version: str) -> Abilities:
    if version.startswith("milvus_lite"):
        return Abilities(version, (2, 3), sparse=True, half=False, several=False)
    found = _VERSION.match(version)
    number = (int(found[1]), int(found[2])) if found else (0, 0)
    modern = number >= (2, 4)
    return Abilities(version, number, sparse=modern, half=modern, several=True)


class UnreachableError(CorpusError):
    """The server does not answer."""


class Server:
    """One connection. Safe to use from many threads."""

    def __init__(self, client: Any, address: Address, fault: type[Exception], lost: type[Exception]) -> None:
        self.address = address
        self._client = client
        self._faults = (fault, lost)
        self.abilities = abilities_of(self.ask(client.get_server_version))

    def ask(self, call: Callable[..., T], *given: Any, timeout: float = ASKING, **named: Any) -> T:
        """The answer of the server; a CorpusError where it has none."""
        try:
            return call(*given, timeout=timeout, **named)
        except self._faults as error:
            raise self._in_words(error) from error

    def _in_words(self, error: Exception) -> CorpusError:
        told = " ".join(f"{getattr(error, 'message', '') or error}".split())[:300]
        if is_refusal(error):
            return refused(self.address)
        if "not connect" in told or "Fail connecting" in told or "UNAVAILABLE" in str(error):
            return unreachable(self.address)
        return CorpusError(f"The Milvus server of {self.address} could not do it ({told}): try again.")

    # -- reading

    def count(self, collection: str, where: str = "", level: str = READING) -> int:
        found = self.ask(
            self._client.query,
            collection,
            filter=where,
            output_fields=["count(*)"],
            consistency_level=level,
        )
        return int(found[0]["count(*)"])

    def rows(self, collection: str, where: str, fields: Sequence[str], most: int = 0) -> list[dict[str, Any]]:
        """The rows that pass, in any order."""
        limit = {"limit": most} if most else {}
        found = self.ask(
            self._client.query,
            collection,
            filter=where,
            output_fields=list(fields),
            consistency_level=READING,
            **limit,
        )
        return [dict(row) for row in found]

    def nearest(
        self,
        collection: str,
        vectors: Any,
        field: str,
        k: int,
        wanted: str,
        where: str = "",
        parameters: Mapping[str, Any] | None = None,
    ) -> list[list[tuple[float, int]]]:
        """For each vector the score and the number `wanted` of the k best by inner product, best first."""
        found = self.ask(
            self._client.search,
            collection,
            data=vectors,
            anns_field=field,
            limit=min(k, MOST_FOUND),
            filter=where,
            output_fields=[wanted],
            search_params={"metric_type": "IP", "params": dict(parameters or {})},
            consistency_level=READING,
        )
        return [[(float(hit["distance"]), int(hit["entity"][wanted])) for hit in hits] for hits in found]

    def pointed(self, alias: str) -> str:
        """The collection that an alias stands for; empty where there is no such alias."""
        try:
            found = self._client.describe_alias(alias, timeout=ASKING)
        except self._faults as error:
            told = self._in_words(error)
            if isinstance(told, UnreachableError) or is_refusal(error):
                raise told from error
            return ""
        return str(found.get("collection_name", "")) if isinstance(found, dict) else ""

    def collections(self) -> list[str]:
        return sorted(self.ask(self._client.list_collections))

    def wake(self, collection: str) -> None:
        """The small server forgets at its start what was loaded; the real one loads it again by itself."""
        if not self.abilities.several:
            self.ask(self._client.load_collection, collection, timeout=CHANGING)

    def is_loaded(self, collection: str) -> bool:
        state = self.ask(self._client.get_load_state, collection)["state"]
        return getattr(state, "name", str(state)) == "Loaded"

    # -- writing

    def put(self, collection: str, rows: Sequence[Mapping[str, Any]], again: bool = False) -> None:
        """Store rows; `again` where some may be there already, for Milvus would keep both."""
        call = self._client.upsert if again else self._client.insert
        for some in _by_size(rows):
            self.ask(call, collection, some, timeout=CHANGING)

    @property
    def client(self) -> Any:
        return self._client

    def close(self) -> None:
        self._client.close()


def is_refusal(error: BaseException) -> bool:
    """Whether a server, or what led to the error, says that the token is wrong."""
    told = f"{error} {error.__cause__}".lower()  # no further: pymilvus raises errors from themselves
    if "verification check failed" in told:  # so gRPC says that a certificate is of another name
        return False
    return "unauthenticated" in told or "auth check failure" in told


def unreachable(address: Address) -> UnreachableError:
    trusted = (
        ", and that its certificate is of this name and signed by whom you trust" if address.secure else ""
    )
    return UnreachableError(
        f"The Milvus server of {address} does not answer: see that it runs{trusted}, then try again."
    )


def refused(address: Address) -> CorpusError:
    return CorpusError(
        f"The Milvus server of {address} refuses the token: correct the setting `milvus_token`."
    )


def connect(address: Address) -> Server:
    """The server of a corpus; `pymilvus` is loaded here and nowhere else."""
    try:
        import pymilvus
    except ImportError:
        raise SettingsError(
            f"The corpus {address} is on Milvus, for which the package pymilvus is missing: run "
            f"`pip install -r {REQUIREMENTS}`."
        ) from None
    import grpc

    logging.getLogger("pymilvus").setLevel(logging.CRITICAL + 1)  # each error is told once, in our words
    options: dict[str, Any] = {"uri": address.url, "token": address.token, "timeout": CONNECTING}
    if address.certificate:
        options["server_pem_path"] = str(address.certificate)
    try:
        client = pymilvus.MilvusClient(**options)
    except (pymilvus.MilvusException, grpc.RpcError) as error:
        if is_refusal(error):
            raise refused(address) from error
        raise unreachable(address) from error
    return Server(client, address, pymilvus.MilvusException, grpc.RpcError)


MOST_SENT = 8 * 2**20
"""Bytes sent at once; servers take 64 MB. Chosen by hand."""


def _by_size(rows: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    some: list[Mapping[str, Any]] = []
    size = 0
    for row in rows:
        some.append(row)
        size += sum(_size(value) for value in row.values())
        if size > MOST_SENT:
            yield some
            some, size = [], 0
    if some:
        yield some


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    return int(getattr(value, "nbytes", 0)) or 8 * (len(value) if hasattr(value, "__len__") else 1)
