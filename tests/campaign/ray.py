"""Kills encoding on Ray, on two nodes of one machine; what comes of it must be what comes without Ray.

Ray listens on every address: all of it is in a network of its own.
"""

from __future__ import annotations

import importlib.util
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from index_build import demo
from search.encoder import load_encoder
from search.text.sentences import split_paper
from search.types import Document, Paper
from tests import own_network
from tests.campaign.tally import Effort, Tally, repeat

PAPERS, SHARD = 192, 8
NODES, PROCESSORS = 2, 2
MOST_SHARDS = 2
"""Shards that are done in a run until it is killed: none to this many, by the seed."""
STARTING, LATER = 40.0, 2.0
"""Seconds within which it is killed where none is to be done first, and where some are."""
GIVEN_UP = 600.0


def documents(count: int = PAPERS) -> list[Document]:
    found = (paper for paper in demo.papers() if isinstance(paper, Paper))
    papers = [split_paper(paper) for paper, _ in zip(found, range(count), strict=False)]
    return [Document(paper.title, tuple(each.text for each in paper.sentences)) for paper in papers]


def run(effort: Effort) -> Tally:
    _require()
    expected = list(load_encoder("default", "cpu").encode(documents()))
    own_network.enter()
    storage, out = effort.folder / "shards", effort.folder / "vectors.npy"

    def attempt(number: int) -> tuple[str, str]:
        before = _done(storage)
        process = _begin(storage, out)
        dice = random.Random(f"moment {number}")
        wanted = dice.randint(0, MOST_SHARDS)
        _wait_until(lambda: _done(storage) >= before + wanted or process.poll() is not None)
        try:
            process.wait(dice.uniform(0, LATER if wanted else STARTING))
            what = "after the end"
        except subprocess.TimeoutExpired:
            what = f"{wanted} shards later"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return what, "" if _done(storage) >= before + wanted else "shards that were done are gone"

    tally = repeat("ray", effort, attempt)
    tally.notes.append(f"{_done(storage)} of {PAPERS // SHARD} shards were done by runs that were killed")
    last = _begin(storage, out)
    if last.wait():
        told = out.with_suffix(".log").read_text(errors="replace")[-500:]
        tally.failures.append(f"the last run ended with {last.returncode}: {told}")
    else:
        made = np.load(out)
        same = np.array_equal(made, np.concatenate([each.sentences for each in expected]))
        tally.failures += [] if same else ["the vectors differ from those of a run without Ray"]
        tally.notes.append((effort.folder / "told").read_text())
    return tally


def _require() -> None:
    if importlib.util.find_spec("ray") is None:
        raise SystemExit("ray is not installed: pip install -r requirements-ray.txt")
    if refused := own_network.refusal():
        raise SystemExit(refused)


def _done(storage: Path) -> int:
    return len(list(storage.glob("*/done/*.parquet")))


def _wait_until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + GIVEN_UP
    while not happened() and time.monotonic() < end:
        time.sleep(0.1)


def _begin(storage: Path, out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.campaign.ray", str(storage), str(out)]
    with out.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(command, start_new_session=True, stderr=log)


def _set_up(**more: str) -> None:
    """What Ray and its workers are to find, before it is imported."""
    path = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
    os.environ.update(RAY_worker_niceness="0", RAY_USAGE_STATS_ENABLED="0", PYTHONPATH=path, **more)


def main() -> None:
    """One run on a cluster of its own."""
    _set_up()
    import ray
    from ray.cluster_utils import Cluster

    from index_build import on_ray
    from search.settings import Settings

    on_ray.SHARD = SHARD
    memory = 100 * 2**20
    cluster = Cluster(True, head_node_args={"num_cpus": PROCESSORS, "object_store_memory": memory})
    for _ in range(NODES - 1):
        cluster.add_node(num_cpus=PROCESSORS, object_store_memory=memory)
    ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
    encoder = on_ray.RayEncoder(Settings(), sys.argv[1], address=cluster.address)
    found = list(encoder.encode(documents()))
    np.save(sys.argv[2], np.concatenate([each.sentences for each in found]))
    (Path(sys.argv[2]).parent / "told").write_text(f"the last run had {len(ray.nodes())} nodes")
    ray.shutdown()  # before the nodes end, or this process is ended with them
    cluster.shutdown()


ROUNDS = 2


def run_beside(effort: Effort) -> Tally:
    """How much longer Ray takes than one process on one core, with one worker: in turn, `--times` papers."""
    _require()
    papers = documents(effort.times)
    own_network.enter()
    _set_up(OMP_NUM_THREADS="1")
    import ray

    from index_build import on_ray
    from search.settings import Settings

    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)  # one worker
    tally, begun = Tally("ray beside"), time.monotonic()
    for turn in range(ROUNDS):
        started = time.perf_counter()
        alone = list(on_ray.on_one_core(on_ray.Recipe.of(Settings()).load()).encode(papers))
        middle = time.perf_counter()
        encoder = on_ray.RayEncoder(Settings(), str(effort.folder / f"shards{turn}"), address="here")
        found = list(encoder.encode(papers))
        there, here = time.perf_counter() - middle, middle - started
        tally.tries["rounds"] += 1
        tally.notes.append(
            f"{len(papers):,} papers: alone {here:.1f} s, on Ray {there:.1f} s ({there / here - 1:+.1%}), "
            f"of which {encoder.spent:.1f} s in the model"
        )
        if not all(np.array_equal(a.sentences, b.sentences) for a, b in zip(alone, found, strict=True)):
            tally.failures.append("the vectors differ")
    tally.seconds = time.monotonic() - begun
    return tally


if __name__ == "__main__":
    main()
