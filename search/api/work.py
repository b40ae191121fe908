"""One request from its bytes to its answer: the body read within limits, the work done in a thread."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from search import __version__
from search.api import limits
from search.api.exchange import Asked
from search.api.limits import Allowance
from search.api.operations import Operation
from search.api.problems import Problem, busy
from search.query import choosing


class Work:
    """Everything that takes time: reading the body, asking the engine, writing the answer."""

    def __init__(
        self, operation: Operation, asked: Asked, body: bytes, wanted: str, allowance: Allowance
    ) -> None:
        self._operation, self._asked, self._body = operation, asked, body
        self._wanted, self._allowance = wanted, allowance

    def __call__(self) -> Response:
        asked = self._asked
        if self._operation.takes:
            asked = replace(asked, body=_parse(self._body))
        answer = self._operation.answer(asked)
        headers = {**self._allowance.headers, **answer.headers}
        if answer.tag:
            headers["ETag"] = tag = f'"{__version__}-{answer.tag}"'
            if _matches(self._wanted, tag):
                return Response(None, 304, headers)
        if answer.status == 204:
            return Response(None, 204, headers)
        content = answer.content
        if answer.media == "application/json":
            content = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return Response(content.encode("utf-8", "replace"), answer.status, headers, answer.media)


def _matches(wanted: str, tag: str) -> bool:
    return tag in (each.strip().removeprefix("W/") for each in wanted.split(",")) or wanted.strip() == "*"


def _parse(body: bytes) -> Mapping[str, Any]:
    if sum(body.count(mark) for mark in b",[{") > limits.MOST_PARTS:
        raise Problem(413, f"The body has more than {limits.MOST_PARTS:,} parts: send less at once.")
    try:
        content = json.loads(body, parse_constant=_no_number, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        raise Problem(400, "The body is not JSON: send one object, in UTF-8.") from None
    if not isinstance(content, dict):
        raise Problem(400, "The body is not a JSON object: send one, as the document describes it.")
    return content


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a field that is there twice, one would be overlooked."""
    content = dict(pairs)
    if len(content) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = choosing.shorten(next(name for name, count in counts.items() if count > 1))
        raise Problem(400, f"The field {twice} is given twice in one object: leave one of them out.")
    return content


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


async def read_body(request: Request, grow: Callable[[int], bool]) -> bytes:
    """The body, while it stays within its limits of kind, size and time, and there is room for it."""
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem(415, "The body must be JSON: send it with `Content-Type: application/json`.")
    if request.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
        raise Problem(415, "The body is compressed, which is not read here: send it as it is.")
    too_large = Problem(413, f"The request has more than {limits.MOST_BYTES:,} bytes: send less at once.")
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or len(length) > 12 or int(length) > limits.MOST_BYTES:
        raise too_large
    parts, size = [], 0
    try:
        async with asyncio.timeout(limits.MOST_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > limits.MOST_BYTES:
                    raise too_large
                if not grow(size):
                    raise busy("Too many large requests come in")
                parts.append(part)
    except TimeoutError:
        said = f"The request did not come in within {limits.MOST_SECONDS:.0f} seconds: send it again."
        raise Problem(408, said, {"Connection": "close"}) from None
    return b"".join(parts)
