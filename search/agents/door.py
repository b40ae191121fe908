"""Keys and limits before the agents' server, the same as those of the API."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from search.api.admission import Admission
from search.api.problems import Problem, problem_of, refused
from search.api.surroundings import Surroundings

PATH = "/mcp"
ONLY_POST = "This address takes POST alone: messages of the Model Context Protocol, each with its answer."


class KeyDoor:
    def __init__(self, app: ASGIApp, here: Surroundings) -> None:
        self._app = app
        self._admission = Admission(here)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                self._admission.admit(Request(scope))
                # Without sessions there is nothing to listen for, or to end.
                if scope["path"] == PATH and scope["method"] != "POST":
                    raise Problem(405, ONLY_POST, {"Allow": "POST"})
            except Exception as error:
                await refused(problem_of(error))(scope, receive, send)
                return
        await self._app(scope, receive, send)
