"""The API inside the app's own process: below its path, with its engine, behind its checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.test_host_checks import RawServer, start, status

pytestmark = pytest.mark.slow


def ask(server: RawServer, path: str, *lines: str) -> tuple[str, str]:
    head, _, body = server.ask(f"Host: localhost:{server.port}", *lines, path=path).partition("\r\n\r\n")
    return head, body


def test_below_a_path_and_nowhere_else(tmp_path: Path, app_corpus: Path) -> None:
    options = ("--server.baseUrlPath", "papers/search")
    server = start(tmp_path, *options, TRIPTYCH_CORPUS=str(app_corpus))
    try:
        head, body = ask(server, "/papers/search/api/v1/neighbours?id=test:00&facet=method&top=3")
        assert status(head) == "200"
        assert [each["id"][-1] for each in json.loads(body)["results"]] == ["0", "0", "0"]
        head, body = ask(server, "/papers/search/api/v1/openapi.json")
        assert json.loads(body)["servers"] == [{"url": "/papers/search/api/v1"}]
        assert "application/json" not in ask(server, "/api/v1/corpus")[0]
        head, body = ask(server, "/papers/search/api/v1/nothing")
        assert (status(head), json.loads(body)["status"]) == ("404", 404)
        foreign = server.ask("Host: evil.example", path="/papers/search/api/v1/corpus")
        assert status(foreign) == "403"
        foreign = server.ask(
            f"Host: localhost:{server.port}",
            "Origin: http://evil.example",
            path="/papers/search/api/v1/corpus",
        )
        assert status(foreign) == "403"
        assert "missing ScriptRunContext" not in server.log.read_text()
    finally:
        server.stop()


def test_off_and_without_a_corpus(tmp_path: Path) -> None:
    server = start(tmp_path)
    try:
        head, body = ask(server, "/api/v1/corpus")
        assert status(head) == "503"
        assert "has no corpus yet" in json.loads(body)["detail"]
    finally:
        server.stop()
    server = start(tmp_path, TRIPTYCH_API="off")
    try:
        head, body = ask(server, "/api/v1/health")
        assert (status(head), "the setting `api`" in body) == ("404", True)
    finally:
        server.stop()
