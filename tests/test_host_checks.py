"""Who the server answers: this machine alone, by names it knows, from its own pages, from the start on."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pages.ui.guard import is_closed
from search.hosts import LOOPBACK, is_allowed, read_address, refusal

ROOT = Path(__file__).resolve().parent.parent
STREAMLIT = "from streamlit.web.cli import main; main()"
NAMED = "papers.example.org, *.lab.example"


@dataclass(frozen=True, slots=True)
class RawServer:
    """`streamlit run app.py` that nobody has asked anything yet."""

    port: int
    log: Path
    process: subprocess.Popen[bytes]

    def ask(self, *lines: str, path: str = "/_stcore/health", version: str = "1.1") -> str:
        """One request with these header lines, as they are; the whole answer, or its head for a websocket."""
        request = "\r\n".join([f"GET {path} HTTP/{version}", *lines, "Connection: close", "", ""])
        return self._send(request)

    def shake_hands(self, *lines: str) -> str:
        """A websocket handshake with these header lines; the status of the answer."""
        websocket = (
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        )
        return self._send("\r\n".join(["GET /_stcore/stream HTTP/1.1", *lines, *websocket, "", ""])).split()[
            1
        ]

    def _send(self, request: str) -> str:
        answer = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as open_socket:
            open_socket.sendall(request.encode("latin-1"))
            while b" 101 " not in answer and (part := open_socket.recv(65536)):
                answer += part
        return answer.decode("latin-1")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def start(folder: Path, *options: str, code: str = STREAMLIT, **environment: str) -> RawServer:
    """A server with a library of its own and no corpus, as soon as it listens."""
    port = free_port()
    env = os.environ | {"TRIPTYCH_CORPUS": str(folder / "none"), "TRIPTYCH_LIBRARY": str(folder / "library")}
    command = [sys.executable, "-c", code, "run", "app.py", "--server.port", str(port), *options]
    log = folder / "server.log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            command, cwd=ROOT, env=env | environment, stdout=written, stderr=subprocess.STDOUT
        )
    for _ in range(1200):
        if "URL: " in log.read_text():  # printed when the port is open, before anything is answered
            return RawServer(port, log, process)
        assert process.poll() is None, log.read_text()
        time.sleep(0.05)
    process.kill()
    raise TimeoutError(log.read_text())


class Listener:
    """Counts who connects: it stands where the way to the internet would be."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.asked: list[str] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                self.asked.append(connection.recv(1000).decode("latin-1").split("\r\n")[0])

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(scope="module")
def internet() -> Iterator[Listener]:
    listener = Listener()
    yield listener
    listener.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, internet: Listener) -> Iterator[RawServer]:
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), internet.url)
    folder = tmp_path_factory.mktemp("server")
    running = start(folder, TRIPTYCH_ALLOWED_HOSTS=NAMED, NO_PROXY="", no_proxy="", **proxies)
    yield running
    running.stop()


def status(answer: str) -> str:
    return answer.split()[1]


FOREIGN = [
    ("evil.example", None),
    ("evil.example:{port}", "http://evil.example:{port}"),
    ("localhost:{port}", "http://evil.example"),
    ("localhost:{port}", "http://evil.example:{port}"),
    ("localhost:{port}", "https://localhost.evil.example"),
    ("localhost:{port}", "http://localhost:1"),
    ("localhost:{port}", "null"),
    ("localhost:{port}", "file://"),
    ("localhost.evil.example", None),
    ("evil.example@localhost", None),
    ("localhost:{port}/evil", None),
    ("papers.example.org.evil.example", None),
    ("lab.example", None),
    ("evillab.example", None),
    ("10.0.0.7:{port}", None),
    ("a.lab.example", "https://b.lab.example"),
    ("a.lab.example", "https://a.lab.example:8443"),
    ("127.0.0.1:{port}", "https://a.lab.example"),
    ("", None),
]
GOOD = [
    ("127.0.0.1:{port}", None),
    ("localhost:{port}", None),
    ("LOCALHOST:{port}", "http://localhost:{port}"),
    ("127.0.0.1:{port}", "http://localhost:{port}"),
    ("[::1]:{port}", "http://[::1]:{port}"),
    ("papers.example.org", "https://papers.example.org"),
    ("papers.example.org", "https://papers.example.org:8443"),
    ("papers.example.org.:443", "https://papers.example.org"),
    ("a.lab.example", "https://a.lab.example"),
    ("127.0.0.1:{port}", "https://papers.example.org"),
]


