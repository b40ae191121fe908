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

from index_build.markup import is_markup, to_text
from index_build.sources.charsets import Guess, decode, guess, is_utf8
from index_build.sources.rejects import RAW_START, Reason, Reject, reject
from index_build.sources.streams import CHUNK, LIMIT

_ENCODING = re.compile(rb"""<\?xml[^<>]*encoding\s*=\s*["']([\w.-]+)""")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_TITLE = re.compile(rb"""</?(?:[\w.]{1,20}:)?[\w-]{0,20}[tT]itle[\s>]|\stag=["']245""")
_NAMED_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)[a-zA-Z][a-zA-Z0-9]{1,30};")
_TAG = re.compile(rb"<[/A-Za-z_][^<>]{0,4000}>")
_FIRST_TAG = re.compile(rb"<([A-Za-z_][\w.:-]{0,80})[\s>]")
_PREFIX = re.compile(rb"^<(/?)[A-Za-z_][\w.-]{0,30}:(?=[A-Za-z_])")
_DECLARATION = re.compile(rb"""\sxmlns(?::[\w.-]{1,30})?=(?:"[^"]{0,300}"|'[^']{0,300}')""")
_ATTRIBUTE = re.compile(rb"(?<=\s)(?!xml:)([A-Za-z_][\w.-]{0,30}):(?=[\w.-]{1,40}=)")
_LINE_BREAKS = ("break", "lb", "br")
_ASIDE = ("fn", "note", "table-wrap", "fig")
"""Elements within a text that are no part of it."""
_MARKS = ("fn", "table-fn", "aff", "corresp", "author-notes")
"""What the marks point to that stand behind words, as in "Rain*"."""


@dataclass(frozen=True, slots=True)
class Element:
    """One element, parsed, with all that is in it."""

    root: Any
    place: str
    raw: bytes


