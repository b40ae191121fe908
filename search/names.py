"""A person's name in its parts, from the ways sources write it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv|2nd|3rd|4th)\.?", re.IGNORECASE)
_GROUP = re.compile(
    r"\b(?:team|group|collaboration|consortium|society|committee|network|association|institute|university|study|"
    r"investigators|ltd|inc|gmbh|the|of|organi[sz]ation|council|agency|ministry|department|foundation|federation|"
    r"hospital|laboratory|laboratories|lab|commission|corporation|academy|center|centre|centers|centres|bureau|"
    r"grp|initiative|programme|nations|alliance|college)\b",
    re.IGNORECASE,
)
_NO_INITIALS = frozenset({"UK", "USA", "EU", "UN", "II", "III", "IV"})
_COUNTRIES = frozenset({"U.S.", "U.K.", "E.U.", "U.N."})
_DEGREES = frozenset({"MD", "MPH", "RN", "DDS", "DVM", "MBA"})
"""Behind given and family name; behind the family name alone they are initials."""


_INITIALS_FIRST = re.compile(
    r"((?:[^\W\d_a-z]\.[ -]{0,2}(?:-(?=\w))?){1,4}) "
    r"((?:[^\W\d_A-Z][\w'’]{0,5} ){0,3}[^\W\d_a-z][^\W\d_.]*+(?:[-'’][^\W\d_.]+){0,3})"
)
""" "A. B. Family", with particles before the family; of two words, nobody knows whether one is given."""


@dataclass(frozen=True, slots=True)
class Name:
    """Without a given name, `family` is the name as it stands: a group, one word, or parts nobody marked."""

    family: str
    given: str = ""
    suffix: str = ""

    def __str__(self) -> str:
        """ "Family, Given, Jr." with what is known."""
        return ", ".join(part for part in (self.family, self.given, self.suffix) if part)


def divide(name: str) -> Name:
    """The parts of "Family, Given", "Family, Jr., Given", "Family A.B." and "Family AB Jr"."""
    parts = [part.strip() for part in name.split(",")]
    if len(parts) == 1:
        return _divide_words(parts[0])
    if len(parts) == 3 and is_suffix(parts[1]) and not is_suffix(parts[2]):
        return Name(parts[0], parts[2], parts[1])
    if len(parts) == 2 and is_suffix(parts[1]):
        known = _divide_words(parts[0])
        return Name(known.family, known.given, parts[1]) if known.given else Name(name.strip())
    words, given = parts[0].split(), parts[-1].split()
    if len(parts) == 2 and len(words) > 1 and is_suffix(words[-1]):
        return Name(" ".join(words[:-1]), parts[1], words[-1])
    if len(parts) == 2 and words and len(given) > 1 and is_suffix(given[-1]):
        return Name(parts[0], " ".join(given[:-1]), given[-1])
    return Name(parts[0], parts[1], ", ".join(parts[2:])) if all(parts[:2]) else Name(name.strip(" ,"))


def divide_for_print(name: str) -> Name:
    """The same, and also of "A. B. Family", which readers keep as it stands."""
    known = divide(name)
    words = name.split()
    suffix = words.pop() if len(words) > 2 and is_suffix(words[-1]) else ""
    found = None if known.given else _INITIALS_FIRST.fullmatch(" ".join(words))
    if found is None or is_group(name) or found[1] in _COUNTRIES:
        return known
    return Name(found[2], found[1], suffix)


def _divide_words(name: str) -> Name:
    """A name without a comma: initials at its end show that the family name comes first."""
    words = name.split()
    suffix = words.pop() if len(words) > 2 and is_suffix(words[-1]) else ""
    start = len(words)
    while start > 0 and is_initials(words[start - 1], 2 if name.isupper() else 3):
        start -= 1
    family = words[:start]
    if len(family) > 1 and words[-1] in _DEGREES:
        return Name(name)
    if start == len(words) or not family or is_group(name) or words[-1] in _NO_INITIALS:
        return Name(name)
    return Name(" ".join(family), " ".join(words[start:]), suffix)


def is_initials(word: str, most: int = 3) -> bool:
    """ "A.", "A.-B.", "Yu.A." and "AB", in any alphabet with capitals; without stops up to `most` of them."""
    letters = word.replace(".", "").replace("-", "")
    if not letters.isalpha() or not letters[0].isupper():
        return False
    if "." not in word:
        return len(letters) <= most and letters.isupper()
    pieces = [piece for piece in re.split(r"[.-]", word) if piece]
    return (
        word.endswith(".")
        and len(pieces) <= 5
        and all(len(piece) <= 2 and piece[0].isupper() for piece in pieces)
        and not is_suffix(word)
    )


def is_suffix(word: str) -> bool:
    return _SUFFIX.fullmatch(word) is not None


def is_group(name: str) -> bool:
    """Whether a name looks like that of a group of people, not of a person."""
    return _GROUP.search(name) is not None
