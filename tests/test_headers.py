"""What every answer carries, which paths are closed, and what the server leaves behind: log and files."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import os
import re
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
import websockets
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from pages.ui.guard import Guard
from search.logs import keep_texts_out, places, without_messages
from search.query.saving import to_link
from search.types import Query, QueryPaper, QuerySentence
from tests.test_host_checks import STREAMLIT, RawServer, start, status

MARKED = "zanzibarquokka"
"""A word that is in no program: wherever it turns up, it comes from what was asked."""
FAULTY = f"""
from search.engine import Engine
def search(self, query):
    try:
        raise KeyError(query.papers[0].title)
    except KeyError as error:
        raise ValueError(f"no answer for {{query}}") from error
Engine.search = search
{STREAMLIT}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawServer]:
    running = start(tmp_path_factory.mktemp("server"))
    yield running
    running.stop()


def ask(server: RawServer, path: str) -> tuple[str, dict[str, str]]:
    answer = server.ask(f"Host: localhost:{server.port}", path=path)
    lines = answer.split("\r\n\r\n")[0].split("\r\n")[1:]
    pairs = [line.split(": ", 1) for line in lines]
    assert len({name.lower() for name, _ in pairs}) == len(pairs), "a header comes twice"
    return answer, {name.lower(): value for name, value in pairs}


def script_of(server: RawServer) -> str:
    return re.findall(r'src="\./(static/js/[^"]+)"', ask(server, "/")[0])[0]


def policy(headers: dict[str, str]) -> dict[str, list[str]]:
    parts = (part.split() for part in headers["content-security-policy"].split(";"))
    return {name: values for name, *values in parts}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/", "200"),
        ("/explore", "200"),
        ("/_stcore/health", "200"),
        ("/_stcore/host-config", "200"),
        ("/favicon.png", "200"),
        ("SCRIPT", "200"),
        ("/media/none.png", "404"),
        ("/component/none", "404"),
        ("/_stcore/metrics", "404"),
        ("/static/../../secrets", "400"),
        ("//evil.example/", "400"),
        ("/explore/", "301"),
    ],
)
def test_every_answer_has_the_headers(server: RawServer, path: str, code: str) -> None:
    answer, headers = ask(server, f"/{script_of(server)}" if path == "SCRIPT" else path)
    assert status(answer) == code
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert policy(headers)["frame-ancestors"] == ["'self'"]


def test_a_refusal_has_the_headers(server: RawServer) -> None:
    answer = server.ask("Host: evil.example")
    assert "\r\nx-content-type-options: nosniff\r\n" in answer
    assert "frame-ancestors 'self'" in answer


def test_only_the_scripts_of_the_app_run(server: RawServer) -> None:
    page, headers = ask(server, "/")
    (inline,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(inline.encode("latin-1")).digest()).decode()
    allowed = policy(headers)
    assert allowed["script-src"] == ["'self'", "blob:", f"'sha256-{digest}'"]
    assert allowed["default-src"] == ["'self'"]
    assert allowed["object-src"] == ["'none'"]


def test_nothing_in_a_file_of_a_visitor_runs(server: RawServer) -> None:
    allowed = policy(ask(server, "/media/none.svg")[1])
    assert allowed["default-src"] == ["'none'"]
    assert "script-src" not in allowed


@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/metrics",
        "/_stcore/metrics?families=cache_memory_bytes",
        "/%5fstcore/metrics",
        "/_stcore/%6detrics",
        "/_stcore/agent/openapi.json",
        "/_stcore/agent/mcp",
        "/_stcore/",
    ],
)
def test_metrics_and_the_like_are_closed(server: RawServer, path: str) -> None:
    answer, _ = ask(server, path)
    assert status(answer) == "404"
    assert "cache_memory" not in answer
    assert "openapi" not in answer


async def _open(server: RawServer, page: str, query: str) -> str:
    """Opens a page over the app's own socket and reads until it is drawn; all that was shown."""
    shown = []
    url = f"ws://127.0.0.1:{server.port}/_stcore/stream"
    async with websockets.connect(url, subprotocols=["streamlit"], max_size=None) as channel:
        asked = BackMsg()
        asked.rerun_script.page_name = page
        asked.rerun_script.query_string = query
        await channel.send(asked.SerializeToString())
        async for data in channel:
            message = ForwardMsg.FromString(data)
            shown.append(str(message.delta))
            if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY and message.HasField(
                "script_finished"
            ):
                break
    return "\n".join(shown)