class _Cutter:
    """The part of the file that is being looked at, the place in it, and the line of that place."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        self._searched: dict[bytes, int] = {}
        """Up to where each end was looked for in vain."""
        self._ended = False
        self.text = b""
        self.at = 0
        self.line = 1
        self.skipped = b""
        """The last of what was skipped."""
        self.titled = False
        """Whether there was a title in it."""

    def read_on(self) -> bool:
        """Adds the next piece of the file and forgets what is behind; False when there is none."""
        chunk = b"" if self._ended else self._stream.read1(CHUNK)
        self._ended = not chunk
        if self._ended:
            return False
        self._searched = {end: place - self.at for end, place in self._searched.items()}
        self.text, self.at = self.text[self.at :] + chunk, 0
        return True

    @property
    def ahead(self) -> int:
        return len(self.text) - self.at

    def go(self, size: int) -> None:
        self.line += self.text.count(b"\n", self.at, self.at + size)
        self.at += size

    def skip_to(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """Goes to the pattern and remembers what is before it; None when it does not come again."""
        self.skipped, self.titled = b"", False
        while not (found := pattern.search(self.text, self.at)):
            self._skip(max(0, self.ahead - 100))  # a tag may be cut at the end of the piece
            if not self.read_on():
                self._skip(self.ahead)
                return None
        self._skip(found.start() - self.at)
        return found

    def _skip(self, size: int) -> None:
        self.skipped = (self.skipped + self.text[self.at : self.at + size])[-RAW_START:]
        self.titled = self.titled or bool(_TITLE.search(self.text, self.at, self.at + size))
        self.go(size)

    def find(self, end: bytes) -> int:
        """The length of the text from here to this end, or -1 when it is too long or has none."""
        while True:
            found = self.text.find(end, max(self.at, self._searched.get(end, 0)))
            if found >= 0:
                return found + len(end) - self.at
            self._searched[end] = max(0, len(self.text) - len(end))
            if self.ahead > LIMIT or not self.read_on():
                return -1


def read_elements(
    stream: io.BufferedReader,
    name: str,
    whole: tuple[str, ...],
    opening: tuple[str, ...] = (),
    prefixed: bool = False,
) -> Iterator[Element | Reject]:
    """Each element named in `whole`, and the bare start tag of each named in `opening`, in order.

    With `prefixed`, names may have the prefix of a namespace; the parsed elements have none.
    """
    head = stream.peek(CHUNK)
    found_out, root = _encoding_of(head), _FIRST_TAG.search(head)
    if not found_out.sure:
        yield reject(name, "file", Reason.ENCODING)
    prefix = rb"(?:[A-Za-z_][\w.-]{0,30}:)?" if prefixed else b""
    start = re.compile(rb"<(/?)(%s(?:%s))(?=[\s>])" % (prefix, "|".join(whole + opening).encode()))
    cutter, given_up = _Cutter(stream), False
    while found := cutter.skip_to(start):
        tag, place = found[2], f"line {cutter.line}"
        local = tag.rpartition(b":")[2].decode()
        if found[1]:  # the end of a record whose beginning was lost
            if local in whole and not given_up and cutter.titled:
                yield reject(name, place, Reason.UNFINISHED, cutter.skipped.lstrip())
            cutter.go(len(tag))
            given_up = False
            continue
        only_start = local in opening
        size = cutter.find(b">" if only_start else b"</%s>" % tag)
        until = cutter.at + (size if size > 0 else LIMIT)
        following = re.compile(rb"<%s[\s>]" % tag).search(cutter.text, cutter.at + 1, until)
        if size < 0 or following:
            reason = Reason.TOO_LONG if cutter.ahead > LIMIT and not following else Reason.UNFINISHED
            yield reject(name, place, reason, cutter.text[cutter.at : cutter.at + RAW_START])
            cutter.go(following.start() - cutter.at if following else len(tag))
            given_up = True
            continue
        given_up = False
        raw = cutter.text[cutter.at : cutter.at + size]
        cutter.go(size)
        written = raw + b"</%s>" % tag if only_start else raw
        yield _parse(written, found_out.encoding, name, place, prefixed)
    # A title is left over and the file does not end as it began: cut within a record whose start is lost.
    if root and b"</" + root[1] not in cutter.skipped and not given_up and cutter.titled:
        yield reject(name, f"line {cutter.line}", Reason.UNFINISHED, cutter.skipped.lstrip())


def _encoding_of(head: bytes) -> Guess:
    """UTF-8 if the bytes are, whatever the file says of itself; else what it declares, if that exists."""
    declared = _ENCODING.search(head[:200])
    if declared and not is_utf8(head) and not declared[1].lower().startswith(b"utf"):
        try:
            b"x".decode(declared[1].decode())
            return Guess(declared[1].decode())
        except (LookupError, ValueError):  # "ANSI", or a codec that is not for text
            pass
    return guess(head)


def _parse(raw: bytes, encoding: str, name: str, place: str, prefixed: bool) -> Element | Reject:
    """The element, parsed from UTF-8: a bad byte or a control character costs itself only."""
    clean = _FORBIDDEN.sub("", decode(raw, encoding)).encode("utf-8", "replace")
    clean = _TAG.sub(_without_prefix, clean) if prefixed else clean
    for text in (clean, _NAMED_ENTITY.sub(_character, clean)):
        parser = etree.XMLParser(
            encoding="utf-8",
            resolve_entities=False,
            no_network=True,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            return Element(etree.fromstring(text, parser), place, raw)
        except (etree.XMLSyntaxError, LookupError, ValueError):
            continue
    return reject(name, place, Reason.NOT_XML, raw)


def _without_prefix(tag: re.Match[bytes]) -> bytes:
    """A tag without the prefix of a namespace, whose declaration may stand outside of the record.

    Attributes keep theirs, with a hyphen: "rdf:about" becomes "rdf-about".
    """
    if b":" not in tag[0] and b"xmlns" not in tag[0]:
        return tag[0]
    return _ATTRIBUTE.sub(rb"\1-", _PREFIX.sub(rb"<\1", _DECLARATION.sub(b"", tag[0])))


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
    _simplify(found)
    inner = (etree.tostring(child, encoding="unicode") for child in found)
    return to_text(html.escape(found.text or "", quote=False) + "".join(inner))


def texts_of(element: Any, path: str) -> list[str]:
    """The readable text of every element under the path."""
    return [text for found in element.iterfind(path) if (text := text_of(found))]


def _simplify(element: Any) -> None:
    """Take out the tags within a text that are not markup of texts; footnotes go with what they say."""
    for line_break in element.iterdescendants(*_LINE_BREAKS):
        line_break.tail = f" {line_break.tail or ''}"
    for mark in list(element.iterdescendants("xref")):
        if mark.get("ref-type") in _MARKS:
            mark.tag = _ASIDE[0]
    etree.strip_elements(element, *_ASIDE, with_tail=False)
    tags = {child.tag for child in element.iterdescendants() if isinstance(child.tag, str)}
    if strange := [tag for tag in tags if not is_markup(tag)]:
        etree.strip_tags(element, *strange)
