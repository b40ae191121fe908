"""Which encoding a file is in that is not UTF-8, and text in which a bad byte costs one character."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from charset_normalizer import from_bytes

ENCODINGS = (
    "cp1252", "gb18030", "cp1250", "mac_roman", "cp1251", "cp932", "euc_kr", "big5", "iso8859_2", "euc_jp",
    "koi8_r", "cp1254", "cp1253", "cp1255",
)  # fmt: skip
"""What programs write that do not write UTF-8, the usual first: it wins where the bytes decide nothing."""
SAMPLE = 20_000
"""Bytes of lines with other letters than ASCII's that a guess looks at; more changes it no longer."""
CLEAR = 0.02
"""How much stranger (the library's `chaos`, 0 to 1) a rival must look to be ruled out. In trials, rivals that
were right stayed below 0.01, and wrong ones mostly above 0.03."""


@dataclass(frozen=True, slots=True)
class Guess:
    """An encoding, and whether no other is as likely."""

    encoding: str = "utf-8"
    sure: bool = True


def _one_character(error: UnicodeError) -> tuple[str, int]:
    """A byte that is not UTF-8 as what Windows writes by it, or as the character of its number."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    byte = error.object[error.start : error.start + 1]
    try:
        return byte.decode("cp1252"), error.start + 1
    except UnicodeDecodeError:
        return byte.decode("latin-1"), error.start + 1


ONE_CHARACTER = "triptych-one-character"
"""The name under which `bytes.decode` knows the rule that a bad byte costs one character."""
codecs.register_error(ONE_CHARACTER, _one_character)


def is_utf8(head: bytes) -> bool:
    """Whether the start of a file is UTF-8; a character cut at the end does not count against it."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def decode(data: bytes, encoding: str = "utf-8") -> str:
    """Text without null bytes; in UTF-8, a byte that does not belong there is read as Windows would."""
    text = data.decode(encoding, errors_for(encoding))
    return text.replace("\0", "") if "\0" in text else text


def errors_for(encoding: str) -> str:
    return ONE_CHARACTER if encoding == "utf-8" else "replace"


def guess(data: bytes) -> Guess:
    """The encoding of a stretch of a file. Windows' Western one needs no name: see `decode`."""
    if is_utf8(data):
        return Guess()
    whole = sum(not letter.isascii() for letter in data.decode("utf-8", "ignore"))
    broken = data.decode("utf-8", "replace").count("\ufffd")
    if whole >= broken:  # UTF-8 with a few bad bytes
        return Guess()
    lines = [line for line in data.splitlines() if not line.isascii()]
    fit = {encoding: _fitting(lines, encoding) for encoding in _ALPHABETS}
    if fit["cp1252"] == len(lines):
        return Guess()
    return _guess_by_letters(b"\n".join(lines)[:SAMPLE], fit, len(lines))


_WEST = "àâçéèêëîïôùûüœæ àèéìòóù áéíñóúü áàâãçéêíóôõúü àçéèíïóòúü åäæéöøü äöüßé áðéíóúýþæö".split()
_CENTRE = "áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž ąćęłńóśźż áéíóöőúüű ăâîşţ čćđšž".split()
_ALPHABETS = {
    "cp1252": [frozenset(letters) for letters in _WEST],
    "mac_roman": [frozenset(letters) for letters in _WEST],
    "cp1250": [frozenset(letters) for letters in _CENTRE],
    "iso8859_2": [frozenset(letters) for letters in _CENTRE],
    "cp1251": [
        frozenset("абвгдежзийклмнопрстуфхцчшщъыьэюяё"),
        frozenset("абвгґдеєжзиіїйклмнопрстуфхцчшщьюя"),
    ],
    "cp1253": [frozenset("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ")],
    "cp1254": [frozenset("çğıöşüâîûi̇")],
}
"""The letters that the languages of an encoding have besides a to z. The library does not tell these
encodings apart by a few names, and a few names are what most files have."""
_WITHIN_WORDS = re.compile(
    r"[^\W\d_](?:([^\w\s'’‘´·–—…×-])[a-z]|([¹²³])[^\W\d_])|[^\W\d_]{3}([¹²³])|(?<!\w)([£¯])[^\W\d_]"
)