def open_page(server: RawServer, page: str = "", query: str = "") -> str:
    return asyncio.run(_open(server, page, query))


@pytest.mark.slow
def test_what_a_visitor_asks_is_not_in_the_log(tmp_path: Path, app_corpus: Path) -> None:
    """The fault is ours, its message has the text, and Streamlit and the server have logs of their own."""
    server = start(tmp_path, code=FAULTY, TRIPTYCH_CORPUS=str(app_corpus))
    try:
        query = Query((QueryPaper(MARKED, (QuerySentence(f"We count every {MARKED}."),)),))
        shown = open_page(server, query=f"q={to_link(query, '')}")
        assert MARKED in shown
        (reference,) = set(re.findall(r"reference ([0-9a-f]{8})", shown))
        log = server.log.read_text()
        assert f"Fault {reference}" in log
        assert "builtins.ValueError" in log
        assert "in search" in log
        assert MARKED not in log
        server.ask(f"Host: localhost:{server.port}", path=f"/?q={MARKED}")
        server.ask(f"Host: {MARKED}.example", path=f"/{MARKED}")
    finally:
        server.stop()
    assert MARKED not in server.log.read_text()


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
@pytest.mark.parametrize(("setting", "folder", "file"), [("true", 0o700, 0o600), ("false", 0o755, 0o644)])
def test_the_library_is_private_unless_set_otherwise(
    tmp_path: Path, setting: str, folder: int, file: int
) -> None:
    before = os.umask(0o022)
    try:
        server = start(tmp_path, TRIPTYCH_PRIVATE_FILES=setting)
    finally:
        os.umask(before)
    try:
        assert "Nothing kept yet" in open_page(server, "library")
    finally:
        server.stop()
    library = tmp_path / "library"
    assert library.stat().st_mode & 0o777 == folder
    assert {path.stat().st_mode & 0o777 for path in library.iterdir()} == {file}


def failed(text: str) -> Exception:
    try:
        try:
            raise KeyError(text)
        except KeyError as error:
            raise ValueError(text) from error
    except ValueError as error:
        return error


def test_a_fault_is_told_by_kind_and_place() -> None:
    told = places(failed(MARKED))
    assert MARKED not in told
    assert "builtins.ValueError" in told
    assert "builtins.KeyError" in told
    assert "in failed" in told
    assert places(None) == ""


def test_a_traceback_of_another_process_is_told_by_kind_and_place() -> None:
    code = (
        "def inner():\n raise KeyError('x: zanzibarquokka')\n"
        "try:\n inner()\n"
        "except KeyError as error:\n raise ValueError('zanzibarquokka\\nsaid: zanzibarquokka') from error"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    assert said.count(MARKED) >= 3
    told = without_messages(f"Reading ended with code 1: {said}")
    assert MARKED not in told
    assert told.startswith("Reading ended with code 1: Traceback")
    assert [line for line in told.splitlines() if "Error" in line] == ["KeyError", "ValueError"]
    assert "in inner" in told


async def _failing(scope: Scope, receive: Receive, send: Send) -> None:
    raise ValueError(MARKED)


def test_a_fault_of_the_server_has_the_headers_and_a_reference() -> None:
    sent: list[Message] = []

    async def keep(message: Message) -> None:
        sent.append(message)

    async def nothing() -> Message:
        return {"type": "http.request"}

    scope = {"type": "http", "path": "/", "headers": [(b"host", b"localhost")]}
    asyncio.run(Guard(_failing)(scope, nothing, keep))
    began, body = sent
    assert began["status"] == 500
    assert dict(began["headers"])[b"x-content-type-options"] == b"nosniff"
    assert b"reference" in body["body"]
    assert MARKED.encode() not in body["body"]


def test_no_logger_writes_messages_of_exceptions(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    factory = logging.getLogRecordFactory()
    keep_texts_out()
    try:
        logging.getLogger("streamlit.elsewhere").error("It failed", exc_info=failed(MARKED))
        said = "".join(traceback.format_exception(failed(MARKED)))
        logging.getLogger("triptych.uploads").error("It ended with %s: %s", 1, said)
        thread = threading.Thread(target=lambda: 1 / int(MARKED))
        thread.start()
        thread.join()
    finally:
        logging.setLogRecordFactory(factory)
    assert "builtins.KeyError" in caplog.text
    assert "A thread ended" in caplog.text
    assert MARKED not in caplog.text
