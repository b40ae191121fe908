"""Milvus servers for tests, in processes of their own: the real one, and the small one with sparse vectors.

The real one listens on every address, so it has a network of its own and is reached by a door on loopback.
One server at a time on a machine: whoever comes second waits. They end by SIGKILL, because the real one takes
most of a minute to end otherwise.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import gettempdir

import pytest

from search.downloads import cache_root
from tests import own_network

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 120
LOCK = Path(gettempdir()) / "triptych-milvus.lock"
REAL = ROOT / "build" / "servers" / "bin" / "python"
"""The real server lies in a virtual environment of its own, with the libraries that it was built with."""
PROGRAMS = cache_root() / "milvus-2.3.5"
"""Where it is unpacked, once."""
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


@cache
def lacks_real() -> str:
    """Why the real server cannot be tried here."""
    if not REAL.exists():
        return lacks("pymilvus") or "the real Milvus server is not installed: run `make servers`"
    return lacks("pymilvus") or own_network.refusal()


needs_small = pytest.mark.skipif(
    bool(lacks("pymilvus", "milvus_lite")), reason=lacks("pymilvus", "milvus_lite")
)
needs_real = pytest.mark.skipif(bool(lacks_real()), reason=lacks_real())


class MilvusServer:
    """One process with its data in `folder`; it can be killed and started again with the same data."""

    def __init__(self, kind: str, folder: Path, *settings: str) -> None:
        self.kind, self.folder, self.settings = kind, folder, settings
        self.port = 0
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> MilvusServer:
        given = {
            "real": [str(REAL), "-m", "tests.real_milvus", str(self.folder), str(PROGRAMS), *self.settings],
            "small": [sys.executable, "-c", SMALL, str(self.folder), "0"],
        }
        log = (self.folder.parent / f"{self.folder.name}.log").open("a")
        with log:
            self._process = subprocess.Popen(
                given[self.kind],
                cwd=ROOT,
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
        wait_for(self.port)
        return self

    def address(self, name: str = "corpus", scheme: str = "milvus") -> str:
        return f"{scheme}://127.0.0.1:{self.port}/{name}"

    def kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            if self._process.stdout:
                self._process.stdout.close()
            self._process = None


def make_certificate(folder: Path) -> Path:
    """One that signed itself, for this machine; `key.pem` lies beside it."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not here, which makes the certificate")
    for_this = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", "key.pem", "-out", "certificate.pem"]
    subprocess.run(["openssl", "req", "-x509", *made, *for_this], cwd=folder, check=True, capture_output=True)
    return folder / "certificate.pem"


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


def wait_for(port: int) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise RuntimeError(f"Nothing answers on port {port}")
