"""All sources in one process on loopback, a port each, with faults drawn by a seed; counts what it is asked.

`python -m tests.live.server` prints the ports as JSON. A POST to /reset on the port "control" begins anew; a
GET of /log tells what was asked and whether any limit was exceeded.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import threading
import time
from dataclasses import dataclass, field, fields
from datetime import date
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.live import world, zotero_protocol
from tests.live.protocols import SPOKEN, Asked, Said, State

SPEAKERS = SPOKEN | zotero_protocol.SPOKEN
FAULTS = (
    "429", "429-soon", "429-date", "500", "503", "503-soon", "cut", "gzip-cut", "chunk-cut", "drop", "html",
    "slow", "empty", "repeat", "total", "expired",
)  # fmt: skip
AT_ONCE_MOST = 3
"""Faults in a row before a source behaves: each single request is answered in the end."""
TOLERANCE = 0.0005
"""Seconds by which two clocks of one machine may differ."""


@dataclass
class Plan:
    """How the sources behave until the next reset."""

    records: int = 20
    seed: int = 0
    page: int = 7
    spread: int = 60
    pause: float = 0.005
    share: float = 0.0
    """Of requests that go wrong."""
    faults: list[str] = field(default_factory=lambda: list(FAULTS))
    always: str = ""
    """A fault of every request."""
    key: str = ""
    citations: dict[str, list[int]] = field(default_factory=dict)
    gone: list[int] = field(default_factory=list)
    late: list[int] = field(default_factory=list)
    """Records that came out, or were changed, today."""
    delay: float = 0.0


class Source:
    """One source: its state, its faults, what it was asked."""

    def __init__(self, name: str, plan: Plan) -> None:
        self.name, self.plan = name, plan
        records = world.make(plan.records, plan.seed, plan.spread)
        self.state = State([_changed(each, plan) for each in records], plan.page, key=plan.key)
        self.state.citations = plan.citations
        self.zotero = zotero_protocol.Library(self.state.records) if name in zotero_protocol.SPOKEN else None
        self.dice = random.Random(f"{plan.seed} {name}")
        self.lock = threading.Lock()
        self.asked: list[str] = []
        self.excess: list[str] = []
        self.last, self.not_before, self.under_way = 0.0, 0.0, 0
        self.in_a_row = 0
        self.before: Said | None = None
        self.faults: dict[str, int] = {}

    def arrive(self, line: str) -> None:
        """Counts a request and notes whether it comes too soon."""
        now = time.monotonic()
        with self.lock:
            if now - self.last < self.plan.pause - TOLERANCE:
                self.excess.append(f"{now - self.last:.4f} s after the request before: {line[:100]}")
            if now < self.not_before - TOLERANCE:
                self.excess.append(f"{self.not_before - now:.4f} s too soon after a refusal: {line[:100]}")
            if self.under_way:
                self.excess.append(f"two at once: {line[:100]}")
            self.last = now
            self.under_way += 1
            self.asked.append(line)

    def leave(self) -> None:
        with self.lock:
            self.under_way -= 1

    def fault(self, has_token: bool) -> str:
        if self.plan.always:
            return self.plan.always
        if self.in_a_row >= AT_ONCE_MOST or self.dice.random() >= self.plan.share:
            self.in_a_row = 0
            return ""
        found = self.dice.choice(self.plan.faults)
        if found.endswith("-soon") and self.dice.random() < 0.8:  # each of these takes a second
            found = found[:3]
        if (found == "expired" and not has_token) or (found == "empty" and self.zotero):
            return ""
        self.in_a_row += 1
        self.faults[found] = self.faults.get(found, 0) + 1
        return found


def _changed(record: world.Record, plan: Plan) -> world.Record:
    values = {each.name: getattr(record, each.name) for each in fields(record)}
    if record.number in plan.late:
        values["day"] = values["changed"] = date.today()
        values["abstract"] = f"{record.abstract} It was revised later."
    return world.Record(**(values | {"gone": record.number in plan.gone}))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    source: Source
    spoken: str

    def log_message(self, *_: object) -> None:
        """Nothing: standard error stays empty."""

    def do_GET(self) -> None:
        self._answer()

    do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

    def _answer(self) -> None:
        source = SOURCES[self.spoken]
        source.arrive(f"{self.command} {self.path}")
        try:
            asked = self._asked()
            token = next(
                (
                    asked.params[name]
                    for name in ("cursor", "token", "resumptionToken")
                    if name in asked.params
                ),
                "",
            )
            self._do(source, asked, source.fault(token not in ("", "*")), token)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            source.leave()

    def _asked(self) -> Asked:
        split = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        params = dict(parse_qsl(split.query, keep_blank_values=True))
        if self.headers.get("Content-Type", "").startswith("application/x-www-form"):
            params |= dict(parse_qsl(body.decode()))
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Asked(self.command, split.path, params, headers, body)

    def _do(self, source: Source, asked: Asked, fault: str, token: str) -> None:
        if source.plan.delay:
            time.sleep(source.plan.delay)
        match fault:
            case "429" | "500" | "503":
                return self._send(int(fault), {}, b"try again")
            case "429-soon" | "503-soon":
                source.not_before = time.monotonic() + 1
                return self._send(int(fault[:3]), {"Retry-After": "1"}, b"")
            case "429-date":  # by a clock that is years ahead
                then = time.time() + 10**8
                headers = {
                    "Date": formatdate(then, usegmt=True),
                    "Retry-After": formatdate(then, usegmt=True),
                }
                return self._send(429, headers, b"")
            case "drop":
                self.close_connection = True
                return None
            case "html":
                return self._send(200, {"Content-Type": "text/html"}, b"<html><body>Back soon</body></html>")
        if source.zotero:
            status, headers, body = zotero_protocol.answer(self.spoken, asked, source.zotero)
            if (
                source.zotero.lose_answer
                and asked.method == "POST"
                and status == 200
                and b"successful" in body
            ):
                source.zotero.lose_answer = False
                self.close_connection = True
                return None
        else:
            source.state.shift = {"total": source.dice.choice((-9, -2, 3)), "more": 3}.get(fault, 0)
            source.state.expired = frozenset([token]) if fault == "expired" else frozenset()
            status, headers, body = SPOKEN[self.spoken](asked, source.state)
        if fault == "empty":
            body = _without_records(self.spoken, asked, source)
        if fault == "repeat" and source.before:
            status, headers, body = source.before
        elif status == 200 and fault in ("", "slow", "cut", "gzip-cut", "chunk-cut"):
            source.before = status, headers, body
        return self._send(status, headers, body, fault)

    def _send(self, status: int, headers: dict[str, str], body: bytes, fault: str = "") -> None:
        self.send_response_only(status)
        self.send_header("Date", headers.get("Date", formatdate(usegmt=True)))
        for name, value in headers.items():
            if name != "Date":
                self.send_header(name, value)
        if (
            "gzip" in self.headers.get("Accept-Encoding", "") and status == 200 and len(body) > 200
        ) or fault == "gzip-cut":
            body = gzip.compress(body, 1)
            self.send_header("Content-Encoding", "gzip")
        sent = body
        if fault in ("cut", "gzip-cut", "chunk-cut"):
            sent = body[: len(body) // 2]
            self.close_connection = True
        if fault == "chunk-cut":
            self.send_header("Transfer-Encoding", "chunked")
            sent = f"{len(body):x}\r\n".encode() + sent
        elif status != 304:
            self.send_header("Content-Length", str(len(sent if fault == "gzip-cut" else body)))
        self.end_headers()
        if fault == "slow":
            for start in range(0, len(sent), 1 + len(sent) // 4):
                self.wfile.write(sent[start : start + 1 + len(sent) // 4])
                time.sleep(0.01)
        elif status != 304:
            self.wfile.write(sent)


def _without_records(spoken: str, asked: Asked, source: Source) -> bytes:
    """The same answer with its announced total and no records."""
    kept, source.state.records = source.state.records, []
    try:
        source.state.shift = len(kept)
        return SPOKEN[spoken](asked, source.state)[2]
    except (ValueError, IndexError):
        return b"{}"
    finally:
        source.state.records, source.state.shift = kept, 0


class Control(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/zotero":
            for name in zotero_protocol.SPOKEN:
                zotero_protocol.turn(SOURCES[name].zotero, given)
        else:
            reset(Plan(**given))
        self._say({})

    def do_GET(self) -> None:
        self._say(
            {
                name: {
                    "asked": source.asked,
                    "excess": source.excess,
                    "faults": source.faults,
                    "zotero": source.zotero.as_dict() if source.zotero else None,
                }
                for name, source in SOURCES.items()
            }
        )

    def _say(self, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Whoever asked was killed, which is what some tests are about; other faults are told."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(*_)


SOURCES: dict[str, Source] = {}


def reset(plan: Plan) -> None:
    for name in SPEAKERS:
        SOURCES[name] = Source(name, plan)


def main() -> None:
    reset(Plan())
    ports = {}
    handlers = {name: type(f"{name}-handler", (Handler,), {"spoken": name}) for name in SPEAKERS}
    for name, handler in (*handlers.items(), ("control", Control)):
        server = Server(("127.0.0.1", 0), handler)
        ports[name] = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps(ports), flush=True)
    sys.stdin.read()  # whoever started it holds the other end: when that closes, this ends


if __name__ == "__main__":
    main()
