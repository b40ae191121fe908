"""Bytes as every reader wants them: unpacked, in UTF-8, with a bound on each line."""

from __future__ import annotations

import codecs
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from index_build.sources.charsets import Guess, decode, guess, meant
from index_build.sources.rejects import Reason, Reject, reject

LIMIT = 10_000_000
"""The longest record that is read, in bytes. Real records stay far below; memory stays bounded above."""
CHUNK = 1 << 16
"""Bytes that are read at a time; chosen by hand."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)


class Damaged(Exception):
    """A compressed stream broke off; the text says where."""


class _Gunzip(io.RawIOBase):
    """Unpacks gzip and gives out everything before a damage; only then raises Damaged."""

    def __init__(self, packed: io.BufferedReader) -> None:
        self._packed = packed
        self._unpacker = zlib.decompressobj(31)
        self._rest = b""
        self._given = 0

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._packed.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        while True:
            if not self._rest:
                self._rest = self._packed.read(CHUNK)
            if self._unpacker.eof and not self._rest.strip(b"\0"):
                return 0
            data = self._unpack(len(buffer))
            if data:
                buffer[: len(data)] = data
                self._given += len(data)
                return len(data)

    def _unpack(self, size: int) -> bytes:
        """The next unpacked bytes, none when more input is needed; one file may hold several gzip members."""
        if self._unpacker.eof:
            self._unpacker = zlib.decompressobj(31)
        if not self._rest:
            raise Damaged(f"after byte {self._given} of the unpacked text")
        try:
            data = self._unpacker.decompress(self._rest, size)
        except zlib.error as error:
            raise Damaged(f"after byte {self._given} of the unpacked text") from error
        self._rest = self._unpacker.unused_data if self._unpacker.eof else self._unpacker.unconsumed_tail
        return data


class _Recode(io.RawIOBase):
    """Text in another encoding, or with bare carriage returns, as UTF-8 with line feeds."""

    def __init__(self, stream: io.BufferedReader, encoding: str) -> None:
        self._stream = stream
        # Bad bytes of UTF-8 pass as they are: who reads the lines knows more of the file.
        errors = "surrogateescape" if encoding.startswith("utf-8") else "replace"
        decoder = codecs.getincrementaldecoder(encoding)(errors)
        self._errors = errors
        self._decoder = io.IncrementalNewlineDecoder(decoder, translate=True)
        self._ready = b""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            chunk = self._stream.read1(CHUNK)
            self._ready = self._decoder.decode(chunk, final=not chunk).encode("utf-8", self._errors)
            if not chunk and not self._ready:
                return 0
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


def unpack(raw: Any) -> io.BufferedReader:
    """The stream, unpacked if it is gzip and recoded to UTF-8 if its first bytes show another encoding."""
    stream = io.BufferedReader(raw, CHUNK)
    if stream.peek(2)[:2] == b"\x1f\x8b":
        stream = io.BufferedReader(_Gunzip(stream), CHUNK)
    encoding = "" if _is_binary(stream.peek(CHUNK)) else _foreign_encoding(stream.peek(CHUNK))
    return io.BufferedReader(_Recode(stream, encoding), CHUNK) if encoding else stream


def _is_binary(head: bytes) -> bool:
    """Whether the bytes are a PDF or a zip archive, in which line ends mean nothing."""
    return head.startswith(b"PK\x03\x04") or b"%PDF-" in head[:1024]


def _foreign_encoding(head: bytes) -> str:
    """The encoding to recode from; nothing when the bytes can be read as they are."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    even, odd = head[0:400:2], head[1:400:2]
    if len(head) > 3 and odd.count(0) > 0.8 * len(odd) and even.count(0) < 0.2 * len(even):
        return "utf-16-le"
    if len(head) > 3 and even.count(0) > 0.8 * len(even) and odd.count(0) < 0.2 * len(odd):
        return "utf-16-be"
    if head.count(b"\r") - head.count(b"\r\n") > head.count(b"\n"):
        return "utf-8"
    return ""


def read_whole(stream: io.BufferedReader, largest: int) -> bytes | None:
    """All bytes of a file, or None if there are more; asked for at once, they would be set aside at once."""
    pieces, size = [], 0
    while chunk := stream.read(CHUNK):
        size += len(chunk)
        if size > largest:
            return None
        pieces.append(chunk)
    return b"".join(pieces)


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    text: str

    @property
    def place(self) -> str:
        return f"line {self.number}"


def read_lines(stream: io.BufferedReader, name: str) -> Iterator[Line | Reject]:
    """Each line with its number; one over LIMIT is a Reject and is skipped without being held.

    The first line that is not UTF-8 settles how all such lines are read; a Reject says so if it is a guess.
    """
    number = 0
    other: Guess | None = None
    while line := stream.readline(LIMIT):
        number += 1
        if len(line) == LIMIT and not line.endswith(b"\n"):
            yield reject(name, f"line {number}", Reason.TOO_LONG, line)
            while line and not line.endswith(b"\n"):
                line = stream.readline(CHUNK)
            continue
        try:
            text = line.decode("utf-8")
            if other is not None and not line.isascii():
                text = meant(line, text, other)
        except UnicodeDecodeError:
            if other is None:
                other = guess(line + stream.peek(CHUNK))
                if not other.sure:
                    yield reject(name, f"line {number}", Reason.ENCODING, decode(line, other.encoding))
            text = decode(line, other.encoding)
        yield Line(number, text.replace("\0", "") if "\0" in text else text)
