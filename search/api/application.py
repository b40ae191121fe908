"""The API as an ASGI application: who may ask, how much, and the answer, with its headers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from search import __version__
from search.api import PREFIX, limits
from search.api.admission import Admission, Admitted
from search.api.document import make_document
from search.api.door import Door
from search.api.exchange import Answer, Asked, Rankings
from search.api.operations import OPERATIONS, Operation
from search.api.problems import Problem, busy, problem_of, refused
from search.api.surroundings import Surroundings
from search.api.work import Work, read_body

log = logging.getLogger("triptych.requests")


def make_api(here: Surroundings) -> ASGIApp:
    """The application that answers below `/api/v1`; the path before that is in `root_path`."""
    api = _Api(here)
    routes = [
        Route(f"{PREFIX}{each.path}", _Endpoint(api, each), methods=[each.method], name=each.name)
        for each in OPERATIONS
    ]
    document = Operation("GET", "/openapi.json", "document", "This document", _document)
    routes.append(Route(f"{PREFIX}/openapi.json", _Endpoint(api, document), methods=["GET"]))
    handlers: Mapping[Any, Any] = {HTTPException: _not_found, Exception: _not_found}
    app = Starlette(routes=routes, middleware=[Middleware(Door, here=here)], exception_handlers=handlers)
    app.router.redirect_slashes = False  # each address is answered as it stands, or not at all
    return app


def _document(asked: Asked) -> Answer:
    return Answer(make_document(asked.base, asked.here.keys is not None), __version__)


async def _not_found(request: Request, error: Exception) -> Response:
    """What no route answers: an unknown path, a wrong method."""
    if not isinstance(error, HTTPException):
        return refused(problem_of(error))
    said = {
        404: f"There is nothing at this address: {PREFIX}/openapi.json lists what there is.",
        405: f"This address takes no {request.method[:20]}: {PREFIX}/openapi.json lists what it takes.",
    }
    headers = {"Allow": _taken(request)} if error.status_code == 405 else error.headers
    return refused(Problem(error.status_code, said.get(error.status_code, error.detail), headers))


def _taken(request: Request) -> str:
    """The methods of all operations at this address; a single route knows only its own."""
    routes = (route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE)
    return ", ".join(sorted({method for route in routes for method in route.methods}))


class _Api:
    """What all endpoints share: threads, counts of requests, rankings whose next pages may be asked for."""

    def __init__(self, here: Surroundings) -> None:
        self.here = here
        self.admission = Admission(here)
        self.threads = ThreadPoolExecutor(here.threads, thread_name_prefix="api")
        self.waiting = 0
        self.room = limits.Room()
        self.memory = Rankings()


class _Endpoint:
    """One operation, as a route calls it."""

    def __init__(self, api: _Api, operation: Operation) -> None:
        self._api, self._operation = api, operation

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        began = time.perf_counter()
        admitted: Admitted | None = None
        try:
            admitted = self._api.admission.admit(request, self._operation.needs_key)
            response = await self._answer(request, admitted)
        except ClientDisconnect:
            return
        except Exception as error:
            response = refused(problem_of(error), admitted.allowance.headers if admitted else {})
        # The pattern of the address, never the address: it may hold a text or a secret.
        seconds = time.perf_counter() - began
        name = admitted.key.name if admitted and admitted.key else "-"
        asked = f"{self._operation.method} {self._operation.path}"
        log.info("%s %d %.0f ms, key %s", asked, response.status_code, 1000 * seconds, name)
        await response(scope, receive, send)

    async def _answer(self, request: Request, admitted: Admitted) -> Response:
        with self._api.room.share() as grow:
            body = await read_body(request, grow) if self._operation.takes else b""
            return await self._in_thread(self._work(request, admitted, body), admitted.client)

    def _work(self, request: Request, admitted: Admitted, body: bytes) -> Work:
        wanted = request.headers.get("if-none-match", "") if request.method in ("GET", "HEAD") else ""
        asked = Asked(
            here=self._api.here,
            body={},
            parameters={**request.query_params, **request.path_params},
            owner=admitted.owner,
            memory=self._api.memory,
            base=request.scope.get("root_path", "") + PREFIX,
            address=str(request.url.replace(query="")),
        )
        return Work(self._operation, asked, body, wanted, admitted.allowance)

    async def _in_thread(self, work: Work, client: str) -> Response:
        """The answer from one of few threads; refused where too many wait, or where it takes too long."""
        api = self._api
        if api.waiting >= limits.MOST_WAITING + api.here.threads:
            raise busy("Too many requests wait for an answer")
        api.waiting += 1
        future = api.threads.submit(api.here.ask, client, work)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), limits.MOST_SECONDS)
        except TimeoutError:
            raise busy("The answer takes too long") from None
        finally:
            api.waiting -= 1
