"""The queue of searches: turns between visitors, the same work once, nobody waits for what was given up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

import pytest

from pages.ui import state
from pages.ui.queue import ClosedError, Queue


class GoneError(Exception):
    """A visitor went on."""


class Scene:
    """A queue with visitors who wait in threads of their own; `gate` holds back all work called `slow`."""

    def __init__(self, threads: int) -> None:
        self.queue = Queue(threads)
        self.gate, self.begun = threading.Event(), threading.Semaphore(0)
        self.done: list[str] = []
        self._visitors = ThreadPoolExecutor(64)

    def slow(self) -> str:
        self.begun.release()
        self.gate.wait()
        return "slow"

    def hold(self, threads: int) -> list[Future[str]]:
        """Keeps so many threads busy until the gate opens."""
        asked = [self._visitors.submit(self.queue.ask, f"holder {n}", self.slow) for n in range(threads)]
        for _ in range(threads):
            self.begun.acquire()
        return asked

    def ask(self, visitor: str, name: str, same: object = None, **options: Callable[[], None]) -> Future[str]:
        """Asks, and comes back once the queue knows of it."""

        def work() -> str:
            self.done.append(name)
            return name

        before = self.waiting()
        asked = self._visitors.submit(self.queue.ask, visitor, work, same, **options)
        until(lambda: self.waiting() > before)
        return asked

    def waiting(self) -> int:
        with self.queue._changed:
            return sum(len(line) for line in self.queue._lines.values())

    def end(self) -> None:
        self.gate.set()
        self.queue.close()
        self._visitors.shutdown()


def until(holds: Callable[[], bool]) -> None:
    """Waits for what another thread does, however slow the machine."""
    for _ in range(60_000):
        if holds():
            return
        time.sleep(0.001)
    raise TimeoutError


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene(threads=1)
    yield made
    made.end()


def test_visitors_take_turns(scene: Scene) -> None:
    """Ten searches of one visitor, then one of another and two of a third."""
    held = scene.hold(1)
    asked = [scene.ask("greedy", f"greedy {n}") for n in range(10)]
    asked += [scene.ask("modest", "modest 0"), scene.ask("third", "third 0"), scene.ask("third", "third 1")]
    scene.gate.set()
    assert [each.result() for each in asked] == [
        *(f"greedy {n}" for n in range(10)),
        "modest 0",
        "third 0",
        "third 1",
    ]
    assert [each.result() for each in held] == ["slow"]
    assert scene.done[:5] == ["greedy 0", "modest 0", "third 0", "greedy 1", "third 1"]
    assert scene.done[5:] == [f"greedy {n}" for n in range(2, 10)]


def test_the_same_search_is_done_once_for_all_who_wait(scene: Scene) -> None:
    scene.hold(1)
    asked = [scene.ask(f"visitor {n}", "found", same=("build", "query")) for n in range(20)]
    other = scene.ask("visitor 0", "other", same=("another build", "query"))
    scene.gate.set()
    assert {each.result() for each in asked} == {"found"}
    assert other.result() == "other"
    assert scene.done.count("found") == 1
    again = scene.queue.ask("visitor 0", lambda: "anew", same=("build", "query"))
    assert again == "anew", "what is finished is not kept here"


def test_whoever_joins_begun_work_gets_its_answer(scene: Scene) -> None:
    first = scene._visitors.submit(scene.queue.ask, "first", scene.slow, "same")
    scene.begun.acquire()
    second = scene._visitors.submit(scene.queue.ask, "second", pytest.fail, "same")
    until(lambda: scene.queue._known["same"].waiting == 2)
    scene.gate.set()
    assert first.result() == second.result() == "slow"


def test_whoever_joins_does_not_wait_for_the_turns_of_who_asked_first(scene: Scene) -> None:
    scene.hold(1)
    asked = [scene.ask("greedy", f"greedy {n}", same=n) for n in range(10)]
    asked.append(scene.ask("modest", "never", same=9))
    scene.gate.set()
    for each in asked:
        each.result()
    assert scene.done[:3] == ["greedy 0", "greedy 9", "greedy 1"]
    assert len(scene.done) == 10


def test_what_was_given_up_is_dropped(scene: Scene) -> None:
    gone = threading.Event()

    def check() -> None:
        if gone.is_set():
            raise GoneError

    scene.hold(1)
    left = scene.ask("impatient", "left", same="left", check=check)
    kept = scene.ask("impatient", "kept", same="kept")
    shared = [
        scene.ask("impatient", "shared", same="both", check=check),
        scene.ask("patient", "shared", same="both"),
    ]
    gone.set()
    for each in (left, shared[0]):
        with pytest.raises(GoneError):
            each.result()
    scene.gate.set()
    assert (kept.result(), shared[1].result()) == ("kept", "shared")
    assert sorted(scene.done) == ["kept", "shared"]
    assert scene.queue.ask("impatient", lambda: "asked again", same="left") == "asked again"
    assert scene.queue._known == {}


def test_begun_work_that_was_given_up_ends_and_serves_who_comes_meanwhile(scene: Scene) -> None:
    gone = threading.Event()

    def check() -> None:
        if gone.is_set():
            raise GoneError

    left = scene._visitors.submit(scene.queue.ask, "impatient", scene.slow, "same", check)
    scene.begun.acquire()
    gone.set()
    with pytest.raises(GoneError):
        left.result()
    back = scene._visitors.submit(scene.queue.ask, "impatient", pytest.fail, "same")
    until(lambda: scene.queue._known["same"].waiting == 1)
    scene.gate.set()
    assert back.result() == "slow"


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), SystemExit(3)])
def test_an_error_reaches_all_who_wait_and_the_thread_goes_on(scene: Scene, error: BaseException) -> None:
    def fail() -> str:
        raise error

    told = []

    def ask(visitor: str) -> None:
        try:
            scene.queue.ask(visitor, fail, "same")
        except BaseException as caught:
            told.append(caught)

    scene.hold(1)
    visitors = [threading.Thread(target=ask, args=(f"visitor {n}",)) for n in range(5)]
    for visitor in visitors:
        visitor.start()
    until(lambda: scene.waiting() == 5)
    scene.gate.set()
    for visitor in visitors:
        visitor.join()
    assert told == [error] * 5
    assert scene.queue.ask("next", lambda: "fine") == "fine"


def test_work_that_asks_for_more_does_not_wait_for_itself(scene: Scene) -> None:
    inner = scene.queue.ask("one", lambda: scene.queue.ask("one", lambda: "inside", "same"), "same")
    assert inner == "inside"


def test_all_threads_work_and_never_more() -> None:
    scene = Scene(threads=3)
    held = scene.hold(3)
    more = [scene.ask("more", f"more {n}") for n in range(30)]
    assert len(scene.queue._threads) == 3
    scene.gate.set()
    assert {each.result() for each in held} == {"slow"}
    assert [each.result() for each in more] == [f"more {n}" for n in range(30)]
    scene.gate.clear()
    again = scene.hold(3)  # idle threads are called one by one
    scene.end()
    assert {each.result() for each in again} == {"slow"}


def test_closing_ends_the_threads_and_tells_who_waits(scene: Scene) -> None:
    held = scene.hold(1)
    waiting = scene.ask("waits", "never")
    closing = threading.Thread(target=scene.queue.close)
    closing.start()
    with pytest.raises(ClosedError):
        waiting.result()
    scene.gate.set()
    closing.join()
    assert held[0].result() == "slow"
    assert not any(thread.is_alive() for thread in scene.queue._threads)
    assert scene.done == []
    with pytest.raises(ClosedError):
        scene.queue.ask("late", lambda: "never")


def test_many_visitors_who_come_and_go_all_get_their_answers() -> None:
    scene = Scene(threads=4)

    def visit(number: int) -> list[int]:
        looks = 0

        def check() -> None:
            nonlocal looks
            looks += 1
            if number % 3 == 0:
                raise GoneError

        answers = []
        for turn in range(30):
            wanted = (number * turn) % 7
            with suppress(GoneError):
                answers.append(
                    scene.queue.ask(f"{number}", lambda wanted=wanted: wanted, wanted, check) - wanted
                )
        return answers

    told = [each.result() for each in [scene._visitors.submit(visit, number) for number in range(40)]]
    assert all(set(answers) == {0} for answers in told)
    assert (scene.queue._known, scene.waiting()) == ({}, 0)
    scene.end()


def test_a_run_that_is_given_up_stops_waiting_for_its_search(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamlit's own look at whether a run goes on is what the queue asks."""

    def given_up() -> None:
        raise GoneError

    here = state.Visit()
    monkeypatch.setattr(state, "visit", lambda: here)
    monkeypatch.setattr(state, "owner", lambda: "")
    monkeypatch.setattr(state, "_queue", lambda: scene.queue)
    monkeypatch.setattr(state, "get_run_yield_check", lambda: given_up)
    scene.hold(1)
    with pytest.raises(GoneError):
        state.compute(scene.done.append, "searched", same="search")
    scene.gate.set()
    monkeypatch.setattr(state, "get_run_yield_check", lambda: None)
    assert state.compute(lambda number: number + 1, 2) == 3
    assert scene.done == []
