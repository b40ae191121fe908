"""The HTTP API beside the engine itself, in the same run: one client, sixteen at once, ten thousand requests.

The server runs as users run it, `python -m search serve`, in a process of its own, and so does the engine,
which threads ask. Queries are papers of the corpus as pasted texts, by facet in turn, each new to both.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.own_process import alone
from search.engine import Engine
from search.errors import InputError
from search.query.choosing import choose_sentences
from search.settings import load_settings
from search.types import PANELS, Query

CLIENTS, TOP, SEED = 16, 20, 5
ROUNDS = 3
"""Each is measured so often, in turn. The best round counts: other work only makes it slower."""
START = 120
"""Seconds that a server may take to be ready."""
Body = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    help = "requests of the long run of the API (default: 10000)"
    parser.add_argument("--requests", type=int, default=10_000, metavar="N", help=help)


def run(args: argparse.Namespace) -> dict[str, Any]:
    corpus = (args.corpus or load_settings().corpus).resolve()
    return alone(_measure, corpus, args.queries, args.requests)


def _measure(corpus: Path, queries: int, requests: int) -> dict[str, Any]:
    engine = Engine.open(corpus, load_settings())
    bodies = list(_bodies(engine, queries))
    with _server(corpus) as (port, process):
        asked = [_Asked(port) for _ in range(CLIENTS)]
        rounds = [_round(engine, asked, bodies, number, process.pid) for number in range(ROUNDS)]
        best = {name: min(each[name] for each in rounds) for name in rounds[0]}
        figures: dict[str, Any] = {
            "engine_p50_ms": best["engine_p50_ms"],
            "api_p50_ms": best["api_p50_ms"],
            "api_times_engine": best["api_p50_ms"] / best["engine_p50_ms"],
            "api_times_engine_by_processor_time": best["api_one_work"] / max(best["engine_one_work"], 0.01),
            "engine_searches_per_second": len(bodies) / best["engine_seconds"],
            "api_searches_per_second": len(bodies) / best["api_seconds"],
            "api_share_of_throughput": best["engine_seconds"] / best["api_seconds"],
            # Processor time of both for the same searches: other work on the machine changes it less. For
            # one client, hand-overs between processes wait for a processor, which a busy machine makes long.
            "api_share_by_processor_time": best["engine_work"] / max(best["api_work"], 0.01),
        }
        return figures | _long_run(asked, bodies, requests, process.pid)


def _round(
    engine: Engine, asked: Sequence[_Asked], bodies: Sequence[Body], number: int, pid: int
) -> dict[str, float]:
    """Both in turn, so that what else the machine does meets both."""

    def ask_engine(body: Body, _: int) -> None:
        _search(engine, body)

    def ask_api(body: Body, client: int) -> None:
        asked[client].search(body)

    def of_api(measure: Callable[..., float], bodies: Sequence[Body]) -> float:
        for each in asked:
            each.reconnect()
        return measure(ask_api, bodies)

    one = [_anew(body, f"a{number}") for body in bodies[::4]]
    many = [_anew(body, f"b{number}") for body in bodies]
    begun = _processor_seconds(os.getpid()), _processor_seconds(pid)
    figures = {"engine_p50_ms": _median(ask_engine, one)}
    figures["engine_one_work"] = _processor_seconds(os.getpid()) - begun[0]
    figures["api_p50_ms"] = of_api(_median, one)
    before = _processor_seconds(os.getpid()), _processor_seconds(pid)
    figures["api_one_work"] = before[1] - begun[1]
    figures["engine_seconds"] = _at_once(ask_engine, many)
    between = _processor_seconds(os.getpid())
    figures["api_seconds"] = of_api(_at_once, many)
    work = {"engine_work": between - before[0], "api_work": _processor_seconds(pid) - before[1]}
    return figures | work


def _bodies(engine: Engine, queries: int) -> Iterator[Body]:
    """The body of a search with each of some papers, by all sentences or by those of one facet in turn."""
    everything = engine.store.spread(engine.manifest.papers)
    rows = np.random.default_rng(SEED).permutation(everything)[:queries]
    for place, paper in enumerate(engine.store.papers_by_row(rows)):
        facet = (None, *PANELS)[place % 4]
        labels = [sentence.panel for sentence in engine.read(paper.title, paper.abstract).sentences]
        chosen = [number for number, label in enumerate(labels, 1) if label is facet]
        match = chosen or list(range(1, len(labels) + 1))
        yield {"papers": [{"title": paper.title, "abstract": paper.abstract, "match": match}], "top": TOP}


def _anew(body: Body, mark: str) -> Body:
    """The same search with another title, so that neither has read it before."""
    paper = body["papers"][0]
    return body | {"papers": [paper | {"title": f"{paper['title']} {mark}"}]}


def _search(engine: Engine, body: Body) -> None:
    """What the API is compared with: reading the text and `Engine.search`."""
    given = body["papers"][0]
    paper = engine.read(given["title"], given["abstract"])
    chosen = choose_sentences(paper, [number - 1 for number in given["match"]])
    engine.search(Query((chosen,), top=body["top"]))


class _Asked:
    """One client with one connection."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.statuses: list[int] = []
        self.counting = False
        """Whether errors are counted, rather than the end."""

    def reconnect(self) -> None:
        """The server closes what was idle for long, such as while the engine was measured."""
        self._connection.close()

    def search(self, body: Body) -> None:
        headers = {"Content-Type": "application/json"}
        self._connection.request("POST", "/api/v1/search", json.dumps(body), headers)
        answer = self._connection.getresponse()
        if answer.read() and answer.status != 200 and not self.counting:
            raise InputError(f"The API answered {answer.status}: its log says why.")
        self.statuses.append(answer.status)


