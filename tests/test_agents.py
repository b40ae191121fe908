"""The tools for agents, asked with the `mcp` package's own client over both transports."""

from __future__ import annotations

import asyncio
import json
import math
import re
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from search.agents.server import make_server as make_tools_server
from search.agents.server import over_http
from search.agents.tools import NOTHING, Tools
from search.api.keys import Keys
from search.api.surroundings import Surroundings, alone
from search.settings import Settings
from tests.conftest import ROOT
from tests.miniature import METHODS, PROBLEMS, build_miniature

mcp = pytest.importorskip("mcp", reason="needs the package mcp: requirements-mcp.txt")
from mcp.client import Client  # noqa: E402
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402

NAMES = {"search", "fetch", "read_query", "find_by_sentences", "corpus_info", "export"}
MOST_TOKENS_OF_TOOLS, MOST_TOKENS_OF_TEN = 2000, 2500
TEXT = f"My own work\n{PROBLEMS['fraud']} {METHODS['graphs']}"


def tokens(text: str) -> int:
    """More than any usual tokeniser makes of English and JSON: the larger of two simple counts.

    One token for every 3.5 characters (usual tokenisers have 4 and more), and one for every mark and for
    every six letters or four digits of a word.
    """
    pieces = re.findall(r"[^\W\d]+|\d+|[^\w\s]|_", text)
    by_pieces = sum(math.ceil(len(each) / (4 if each.isdigit() else 6)) for each in pieces)
    return max(by_pieces, math.ceil(len(text) / 3.5))


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("agents")
    corpus = build_miniature(folder / "corpus")
    return Settings(corpus=corpus, library=folder / "library", history=False)


@pytest.fixture(scope="module")
def here(settings: Settings) -> Surroundings:
    return alone(settings, 100_000)


def serve(here: Surroundings) -> Iterator[str]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        app = over_http(make_tools_server(Tools(here.engine)), here)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def address(here: Surroundings) -> Iterator[str]:
    yield from serve(here)


Ask = Callable[[Callable[[Any], Awaitable[Any]]], Any]


@pytest.fixture(params=["stdio", "http"])
def ask(request: pytest.FixtureRequest, settings: Settings, address: str) -> Ask:
    """Does something with a connected client, over each transport."""

    def run(work: Callable[[Any], Awaitable[Any]]) -> Any:
        async def connected() -> Any:
            if request.param == "http":
                transport = streamable_http_client(address)
            else:
                command = ["-m", "search", "mcp", "--corpus", str(settings.corpus)]
                transport = stdio_client(
                    StdioServerParameters(command=sys.executable, args=command, cwd=str(ROOT))
                )
            async with Client(transport) as client:
                return await work(client)

        return asyncio.run(connected())

    return run


def shown(result: Any) -> dict[str, Any]:
    """The structured content, which the text repeats."""
    assert not result.is_error, result.content[0].text
    assert json.loads(result.content[0].text) == result.structured_content
    return dict(result.structured_content)


@pytest.mark.slow
def test_all_tools_over_both_transports(ask: Ask) -> None:
    async def work(client: Any) -> None:
        listed = (await client.list_tools()).tools
        assert {tool.name for tool in listed} == NAMES
        assert all(tool.annotations.read_only_hint for tool in listed)
        described = sum(tokens(tool.model_dump_json(exclude_none=True, by_alias=True)) for tool in listed)
        assert described < MOST_TOKENS_OF_TOOLS
        found = shown(await client.call_tool("search", {"query": TEXT, "limit": 3}))
        assert found["results"][0]["id"] == "fraud-graphs"
        assert found["results"][0]["evidence"][0]["quote"] in (PROBLEMS["fraud"], METHODS["graphs"])
        assert found["scope"].startswith("21 papers")
        read = shown(await client.call_tool("read_query", {"text": TEXT}))
        assert [each["number"] for each in read["sentences"]] == [1, 2]
        asked = {"text": TEXT, "match": [2], "avoid": [1], "weights": {"2": 2}, "limit": 4, "year_to": 2013}
        by_sentence = shown(await client.call_tool("find_by_sentences", asked))
        assert {each["id"].split("-")[1] for each in by_sentence["results"]} == {"graphs"}
        assert "fraud-graphs" not in [each["id"] for each in by_sentence["results"]]
        paper = shown(await client.call_tool("fetch", {"id": "fraud-trees"}))
        assert paper["sentences"][1] == f"method: {METHODS['trees']}"
        assert shown(await client.call_tool("corpus_info", {}))["papers"] == 21
        cited = shown(await client.call_tool("export", {"ids": ["fraud-trees"], "format": "ris"}))
        assert "TI  - A study of fraud with trees" in cited["text"]

    ask(work)


