"""Counts: what a source announced, what came, and the gap between them by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from index_build.fetch.values import Expired, Page, Unreadable

PASSES = 3
"""Times that a part is gone through where records are missing; chosen by hand."""
REPEATS = 2
"""Times that a page which brings nothing new is asked for again before it is believed."""


class Ledger:
    """Of one run. Replaying the run's answers gives the same numbers again."""

    def __init__(self) -> None:
        self._announced: dict[str, int] = {}
        self._came: dict[str, set[str]] = {}
        self.gaps: list[str] = []
        self.notes: list[str] = []
        """What the user should know and what is no gap."""

    def begin_pass(self, part: str) -> None:
        """What is announced from now on counts; what came before stays."""
        self._announced.pop(part, None)
        self._came.setdefault(part, set())

    def announce(self, part: str, total: int) -> None:
        """The largest number that the source names in a pass: one that shrinks has lost something."""
        self._announced[part] = max(total, self._announced.get(part, 0))

    def drop(self, part: str) -> None:
        """What was announced of a part that is asked for in smaller parts instead."""
        self._announced.pop(part, None)

    def take(self, part: str, ids: Sequence[str]) -> None:
        self._came.setdefault(part, set()).update(ids)

    def is_complete(self, part: str) -> bool:
        return len(self._came.get(part, ())) >= self._announced.get(part, 0)

    @property
    def announced(self) -> int | None:
        """None where no source named a number."""
        return sum(self._announced.values()) if self._announced else None

    @property
    def received(self) -> int:
        return len(set().union(*self._came.values())) if self._came else 0

    def gap(self, text: str) -> None:
        if text not in self.gaps:
            self.gaps.append(text)

    def compare(self, part: str, whole: int, halves: int) -> None:
        """Says where the parts of a period hold fewer records than the period."""
        if halves < whole:
            self.gap(f"{part}: {whole:,} announced, {halves:,} in its parts")

    def name_gap(self, part: str, why: str = "") -> None:
        """Says what is missing of a part."""
        told = f"{part}: {self._announced.get(part, 0):,} announced, {len(self._came.get(part, ())):,} came"
        self.gap(f"{told} ({why})" if why else told)


class Watch:
    """Notices in one pass that a source gives a page again instead of the next."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._left = REPEATS

    def look(self, ids: Sequence[str], expected: bool = True) -> None:
        """Unreadable where the page brings nothing new, or nothing although something is `expected`.

        That there is nothing at all is believed only when it is said again. A source that gives the same
        page again and again has lost its place: then the pass is begun anew.
        """
        known = bool(ids) and self._seen.issuperset(ids)
        if known or (not ids and (expected or not self._seen)):
            self._left -= 1
            if self._left >= 0:
                raise Unreadable("it gives the same page again" if known else "it gives an empty page")
            if known:
                raise Expired("it gives the same page again and again")
        self._left = REPEATS

    def add(self, ids: Sequence[str]) -> None:
        self._seen.update(ids)


def complete(
    part: str, one_pass: Callable[[int, Watch], Iterator[Page]], ledger: Ledger, exact: bool = True
) -> Iterator[Page]:
    """The pages of a part, in as many passes as it takes until nothing is missing; else the gap is named.

    `exact` is whether the source counts its records; where it only estimates, a gap is a note.
    """
    why = ""
    for number in range(PASSES):
        ledger.begin_pass(part)
        watch, why = Watch(), ""
        try:
            for page in one_pass(number, watch):
                ledger.take(part, page.ids)
                watch.add(page.ids)
                yield page
        except Expired as expired:
            why = str(expired)
            continue
        if ledger.is_complete(part) or not exact:
            break
    if why or (exact and not ledger.is_complete(part)):
        ledger.name_gap(part, why)