def _median(ask: Callable[[Body, int], None], bodies: Sequence[Body]) -> float:
    seconds = []
    for body in bodies:
        started = time.perf_counter()
        ask(body, 0)
        seconds.append(time.perf_counter() - started)
    return 1000 * float(np.median(seconds))


def _at_once(ask: Callable[[Body, int], None], bodies: Sequence[Body]) -> float:
    """Seconds for all of them, asked by CLIENTS threads, each with its part."""

    def work(client: int, part: Sequence[Body]) -> None:
        for body in part:
            ask(body, client)

    started = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        parts = [bodies[client::CLIENTS] for client in range(CLIENTS)]
        list(pool.map(work, range(CLIENTS), parts))
    return time.perf_counter() - started


def _long_run(asked: Sequence[_Asked], bodies: Sequence[Body], requests: int, pid: int) -> dict[str, Any]:
    """Searches by all clients at once; memory once it has settled, and at the end."""
    for client in asked:
        client.statuses.clear()
        client.counting = True
    left = iter(range(requests))
    lock, memory = threading.Lock(), []

    def work(client: _Asked) -> None:
        while True:
            with lock:
                number = next(left, None)
                if number is not None and number % max(1, requests // 10) == 0:
                    memory.append(_megabytes(pid))
            if number is None:
                return
            client.search(bodies[number % len(bodies)])

    started = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(work, asked))
    statuses = [status for client in asked for status in client.statuses]
    return {
        "requests": len(statuses),
        "errors": sum(status != 200 for status in statuses),
        "errors_by_status": {str(each): statuses.count(each) for each in sorted({*statuses} - {200})},
        "requests_per_second": len(statuses) / (time.perf_counter() - started),
        "megabytes_after_a_fifth": memory[min(2, len(memory) - 1)],
        "megabytes_at_the_end": _megabytes(pid),
    }


def _processor_seconds(pid: int) -> float:
    """Of all threads of a process so far; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _megabytes(pid: int) -> float | None:
    """The resident memory of a process and those it started, where the system tells."""
    try:
        pids = [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
        texts = [Path(f"/proc/{each}/status").read_text() for each in pids]
    except OSError:
        return None
    return sum(int(text.split("VmRSS:")[1].split()[0]) for text in texts) / 1024


@contextmanager
def _server(corpus: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    with tempfile.TemporaryDirectory() as library:
        env = os.environ | {"TRIPTYCH_LIBRARY": library, "TRIPTYCH_API_RATE": "1000000"}
        command = [sys.executable, "-m", "search", "serve", "--corpus", str(corpus), "--port", str(port)]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, env=env, stdout=quiet, stderr=quiet)
        try:
            _wait(port, process)
            yield port, process
        finally:
            process.terminate()
            process.wait()


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(10 * START):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START)
            connection.request("GET", "/api/v1/ready")
            if connection.getresponse().status == 200:
                return
        except OSError:
            if process.poll() is not None:
                raise InputError("The server did not start: try `python -m search serve` by hand.") from None
        time.sleep(0.1)
    raise InputError(f"The server was not ready within {START} seconds: try again on a quieter machine.")
