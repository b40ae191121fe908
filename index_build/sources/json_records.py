"""Reads JSON in every layout people have: records in lines, in arrays, in answers of web services."""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from index_build.sources.charsets import errors_for, guess
from index_build.sources.rejects import RAW_START, BadRecord, Reason, Reject, attempt, reject
from index_build.sources.streams import CHUNK, LIMIT, Line, read_lines
from search.types import Paper

Record = dict[str, Any]
ToPaper = Callable[[Record], Paper]

_LISTS = frozenset(
    "results data items papers records entry entries docs documents works articles publications hits result "
    "collection recommendedPapers".split()
)
"""Under which names web services give the list of records."""
_WRAPPERS = _LISTS | {"message", "response", "resultList", "search-results", "feed"}
"""And in which objects they put that list."""
_OF_PAPERS = frozenset(
    {"title", "abstract", "display_name", "text", "sentences", "titles", "attributes", "itemType", "library"}
)
"""An object with one of these is a record, whatever lists it holds."""
_OWN_IDS = frozenset({"id", "_id", "paperId", "paper_id", "corpusid", "doi", "DOI", "key", "name"})
"""An object with one of these is a record or something of its own, and its lists are not looked through."""
_DEEPEST = 4
"""Arrays and answers within one another that are opened; a record's own lists lie deeper."""
_SCAN = 4 * CHUNK
"""Characters that are searched for the end of a broken element, by its brackets."""
_BETWEEN = re.compile(r"[\s,\ufeff]*")
_COLON = re.compile(r"\s*:\s*")
_BRACKET = re.compile(r'[{}\[\]"]')
_REST_OF_STRING = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NEXT_OBJECT = re.compile(r"[}\]][\s,\[\ufeff]*+(?=\{)")
_ANSWER = re.compile(rf'"(?:{"|".join(sorted(_LISTS))})"\s{{0,20}}:\s{{0,20}}\[\s{{0,20}}\{{')
_OPENING = frozenset(("{", "[", "[{", "[["))


def read_json(stream: io.BufferedReader, name: str, to_paper: ToPaper) -> Iterator[Paper | Reject]:
    """Papers from a JSON file, whichever layout it has; every value is read or is a Reject."""
    if _is_by_line(stream.peek(CHUNK)):
        return _by_line(stream, name, to_paper)
    return _from_the_start(stream, name, to_paper)


def _from_the_start(stream: io.BufferedReader, name: str, to_paper: ToPaper) -> Iterator[Paper | Reject]:
    if not guess(stream.peek(CHUNK)).sure:
        yield reject(name, "file", Reason.ENCODING)
    yield from _by_value(_Window(stream), name, to_paper)


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
            yield from _by_value(_Window(stream, line.text), name, to_paper, f" after line {line.number - 1}")
            return
        value = _parsed(text)
        if isinstance(value, dict) and not _is_wrapper(value):
            yield convert(value, to_paper, name, line.place, text)
            if _is_doubled(text):
                yield reject(name, line.place, Reason.DOUBLED, text)
        elif value is not None:
            for record in _unwrap(value):
                yield _convert_part(record, to_paper, name, line.place)
        elif text:
            yield from _by_value(_Window(None, text), name, to_paper, line=line)


def _is_wrapper(value: Record) -> bool:
    """Whether an object is an answer that holds records, not a record."""
    if _OF_PAPERS & value.keys():
        return _is_by_column(value)
    return any(isinstance(value[key], list | dict) for key in _WRAPPERS & value.keys()) or bool(
        _nested(value)
    )


def _nested(value: Record) -> list[object]:
    """The records of an object that has them under names of its own: in one list, or each under its id."""
    if not _OWN_IDS.isdisjoint(value):
        return []
    lists = [each for each in value.values() if isinstance(each, list) and any(map(_is_record, each))]
    return lists[0] if len(lists) == 1 else [each for each in value.values() if _is_record(each)]


def _is_by_column(value: Record) -> bool:
    """Whether each field holds the values of all records by their number, as pandas writes tables."""
    return isinstance(value.get("title"), dict) and all(isinstance(each, dict) for each in value.values())


def _rows(columns: Record) -> list[object]:
    return [
        {name: column[number] for name, column in columns.items() if number in column}
        for number in columns["title"]
    ]


def _is_record(value: object) -> bool:
    return isinstance(value, dict) and not _OF_PAPERS.isdisjoint(value)


def _unwrap(value: object, depth: int = 0) -> Iterator[object]:
    """The records in a value: itself, or the elements of its lists."""
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value) and depth < _DEEPEST:
        for item in value:
            yield from _unwrap(item, depth + 1)
    elif isinstance(value, dict) and _is_wrapper(value) and depth < _DEEPEST:
        known = [
            value[key] for key in sorted(_WRAPPERS & value.keys()) if isinstance(value[key], list | dict)
        ]
        found = _rows(value) if _is_by_column(value) else list(filter(None, known)) or _nested(value)
        for part in found:
            yield from _unwrap(part, depth + 1)
    else:
        yield value


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


