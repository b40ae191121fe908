"""Reads JSON in every layout people have: records in lines, in arrays, in answers of web services."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from index_build.sources.charsets import guess
from index_build.sources.json_answers import (
    ANSWER,
    DEEPEST,
    LISTS,
    OF_PAPERS,
    WRAPPERS,
    Record,
    is_answer,
    is_wrapper,
    unwrap,
)
from index_build.sources.json_window import DECODER, Window
from index_build.sources.rejects import RAW_START, BadRecord, Reason, Reject, attempt, reject
from index_build.sources.streams import CHUNK, LIMIT, Line, read_lines
from search.types import Paper

ToPaper = Callable[[Record], Paper]

_COLON = re.compile(r"\s*:\s*")
_OPENING = frozenset(("{", "[", "[{", "[["))


def read_json(stream: io.BufferedReader, name: str, to_paper: ToPaper) -> Iterator[Paper | Reject]:
    """Papers from a JSON file, whichever layout it has; every value is read or is a Reject."""
    if _is_by_line(stream.peek(CHUNK)):
        return _by_line(stream, name, to_paper)
    return _from_the_start(stream, name, to_paper)


def _from_the_start(stream: io.BufferedReader, name: str, to_paper: ToPaper) -> Iterator[Paper | Reject]:
    if not guess(stream.peek(CHUNK)).sure:
        yield reject(name, "file", Reason.ENCODING)
    yield from _by_value(Window(stream), name, to_paper)


def _is_by_line(head: bytes) -> bool:
    """Whether one of the first whole lines is an object: a broken first line says nothing of the others."""
    lines = [line for line in head.split(b"\n")[:-1] if line.strip()][:3]
    return any(isinstance(_parsed(line.decode("utf-8", "replace")), dict) for line in lines)


def _parsed(text: str) -> object:
    """The value of a text that is JSON, else nothing."""
    try:
        return json.loads(text.strip().strip("\ufeff"), strict=False)
    except (ValueError, RecursionError):
        return None


def _by_line(stream: io.BufferedReader, name: str, to_paper: ToPaper) -> Iterator[Paper | Reject]:
    """A value a line; a line that is more or less than one is looked at value by value."""
    for line in read_lines(stream, name):
        if isinstance(line, Reject):
            yield line
            continue
        text = line.text.strip().strip("\ufeff")
        if text in _OPENING:  # from here on, values go over several lines
            yield from _by_value(Window(stream, line.text), name, to_paper, f" after line {line.number - 1}")
            return
        value = _parsed(text)
        if isinstance(value, dict) and not is_wrapper(value):
            yield convert(value, to_paper, name, line.place, text)
            if _is_doubled(text):
                yield reject(name, line.place, Reason.DOUBLED, text)
        elif value is not None:
            for record in unwrap(value):
                yield _convert_part(record, to_paper, name, line.place)
        elif text:
            yield from _by_value(Window(None, text), name, to_paper, line=line)


def convert(record: object, to_paper: ToPaper, name: str, place: str, raw: str) -> Paper | Reject:
    """The paper of a record, or the reason why it is none."""
    if not isinstance(record, dict):
        return reject(name, place, Reason.NOT_OBJECT, raw)
    return attempt(lambda: _shaped(record, to_paper), name, place, raw)


def _convert_part(record: object, to_paper: ToPaper, name: str, place: str) -> Paper | Reject:
    """The same for a record out of an answer, of which a Reject shows the record alone."""
    item = convert(record, to_paper, name, place, "")
    if isinstance(item, Reject):
        return replace(item, raw=json.dumps(record, ensure_ascii=False)[:RAW_START])
    return item


def _shaped(record: Record, to_paper: ToPaper) -> Paper:
    try:
        return to_paper(record)
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        raise BadRecord(Reason.BAD_SHAPE) from error


def _is_doubled(text: str) -> bool:
    """Whether an object has two titles, of which JSON keeps the last: two records have run into one."""
    if text.count('"title"') < 2:
        return False
    doubled = False

    def look(pairs: list[tuple[str, object]]) -> Record:
        nonlocal doubled
        titles = {value for key, value in pairs if key == "title" and isinstance(value, str)}
        doubled = doubled or len(titles) > 1
        return dict(pairs)

    try:
        json.loads(text.strip().strip("\ufeff"), strict=False, object_pairs_hook=look)
    except (ValueError, RecursionError):
        return False
    return doubled


@dataclass(slots=True)
class _Open:
    """An array or an answer whose inside is being read."""

    is_list: bool
    start: int
    fields: Record = field(default_factory=dict)
    is_wrapper: bool = False
    """Whether records were found inside; otherwise the object is one itself."""


def _by_value(
    window: Window, name: str, to_paper: ToPaper, origin: str = "", line: Line | None = None
) -> Iterator[Paper | Reject]:
    """Values one after another; large arrays and answers are read piece by piece."""
    opened: list[_Open] = []
    number, first_key = 1, ""
    while character := window.peek():
        place = line.place if line else f"record {number}{origin}"
        raw = window.text[window.at : window.at + 500]
        inside = opened[-1] if opened else None
        try:
            if character in "]}":
                window.at += 1
                done = opened.pop() if opened else None
                if done and done.fields and (not done.is_wrapper or OF_PAPERS & done.fields.keys()):
                    for record in unwrap(done.fields):
                        yield _convert_part(record, to_paper, name, place)
                        number += 1
                        place = line.place if line else f"record {number}{origin}"
            elif inside and not inside.is_list:
                if character != '"':
                    opened.pop()  # broken: what comes is no field of this object
                else:
                    _read_field(window, opened)
            elif character == "[" and len(opened) < DEEPEST:
                opened.append(_Open(True, window.dropped + window.at))
                window.at += 1
            elif character == "{" and not opened and not _is_whole(window):
                opened.append(_Open(False, window.dropped + window.at))
                window.at += 1
            else:
                start = window.dropped + window.at
                value = window.decode()
                if _is_doubled(window.text[max(0, start - window.dropped) : window.at]):
                    yield reject(name, place, Reason.DOUBLED, raw)
                for record in unwrap(value) if is_answer(value) else (value,):
                    first_key = next(iter(record), "") if isinstance(record, dict) else first_key
                    if record is value:
                        yield convert(record, to_paper, name, place, raw)
                    else:
                        yield _convert_part(record, to_paper, name, place)
                    number += 1
                    place = line.place if line else f"record {number}{origin}"
        except (ValueError, RecursionError) as error:
            yield reject(name, place, _what_is_wrong(error, window), raw)
            number += 1
            if not window.recover(error, first_key):
                return
    if opened:  # cut between two records
        yield reject(name, line.place if line else f"record {number}{origin}", Reason.UNFINISHED)


def _is_whole(window: Window) -> bool:
    """Whether the object that begins here ends within the window, or is broken there."""
    try:
        DECODER.raw_decode(window.text, window.at)
    except RecursionError:
        return True
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError) and ANSWER.search(window.text, window.at, error.pos):
            return False  # one broken record does not cost those beside it
        return not window.is_cut(error) or not window.grow()
    return True


def _read_field(window: Window, opened: list[_Open]) -> None:
    """The next field of the innermost object: kept, or opened if it holds the records."""
    owner = opened[-1]
    key = window.decode()
    window.peek(_COLON)
    if window.peek() == "}":
        owner.fields[key] = None
        return
    is_record = bool(OF_PAPERS & owner.fields.keys())
    start = window.peek()
    if (
        not is_record
        and len(opened) < DEEPEST
        and ((start == "[" and key in LISTS) or (start == "{" and key in WRAPPERS))
    ):
        owner.is_wrapper = True
        opened.append(_Open(start == "[", window.dropped + window.at))
        window.at += 1
        return
    owner.fields[key] = window.decode()  # raises where the text ends
    if window.dropped + window.at - owner.start > LIMIT:
        opened.pop()
        raise RecordTooLong


class RecordTooLong(ValueError):
    """An object without end."""


def _what_is_wrong(error: Exception, window: Window) -> Reason:
    if isinstance(error, RecursionError):
        return Reason.TOO_DEEP
    if isinstance(error, RecordTooLong):
        return Reason.TOO_LONG
    is_cut = isinstance(error, json.JSONDecodeError) and window.is_cut(error)
    return Reason.TOO_LONG if is_cut and len(window.text) - window.at >= LIMIT else Reason.NOT_JSON
