"""Reads one paper from a PDF, so that a folder of PDFs is a corpus."""

from __future__ import annotations

import io
from collections.abc import Iterator

from index_build.pdf import read_pdf
from index_build.sources.records import complete
from index_build.sources.rejects import BadRecord, Reason, Reject, reject
from search.errors import InputError
from search.types import Paper

LARGEST = 100_000_000
"""Bytes; a longer PDF is a book or a scan."""


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        yield reject(name, "file", Reason.TOO_LONG)
        return
    try:
        yield complete(read_pdf(data))
    except InputError as error:
        yield reject(name, "file", Reason.PDF, str(error))
    except BadRecord as bad:
        yield reject(name, "file", bad.reason)
