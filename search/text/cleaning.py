"""Pasted input as plain text, without markup and control characters; binary data is refused."""

from __future__ import annotations

import html
import re
import unicodedata

from search.errors import InputError

_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")
_MARK = re.compile(r"<!--|<(script|style)\b|</?[a-zA-Z][^<>]{0,500}>", re.I)
_ENDS = {
    "": re.compile("-->"),
    "script": re.compile(r"</script\s*>", re.I),
    "style": re.compile(r"</style\s*>", re.I),
}
"""Where something ends of which nothing is text, by its name; a comment has none."""
_BREAK = re.compile(r"<(?:br|p|div|li|h[1-6]|tr)\b[^<>]{0,500}>|</(?:p|div|h[1-6])>", re.I)
_TOLERATED = 0.1
"""Share of unreadable characters up to which something still counts as text; chosen by hand."""
_ALWAYS_TOLERATED = 2
"""Unreadable characters that are accepted even in a short text; chosen by hand."""


def clean_text(text: str, most: int) -> str:
    """The first `most` characters of a text, without HTML tags and control characters.

    InputError for binary data.
    """
    text = text[:most]
    odd = sum(map(text.count, _odd_in(text)))
    if odd > max(_TOLERATED * len(text), _ALWAYS_TOLERATED):
        raise InputError(
            "This does not look like text but like a binary file: paste a title and an abstract."
        )
    if "<" in text:
        text = _without_tags(_BREAK.sub("\n", text))
    text = html.unescape(text) if "&" in text else text
    return text.translate({ord(character): None for character in _odd_in(text)}).strip()


def _without_tags(text: str) -> str:
    """A space for each tag, comment, script and style sheet.

    An end that is missing once is not looked for again: the time stays in proportion to the text.
    """
    parts, at, kept = [], 0, 0
    endless: set[str] = set()
    while mark := _MARK.search(text, at):
        end = mark.end()
        if mark[1] or mark[0] == "<!--":
            end = _end_of(text, mark, endless)
        if end:
            parts.append(text[kept : mark.start()])
            at = kept = end
        else:
            at = mark.start() + 1
    return " ".join([*parts, text[kept:]])


def _end_of(text: str, mark: re.Match[str], endless: set[str]) -> int:
    """Where a comment, script or style sheet ends; without an end, where its tag does; else 0."""
    name = (mark[1] or "").lower()
    found = None if name in endless else _ENDS[name].search(text, mark.end())
    if found is None:
        endless.add(name)
        found = _TAG.match(text, mark.start())
    return found.end() if found else 0


def _odd_in(text: str) -> list[str]:
    return list(filter(_is_odd, set(text)))


def _is_odd(character: str) -> bool:
    """Control characters but for white space, lone surrogates, and what stands for undecodable bytes."""
    if character in "\n\r\t\f\v ":
        return False
    return character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cs", "Cn")


def has_words(text: str) -> bool:
    """Whether there is a letter or digit of any script to search for."""
    return any(map(str.isalnum, text))