class _Window:
    """The stretch of the text that is being looked at; it grows on demand and forgets what is behind it."""

    def __init__(self, stream: io.BufferedReader | None, text: str = "") -> None:
        encoding = guess(stream.peek(CHUNK)).encoding if stream else "utf-8"
        self._decoder = codecs.getincrementaldecoder(encoding)(errors_for(encoding))
        self._stream = stream
        self._hopeless = 0
        self.text = text
        self.at = 0
        self.dropped = 0
        """Characters that are behind the window."""

    def grow(self) -> bool:
        """Reads as much again as there is, so that retrying costs no more than twice; False at the end."""
        if self._stream is None:
            return False
        rest = self.text[self.at :]
        pieces, wanted = [], max(CHUNK, len(rest))
        while wanted > 0 and (chunk := self._stream.read1(wanted)):
            wanted -= len(chunk)
            pieces.append(self._decoder.decode(chunk).replace("\0", ""))
        self.dropped += self.at
        self.text, self.at = "".join([rest, *pieces]), 0
        return bool(pieces)

    def peek(self, between: re.Pattern[str] = _BETWEEN) -> str:
        """The next character after what may stand between values; nothing at the end."""
        while True:
            match = between.match(self.text, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.grow():
                return ""

    def decode(self) -> Any:
        """The value that begins here; ValueError or RecursionError when there is none."""
        while True:
            try:
                value, self.at = _DECODER.raw_decode(self.text, self.at)
            except ValueError as error:
                if not self._is_cut(error) or len(self.text) - self.at >= LIMIT or not self.grow():
                    raise
            else:
                if self.at < len(self.text) or not isinstance(value, int | float) or not self.grow():
                    return value

    def _is_cut(self, error: ValueError) -> bool:
        """Whether the value may only be incomplete: it breaks at the end of what was read."""
        if not isinstance(error, json.JSONDecodeError):
            return False
        return error.msg.startswith("Unterminated string") or error.pos >= len(self.text) - 10

    def recover(self, error: Exception, first_key: str) -> bool:
        """Goes on after a broken element: behind its last bracket, else at what looks like a record."""
        good = error.pos - self.at if isinstance(error, json.JSONDecodeError) else 0
        end = self._balanced_end()
        if end > 0:
            self.at = end
            return True
        self.at = min(self.at + max(1, good), len(self.text))
        key = re.escape(json.dumps(first_key, ensure_ascii=False))
        following = re.compile(rf"\{{\s{{0,200}}{key}\s{{0,20}}:") if first_key else _NEXT_OBJECT
        while not (match := following.search(self.text, self.at)):
            self.at = max(self.at, len(self.text) - CHUNK)
            if not self.grow():
                return False
        self.at = match.start() if first_key else match.end()
        return True

    def _balanced_end(self) -> int:
        """Where the brackets that open here are all closed, strings left aside; 0 when that is not near."""
        if self.dropped + self.at < self._hopeless or self.text[self.at : self.at + 1] not in ("{", "["):
            return 0
        while len(self.text) - self.at < _SCAN and self.grow():
            pass
        closers: list[str] = []
        at, limit = self.at, self.at + _SCAN
        while (match := _BRACKET.search(self.text, at, limit)) is not None:
            at = match.end()
            if match[0] == '"':
                rest = _REST_OF_STRING.match(self.text, at, limit)
                if rest is None:
                    at = limit
                    break
                at = rest.end()
            elif match[0] in _CLOSER:
                closers.append(_CLOSER[match[0]])
            elif closers.pop() != match[0]:
                break
            elif not closers:
                return at
        # What was searched once in vain is not searched again.
        self._hopeless = self.dropped + (at if closers else limit)
        return 0


_CLOSER = {"{": "}", "[": "]"}
_DECODER = json.JSONDecoder(strict=False)


@dataclass(slots=True)
class _Open:
    """An array or an answer whose inside is being read."""

    is_list: bool
    start: int
    fields: Record = field(default_factory=dict)
    is_wrapper: bool = False
    """Whether records were found inside; otherwise the object is one itself."""


def _by_value(
    window: _Window, name: str, to_paper: ToPaper, origin: str = "", line: Line | None = None
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
                if done and done.fields and (not done.is_wrapper or _OF_PAPERS & done.fields.keys()):
                    for record in _unwrap(done.fields):
                        yield _convert_part(record, to_paper, name, place)
                        number += 1
                        place = line.place if line else f"record {number}{origin}"
            elif inside and not inside.is_list:
                if character != '"':
                    opened.pop()  # broken: what comes is no field of this object
                else:
                    _read_field(window, opened)
            elif character == "[" and len(opened) < _DEEPEST:
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
                for record in _unwrap(value) if _is_answer(value) else (value,):
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


def _is_answer(value: object) -> bool:
    return isinstance(value, dict) and _is_wrapper(value)


def _is_whole(window: _Window) -> bool:
    """Whether the object that begins here ends within the window, or is broken there."""
    try:
        _DECODER.raw_decode(window.text, window.at)
    except RecursionError:
        return True
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError) and _ANSWER.search(window.text, window.at, error.pos):
            return False  # one broken record does not cost those beside it
        return not window._is_cut(error) or not window.grow()
    return True


def _read_field(window: _Window, opened: list[_Open]) -> None:
    """The next field of the innermost object: kept, or opened if it holds the records."""
    owner = opened[-1]
    key = window.decode()
    window.peek(_COLON)
    if window.peek() == "}":
        owner.fields[key] = None
        return
    is_record = bool(_OF_PAPERS & owner.fields.keys())
    start = window.peek()
    if (
        not is_record
        and len(opened) < _DEEPEST
        and ((start == "[" and key in _LISTS) or (start == "{" and key in _WRAPPERS))
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


def _what_is_wrong(error: Exception, window: _Window) -> Reason:
    if isinstance(error, RecursionError):
        return Reason.TOO_DEEP
    if isinstance(error, RecordTooLong):
        return Reason.TOO_LONG
    is_cut = isinstance(error, json.JSONDecodeError) and window._is_cut(error)
    return Reason.TOO_LONG if is_cut and len(window.text) - window.at >= LIMIT else Reason.NOT_JSON
