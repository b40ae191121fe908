"""What a program is told when something goes wrong: RFC 9457, with the sentence a person would get."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from search.errors import CorpusError, ModelError, SettingsError, TriptychError
from search.logs import places

log = logging.getLogger("triptych.api")
MEDIA = "application/problem+json"
_STATUS: dict[type[TriptychError], int] = {CorpusError: 503, ModelError: 503, SettingsError: 503}
"""What is the host's to mend; all else is what the client gave."""


class Problem(Exception):
    """One refusal: its status, one sentence, and headers it brings."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, dict(headers or {})

    @property
    def content(self) -> dict[str, Any]:
        title = HTTPStatus(self.status).phrase
        return {"type": "about:blank", "title": title, "status": self.status, "detail": self.detail}


def problem_of(error: Exception) -> Problem:
    """Any exception as a problem; what nobody foresaw is logged by kind and place, under a reference."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, TriptychError):
        status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 400)
        return Problem(status, str(error), {"Retry-After": "60"} if status == 503 else {})
    reference = secrets.token_hex(4)
    log.error("Fault %s\n%s", reference, places(error))
    return Problem(
        500,
        f"Something went wrong that should not have (reference {reference}). Try again; if it stays, send "
        "the reference to whoever runs this server: its log has the details.",
    )


def busy(what: str) -> Problem:
    return Problem(503, f"{what}: try again in a few seconds.", {"Retry-After": "5"})


def refused(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    body = json.dumps(problem.content, ensure_ascii=False).encode("utf-8", "replace")
    given = {**(headers or {}), **problem.headers}
    return Response(body, problem.status, given, MEDIA)
