"""Starts the servers, resets them, reads their logs, and makes the settings that lead to them."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from search.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "arxiv": 7, "arxiv-feed": 5, "openalex": 7, "pubmed": 6, "europepmc": 7, "semanticscholar": 8,
    "crossref": 7, "biorxiv": 7, "openreview": 7, "openreview-v1": 7, "zotero": 7, "zotero-web": 7,
}  # fmt: skip
"""Records asked for at a time, so that few records make several pages."""


class Servers:
    """The process; it ends when this is closed or the test process ends."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.live.server"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout
        self.ports: dict[str, int] = json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.ports[name]}"

    def lines(self, pause: float = 0.005, most: int = 25) -> tuple[str, ...]:
        """The setting `sources`."""
        sizes = {name: f";page={size}" for name, size in PAGES.items()}
        limits = dict.fromkeys(("arxiv", "pubmed"), f";most={most}")
        return tuple(
            f"{name}={self.address(name)};pause={pause}{sizes.get(name, '')}{limits.get(name, '')}"
            for name in self.ports
            if name != "control"
        )

    def settings(self, corpus: Path, pause: float = 0.005, most: int = 25, **given: Any) -> Settings:
        return Settings(corpus=corpus, sources=self.lines(pause, most), **({"fetch_timeout": 5} | given))

    def environment(self, pause: float = 0.005, most: int = 25) -> dict[str, str]:
        """The same for a command in a process of its own."""
        return {"TRIPTYCH_SOURCES": ",".join(self.lines(pause, most)), "TRIPTYCH_FETCH_TIMEOUT": "5"}

    def reset(self, **plan: Any) -> None:
        self._control(json.dumps(plan).encode())

    def log(self) -> dict[str, Any]:
        return self._control()

    def asked(self, name: str) -> list[str]:
        return list(self.log()[name]["asked"])

    def excess(self) -> list[str]:
        """Requests that broke a limit."""
        return [f"{name}: {line}" for name, source in self.log().items() for line in source["excess"]]

    def _control(self, body: bytes | None = None) -> Any:
        request = urllib.request.Request(self.address("control"), data=body)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=20) as answer:
            return json.loads(answer.read())
