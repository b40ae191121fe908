"""Who may ask a server: by which host name, and from pages of which origin."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
ANY_ADDRESS = frozenset({"0.0.0.0", "[::]"})
"""Addresses to listen on that are nobody's name."""

_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]{2,45}\]|[a-z0-9_.-]{1,253}?)\.?(?::(?P<port>\d{1,5}))?")
_ORIGIN = re.compile(rf"(?P<scheme>https?)://(?P<address>{_HOST.pattern})")
_USUAL_PORTS = {None: "", "80": "", "443": ""}


@dataclass(frozen=True, slots=True)
class Address:
    """A host as browsers name it; the usual ports count as none, for a proxy may speak https for us."""

    name: str
    port: str = ""


def read_address(text: str) -> Address | None:
    """`papers.example.org:8501` -> its parts; None for anything else."""
    found = _HOST.fullmatch(text.lower())
    return found and Address(found["name"], _USUAL_PORTS.get(found["port"], found["port"]))


def is_allowed(name: str, allowed: Iterable[str]) -> bool:
    """`*` stands for every name, `*.example.org` for all names below that one."""
    return any(
        each in (name, "*") or (each.startswith("*.") and name.endswith(each[1:]) and name != each[1:])
        for each in allowed
    )


def refusal(host: str, origin: str | None, allowed: Collection[str]) -> str:
    """Why a request with these headers is not answered, in a sentence; empty where it is.

    `origin` is the page that asks, and must be of the same name and port. Behind a proxy they may differ:
    then the page's name must be allowed as it is, for under `*.example.org` or `*` there are strangers too.
    A page on another port of this machine is another program.
    """
    asked = read_address(host)
    if asked is None or not is_allowed(asked.name, allowed):
        named = f'the name "{asked.name}"' if asked else "a request without a proper host name"
        return (
            f"This app does not answer to {named}: whoever runs it can allow a name with `allowed_hosts` "
            "in triptych.toml, or TRIPTYCH_ALLOWED_HOSTS."
        )
    if origin is None:
        return ""
    found = _ORIGIN.fullmatch(origin.lower())
    page = read_address(found["address"]) if found else None
    if page == asked:
        return ""
    if page and page.name in allowed and (page.name not in LOOPBACK or page.port == asked.port):
        return ""
    named = f'pages of "{found["address"]}"' if found else "pages without an address"
    return f"This app takes no requests from {named}: open it at its own address."
