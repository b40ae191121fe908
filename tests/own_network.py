"""A network namespace for a server that listens on every address: there, loopback is all there is.

A door leads in: a port of this machine's loopback, whose connections are carried to a port of the other one.
Needs Linux, and the right to make namespaces; `refusal` says why it cannot be. `python -m tests.own_network
COMMAND` runs a program in one.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress

NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000  # of <sched.h>
SET_FLAGS, UP = 0x8914, 1  # of <linux/sockios.h> and <net/if.h>
CHUNK = 2**20


def enter() -> None:
    """This process and those it starts are in a namespace of their own; sockets made before stay outside."""
    call = ctypes.CDLL(None, use_errno=True).unshare
    if call(NEW_NETWORK) and call(
        NEW_NETWORK | NEW_USER
    ):  # without root, a namespace of users gives the right
        number = ctypes.get_errno()
        raise OSError(number, f"no network namespace can be made: {os.strerror(number)}")
    import fcntl

    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh14x", b"lo", UP))


def refusal() -> str:
    """Why there can be no such namespace; empty where there can."""
    if not sys.platform.startswith("linux"):
        return "network namespaces are of Linux alone"
    asked = [sys.executable, __file__]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stderr.strip().rpartition("\n")[2] if done.returncode else ""


class Door:
    """Made outside, opened inside: by default at a free port."""

    def __init__(self, port: int = 0) -> None:
        self._outside = socket.create_server(("127.0.0.1", port))
        self.port: int = self._outside.getsockname()[1]

    def open(self, port: int) -> None:
        threading.Thread(target=self._receive, args=(port,), daemon=True).start()

    def _receive(self, port: int) -> None:
        while True:
            outer = self._outside.accept()[0]
            try:
                inner = socket.create_connection(("127.0.0.1", port))
            except OSError:
                outer.close()
                continue
            for one, other in ((outer, inner), (inner, outer)):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=_carry, args=(one, other), daemon=True).start()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while some := source.recv(CHUNK):
            target.sendall(some)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


if __name__ == "__main__":
    try:
        enter()
    except OSError as error:
        sys.exit(str(error))
    if command := sys.argv[1:]:
        os.execvp(command[0], command)
