"""What must hold for any file: no exception, bounded memory, and every record read or named."""

from __future__ import annotations

import logging
import random
import sys
from dataclasses import dataclass, field

from index_build.sources import Reason, Reject, read_bytes
from search.text.sentences import split_paper
from search.types import Paper
from tests.fuzz.damage import damage, handle
from tests.fuzz.files import TITLES, make_files

MOST_MEMORY = 60_000_000
"""Bytes by which a process may grow for one small file: a bug that multiplies the text goes beyond."""

LABEL = 8
"""Bytes before a title that say it is one: `"title": "`, `<title>`, `TI  - `."""

PACKED, ALONE = frozenset({"xlsx"}), frozenset({"cff"})
"""Formats that are no text, and those of one record a file."""


@dataclass
class Findings:
    """What went wrong, with the number that makes each file again."""

    files: int = 0
    papers: int = 0
    rejects: int = 0
    faults: list[str] = field(default_factory=list)


def read_whole(data: bytes, name: str) -> list[Paper | Reject]:
    """All items of a file, its papers split into sentences as an import does."""
    return [split_paper(item) if isinstance(item, Paper) else item for item in read_bytes(data, name)]


def file_of(seed: int, number: int) -> tuple[str, bytes, bool]:
    """The format, the file of this number, and whether it is damaged; the same for the same seed.

    Every third file only went through careless hands.
    """
    dice = random.Random(f"{seed}-{number}")
    files = make_files()
    kind, damaged = dice.choice(sorted(files)), number % 3 != 0
    if kind in PACKED or kind in ALONE:  # a second one behind the first is not looked for
        return kind, damage(files[kind], dice), True
    return kind, (damage if damaged else handle)(files[kind], dice), damaged


def _most_held() -> int:
    """The most memory in bytes that this process ever held; 0 on systems that do not say."""
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def check(kind: str, data: bytes, label: str, findings: Findings, damaged: bool) -> None:
    """Read one file and note what must not be."""
    before = _most_held()
    try:
        items = read_whole(data, "file")
    except Exception as error:
        findings.faults.append(f"{label}: {error!r}")
        return
    grown = _most_held() - before
    rejects = [item for item in items if isinstance(item, Reject)]
    findings.files += 1
    findings.papers += len(items) - len(rejects)
    findings.rejects += len(rejects)
    if grown > MOST_MEMORY:
        findings.faults.append(f"{label}: {grown} bytes of memory")
    if any(reject.reason == Reason.FAULT for reject in rejects):
        findings.faults.append(f"{label}: a reader failed")
    if not items:
        findings.faults.append(f"{label}: nothing was said of the file")
    if not damaged and (lost := missing(items)):
        findings.faults.append(f"{label}: lost without a word: {lost}")
    whole = make_files()[kind]
    there = sum(_is_there(title, data, whole) for title in TITLES)
    read = "\n".join(item.title + item.abstract for item in items if isinstance(item, Paper))
    lost = any(title not in read for title in TITLES if _is_there(title, data, whole))
    if damaged and not rejects and lost and len(items) < there and kind not in ALONE:
        findings.faults.append(f"{label}: {there} titles in the file, {len(items)} papers, no reject")


def missing(items: list[Paper | Reject]) -> list[str]:
    """The titles that are neither read nor in a reject; one of the whole file says enough."""
    rejects = [item for item in items if isinstance(item, Reject)]
    if any(reject.place == "file" and reject.reason != Reason.ENCODING for reject in rejects):
        return []
    found = "\n".join(item.title for item in items if isinstance(item, Paper))
    told = "\n".join(reject.raw for reject in rejects)
    return [title for title in TITLES if title not in found and title not in told]


def _is_there(title: str, data: bytes, whole: bytes) -> bool:
    """Whether a title stands in a damaged file with what says that it is one: the bytes before it."""
    for form in (title, title.replace("&", "&amp;"), title.replace("&", r"\&")):
        at = whole.find(form.encode())
        if at >= 0 and whole[max(0, at - LABEL) : at] + form.encode() in data:
            return True
    return False


def work_of(data: bytes) -> int:
    """How much is done to read a file: the calls of functions, which are the same on a busy machine."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        list(read_bytes(data, "file"))
    finally:
        sys.setprofile(None)
    return calls


def run(count: int, seed: int, first: int = 0) -> Findings:
    """Damage and read so many files, from this number on; any part of a long run can be run alone."""
    logging.getLogger("triptych.sources").setLevel(logging.CRITICAL)
    findings = Findings()
    for file in make_files().values():
        read_whole(file, "file")  # what is loaded once is not counted
    for number in range(first, first + count):
        kind, data, damaged = file_of(seed, number)
        check(kind, data, f"file {number} of seed {seed} ({kind})", findings, damaged)
    return findings
