"""Milvus servers for tests, in processes of their own: the real one, and the small one with sparse vectors.

One server at a time on a machine: whoever comes second waits. They end by SIGKILL, because the real one takes
most of a minute to end otherwise.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir

import pytest

from search.downloads import cache_root

SECONDS = 120
LOCK = Path(gettempdir()) / "triptych-milvus.lock"
REAL = """
import pathlib, signal, sys
import milvus
base, programs, *settings = sys.argv[1:]
programs = pathlib.Path(programs)
programs.mkdir(parents=True, exist_ok=True)
data = pathlib.Path(base)
data.mkdir(parents=True, exist_ok=True)
if not (data / "bin").exists():
    (data / "bin").symlink_to(programs)
server = milvus.MilvusServer(milvus.MilvusServerConfig())
server.set_base_dir(base)
for each in settings:
    name, _, value = each.partition("=")
    known = {"true": True, "false": False}
    server.config.set(name, known[value] if value in known else int(value) if value.isdigit() else value)
server.start()
print(server.listen_port, flush=True)
signal.pause()
"""
SMALL = """
import signal, sys
from milvus_lite.adapter.grpc.server import start_server_in_thread
found = start_server_in_thread(data_dir=sys.argv[1], host="127.0.0.1", port=int(sys.argv[2]))
print(found[2], flush=True)
signal.pause()
"""


def lacks(*packages: str) -> str:
    """Why a test of these packages is skipped; empty where they are here."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return f"{', '.join(missing)} is not installed: pip install -r requirements-dev.txt" if missing else ""


needs_small = pytest.mark.skipif(
    bool(lacks("pymilvus", "milvus_lite")), reason=lacks("pymilvus", "milvus_lite")
)
needs_real = pytest.mark.skipif(bool(lacks("pymilvus", "milvus")), reason=lacks("pymilvus", "milvus"))


class MilvusServer:
    """One process with its data in `folder`; it can be killed and started again with the same data."""

    def __init__(self, kind: str, folder: Path, *settings: str) -> None:
        self.kind, self.folder, self.settings = kind, folder, settings
        self.port = 0
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> MilvusServer:
        programs = str(cache_root() / "milvus-2.3.5")
        given = {
            "real": [REAL, str(self.folder), programs, *self.settings],
            "small": [SMALL, str(self.folder), "0"],
        }
        log = (self.folder.parent / f"{self.folder.name}.log").open("a")
        with log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", *given[self.kind]],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.strip().isdigit():
            self.kill()
            raise RuntimeError(f"The {self.kind} Milvus server did not start: see {log.name}")
        self.port = int(line)
        _wait_for(self.port)
        return self

    def address(self, name: str = "corpus") -> str:
        return f"milvus://127.0.0.1:{self.port}/{name}"

    def kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            if self._process.stdout:
                self._process.stdout.close()
            self._process = None


@contextmanager
def running(kind: str, folder: Path, *settings: str) -> Iterator[MilvusServer]:
    with alone():
        server = MilvusServer(kind, folder, *settings)
        try:
            yield server.start()
        finally:
            server.kill()


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other server of these tests runs."""
    import fcntl

    with LOCK.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _wait_for(port: int) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise RuntimeError(f"Nothing answers on port {port}")
