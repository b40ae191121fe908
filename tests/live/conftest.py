"""The servers, started once; each test begins with sources that behave."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.client import Servers


@pytest.fixture(scope="session")
def running() -> Iterator[Servers]:
    servers = Servers()
    yield servers
    servers.close()


@pytest.fixture
def servers(running: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Servers:
    monkeypatch.setenv("TRIPTYCH_CACHE", str(tmp_path / "cache"))
    running.reset()
    return running
