"""A Milvus cluster of packages: coordinators, proxy, data node, index node and query nodes, each a process.

`etcd` comes from Debian. SeaweedFS is the object store and, with its gateway for Kafka's protocol, the queue,
without which Milvus 2.3 makes no cluster. They listen on every address: call `own_network.enter` first. By
hand, `python -m tests.milvus_cluster` starts one and says where it is.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from tests import object_store, own_network
from tests.milvus_servers import PROGRAMS, REAL, ROOT, wait_for

PORT, KAFKA, BROKER, SCHEMAS = 19530, 9092, 17777, 8081
ETCD = ROOT / "build" / "etcd"
COORDINATORS = ("-rootcoord=true", "-querycoord=true", "-datacoord=true", "-indexcoord=true")
CONFIGURATION = """
import milvus, pathlib, sys
from tests.real_milvus import unpack
unpack(*map(pathlib.Path, sys.argv[1:]))
made = milvus.MilvusServerConfig(data_dir=sys.argv[1])
made.set("etcd.use.embed", "false")
made.set("mq.type", "kafka")
made.set("common.storageType", "minio")
made.set("common.session.ttl", "10")
made.resolve()
"""
QUEUE = f"""kafka:
  brokerList: 127.0.0.1:{KAFKA}
  saslUsername:
  saslPassword:
  saslMechanisms: PLAIN
  securityProtocol: PLAINTEXT
  readTimeout: 10
"""


class Cluster:
    """Started whole; single processes can be killed and started again."""

    def __init__(self, folder: Path, query_nodes: int = 3) -> None:
        self.folder = folder
        self.query_nodes = tuple(f"querynode{number}" for number in range(1, query_nodes + 1))
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> Cluster:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._configure()
        self._start_store_and_queue()
        self.start_one("mixture", *COORDINATORS)
        for role in ("datanode", "indexnode", *self.query_nodes, "proxy"):
            self.start_one(role)
        wait_for(PORT)
        return self

    def _configure(self) -> None:
        subprocess.run([REAL, "-c", CONFIGURATION, self.folder, PROGRAMS], cwd=ROOT, check=True)
        file = self.folder / "configs" / "milvus.yaml"
        file.write_text(f"{file.read_text()}\n{QUEUE}")

    def _start_store_and_queue(self) -> None:
        self._run("etcd", str(etcd()), "--data-dir", str(self.folder / "etcd"))
        wait_for(2379)
        self._processes["store"] = object_store.start(self.folder / "store")
        weed, here = str(object_store.WEED), f"-ip={object_store.HERE}"
        master = f"-master={object_store.HERE}:{object_store.MASTER}"
        self._run("broker", weed, "mq.broker", here, master)
        wait_for(BROKER)
        threading.Thread(target=_schemas().serve_forever, daemon=True).start()
        registry = f"-schema-registry-url=http://127.0.0.1:{SCHEMAS}"
        self._run("gateway", weed, "mq.kafka.gateway", here, master, registry, "-default-partitions=1")
        wait_for(KAFKA)
        # The gateway tells clients a port that it does not listen on, the one after its own.
        own_network.Door(KAFKA + 1).open(KAFKA)

    def start_one(self, name: str, *options: str) -> None:
        """A process of Milvus in a folder of its own; two of a kind find other ports themselves."""
        folder = self.folder / name
        shutil.copytree(self.folder / "configs", folder / "configs", dirs_exist_ok=True)
        environment = {
            "MILVUSCONF": str(folder / "configs"),
            "LOCALSTORAGE_PATH": str(folder / "data"),
            "LD_LIBRARY_PATH": str(PROGRAMS),
            "METRICS_PORT": str(_free_port()),
        }
        role = name.rstrip("0123456789")
        command = (str(PROGRAMS / "milvus"), "run", role, *options, "-alias", name)
        self._run(name, *command, environment=environment)

    def _run(self, name: str, *command: str, environment: dict[str, str] | None = None) -> None:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        with (folder / "log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                command, cwd=folder, stdout=log, stderr=log, env=os.environ | (environment or {})
            )

    def kill(self, name: str) -> None:
        process = self._processes.pop(name)
        process.kill()
        process.wait()

    def stop(self) -> None:
        for name in reversed(list(self._processes)):
            self.kill(name)


def etcd() -> Path:
    """The program, of the system or taken out of Debian's package, which is not installed."""
    if found := shutil.which("etcd"):
        return Path(found)
    program = ETCD / "usr" / "bin" / "etcd"
    if not program.exists():
        ETCD.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", "-qq", "etcd-server"], cwd=ETCD, check=True)
        for package in ETCD.glob("etcd-server_*.deb"):
            subprocess.run(["dpkg", "-x", package, ETCD], check=True)
    return program


class _NoSchemas(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"[]")

    def log_message(self, *_: object) -> None: ...


def _schemas() -> HTTPServer:
    """The gateway asks at its start for a registry of schemas, though nothing here has one."""
    return HTTPServer(("127.0.0.1", SCHEMAS), _NoSchemas)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def main() -> None:
    etcd()  # from the network, before it is left
    door = own_network.Door()
    own_network.enter()
    with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
        cluster = Cluster(Path(folder))
        try:
            cluster.start()
            door.open(PORT)
            print(
                f"milvus://127.0.0.1:{door.port}/corpus, logs in {folder}. Kill or start a node by its name:"
            )
            print(", ".join(cluster.query_nodes), flush=True)
            for line in sys.stdin:
                what, _, name = line.strip().partition(" ")
                if name in cluster.query_nodes:
                    with suppress(KeyError):
                        cluster.kill(name) if what == "kill" else cluster.start_one(name)
        except KeyboardInterrupt:
            pass
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
