"""Fetching and importing from a local server that answers at once, beside reading the same from files."""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from evaluation.own_process import alone
from index_build.fetch.updating import fetch_all
from index_build.fetch.values import Wish
from index_build.importing import import_files
from search.settings import Settings

PAPERS = 6_000
PAGE = 1_000
"""Records in an answer, as Europe PMC gives them."""
ROUNDS = 3
"""Both are timed in turn so many times; the medians are compared."""
_WORDS = (
    "the of a in for with on by model data method result we show that cell patients learning network trial "
    "protein treatment analysis significant effect risk response clinical group level compared increased "
    "study outcome"
).split()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fetch-papers", type=int, default=PAPERS, metavar="N", help=f"papers to fetch (default: {PAPERS})"
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    return alone(measure, args.fetch_papers)


def measure(papers: int) -> dict[str, Any]:
    pages = make_pages(papers)
    from_files, from_server = [], []
    with tempfile.TemporaryDirectory() as name, _server(pages) as port:
        folder = Path(name)
        files = folder / "files"
        files.mkdir()
        for number, page in enumerate(pages):
            (files / f"{number:04}.json.gz").write_bytes(page)
        import_files(folder / "warm", [files], limit=10)  # the libraries are loaded
        for turn in range(ROUNDS):
            begun = time.perf_counter()
            read = import_files(folder / f"read{turn}", [files])
            from_files.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            settings = Settings(
                corpus=folder / f"fetched{turn}", sources=(f"europepmc=http://127.0.0.1:{port};pause=0",)
            )
            found = fetch_all(settings.corpus, [Wish("europepmc", text="all")], settings)
            from_server.append(time.perf_counter() - begun)
            assert found.stored.added == read.stored.added == papers
    files_seconds, server_seconds = statistics.median(from_files), statistics.median(from_server)
    return {
        "papers": papers,
        "requests": len(pages) + 1,
        "from_files_seconds": files_seconds,
        "fetched_seconds": server_seconds,
        "fetched_papers_per_second": papers / server_seconds,
        "share_of_reading_files": files_seconds / server_seconds,
    }


def make_pages(papers: int) -> list[bytes]:
    """Answers of Europe PMC's search, packed as they come."""
    dice = random.Random(1)
    pages = []
    for start in range(0, papers, PAGE):
        numbers = range(start, min(start + PAGE, papers))
        results = [_record(dice, number) for number in numbers]
        answer = {"hitCount": papers, "nextCursorMark": str(start + PAGE), "resultList": {"result": results}}
        pages.append(gzip.compress(json.dumps(answer).encode(), 4))
    return pages


def _record(dice: random.Random, number: int) -> dict[str, Any]:
    sentences = [" ".join(dice.choices(_WORDS, k=dice.randint(14, 28))).capitalize() + "." for _ in range(8)]
    return {
        "id": str(10_000_000 + number),
        "source": "MED",
        "pmid": str(10_000_000 + number),
        "doi": f"10.1234/speed.{number}",
        "title": f"{' '.join(dice.choices(_WORDS, k=9)).capitalize()} {number}.",
        "authorString": ", ".join(f"Name{dice.randrange(9999)} A" for _ in range(5)),
        "abstractText": " ".join(sentences),
        "pubYear": "2025",
        "journalInfo": {"journal": {"title": "Journal of Measures"}, "volume": "7", "issue": "2"},
        "pageInfo": "10-19",
        "pubTypeList": {"pubType": ["research-article"]},
    }


def _end(cursor: str) -> bytes:
    """The answer after the last page: nothing, and the same cursor again."""
    answer = {"hitCount": 0, "nextCursorMark": cursor, "resultList": {"result": []}}
    return gzip.compress(json.dumps(answer).encode())


@contextmanager
def _server(pages: list[bytes]) -> Iterator[int]:
    """The answers in a process of their own; the port."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(pages, theirs), daemon=True)
    process.start()
    try:
        yield int(ours.recv())
    finally:
        process.kill()
        process.join()


def _serve(pages: list[bytes], told: Connection) -> None:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            """Nothing."""

        def do_GET(self) -> None:
            cursor = parse_qs(urlsplit(self.path).query)["cursorMark"][0]
            place = 0 if cursor == "*" else int(cursor) // PAGE
            body = pages[place] if place < len(pages) else _end(cursor)
            self.send_response_only(200)
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = HTTPServer(("127.0.0.1", 0), Handler)
    told.send(server.server_address[1])
    server.serve_forever()