def headers(server: RawServer, host: str, origin: str | None) -> list[str]:
    given = [f"Host: {host}", *([f"Origin: {origin}"] if origin else [])]
    return [line.replace("{port}", str(server.port)) for line in given]


@pytest.mark.parametrize(("host", "origin"), FOREIGN)
def test_foreign_names_and_pages_are_refused(server: RawServer, host: str, origin: str | None) -> None:
    given = headers(server, host, origin)
    assert status(server.ask(*given)) == "403"
    assert status(server.ask(*given, path="/")) == "403"
    assert server.shake_hands(*given) == "403"


@pytest.mark.parametrize(("host", "origin"), GOOD)
def test_known_names_and_own_pages_are_answered(server: RawServer, host: str, origin: str | None) -> None:
    given = headers(server, host, origin)
    assert status(server.ask(*given)) == "200"
    assert status(server.ask(*given, path="/")) == "200"
    assert server.shake_hands(*given) == "101"


def test_a_request_without_a_name_or_with_two_is_refused(server: RawServer) -> None:
    good = f"Host: localhost:{server.port}"
    assert status(server.ask(version="1.0")) == "403"
    assert status(server.ask(good, "Host: evil.example")) in ("400", "403")
    origins = ("Origin: http://evil.example", f"Origin: http://localhost:{server.port}")
    assert server.shake_hands(good, *origins) in ("400", "403")


def test_a_refusal_says_what_to_do(server: RawServer) -> None:
    body = server.ask("Host: evil.example").split("\r\n\r\n")[1]
    assert "evil.example" in body
    assert "TRIPTYCH_ALLOWED_HOSTS" in body
    assert "<" not in server.ask("Host: <b>x</b>").split("\r\n\r\n")[1]


def test_nobody_on_the_internet_is_asked_for_the_address(server: RawServer, internet: Listener) -> None:
    """Streamlit looks up its own public address when an origin is not the host's."""
    for host, origin in FOREIGN + GOOD:
        server.shake_hands(*headers(server, host, origin))
    assert internet.asked == []


@pytest.mark.parametrize("first", ["http", "websocket"])
def test_the_first_request_to_a_fresh_server_is_checked(tmp_path: Path, first: str) -> None:
    server = start(tmp_path)
    try:
        foreign = ("Host: evil.example", "Origin: http://evil.example")
        refused = status(server.ask(*foreign)) if first == "http" else server.shake_hands(*foreign)
        assert refused == "403"
        assert (
            server.shake_hands(f"Host: localhost:{server.port}", f"Origin: http://localhost:{server.port}")
            == "101"
        )
    finally:
        server.stop()


def test_by_default_only_this_machine_is_listened_to_and_the_address_is_right(tmp_path: Path) -> None:
    server = start(tmp_path)
    try:
        assert f"URL: http://localhost:{server.port}\n" in server.log.read_text()
        assert status(server.ask(f"Host: localhost:{server.port}")) == "200"
        with pytest.raises(ConnectionRefusedError):  # another address of this machine
            socket.create_connection(("127.0.0.2", server.port), timeout=60).close()
    finally:
        server.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is an address on Linux only")
