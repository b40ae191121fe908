"""The log says what failed and where, never with which text: what visitors paste and ask stays theirs."""

from __future__ import annotations

import logging
import threading
import traceback
from typing import Any

log = logging.getLogger("triptych.app")
HEAD = "Traceback (most recent call last):"


def places(error: BaseException | None) -> str:
    """The kind of an exception and the lines it went through, with those it came from; no messages.

    A message may quote a query, and so may that of an exception it came from.
    """
    parts: list[str] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        kind = type(error)
        parts.append(
            "".join(traceback.format_tb(error.__traceback__)) + f"{kind.__module__}.{kind.__qualname__}"
        )
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\nAfter:\n".join(parts)


def without_messages(text: str) -> str:
    """The same for a traceback that comes as text, from a process that reads a file of a visitor."""
    head, _, rest = text.partition(HEAD)
    lines, in_frames = [head + HEAD], True
    for line in rest.splitlines():
        if HEAD in line or line.startswith("  File "):
            lines.append(line)
            in_frames = True
        elif in_frames and line and not line.startswith(" "):  # "ValueError: ..."; its message may go on
            lines.append(line.split(":")[0])
            in_frames = False
    return "\n".join(lines)


def keep_texts_out() -> None:
    """From now on no logger of this process writes the message of an exception: not ours, not Streamlit's."""
    make = logging.getLogRecordFactory()

    def make_without_message(*given: Any, **named: Any) -> logging.LogRecord:
        record = make(*given, **named)
        if record.exc_info:
            record.exc_text, record.exc_info = places(record.exc_info[1]), None
        if HEAD in (said := record.getMessage()):
            record.msg, record.args = without_messages(said), ()
        return record

    logging.setLogRecordFactory(make_without_message)
    threading.excepthook = _log_end_of_thread


def _log_end_of_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_type is not SystemExit:
        log.error("A thread ended:\n%s", places(ended.exc_value))
