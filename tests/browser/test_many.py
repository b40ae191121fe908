"""Many people at once: twenty sessions over the app's own socket, each with its own answer."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from search.query.saving import to_link
from search.types import Query, QueryPaper, QuerySentence
from tests.app_corpus import METHODS, PROBLEMS
from tests.browser.conftest import Server

SESSIONS = 20


def query(number: int) -> tuple[str, str]:
    """A link that asks for one problem, and the words that its answers begin with."""
    problem = list(PROBLEMS)[number % len(PROBLEMS)]
    sentences = tuple(QuerySentence(text) for text in PROBLEMS[problem].split(". "))
    return to_link(Query((QueryPaper(f"Number {number}", sentences),)), ""), problem.capitalize()


async def ask(server: Server, number: int) -> tuple[str, list[str]]:
    """One session: opens a link, reads until the script has finished; its title and those of its results."""
    link, _ = query(number)
    url = server.url.replace("http", "ws", 1) + "/_stcore/stream"
    title, titles = "", []
    async with websockets.connect(url, subprotocols=["streamlit"], max_size=None) as socket:
        asked = BackMsg()
        asked.rerun_script.query_string = f"q={link}"
        await socket.send(asked.SerializeToString())
        async for data in socket:
            message = ForwardMsg.FromString(data)
            element = message.delta.new_element
            if element.HasField("heading") and element.heading.tag == "h1":
                title = element.heading.body
            if element.bidi_component.component_name == "results":
                titles = [result["title"] for result in json.loads(element.bidi_component.json)["results"]]
            if message.WhichOneof("type") == "script_finished":
                break
    return title, titles


async def ask_all(server: Server) -> list[tuple[str, list[str]]]:
    return await asyncio.gather(*(ask(server, number) for number in range(SESSIONS)))


def test_twenty_sessions_at_once_all_get_their_own_answers(server: Server) -> None:
    with ThreadPoolExecutor(1) as apart:  # the browser's own loop runs in this thread
        answers = apart.submit(lambda: asyncio.run(ask_all(server))).result()
    for number, (title, titles) in enumerate(answers):
        assert title == f"Number {number}"
        assert len(titles) == 20, number
        _, beginning = query(number)
        for found in titles[: len(METHODS)]:
            assert found.startswith(f"{beginning}: a study"), number


async def known_again(server: Server) -> list[str]:
    """How the messages came of a second run for a browser that says it has those of the first."""
    url = server.url.replace("http", "ws", 1) + "/_stcore/stream"
    asked, kinds, known = BackMsg(), [], []
    async with websockets.connect(url, subprotocols=["streamlit"], max_size=None) as socket:
        for _ in range(2):
            asked.rerun_script.query_string = f"q={query(0)[0]}"
            asked.rerun_script.cached_message_hashes[:] = known
            await socket.send(asked.SerializeToString())
            kinds = []
            async for data in socket:
                message = ForwardMsg.FromString(data)
                known.append(message.hash)
                kinds.append(str(message.WhichOneof("type")))
                if kinds[-1] == "script_finished":
                    break
    return kinds


def test_no_message_is_sent_by_its_name_alone(server: Server) -> None:
    """A browser that has dropped the message meanwhile, as after quick steps, would be cut off for good."""
    with ThreadPoolExecutor(1) as apart:
        kinds = apart.submit(lambda: asyncio.run(known_again(server))).result()
    assert "delta" in kinds
    assert "ref_hash" not in kinds