def test_a_container_may_listen_to_all(tmp_path: Path) -> None:
    """As docs/hosting.md has it: the variable wins over the file, and the name of the machine is allowed."""
    name = {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0", "STREAMLIT_BROWSER_SERVER_ADDRESS": "papers.example.org"}
    server = start(tmp_path, **name)
    try:
        with socket.create_connection(("127.0.0.2", server.port), timeout=60):
            pass
        assert status(server.ask(f"Host: papers.example.org:{server.port}")) == "200"
        assert status(server.ask("Host: localhost:8501")) == "200"
        assert status(server.ask("Host: 0.0.0.0:8501")) == "403"
    finally:
        server.stop()


def test_names_may_come_from_the_secrets_of_the_host(tmp_path: Path) -> None:
    """As on Community Cloud, where root keys of the secrets become variables when the server starts."""
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text('TRIPTYCH_ALLOWED_HOSTS = "*"\n')
    server = start(tmp_path, HOME=str(tmp_path))
    try:
        given = ("Host: some.streamlit.app", "Origin: https://some.streamlit.app")
        assert server.shake_hands(*given) == "101"
        assert status(server.ask(*given)) == "200"
        assert server.shake_hands("Host: some.streamlit.app", "Origin: https://evil.streamlit.app") == "403"
    finally:
        server.stop()


def test_checks_hold_under_a_path_too(tmp_path: Path) -> None:
    server = start(tmp_path, STREAMLIT_SERVER_BASE_URL_PATH="triptych")
    try:
        good = f"Host: localhost:{server.port}"
        assert status(server.ask(good, path="/triptych/_stcore/health")) == "200"
        assert status(server.ask(good, path="/triptych/_stcore/metrics")) == "404"
        assert status(server.ask("Host: evil.example", path="/triptych/_stcore/health")) == "403"
    finally:
        server.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="browsers are opened by xdg-open")
@pytest.mark.parametrize("headless", ["true", "false"])
def test_the_browser_opens_at_the_printed_address(tmp_path: Path, headless: str) -> None:
    opened = tmp_path / "opened"
    (tmp_path / "bin").mkdir()
    browser = tmp_path / "bin" / "xdg-open"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o755)
    options = ("--server.headless", headless, "--server.showEmailPrompt", "false")
    server = start(tmp_path, *options, PATH=f"{browser.parent}:{os.environ['PATH']}")
    try:
        assert status(server.ask(f"Host: localhost:{server.port}")) == "200"
        if headless == "true":
            assert not opened.exists()
            return
        for _ in range(1200):
            if opened.exists():
                break
            time.sleep(0.05)
        assert opened.read_text() == f"http://localhost:{server.port}\n"
    finally:
        server.stop()


def test_make_app_leaves_the_address_to_the_settings() -> None:
    target = re.search(r"^app:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert target is not None
    assert "server.address" not in target[1]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Papers.example.org:8501", ("papers.example.org", "8501")),
        ("localhost.", ("localhost", "")),
        ("localhost:443", ("localhost", "")),
        ("[::1]:80", ("[::1]", "")),
    ],
)
def test_an_address_is_read_in_parts(text: str, parts: tuple[str, str]) -> None:
    found = read_address(text)
    assert found is not None
    assert (found.name, found.port) == parts


@pytest.mark.parametrize("text", ["", "a b", "a:b", "::1", "http://a", "a/b", "a\nb", "ä", "x" * 300])
def test_what_is_no_address_is_none(text: str) -> None:
    assert read_address(text) is None
    assert refusal(text, None, {"*"}) != ""


def test_a_star_allows_every_name_and_a_starred_name_those_below_it() -> None:
    assert is_allowed("any.example", {"*"})
    assert is_allowed("a.b.example", {"*.example"})
    assert not is_allowed("example", {"*.example"})
    assert not is_allowed("anexample", {"*.example"})
    assert refusal("any.example", "https://any.example", {"*", *LOOPBACK}) == ""
    assert refusal("any.example", "https://other.example", {"*", *LOOPBACK}) != ""


@pytest.mark.parametrize(
    ("path", "closed"),
    [
        ("/_stcore/metrics", True),
        ("/_stcore/agent/openapi.json", True),
        ("/base/_stcore/metrics", True),
        ("/_stcore", True),
        ("/_stcore/", True),
        ("/_stcore/health", False),
        ("/_stcore/upload_file/a/b", False),
        ("/static/js/index.js", False),
        ("/", False),
    ],
)
def test_which_paths_are_closed(path: str, closed: bool) -> None:
    assert is_closed(path) is closed
