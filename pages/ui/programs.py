"""The HTTP API in the app's own process: programs share engine, threads and searches with the pages."""

from __future__ import annotations

from functools import partial

from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config

from pages.ui import state
from pages.ui.guard import allowed_names
from search.api import PREFIX
from search.api.application import make_api
from search.api.keys import Keys
from search.api.problems import Problem, problem_of, refused
from search.api.surroundings import Surroundings, open_twice
from search.watch.notes import Notes

WAITING = 16
"""Threads of programs that wait for their turn among the visitors; the work is done by the queue's."""
OFF = "This host answers no programs: whoever runs it can change that with the setting `api`."


def surroundings() -> Surroundings:
    """Where visitors sign in, programs need keys: the API must not be a way around it."""
    settings, names = state.settings(), allowed_names()
    if settings.api == "off":
        raise Problem(404, OFF)
    keeps = settings.history and not settings.session_library
    return Surroundings(
        engine=state.engine,
        history=open_twice(state.history) if keeps else None,
        notes=open_twice(lambda: Notes(settings.library)) if keeps else None,
        keys=Keys(settings.library) if settings.api == "keys" or state.can_sign_in() else None,
        rate=settings.api_rate,
        origins=settings.api_origins,
        allowed=lambda: names,
        threads=WAITING,
        ask=lambda client, work: state.take_turn(f"program {client}", work),
    )


class Programs:
    """Answers what is asked below `/api/v1` and hands everything else on.

    It stands before the routes because Streamlit puts `server.baseUrlPath` before its own routes only.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._api: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        base = f"/{str(config.get_option('server.baseUrlPath') or '').strip('/')}".rstrip("/")
        if scope["type"] != "http" or not f"{scope['path']}/".startswith(f"{base}{PREFIX}/"):
            await self._app(scope, receive, send)
            return
        answer = self._api or self._open()
        await answer(dict(scope) | {"root_path": base}, receive, send)

    def _open(self) -> ASGIApp:
        """Only at the first request: by then Streamlit has put the host's secrets into the environment."""
        try:
            self._api = make_api(surroundings())
        except Exception as error:
            return partial(_refuse, problem_of(error))
        return self._api


async def _refuse(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    await refused(problem)(scope, receive, send)
