"""The papers that all servers give out: as many as asked for, the same for the same seed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta

WORDS = (
    "river bridge engine pollen cortex ledger violin glacier enzyme harbour lantern quarry saddle tunnel "
    "vaccine wheat anchor beetle canvas drought ember falcon granite hinge island jasmine kernel lichen"
).split()
FIRST = date(2026, 1, 1)


@dataclass(frozen=True, slots=True)
class Record:
    number: int
    title: str
    abstract: str
    authors: tuple[tuple[str, str], ...]
    day: date
    """When it came out."""
    changed: date
    doi: str
    arxiv_id: str
    pmid: str
    gone: bool = False


def make(count: int, seed: int = 0, spread: int = 60) -> list[Record]:
    """Papers of `spread` days, in the order in which they came out."""
    return [
        _record(number, seed, FIRST + timedelta(days=number * spread // max(count, 1)))
        for number in range(count)
    ]


def _record(number: int, seed: int, day: date) -> Record:
    dice = random.Random(f"{seed} {number}")
    words = [dice.choice(WORDS) for _ in range(40)]
    tag = f"{seed:03}{number:05}"
    text = " ".join(words)
    return Record(
        number,
        f"On the {words[0]} and the {words[1]} of {words[2]} number {tag}",
        f"We study the {text[:90]}. Our method {tag} compares <b> and {words[3]} & {words[4]}. "
        f"The result is a {words[5]} of {number} percent.",
        ((f"Family{tag}", f"{words[6].capitalize()} B."), ("Second", "Ann")),
        day,
        day + timedelta(days=dice.randrange(3)),
        f"10.5555/live.{tag}",
        f"26{day.month:02}.{number:05}",
        str(30_000_000 + seed * 100_000 + number),
    )
