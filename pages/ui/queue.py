"""Work that visitors wait for: a few threads do it, visitors take turns, and the same work is done once."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")
LOOK_UP = 0.1
"""Seconds between two looks whether a waiting visitor is still there; chosen by hand."""


class ClosedError(RuntimeError):
    """The queue was closed before the work began."""


@dataclass(slots=True, eq=False)
class _Job(Generic[T]):
    """One piece of work, and who waits for it."""

    work: Callable[[], T]
    same: Hashable
    waiting: int = 0
    begun: bool = False
    done: threading.Event = field(default_factory=threading.Event)
    result: list[T] = field(default_factory=list)
    """The one answer, once there is one."""
    error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result.append(self.work())
        except BaseException as error:  # it belongs to those who wait, not to the thread
            self.error = error

    def answer(self) -> T:
        if self.error is not None:
            raise self.error
        return self.result[0]


class Queue:
    """Does what visitors ask for on at most `threads` threads, in turn between visitors.

    Each visitor has a line, and the lines are served in turn, so whoever asks for much waits for it alone.
    """

    def __init__(self, threads: int, name: str = "search") -> None:
        self._most, self._name = threads, name
        self._changed = threading.Condition()
        self._lines: dict[str, deque[_Job[Any]]] = {}
        """What each visitor waits for; the visitor whose turn is next comes first."""
        self._known: dict[Hashable, _Job[Any]] = {}
        """Work that is not finished, by what it answers."""
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._closed = False

    def ask(
        self,
        visitor: str,
        work: Callable[[], T],
        same: Hashable = None,
        check: Callable[[], None] = lambda: None,
    ) -> T:
        """The answer to this work, once it is the visitor's turn.

        Work with an equal `same` that is not finished is shared. `check` is called now and then: it raises
        when the visitor has gone on, and work that nobody waits for any more is dropped if it has not begun.
        """
        if threading.current_thread() in self._threads:  # work that asks for more may not wait for itself
            return work()
        job = self._enter(visitor, work, same)
        try:
            while not job.done.wait(LOOK_UP):
                check()
        finally:
            self._leave(visitor, job)
        return job.answer()

    def close(self) -> None:
        """Ends the threads after what they are doing; those who wait for more get ClosedError."""
        with self._changed:
            self._closed = True
            for job in (job for line in self._lines.values() for job in line if not job.begun):
                job.error = ClosedError("The app is being closed: open it again.")
                job.done.set()
            self._lines.clear()
            self._known.clear()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _enter(self, visitor: str, work: Callable[[], T], same: Hashable) -> _Job[T]:
        with self._changed:
            if self._closed:
                raise ClosedError("The app is being closed: open it again.")
            job = self._known.get(same) if same is not None else None
            if job is None:
                job = _Job(work, same)
                if same is not None:
                    self._known[same] = job
            job.waiting += 1
            if not job.begun:  # also where another asked for it first, whose turn may come later
                self._lines.setdefault(visitor, deque()).append(job)
                self._call_a_thread()
            return job

    def _leave(self, visitor: str, job: _Job[Any]) -> None:
        with self._changed:
            job.waiting -= 1
            if job.begun:
                return
            if job in self._lines.get(visitor, ()):  # a turn is not spent on what its visitor has left
                self._lines[visitor].remove(job)
            if not job.waiting:
                self._forget(job)

    def _forget(self, job: _Job[Any]) -> None:
        if self._known.get(job.same) is job:
            del self._known[job.same]

    def _call_a_thread(self) -> None:
        if self._idle:
            self._idle -= 1
            self._changed.notify()
        elif len(self._threads) < self._most:
            name = f"{self._name}-{len(self._threads)}"
            self._threads.append(threading.Thread(target=self._work, name=name, daemon=True))
            self._threads[-1].start()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job.run()
            with self._changed:
                self._forget(job)
            job.done.set()
            del job  # an answer is held by those who asked, not by an idle thread

    def _next(self) -> _Job[Any] | None:
        """Waits for the next job; None when the queue is closed."""
        with self._changed:
            while not self._closed:
                if job := self._take():
                    return job
                self._idle += 1
                self._changed.wait()  # who wakes it counts it out
        return None

    def _take(self) -> _Job[Any] | None:
        """The first job of the line whose turn it is; that line goes to the end."""
        while self._lines:
            visitor, line = next(iter(self._lines.items()))
            del self._lines[visitor]
            while line:
                job = line.popleft()
                if job.waiting and not job.begun:
                    if line:
                        self._lines[visitor] = line
                    job.begun = True
                    return job
        return None
