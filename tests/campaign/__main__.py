"""`python -m tests.campaign CAMPAIGN`: do harm many times over and say what came of it."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.campaign.tally import Effort, Tally

CAMPAIGNS = (
    "kill", "flip", "disk", "fuzz-link", "hostile", "load", "soak", "sources", "fetch-kill", "milvus",
    "milvus-small", "milvus-searched", "milvus-searched-small", "milvus-cluster", "milvus-compared", "ray",
    "ray-beside", "before",
)  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("campaign", choices=CAMPAIGNS)
    parser.add_argument("--times", type=int, default=20, help="tries")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first try; each has the next")
    parser.add_argument("--visitors", default="1,5,20", help="load: how many at once, one run after another")
    parser.add_argument("--pause", type=float, default=0.0, help="load: mean seconds between two clicks")
    parser.add_argument("--url", action="append", default=[], help="load: running apps to compare")
    parser.add_argument("--corpus", type=Path, default=Path("corpus"), help="milvus-compared: a built one")
    parser.add_argument("--commit", action="append", default=[], help="before: one or two to compare")
    parser.add_argument("--minutes", type=float, default=60.0, help="when to stop; how long to soak")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        tally = run(options, Path(folder))
    print(tally)
    return 1 if tally.failures else 0


def run(options: argparse.Namespace, folder: Path) -> Tally:
    from tests.campaign import before, cluster, compared, disk, flip, hostile, kill, live, load, milvus, ray

    match options.campaign:
        case "load":
            visitors = [int(count) for count in options.visitors.split(",")]
            return load.run(folder, options.seed, visitors, options.pause, options.url)
        case "milvus-compared":
            return compared.run(folder, options.corpus, options.times)
        case "before":
            return before.run(folder, options.commit or ["HEAD"], options.times)
        case "soak":
            return load.soak(folder, options.seed, options.minutes)
    campaigns = {
        "kill": kill.run,
        "flip": flip.run,
        "disk": disk.run,
        "fuzz-link": hostile.run_links,
        "hostile": hostile.run_uploads,
        "sources": live.run,
        "fetch-kill": live.run_killed,
        "milvus": milvus.run,
        "milvus-small": milvus.run_small,
        "milvus-searched": milvus.run_searched,
        "milvus-searched-small": milvus.run_searched_small,
        "milvus-cluster": cluster.run,
        "ray": ray.run,
        "ray-beside": ray.run_beside,
    }
    return campaigns[options.campaign](Effort(options.times, options.seed, folder, options.minutes))


if __name__ == "__main__":
    sys.exit(main())
