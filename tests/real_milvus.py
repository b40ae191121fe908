"""Runs the server of the package `milvus` in a network of its own: FOLDER PROGRAMS [SETTING=VALUE ...].

Prints the port of this machine's loopback that leads to it. Run by the Python of the environment that has it.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from tests import own_network


def main(folder: Path, programs: Path, settings: list[str]) -> None:
    door = own_network.Door()
    own_network.enter()
    import milvus

    unpack(folder, programs)
    server = milvus.MilvusServer(milvus.MilvusServerConfig())
    server.set_base_dir(str(folder))
    for each in settings:
        name, _, value = each.partition("=")
        known = {"true": True, "false": False}
        server.config.set(name, known[value] if value in known else int(value) if value.isdigit() else value)
    server.start()
    door.open(server.listen_port)
    print(door.port, flush=True)
    signal.pause()


def unpack(folder: Path, programs: Path) -> None:
    """The programs of the package, once for all servers."""
    import milvus

    for each in (folder, programs):
        each.mkdir(parents=True, exist_ok=True)
    if not (folder / "bin").exists():
        (folder / "bin").symlink_to(programs)
    milvus._initialize_data_files(str(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
