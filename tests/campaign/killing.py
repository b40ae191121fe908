"""Ends a process with SIGKILL within one step of its work: before a change to files, or after a while."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

CHANGES = frozenset(
    ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "shutil.rmtree")
)
"""What Python reports before it does it; what DuckDB and Faiss write themselves is hit by the clock."""
MOST_CHANGES = 40
"""More than any step but the longest makes; whoever gets to the end of the step is killed there."""
MEAN_WAIT = 0.015
"""Seconds: steps of the small corpora take between one and a hundred thousandths of a second."""


def end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed_within(step: Callable[..., Any], seed: int) -> Callable[..., Any]:
    """The step, which does not outlive its end; when it dies before depends on the seed."""
    dice = random.Random(f"moment {seed}")
    left, wait = dice.randrange(MOST_CHANGES), dice.expovariate(1 / MEAN_WAIT)

    def count(event: str, _: object) -> None:
        nonlocal left
        if event in CHANGES:
            left -= 1
            if left < 0:
                end()

    @wraps(step)
    def run(*given: Any, **named: Any) -> None:
        if seed % 2:
            sys.addaudithook(count)
        else:
            timer = threading.Timer(wait, end)
            timer.daemon = True
            timer.start()
        step(*given, **named)
        end()

    return run
