"""Whatever was pasted, as text: no markup, no control characters, and a clear word where it is no text."""

from __future__ import annotations

import html
import re
import unicodedata

from search.errors import InputError

_TAG = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>|</?[a-zA-Z][^<>]{0,500}>", re.S | re.I)
_BREAK = re.compile(r"<(?:br|p|div|li|h[1-6]|tr)\b[^<>]{0,500}>|</(?:p|div|h[1-6])>", re.I)
_TOLERATED = 0.1
"""The share of unreadable characters up to which something still counts as text."""


def clean_text(text: str, most: int) -> str:
    """The text without HTML tags and control characters; InputError for binary data and whole books."""
    if len(text) > most:
        raise InputError(
            f"The text has {len(text):,} characters but a query takes up to {most:,}: "
            "paste a title and an abstract."
        )
    odd = sum(map(_is_odd, text))
    if odd > max(_TOLERATED * len(text), 2):
        raise InputError(
            "This does not look like text but like a binary file: paste a title and an abstract."
        )
    if "<" in text:
        text = _TAG.sub(" ", _BREAK.sub("\n", text))
    text = html.unescape(text) if "&" in text else text
    return "".join("" if _is_odd(character) else character for character in text).strip()


def _is_odd(character: str) -> bool:
    """Control characters but for white space, lone surrogates, and what stands for undecodable bytes."""
    if character in "\n\r\t\f\v ":
        return False
    return character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cs", "Cn")


def has_words(text: str) -> bool:
    """Whether there is a letter or digit of any script to search for."""
    return any(map(str.isalnum, text))
