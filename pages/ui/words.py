"""Numbers and steps as a reader says them."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """ "1 paper", "1,204 papers"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


STEPS = {
    "download": "Downloading",
    "fetch": "Fetching records",
    "import": "Reading papers",
    "encode": "Encoding papers",
    "index": "Making the indices",
}


def progress(step: str, done: int, total: int) -> str:
    """ "Encoding papers: 40 of 4,830", "Downloading: 12 of 83 MB"."""
    unit = ""
    if step == "download":
        done, total, unit = done // 1_000_000, -(-total // 1_000_000), " MB"
    return f"{STEPS[step]}: {done:,} of {total:,}{unit}" if total else f"{STEPS[step]}: {done:,}{unit}"


def share(done: int, total: int) -> float:
    """How much of the work is done, from 0 to 1."""
    return min(done / total, 1.0) if total else 0.0
