"""Kills query nodes of a Milvus cluster under searches: no wrong and no partial answer passes as whole."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from index_build.moving import publish_to
from search.corpus.milvus.corpus import MilvusCorpus
from search.engine import Engine
from search.errors import CorpusError
from tests import milvus_corpora, own_network
from tests.campaign.milvus import loaded, search
from tests.campaign.tally import Effort, Tally, repeat
from tests.milvus_cluster import PORT, Cluster, etcd
from tests.milvus_servers import lacks_real

T = TypeVar("T")
NODES, REPLICAS = 3, (2, 1)
READERS = 2
"""That search each of the corpora all the time."""
BEFORE, AFTER, RECOVERING = 3.0, 40.0, 120.0
"""Seconds that are searched before a node is killed, and after; and within which all must answer again."""


def run(effort: Effort) -> Tally:
    if missing := lacks_real():
        raise SystemExit(missing)
    etcd()  # from the network, which is left now
    own_network.enter()
    folder = milvus_corpora.make_folder(effort.folder / "corpus")
    cluster = Cluster(effort.folder / "cluster", NODES)
    try:
        cluster.start()
        names = {copies: _published(folder, copies) for copies in REPLICAS}
        return _killed(effort, cluster, names)
    finally:
        cluster.stop()


def _published(folder: Path, replicas: int) -> str:
    """The address of a corpus with so many copies; as soon as the cluster takes one."""
    address = f"milvus://127.0.0.1:{PORT}/copies_{replicas}"
    moved = _in_time(lambda: publish_to(folder, MilvusCorpus(address), _silent, replicas=replicas))
    if moved.replicas != replicas:
        raise SystemExit(f"The cluster loaded {moved.replicas} copies instead of {replicas}.")
    return address


def _silent(step: str, done: int, total: int) -> None: ...


def _killed(effort: Effort, cluster: Cluster, addresses: dict[int, str]) -> Tally:
    engines = {copies: loaded(address) for copies, address in addresses.items()}
    expected = {copies: search(engine) for copies, engine in engines.items()}
    told: Counter[str] = Counter()
    again: dict[int, list[float]] = {copies: [] for copies in engines}

    def attempt(number: int) -> tuple[str, str]:
        victim = random.Random(f"victim {number}").choice(cluster.query_nodes)
        with ThreadPoolExecutor(READERS * len(engines)) as readers:
            end = time.monotonic() + BEFORE + AFTER
            asked = [
                (copies, readers.submit(_ask, engine, end))
                for copies, engine in engines.items()
                for _ in range(READERS)
            ]
            time.sleep(BEFORE)
            killed = time.monotonic()
            cluster.kill(victim)
        cluster.start_one(victim)
        wrong = ""
        for copies, answers in asked:
            for _, answer in answers.result():
                what = {expected[copies]: "whole", "": "refused"}.get(answer, "wrong")
                told[f"{copies} copies: {what}"] += 1
                wrong = wrong or (f"{copies} copies answered {answer[:200]}" if what == "wrong" else "")
            refused = [moment for moment, answer in answers.result() if not answer]
            again[copies].append(max(refused, default=killed) - killed)
        for copies, engine in engines.items():
            _in_time(lambda engine=engine: search(engine), expected[copies])
        return victim, wrong

    tally = repeat("milvus cluster", effort, attempt)
    tally.notes.append(", ".join(f"{what} {count:,}" for what, count in sorted(told.items())))
    for copies, seconds in again.items():
        tally.notes.append(f"{copies} copies: refusals until {max(seconds):.0f} s after a kill")
    return tally


def _ask(engine: Engine, end: float) -> list[tuple[float, str]]:
    """When was answered what; nothing where the corpus says that it cannot."""
    answers = []
    while time.monotonic() < end:
        try:
            answers.append((time.monotonic(), search(engine)))
        except CorpusError:
            answers.append((time.monotonic(), ""))
            time.sleep(0.1)
    return answers


def _in_time(call: Callable[[], T], wanted: T | None = None) -> T:
    """The answer as soon as there is one, and it is the wanted one."""
    end = time.monotonic() + RECOVERING
    while True:
        try:
            found = call()
            if wanted is None or found == wanted:
                return found
            raise CorpusError(f"The answer is still {str(found)[:200]}.")
        except CorpusError:
            if time.monotonic() > end:
                raise
            time.sleep(1)
