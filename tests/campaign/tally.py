"""What a campaign found: how many tries, and each failure with the seed that repeats it."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

Try = Callable[[int], tuple[str, str]]
"""One try of a seed: its kind, and what went wrong; nothing where all is well."""
SHOWN = 50
"""Failures that are named; whoever mends these runs the campaign again."""


@dataclass(slots=True)
class Tally:
    campaign: str
    tries: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.tries.items()))
        counts = f"{self.tries.total():,} | {len(self.failures)} | {self.seconds:.0f} s"
        line = f"| {self.campaign} | {counts} | {kinds} |"
        more = len(self.failures) - SHOWN
        rest = [f"and {more} more failures"] if more > 0 else []
        return "\n".join([*self.notes, line, *self.failures[:SHOWN], *rest])


@dataclass(frozen=True, slots=True)
class Effort:
    """How often to try, from which seed on, and where: `--times 1 --seed N` does one try again."""

    times: int
    seed: int
    folder: Path
    minutes: float = math.inf
    """When to stop with what was tried until then."""


def repeat(campaign: str, effort: Effort, attempt: Try) -> Tally:
    tally, begun = Tally(campaign), time.monotonic()
    for number in range(effort.seed, effort.seed + effort.times):
        if time.monotonic() > begun + 60 * effort.minutes:
            break
        try:
            kind, problem = attempt(number)
        except Exception as error:  # a check that cannot be made has failed
            kind, problem = "broken", repr(error)
        tally.tries[kind] += 1
        if problem:
            tally.failures.append(f"seed {number} ({kind}): {problem[:500]}")
    tally.seconds = time.monotonic() - begun
    return tally
