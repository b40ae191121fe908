"""Import with splitting, merging and storing, beside a bare loop of json.loads and the splitter."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

from evaluation.own_process import alone
from index_build.importing import import_files
from search.errors import InputError
from search.text.sentences import split

FILE = "acl_anthology.jsonl.gz"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--import-file",
        type=Path,
        metavar="FILE",
        help=f"gzipped JSONL to import (default: {FILE} of the collections)",
    )
    parser.add_argument("--import-papers", type=int, metavar="N", help="only the first N papers of the file")


def run(args: argparse.Namespace) -> dict[str, Any]:
    file = args.import_file or _collections() / FILE
    if not file.is_file():
        raise InputError(f"There is no file {file}: name one with --import-file.")
    return alone(measure, file, args.import_papers)


def _collections() -> Path:
    beside = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    return Path(os.environ.get("TRIPTYCH_DATA") or beside)


def measure(file: Path, papers: int | None) -> dict[str, Any]:
    bare = _bare(file, papers)
    with tempfile.TemporaryDirectory() as folder:
        summary = import_files(Path(folder), [file], limit=papers)
    return {
        "papers": summary.read,
        "seconds": summary.seconds,
        "papers_per_second": summary.read / summary.seconds,
        "bare_seconds": bare,
        "times_bare": summary.seconds / bare,
        "peak_megabytes": _peak_megabytes(),
    }


def _bare(file: Path, papers: int | None) -> float:
    started = time.monotonic()
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in islice(lines, papers):
            split(json.loads(line)["abstract"])
    return time.monotonic() - started


def _peak_megabytes() -> float | None:
    """The most memory this process ever held; not known on Windows."""
    if sys.platform == "win32":
        return None
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
