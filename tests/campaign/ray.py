"""Kills encoding on Ray, on two nodes of one machine; what comes of it must be what comes without Ray."""

from __future__ import annotations

import importlib.util
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from index_build import demo
from search.encoder import load_encoder
from search.text.sentences import split_paper
from search.types import Document, Paper
from tests.campaign.tally import Effort, Tally, repeat

PAPERS, SHARD = 192, 16
NODES, PROCESSORS = 2, 2
LONGEST = 40.0
"""Seconds within which a run is killed: it takes some twenty until the first shard is done."""


def documents() -> list[Document]:
    found = (paper for paper in demo.papers() if isinstance(paper, Paper))
    papers = [split_paper(paper) for paper, _ in zip(found, range(PAPERS), strict=False)]
    return [Document(paper.title, tuple(each.text for each in paper.sentences)) for paper in papers]


def run(effort: Effort) -> Tally:
    if importlib.util.find_spec("ray") is None:
        raise SystemExit("ray is not installed: pip install -r requirements-ray.txt")
    model = load_encoder("default", "cpu")
    begun = time.perf_counter()
    expected = list(model.encode(documents()))
    alone = time.perf_counter() - begun
    storage, out = effort.folder / "shards", effort.folder / "vectors.npy"

    def attempt(number: int) -> tuple[str, str]:
        before = _done(storage)
        process = _begin(storage, out)
        moment = random.Random(f"moment {number}").uniform(0.3 * LONGEST, LONGEST)
        try:
            process.wait(moment)
            what = "after the end"
        except subprocess.TimeoutExpired:
            what = "on the way"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return what, "" if _done(storage) >= before else "shards that were done are gone"

    tally = repeat("ray", effort, attempt)
    last = _begin(storage, out)
    if last.wait():
        tally.failures.append(f"the last run ended with {last.returncode}")
    else:
        made = np.load(out)
        same = np.array_equal(made, np.concatenate([each.sentences for each in expected]))
        tally.failures += [] if same else ["the vectors differ from those of a run without Ray"]
    tally.notes.append(f"{PAPERS} papers alone in {alone:.1f} s; {(effort.folder / 'told').read_text()}")
    return tally


def _done(storage: Path) -> int:
    return len(list(storage.glob("*/done/*.parquet")))


def _begin(storage: Path, out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.campaign.ray", str(storage), str(out)]
    return subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)


def main() -> None:
    """One run on a cluster of its own."""
    import ray
    from ray.cluster_utils import Cluster

    from index_build import on_ray
    from search.settings import Settings

    os.environ["PYTHONPATH"] = str(on_ray.ROOT)
    on_ray.SHARD = SHARD
    memory = 100 * 2**20
    cluster = Cluster(True, head_node_args={"num_cpus": PROCESSORS, "object_store_memory": memory})
    for _ in range(NODES - 1):
        cluster.add_node(num_cpus=PROCESSORS, object_store_memory=memory)
    ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
    encoder = on_ray.RayEncoder(Settings(), sys.argv[1])
    found = list(encoder.encode(documents()))
    np.save(sys.argv[2], np.concatenate([each.sentences for each in found]))
    told = f"the last run spent {encoder.spent:.1f} s in the model on {len(ray.nodes())} nodes"
    (Path(sys.argv[2]).parent / "told").write_text(told)


if __name__ == "__main__":
    main()
