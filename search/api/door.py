"""Who is let in, by host name and origin, and the headers that every answer carries."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from search.api.problems import Problem, refused
from search.api.surroundings import Surroundings
from search.hosts import refusal

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-cache",
}


class Door:
    """Refuses foreign hosts and origins, and lets pages of the origins in that are set."""

    def __init__(self, app: ASGIApp, here: Surroundings) -> None:
        self._app, self._here = app, here

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
        shared = len(origins) == 1 and origins[0].lower() in self._here.origins
        if len(hosts) > 1 or len(origins) > 1:
            reason = "This app takes no request that names two hosts or two origins: send one."
        else:
            page = origins[0] if origins and not shared else None
            reason = refusal("".join(hosts), page, frozenset(self._here.allowed()))
        extra = {**_HEADERS, **(_sharing(origins[0]) if shared else {})}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = [pair for pair in message.get("headers", ()) if pair[0].decode().title() not in extra]
                ours = [(name.lower().encode(), value.encode("latin-1")) for name, value in extra.items()]
                message["headers"] = [*given, *ours]
            await send(message)

        if reason:
            await refused(Problem(403, reason))(scope, receive, send_with_headers)
        elif shared and scope["method"] == "OPTIONS":
            await Response(None, 204)(scope, receive, send_with_headers)
        else:
            await self._app(scope, receive, send_with_headers)


def _sharing(origin: str) -> dict[str, str]:
    return {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Methods": "GET, POST, DELETE",
        "Access-Control-Allow-Headers": "authorization, content-type, if-none-match",
        "Access-Control-Expose-Headers": "etag, location, ratelimit, ratelimit-policy, retry-after",
        "Access-Control-Max-Age": "600",
        "Vary": "origin",
    }


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]
