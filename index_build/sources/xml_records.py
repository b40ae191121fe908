"""Cuts the records out of a large XML file and parses each on its own.

A broken record then costs only itself, and no record sees the document type of the file, so that the entities
declared there (the "billion laughs") are never expanded. Nothing is fetched from the network.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lxml import etree

from index_build.markup import to_text
from index_build.sources.rejects import Reason, Reject, reject
from index_build.sources.streams import CHUNK, LIMIT, is_utf8

_ENCODING = re.compile(rb"""<\?xml[^>]*encoding\s*=\s*["']([\w.-]+)""")
_NAMED_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)[a-zA-Z][a-zA-Z0-9]{1,30};")


@dataclass(frozen=True, slots=True)
class Element:
    """One element, parsed, with all that is in it."""

    root: Any
    place: str
    raw: bytes


class _Cutter:
    """The part of the file that is not yet dealt with, and the line it begins on."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        self.text = b""
        self.line = 1
        self.ended = False

    def read_on(self) -> bool:
        """Adds the next piece of the file; False when there is none."""
        chunk = self._stream.read1(CHUNK)
        self.text += chunk
        self.ended = not chunk
        return not self.ended

    def drop(self, size: int) -> None:
        self.line += self.text.count(b"\n", 0, size)
        self.text = self.text[size:]

    def skip_to(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """Drops what is before the pattern; None when it does not come again."""
        while not (found := pattern.search(self.text)):
            self.drop(max(0, len(self.text) - 100))  # a tag may be cut at the end of the piece
            if not self.read_on():
                return None
        self.drop(found.start())
        return pattern.match(self.text)

    def find(self, end: bytes) -> int:
        """Where the text ends that begins here, or -1."""
        while (at := self.text.find(end)) < 0:
            if len(self.text) > LIMIT or not self.read_on():
                return -1
        return at + len(end)


def read_elements(
    stream: io.BufferedReader, name: str, whole: tuple[str, ...], opening: tuple[str, ...] = ()
) -> Iterator[Element | Reject]:
    """Each element named in `whole`, and the bare start tag of each named in `opening`, in order."""
    encoding = _encoding_of(stream.peek(CHUNK))
    start = re.compile(rb"<(%s)(?=[\s>])" % "|".join(whole + opening).encode())
    cutter = _Cutter(stream)
    while found := cutter.skip_to(start):
        tag, place = found[1], f"line {cutter.line}"
        only_start = tag.decode() in opening
        size = cutter.find(b">" if only_start else b"</%s>" % tag)
        following = re.compile(rb"<%s[\s>]" % tag).search(cutter.text, 1, size if size > 0 else LIMIT)
        if size < 0 or following:
            reason = Reason.TOO_LONG if len(cutter.text) > LIMIT and not following else Reason.UNFINISHED
            yield reject(name, place, reason, cutter.text[:LIMIT])
            cutter.drop(following.start() if following else len(tag))
            continue
        raw = cutter.text[:size]
        cutter.drop(size)
        yield _parse(raw + b"</%s>" % tag if only_start else raw, encoding, name, place)


def _encoding_of(head: bytes) -> str:
    """UTF-8 if the bytes are, whatever the file says of itself; else what it declares."""
    declared = _ENCODING.search(head[:200])
    return "utf-8" if is_utf8(head) else declared[1].decode() if declared else "cp1252"


def _parse(raw: bytes, encoding: str, name: str, place: str) -> Element | Reject:
    for text in (raw, _NAMED_ENTITY.sub(_character, raw)):
        parser = etree.XMLParser(encoding=encoding, resolve_entities=False, no_network=True, huge_tree=False)
        try:
            return Element(etree.fromstring(text, parser), place, raw)
        except (etree.XMLSyntaxError, LookupError, ValueError):
            continue
    return reject(name, place, Reason.NOT_XML, raw)


def _character(entity: re.Match[bytes]) -> bytes:
    """A named character of HTML ("&eacute;") as a number, which needs no declaration; others stay."""
    text = html.unescape(entity[0].decode())
    return entity[0] if text.startswith("&") else "".join(f"&#{ord(letter)};" for letter in text).encode()


def text_of(element: Any, path: str = ".") -> str:
    """The readable text of the first element under the path, its inner markup resolved; else nothing."""
    found = element.find(path)
    if found is None:
        return ""
    if not len(found):
        return to_text(found.text or "")
    inner = (etree.tostring(child, encoding="unicode") for child in found)
    return to_text(html.escape(found.text or "", quote=False) + "".join(inner))