@pytest.mark.slow
def test_a_failure_is_no_empty_result(ask: Ask) -> None:
    async def work(client: Any) -> None:
        nothing = {"text": TEXT, "match": [1], "year_from": 2090}
        empty = shown(await client.call_tool("find_by_sentences", nothing))
        assert (empty["found"], empty["results"], empty["note"]) == (0, [], NOTHING)
        for name, given, said in (
            ("fetch", {"id": "nobody"}, "No paper of this corpus has the id 'nobody'"),
            ("find_by_sentences", {"text": TEXT, "match": [9]}, "There is no sentence 9"),
            ("search", {"query": " "}, "nothing to search for"),
            ("search", {"query": TEXT, "limit": 1000}, "from 1 to 50"),
            ("search", {"query": 3}, "The argument 'query' of search cannot be used"),
            ("search", {"query": TEXT, "facet": "x"}, "The argument 'facet' of search cannot be used"),
            ("find_by_sentences", {"text": TEXT, "match": [1], "year_from": 10**30}, "not a year"),
            ("find_by_sentences", {"text": TEXT, "match": [1], "fields": ["x"] * 20_000}, "up to 10,000"),
            ("find_by_sentences", {"text": TEXT, "match": [1], "weights": {"1": -5}}, "no number from 0"),
            ("find_by_sentences", {"text": TEXT, "match": [1], "weights": {"1" * 999: 1}}, "to weigh"),
        ):
            failed = await client.call_tool(name, given)
            assert failed.is_error
            assert said in failed.content[0].text

    ask(work)


def test_ten_results_are_short_however_long_the_papers_are(here: Surroundings, monkeypatch: Any) -> None:
    engine = here.engine()
    search = engine.search

    def long_winded(query: Any) -> Any:
        """The same results with titles and sentences as long as the longest of real papers."""
        results = search(query)
        long = tuple(
            replace(
                each,
                paper=replace(
                    each.paper, id=f"arxiv:{n:04d}.12345", title="Considerably longer titles " * 12
                ),
                pairs=tuple(
                    replace(pair, text="Considerably longer sentences, " * 30) for pair in each.pairs
                ),
            )
            for n, each in enumerate(results.results)
        )
        return replace(results, results=long)

    monkeypatch.setattr(engine, "search", long_winded)
    found = Tools(lambda: engine).search(TEXT)
    assert found["found"] == 10
    assert tokens(json.dumps(found, ensure_ascii=False, separators=(",", ":"))) < MOST_TOKENS_OF_TEN
    assert all(each["evidence"] for each in found["results"])


def test_what_the_corpus_has_nothing_on_carries_a_note(here: Surroundings, monkeypatch: Any) -> None:
    engine = here.engine()
    tools = Tools(lambda: engine)
    assert "note" not in tools.search(TEXT)
    search = engine.search
    monkeypatch.setattr(engine, "search", lambda query: replace(search(query), covered=0.01))
    assert "next to nothing" in tools.search(TEXT)["note"]
    filtered = tools.find_by_sentences(TEXT, match=[2], year_from=2011)
    assert "note" not in filtered  # the filters may be why


def test_keys_and_hosts_over_http(here: Surroundings, tmp_path: Path) -> None:
    import httpx2 as httpx

    keys = Keys(tmp_path)
    secret = keys.create("agent")
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream"}
    for address in serve(replace(here, keys=keys)):
        with httpx.Client(trust_env=False, headers=accept) as client:
            assert client.post(address, json=body).status_code == 401
            assert client.post(address, json=body, headers={"Host": "evil.example"}).status_code == 403
            known = client.post(address, json=body, headers={"Authorization": f"Bearer {secret}"})
            assert known.status_code not in (401, 403)


@pytest.mark.parametrize("version", [None, "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_clients_of_every_age_are_answered_and_none_is_held(address: str, version: str | None) -> None:
    import httpx2 as httpx

    headers = {"Accept": "application/json, text/event-stream"}
    said = headers | ({"MCP-Protocol-Version": version} if version else {})
    hello = {"protocolVersion": version or "1999-01-01", "capabilities": {}, "clientInfo": {"name": "x"}}
    hello["clientInfo"] |= {"version": "1"}  # type: ignore[operator]
    call = {"name": "search", "arguments": {"query": TEXT, "limit": 1}}
    with httpx.Client(trust_env=False, headers=headers, timeout=20) as client:
        begun = client.post(address, json=message("initialize", hello)).json()["result"]
        assert version in (None, begun["protocolVersion"])
        found = client.post(address, json=message("tools/call", call), headers=said).json()["result"]
        assert found["structuredContent"]["found"] == 1
        for method in ("GET", "DELETE", "OPTIONS"):  # a client that listens is told that there is nothing
            answer = client.request(method, address, headers=said)
            assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def message(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def test_the_skill_file_is_short() -> None:
    skill = (ROOT / "docs" / "SKILL.md").read_text(encoding="utf-8")
    body = skill.split("---", 2)[2]
    assert len(body.split()) <= 100
    assert {name for name in NAMES if name in body} >= {"read_query", "find_by_sentences", "corpus_info"}
