"""Visitors without a browser: each speaks the app's own protocol, takes an example and ticks sentences."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

PATIENCE = 300.0
"""Seconds before a step counts as failed, not how long it may take: machines differ."""
EXAMPLE = "Try it"
"""The button that every visitor begins with."""


class StepError(Exception):
    """The app did not do what a visitor asked for."""


@dataclass(slots=True)
class Session:
    """One visitor's connection, and the widgets it was shown."""

    socket: websockets.ClientConnection
    buttons: dict[str, list[str]] = field(default_factory=dict)
    """The ids of buttons by their label, in the order drawn."""
    sentences: str = ""
    """The id of the component that draws the query's sentences."""
    data: dict[str, Any] = field(default_factory=dict)
    """What it was told to draw."""
    results: int = 0
    """How often results were drawn in the last step."""
    faults: list[str] = field(default_factory=list)
    query: str = ""
    page: str = ""

    async def open(self, query: str = "") -> None:
        self.query = query
        await self.step(lambda _: None)

    async def press(self, label: str, place: int = 0) -> None:
        ids = self.buttons.get(label, [])
        if not ids:
            raise StepError(f"there is no button {label!r}")

        def put(asked: BackMsg) -> None:
            asked.rerun_script.widget_states.widgets.add(id=ids[place % len(ids)], trigger_value=True)

        await self.step(put)

    async def choose(self, sentence: int, choice: str) -> None:
        click = {"number": self.data["taken"] + 1, "paper": 0, "sentence": sentence, "choice": choice}
        told = json.dumps({"told": {"draft": self.data["draft"], "clicks": [click]}})

        def put(asked: BackMsg) -> None:
            asked.rerun_script.widget_states.widgets.add(id=self.sentences, json_value=told)

        await self.step(put)

    async def step(self, put: Callable[[BackMsg], None]) -> None:
        """Asks for a run and reads until the app has nothing more to draw."""
        await self.ask(put)
        await asyncio.wait_for(self.settle(), PATIENCE)

    async def ask(self, put: Callable[[BackMsg], None]) -> None:
        asked = BackMsg()
        asked.rerun_script.query_string = self.query
        asked.rerun_script.page_script_hash = self.page
        put(asked)
        self.results = 0
        await self.socket.send(asked.SerializeToString())

    async def settle(self) -> None:
        async for data in self.socket:
            assert isinstance(data, bytes)
            message = ForwardMsg.FromString(data)
            match message.WhichOneof("type"):
                case "new_session":
                    self.page = message.new_session.page_script_hash
                    self.buttons, self.sentences, self.data = {}, "", {}
                case "delta":
                    self._see(message.delta)
                case "page_info_changed":
                    self.query = message.page_info_changed.query_string
                case "script_finished":
                    if message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                        return
        raise StepError("the app closed the connection")

    def _see(self, delta: Delta) -> None:
        element = delta.new_element
        match element.WhichOneof("type"):
            case "button":
                name = element.button.label.split(":gray[")[0]
                self.buttons.setdefault(name, []).append(element.button.id)
            case "bidi_component" if element.bidi_component.component_name == "sentences":
                self.sentences = element.bidi_component.id
                self.data = json.loads(element.bidi_component.json)
            case "bidi_component":
                self.results += element.bidi_component.component_name == "results"
            case "html":
                self.results += 'class="card' in element.html.body
            case "alert" if "(reference " in element.alert.body:
                self.faults.append(element.alert.body)
            case "exception":
                self.faults.append(element.exception.type)


@dataclass(slots=True)
class Journey:
    """What one visitor met with: seconds for each step, and faults."""

    opened: float = 0.0
    searches: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


async def journey(url: str, number: int, ticks: int, seed: int, pause: float) -> Journey:
    """Opens the app, takes an example and ticks sentences, always another."""
    chance, told = random.Random(f"{seed}-{number}"), Journey()
    await asyncio.sleep(chance.uniform(0, 2 * pause))
    address = f"{url.replace('http', 'ws', 1)}/_stcore/stream"
    try:
        async with websockets.connect(
            address, subprotocols=[websockets.Subprotocol("streamlit")], max_size=None, open_timeout=PATIENCE
        ) as socket:
            session, begun = Session(socket), time.monotonic()
            await session.open()
            told.opened = time.monotonic() - begun
            for turn in range(ticks + 1):
                await asyncio.sleep(chance.uniform(0, 2 * pause))
                begun = time.monotonic()
                await (session.press(EXAMPLE, number) if not turn else _tick(session, turn, chance))
                told.searches.append(time.monotonic() - begun)
                if not session.results:
                    raise StepError(f"step {turn} drew no results")
            told.faults += session.faults
    except (StepError, OSError, TimeoutError, websockets.WebSocketException) as error:
        told.faults.append(f"visitor {number}: {error!r}")
    return told


async def _tick(session: Session, turn: int, chance: random.Random) -> None:
    """Has one more sentence matched, or avoided every third time, which changes the query."""
    rows = len(session.data["papers"][0]["rows"]) if session.data else 0
    if rows < 2:
        raise StepError("there are no sentences to tick")
    if turn == 1:  # so that there is always something to match
        await session.choose(0, "match")
    else:
        await session.choose(chance.randrange(1, rows), "avoid" if turn % 3 == 0 else "match")
    if session.data.get("taken", 0) < turn:
        raise StepError(f"tick {turn} was not taken")


async def visit_together(
    url: str, visitors: int, ticks: int, seed: int, pause: float
) -> tuple[list[Journey], float]:
    """All journeys at once, and the seconds they took together; `pause` is the mean time between clicks."""
    begun = time.monotonic()
    journeys = await asyncio.gather(*(journey(url, number, ticks, seed, pause) for number in range(visitors)))
    return list(journeys), time.monotonic() - begun
