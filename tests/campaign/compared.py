"""A corpus on both Milvus servers beside its folder: the same best results and scores, and the time."""

from __future__ import annotations

import time
from pathlib import Path

from index_build.moving import TOP, publish_to
from search.corpus.milvus.corpus import MilvusCorpus
from tests.campaign.tally import Tally
from tests.milvus_servers import lacks, lacks_real, running

SERVERS = {
    "real": "Milvus 2.3.5, words weigh only",
    "small": "milvus-lite 3.2.2, words find papers too",
}


def run(folder: Path, corpus: Path, searches: int) -> Tally:
    """`searches` by papers of a built corpus, in turn in its folder and on a server."""
    tally, begun = Tally("milvus compared"), time.monotonic()
    tally.notes += [
        f"| Server | Searches | Best {TOP} the same | Largest difference of a score | Folder | There |",
        "|---|---|---|---|---|---|",
    ]
    for kind, name in SERVERS.items():
        if missing := lacks_real() if kind == "real" else lacks("pymilvus", "milvus_lite"):
            raise SystemExit(missing)
        with running(kind, folder / kind) as server:
            moved = publish_to(corpus, MilvusCorpus(server.address()), _silent, checked=searches)
        here, there = (f"{1000 * seconds:,.0f} ms" for seconds in moved.seconds)
        same = f"{moved.same:.1%} | {moved.largest:.5f}"
        tally.notes.append(f"| {name} | {searches} | {same} | {here} | {there} |")
        tally.tries[kind] += searches
        if moved.same < 0.98 or moved.largest > 1e-3:
            tally.failures.append(f"{name}: {same}")
    tally.seconds = time.monotonic() - begun
    return tally


def _silent(step: str, done: int, total: int) -> None: ...
