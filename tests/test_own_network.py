"""A server in a network of its own: its door leads to it, and nothing else does."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from tests import own_network
from tests.milvus_servers import ROOT

REFUSED = own_network.refusal()
SERVER = """
import socket
from tests import own_network
door = own_network.Door()
own_network.enter()
server = socket.create_server(("0.0.0.0", 0))
port = server.getsockname()[1]
door.open(port)
print(door.port, port, *(name for _, name in socket.if_nameindex()), flush=True)
while True:
    asked = server.accept()[0]
    asked.sendall(b"heard " + asked.recv(100))
    asked.close()
"""


@pytest.mark.skipif(bool(REFUSED), reason=REFUSED)
def test_a_server_on_every_address_is_reached_by_its_door_alone() -> None:
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        door, inside, *devices = process.stdout.readline().split()
        try:
            assert devices == ["lo"]
            for _ in range(2):
                with socket.create_connection(("127.0.0.1", int(door)), 10) as asking:
                    asking.sendall(b"a question")
                    assert asking.recv(100) == b"heard a question"
            with pytest.raises(OSError, match=r"."):
                socket.create_connection(("127.0.0.1", int(inside)), 1).close()
        finally:
            process.kill()