_CAPITAL_WITHIN = re.compile(r"[α-ωά-ώа-я][Α-ΩΆ-ΏА-Я]")
"""What Greek gives when it is read as Cyrillic."""
_SIGNS = frozenset("µªº")
"""Letters that stand in texts of all languages."""
STRANGER = 0.1
"""How much stranger than the least strange an encoding may look whose language fits every line: the library
finds Turkish in the Western encoding 0.07 less strange than in its own."""


def _fitting(lines: list[bytes], encoding: str) -> int:
    """How many lines can be of one language of this encoding."""
    return sum(_fits(line, encoding) for line in lines)


def _fits(line: bytes, encoding: str) -> bool:
    try:
        text = line.decode(encoding)
    except UnicodeDecodeError:
        return False
    if _CAPITAL_WITHIN.search(text):
        return False
    text = text.lower()
    letters = {letter for letter in text if letter.isalpha() and not letter.isascii()} - _SIGNS
    strange = any(not (found[found.lastindex or 0]).isascii() for found in _WITHIN_WORDS.finditer(text))
    return not strange and any(letters <= alphabet for alphabet in _ALPHABETS[encoding])


def _guess_by_letters(sample: bytes, fit: dict[str, int], lines: int) -> Guess:
    """What the library finds likely; between encodings of Europe, the one that fits most lines."""
    if _is_japanese(sample):
        return Guess("euc_jp")
    chaos: dict[str, float] = dict.fromkeys(ENCODINGS, 1.0)
    found: dict[str, float] = {}
    for match in from_bytes(sample, cp_isolation=list(ENCODINGS)):
        for name in (match.encoding, *match.could_be_from_charset):
            found.setdefault(name, match.chaos)
    chaos |= found
    least = min(chaos.values())
    whole = [name for name in fit if fit[name] == lines and chaos[name] <= least + STRANGER]
    if whole:
        best, *rivals = sorted(whole, key=lambda name: (chaos[name], ENCODINGS.index(name)))
        near = [name for name in rivals if chaos[name] <= chaos[best] + CLEAR]
        return Guess(best, len({sample.decode(name, "replace") for name in (best, *near)}) == 1)
    likely = [name for name in ENCODINGS if chaos[name] <= least + CLEAR and _is_meant(sample, name)]
    if not likely:
        return Guess(sure=False)
    best = max(likely, key=lambda name: fit.get(name, 0))  # of equals, the first
    rivals = [name for name in likely if fit.get(name, 0) == fit.get(best, 0)]
    return Guess("utf-8" if best == "cp1252" else best, len(rivals) == 1)


def _is_japanese(sample: bytes) -> bool:
    """Whether EUC-JP gives the syllables of which half of any Japanese text is made, and no other."""
    try:
        letters = [sign for sign in sample.decode("euc_jp") if not sign.isascii()]
    except UnicodeDecodeError:
        return False
    return sum("\u3041" <= sign <= "\u3096" for sign in letters) > len(letters) / 5


def meant(line: bytes, text: str, other: Guess) -> str:
    """A line that is UTF-8 by chance in a file of another encoding: two Chinese letters look like two others.

    In UTF-8, the letters of Asia take three bytes each.
    """
    if other.encoding not in _OF_ASIA or any(letter >= "\u0800" for letter in text):
        return text
    try:
        found = line.decode(other.encoding)
    except UnicodeDecodeError:
        return text
    return found if any("\u3040" <= letter <= "\ud7a3" for letter in found) else text


_OF_ASIA = ("gb18030", "cp932", "euc_kr", "big5", "euc_jp")


def _is_meant(sample: bytes, encoding: str) -> bool:
    """Whether an encoding of Asia gives its signs: a degree sign and a letter also make a pair of bytes."""
    if encoding not in _OF_ASIA:
        return True
    text = sample.decode(encoding, "replace")
    return sum("\u3040" <= sign <= "\ud7a3" for sign in text) > 1
