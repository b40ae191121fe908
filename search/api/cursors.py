"""Where the next page of an answer begins: bound to the build and to what was asked."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Any

from search.api.problems import Problem

LONGEST = 500
"""Characters of a cursor; ours have about a hundred."""


def make_cursor(build: str, asked: Any, start: int) -> str:
    content = json.dumps([build, _digest(asked), start], separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def read_cursor(cursor: str, build: str, asked: Any) -> int:
    """Where the page begins; a Problem where the cursor is of another build or another question."""
    try:
        if len(cursor) > LONGEST:
            raise ValueError("too long")
        padded = (cursor + "=" * (-len(cursor) % 4)).encode("ascii")
        then, digest, start = json.loads(base64.b64decode(padded, b"-_", validate=True))
        if type(start) is not int or start < 1 or not isinstance(then, str):
            raise ValueError("not ours")
    except (ValueError, binascii.Error, RecursionError, TypeError):
        raise Problem(400, "This cursor was not given by this server: begin again without one.") from None
    if then != build:
        raise Problem(410, "The corpus has a new build since this cursor was given: begin again without it.")
    if digest != _digest(asked):
        raise Problem(400, "This cursor belongs to another question: send the same one, or begin without it.")
    return start


def _digest(asked: Any) -> str:
    text = json.dumps(asked, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
