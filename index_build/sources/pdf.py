"""Reads one paper from a PDF, so that a folder of PDFs is a corpus."""

from __future__ import annotations

import io
from collections.abc import Iterator

from index_build.pdf import read_pdf
from index_build.sources.records import complete
from index_build.sources.rejects import BadRecord, Reason, Reject, attempt, reject
from index_build.sources.streams import read_whole
from search.errors import InputError
from search.types import Paper

LARGEST = 100_000_000
"""Bytes; a longer PDF is a book or a scan."""


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    data = read_whole(stream, LARGEST)
    if data is None:
        yield reject(name, "file", Reason.TOO_LONG)
        return
    yield attempt(lambda: _paper(data), name, "file", "")


def _paper(data: bytes) -> Paper:
    try:
        return complete(read_pdf(data))
    except InputError as error:
        raise BadRecord(Reason.PDF, str(error)) from error
