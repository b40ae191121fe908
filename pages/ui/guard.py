"""Who may ask the server, and what every answer carries: host names, origins, closed paths, headers.

Streamlit's own server takes any `Host`, so a web page whose name was pointed at this machine (DNS
rebinding) could use the app. `Guard` stands before Streamlit, from the first request on.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import streamlit
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

from pages.ui import faults
from search.errors import SettingsError
from search.hosts import ANY_ADDRESS, LOOPBACK, read_address, refusal
from search.settings import load_settings

OPEN = frozenset({"health", "host-config", "stream", "upload_file", "bidi-components", "script-health-check"})
"""What of Streamlit's `/_stcore/` is answered; metrics and the interface for programs are not."""


def allowed_names() -> frozenset[str]:
    """This machine's own names, those Streamlit is told, and the setting `allowed_hosts`."""
    names = set(LOOPBACK)
    for option in ("browser.serverAddress", "server.address"):
        given = str(config.get_option(option) or "").lower().removeprefix("https://").removeprefix("http://")
        with_brackets = f"[{given}]" if given.count(":") > 1 and not given.startswith("[") else given
        if (address := read_address(with_brackets.rstrip("/"))) and address.name not in ANY_ADDRESS:
            names.add(address.name)
    with suppress(SettingsError):  # the page itself will tell of it
        names |= set(load_settings().allowed_hosts)
    return frozenset(names)


def is_closed(path: str) -> bool:
    """Whether a path is one of Streamlit's own that visitors have no use for."""
    parts = path.split("/")
    return "_stcore" in parts and (parts[parts.index("_stcore") + 1 :] or [""])[0] not in OPEN


class Guard:
    """Refuses foreign hosts and origins, hides closed paths, and adds headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._allowed: frozenset[str] | None = None
        self._page_headers = _headers(_page_policy())
        self._file_headers = _headers(_FILE_POLICY)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if self._allowed is None:  # only now has Streamlit put the host's secrets into the environment
            self._allowed = allowed_names()
        hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
        if len(hosts) > 1 or len(origins) > 1:
            reason = "This app takes no request that names two hosts or two origins: send one."
        else:
            reason = refusal("".join(hosts), origins[0] if origins else None, self._allowed)
        if reason:
            await self._answer(scope, send, 403, reason)
        elif is_closed(scope["path"]):
            await self._answer(scope, send, 404, "There is nothing here.")
        elif scope["type"] == "websocket":
            await self._app(_from_its_own_page(scope, origins), receive, send)
        else:
            await self._pass_on(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = False

        async def send_with_headers(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                message["headers"] = self._with_headers(scope, message.get("headers", ()))
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception:
            said = faults.sentence()
            if not began:
                await self._answer(scope, send, 500, said)

    async def _answer(self, scope: Scope, send: Send, status: int, said: str) -> None:
        if scope["type"] == "websocket":  # the server makes it an empty 403
            await send({"type": "websocket.close", "code": 1008})
            return
        body = f"{said}\n".encode()
        given = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
        headers = self._with_headers(scope, given)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _with_headers(self, scope: Scope, given: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        ours = self._file_headers if "media" in scope["path"].split("/") else self._page_headers
        return [(name, value) for name, value in given if name.lower() not in ours] + list(ours.items())


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


def _from_its_own_page(scope: Scope, origins: list[str]) -> dict[str, Any]:
    """The request as if its page and its host had one name, now that both were found good.

    Streamlit compares them again, and where they differ it asks a service on the internet for the address
    of this machine.
    """
    if not origins:
        return dict(scope)
    host = origins[0].split("://", 1)[1].encode("latin-1")
    others = [(key, value) for key, value in scope["headers"] if key.lower() != b"host"]
    return dict(scope) | {"headers": [(b"host", host), *others]}


def _page_policy() -> str:
    """Everything from this server, its page's own inline script, and styles that are made on the way."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = [b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    return "; ".join(
        (
            "default-src 'self'",
            # Streamlit loads the scripts of components, all of them ours, from addresses of its own making.
            " ".join(("script-src 'self' blob:", *(f"'sha256-{each}'" for each in hashes))),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'self'",
        )
    )


_FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"
"""For files that are shown or saved: nothing in them runs, whatever they hold."""


def _headers(policy: str) -> dict[bytes, bytes]:
    return {
        b"content-security-policy": policy.encode(),
        b"x-content-type-options": b"nosniff",
        b"referrer-policy": b"same-origin",
        b"permissions-policy": b"camera=(), microphone=(), geolocation=()",
    }
