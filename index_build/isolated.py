"""Reads an uploaded file in a process of its own, with limits of time and memory: no file stops the server.

The process is `python -m index_build.isolated`: the file is its standard input, and blocks of papers and
rejects are its standard output, one JSON list per line.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from index_build.sources import Reason, Reject, read_stream
from index_build.sources.rejects import reject
from search.errors import InputError
from search.references import from_dict
from search.types import Facet, Paper, Section, Sentence

try:
    import resource
except ImportError:  # Windows has no such limits: there, time alone is bounded
    resource = None  # type: ignore[assignment]

log = logging.getLogger("triptych.uploads")

AT_ONCE = 2
"""Files that are read at the same time, so that many uploads together stay within the machine."""
BLOCK_ITEMS, BLOCK_SIZE = 200, 250_000
"""A block ends after this many items or characters."""
LARGEST_PAPER = 300_000
"""Characters; a longer record is not one paper. Below it, a block stays small."""
MOST_REJECTS = 100_000
"""Records of one file that cannot be read; with more, it is not what it seems to be."""
_ROOT = Path(__file__).resolve().parent.parent
_OUT_OF_MEMORY, _REFUSED = 3, 4
"""What the process ends with when it needs too much memory, or has said in one sentence what is wrong."""
MOST_REMEMBERED = 100
"""Files that took too much, of which the sentence is kept."""
_told: dict[bytes, str] = {}
_slots = threading.BoundedSemaphore(AT_ONCE)


class TooMuchError(InputError):
    """Reading a file took more time or memory than it may."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one file may take."""

    seconds: int
    """Of processor time; by the clock three times as long, for the machine may be busy."""
    memory: int = 1_500_000_000
    """Bytes of address space: ten times what the readers take to begin with."""
    text: int = 100_000_000
    """Characters that come back: 20 thousand for each of 5,000 papers."""

    @property
    def wait(self) -> float:
        return 3.0 * self.seconds


def limits_for(data: bytes) -> Limits:
    """A minute for a PDF; large files of records get more, and a file of any size at most ten minutes."""
    megabytes = len(data) // 1_000_000
    if b"%PDF-" in data[:1024]:
        return Limits(seconds=60)
    return Limits(seconds=min(60 + 6 * megabytes, 600), text=max(100_000_000, 4 * len(data)))


def papers_in(name: str, data: bytes, most: int) -> list[Paper]:
    """The papers of an uploaded file, at most `most`; InputError when there is none.

    A file that took too much is not tried again: pages ask for the same file at each click.
    """
    key = hashlib.sha256(name.encode("utf-8", "replace") + b"\0" + data).digest()
    if key in _told:
        raise TooMuchError(_told[key])
    try:
        records = list(read_upload(name, data, most))
    except TooMuchError as error:
        _told[key] = str(error)
        while len(_told) > MOST_REMEMBERED:
            del _told[next(iter(_told))]
        raise
    papers = [record for record in records if isinstance(record, Paper)]
    if papers:
        return papers
    rejects = [record for record in records if isinstance(record, Reject)]
    if len(rejects) == 1 and rejects[0].reason == Reason.PDF:
        raise InputError(rejects[0].raw)  # one sentence on what is wrong with this PDF
    reasons = sorted({record.reason for record in rejects})
    why = f" ({'; '.join(reasons[:2])})" if reasons else ""
    raise InputError(f"No paper was found in {name}{why}: try BibTeX, RIS, NBIB or PDF.")


