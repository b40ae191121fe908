"""`python -m search mcp`: the tools over standard input, or over streamable HTTP."""

from __future__ import annotations

import argparse
import inspect
import json
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, Literal

import uvicorn
from starlette.types import ASGIApp

from search import __version__
from search.agents.door import PATH, KeyDoor
from search.agents.tools import EVIDENCE, LIMIT, Content, Tools
from search.api.door import Door
from search.api.server import GRACE
from search.api.surroundings import THREADS, Surroundings, alone
from search.corpus.places import require_corpus
from search.errors import InputError, TriptychError
from search.hosts import ANY_ADDRESS
from search.logs import keep_texts_out
from search.query.choosing import shorten
from search.settings import API, load_settings, make_new_files_private, place_of

PORT = 8503
Format = Literal["bibtex", "ris", "csl-json", "csv", "markdown"]
Panel = Literal["", "background", "method", "result"]
INSTRUCTIONS = (
    "Search one corpus of paper abstracts by the part that matters: background, method or result. For a "
    "quick look use search. For precision: read_query, then find_by_sentences with the numbers to match and "
    "to avoid. Quotes are the papers' own sentences; nothing is generated. corpus_info tells the scope."
)
DESCRIPTIONS = {
    "search": "Papers nearest to a text: an abstract, a question or keywords. With facet, only the "
    "sentences of the text labelled so are matched. Each result quotes its best matching sentence.",
    "fetch": "One paper in full: reference and all sentences with their labels.",
    "read_query": "Splits a text into numbered sentences labelled background, objective, method or result.",
    "find_by_sentences": "Papers that match some sentences of a text and stay away from others, by the "
    "numbers of read_query. text: the same text, or 'id:' and a paper's id. weights: number to weight. "
    "Raise evidence for more quotes.",
    "corpus_info": "What the corpus holds: size, years, fields, sources, date, models.",
    "export": "References of papers by their ids.",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--corpus", type=place_of, metavar="DIR", help="a built corpus (default: from the settings)")
    add("--http", action="store_true", help=f"serve {PATH} over HTTP instead of standard input")
    add("--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (default: this machine)")
    add("--port", type=int, default=PORT, metavar="N", help=f"default: {PORT}")
    add("--access", choices=API[:2], help="who may ask over HTTP (default: setting `api`)")


def run(args: argparse.Namespace) -> int:
    settings = load_settings()
    settings = settings.at(args.corpus or settings.place).resolved()
    require_corpus(settings.place, settings.milvus_token, settings.milvus_certificate)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    keep_texts_out()
    make_new_files_private(settings)
    names = [] if args.host in ANY_ADDRESS | {"::"} else [args.host]
    settings = replace(settings, api=args.access or settings.api, history=False)
    here = alone(settings, settings.api_rate, names)
    server = make_server(Tools(here.engine))
    if not args.http:
        server.run("stdio")
        return 0
    print(f"Serving http://{args.host}:{args.port}{PATH}, Ctrl-C stops it.", flush=True)
    uvicorn.run(
        over_http(server, here),
        host=args.host,
        port=args.port,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=GRACE,
        server_header=False,
    )
    return 0


def make_server(tools: Tools) -> Any:
    """The server of the `mcp` package with the six tools."""
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.types import CallToolResult, TextContent, ToolAnnotations
    except ImportError:
        raise InputError(
            "The server for agents needs the package mcp: run `pip install -r requirements-mcp.txt`."
        ) from None

    at_once = threading.BoundedSemaphore(THREADS)

    def answering(tool: Callable[..., Content]) -> Callable[..., Any]:
        @wraps(tool)
        def answer(**given: Any) -> CallToolResult:
            try:
                with at_once:
                    content = tool(**given)
            except TriptychError as error:
                raise ToolError(str(error)) from None
            text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
            shown = TextContent(type="text", text=text)
            return CallToolResult(content=[shown], structured_content=json.loads(text))

        signature = inspect.signature(tool, eval_str=True)
        answer.__signature__ = signature.replace(return_annotation=CallToolResult)  # type: ignore[attr-defined]
        return answer

    class Server(MCPServer):  # type: ignore[misc] # an extra: to the checker it is anything
        """One that tells also what is wrong with the arguments of a tool in one sentence."""

        async def call_tool(self, name: str, *given: Any, **named: Any) -> Any:
            try:
                return await super().call_tool(name, *given, **named)
            except ToolError as error:
                raise ToolError(_in_a_sentence(name, error)) from error

    server = Server(
        "triptych", title="Triptych", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    for name, tool in _typed(tools).items():
        server.add_tool(answering(tool), name, description=DESCRIPTIONS[name], annotations=reads)
    return server


def _in_a_sentence(name: str, error: Exception) -> str:
    """What a tool refused, or which of its arguments cannot be what it is."""
    wrong = getattr(error.__cause__, "errors", None)
    if wrong is None:
        return str(error).removeprefix(f"Error executing tool {name}: ")
    first = wrong(include_url=False)[0]
    place, said = ".".join(map(str, first["loc"])), first["msg"]
    what = f"{said[:1].lower()}{said[1:200]}"
    return f"The argument {shorten(place)} of {name} cannot be used ({what}): correct it."


def _typed(tools: Tools) -> Mapping[str, Callable[..., Content]]:
    """The tools with the plain types that make short schemas."""

    def search(query: str, facet: Panel = "", limit: int = LIMIT) -> Content:
        return tools.search(query, facet, limit)

    def fetch(id: str) -> Content:
        return tools.fetch(id)

    def read_query(text: str) -> Content:
        return tools.read_query(text)

    def find_by_sentences(
        text: str,
        match: list[int],
        avoid: list[int] = [],  # noqa: B006 - never changed, and None would double the schema
        weights: dict[str, float] = {},  # noqa: B006
        year_from: int | None = None,
        year_to: int | None = None,
        fields: list[str] = [],  # noqa: B006
        venues: list[str] = [],  # noqa: B006
        limit: int = LIMIT,
        evidence: int = EVIDENCE,
    ) -> Content:
        return tools.find_by_sentences(
            text, match, avoid, weights, year_from, year_to, fields, venues, limit, evidence
        )

    def corpus_info() -> Content:
        return tools.corpus_info()

    def export(ids: list[str], format: Format = "bibtex") -> Content:
        return tools.export(ids, format)

    return {
        each.__name__: each for each in (search, fetch, read_query, find_by_sentences, corpus_info, export)
    }


def over_http(server: Any, here: Surroundings) -> ASGIApp:
    """Without sessions, so that any worker answers; hosts, origins and keys are checked as for the API."""
    from mcp.server.transport_security import TransportSecuritySettings

    ours = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the door does that
    app = server.streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, json_response=True, transport_security=ours
    )
    return Door(KeyDoor(app, here), here)