def read_upload(
    name: str, data: bytes, most: int, limits: Limits | None = None
) -> Generator[Paper | Reject, None, None]:
    """The papers and rejects of an uploaded file, up to `most` papers, as another process reads them.

    InputError in one sentence when that process needs more than it may. Close it if you leave early: it
    holds one of a few places.
    """
    limits = limits or limits_for(data)
    with _slot(limits), ExitStack() as opened:
        try:
            given, said = (opened.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            given.write(data)
            given.seek(0)
            process = opened.enter_context(_started(name, most, limits, given, said))
        except OSError as error:
            reason = error.strerror or error
            raise InputError(
                f"This machine cannot read the file {name} now ({reason}): try again in a few minutes."
            ) from error
        yield from _answers(name, limits, process, said)


@contextmanager
def _slot(limits: Limits) -> Iterator[None]:
    if not _slots.acquire(timeout=limits.wait):
        raise InputError("Other files are being read and take long: try again in a few minutes.")
    try:
        yield
    finally:
        _slots.release()


@contextmanager
def _started(
    name: str, most: int, limits: Limits, given: IO[bytes], said: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    """The process, which does not outlive its use."""
    numbers = [str(number) for number in (most, limits.seconds, limits.memory, limits.text)]
    process = subprocess.Popen(
        [sys.executable, "-m", "index_build.isolated", _ending(name), *numbers],
        cwd=_ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},  # threads take address space
        stdin=given,
        stdout=subprocess.PIPE,
        stderr=said,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def _answers(
    name: str, limits: Limits, process: subprocess.Popen[bytes], said: IO[bytes]
) -> Iterator[Paper | Reject]:
    watch = _Watch(process, limits.wait)
    while block := watch.read_line():
        for item in json.loads(block):
            yield _item(item, name)
    process.wait()
    if process.returncode or watch.over:
        raise _death(name, process.returncode, watch.over, limits, said)


class _Watch:
    """Ends a process when its answers have been waited for too long; the time between them is not counted."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self._process = process
        self._left = seconds
        self.over = False

    def read_line(self) -> bytes:
        """The next whole line; nothing at the end."""
        assert self._process.stdout is not None
        started = time.monotonic()
        timer = threading.Timer(max(self._left, 0), self._end)
        timer.daemon = True
        timer.start()
        line = self._process.stdout.readline()
        timer.cancel()
        self._left -= time.monotonic() - started
        return line if line.endswith(b"\n") else b""

    def _end(self) -> None:
        self.over = True
        self._process.kill()


def _death(name: str, code: int, over: bool, limits: Limits, said: IO[bytes]) -> InputError:
    """What to tell of a process that did not end well."""
    said.seek(0)
    last = said.read(100_000).decode("utf-8", "replace")
    if code == _REFUSED:
        return InputError(last.strip())
    if over or code == -getattr(signal, "SIGXCPU", 0):
        return TooMuchError(
            f"The file {name} could not be read within {limits.seconds} seconds: "
            "choose a smaller part of it, or paste the title and abstract."
        )
    if code in (_OUT_OF_MEMORY, -getattr(signal, "SIGKILL", 0)):
        return TooMuchError(
            f"The file {name} needs more memory than the {limits.memory // 1_000_000:,} MB allowed: "
            "choose a smaller part of it, or paste the title and abstract."
        )
    log.error("Reading an upload ended with code %s, %s", code, _place(last))
    return InputError(
        f"The file {name} could not be read, its reader broke down: "
        "export it in another format, or paste the title and abstract."
    )


def _place(said: str) -> str:
    """Where it broke down. Neither a name nor a message is logged: both may be a visitor's words."""
    places = re.findall(r'^  File "[^"\n]{1,500}", line \d{1,9}', said, re.MULTILINE)
    return places[-1].strip() if places else "at a place that it did not tell"


def _ending(name: str) -> str:
    """As much of a file's name as the readers look at, and as any system takes on a command line."""
    return "".join(character for character in name[-100:] if character.isprintable())


def _item(fields: dict[str, Any], name: str) -> Paper | Reject:
    if "place" in fields:
        return Reject(**fields | {"source": name})
    lists = {key: tuple(fields[key]) for key in ("authors", "fields")}
    sections = tuple(Section(each["start"], each["end"], Facet(each["facet"])) for each in fields["sections"])
    sentences = tuple(
        Sentence(
            **each
            | {
                "facet": Facet(each["facet"]) if each["facet"] else None,
                "probabilities": tuple(each["probabilities"]),
            }
        )
        for each in fields["sentences"]
    )
    reference = from_dict(fields["reference"])
    return Paper(**fields | lists | {"sections": sections, "sentences": sentences, "reference": reference})


# -- in the process of its own


def main(name: str, most: int, limits: Limits) -> int:
    """Reads standard input and writes blocks to standard output; the code to end with."""
    _limit(limits)
    try:
        _write_blocks(name, most, limits)
    except MemoryError:
        return _OUT_OF_MEMORY
    except InputError as error:
        print(error, file=sys.stderr)
        return _REFUSED
    return 0


def _limit(limits: Limits) -> None:
    """Bounds this process, and lets the server go first where both want the same."""
    if resource is not None:
        bounds = {
            resource.RLIMIT_AS: limits.memory,
            resource.RLIMIT_CPU: limits.seconds,
            resource.RLIMIT_FSIZE: 1_000_000,  # standard error is a file
            resource.RLIMIT_CORE: 0,
        }
        for kind, bound in bounds.items():
            with suppress(ValueError, OSError):  # macOS refuses some
                resource.setrlimit(kind, (bound, bound + (kind == resource.RLIMIT_CPU)))
    if hasattr(os, "nice"):
        os.nice(5)
    with suppress(OSError):  # Linux: when the machine runs out of memory, this process is to end first
        Path("/proc/self/oom_score_adj").write_text("1000")


def _write_blocks(name: str, most: int, limits: Limits) -> None:
    papers = rejects = size = sent = 0
    block: list[str] = []
    for item in read_stream(io.FileIO(0, closefd=False), name):
        text = json.dumps(asdict(item))
        if len(text) > LARGEST_PAPER:
            item = reject(name, f"record {papers + rejects + 1}", Reason.TOO_LONG, text)
            text = json.dumps(asdict(item))
        papers, rejects = papers + isinstance(item, Paper), rejects + isinstance(item, Reject)
        size, sent = size + len(text), sent + len(text)
        _check(name, rejects, sent, limits)
        block.append(text)
        if len(block) == BLOCK_ITEMS or size > BLOCK_SIZE or papers == most:
            _write(block)
            block, size = [], 0
        if papers == most:
            break
    _write(block)


def _check(name: str, rejects: int, sent: int, limits: Limits) -> None:
    if rejects > MOST_REJECTS:
        raise InputError(
            f"More than {MOST_REJECTS:,} records of {name} cannot be read: "
            "check that it is what its name says."
        )
    if sent > limits.text:
        raise InputError(
            f"The file {name} holds more than {limits.text:,} characters: choose a smaller part of it."
        )


def _write(block: list[str]) -> None:
    if block:
        print(f"[{','.join(block)}]", flush=True)


if __name__ == "__main__":
    seconds, memory, characters = map(int, sys.argv[3:])
    code = main(sys.argv[1], int(sys.argv[2]), Limits(seconds, memory, characters))
    sys.stdout.flush()
    os._exit(code)  # at once: there is nothing to tidy up, and a broken parser may not get to it
