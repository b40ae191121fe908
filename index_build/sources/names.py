"""Names of authors: one text taken apart, and each as "Family, Given" where it shows which is which."""

from __future__ import annotations

import re
from collections.abc import Iterable

from index_build.markup import in_one_line
from search.names import divide, is_initials, is_suffix

_AND = re.compile(r",? and |,? & | et al\.?$")
_ADDED = re.compile(r"(?<!\s)\s*\(\d{5,}\)$|(?<=\w)(?:\.\.\.|…)$|(?<=\w),? et al\.?$|(?<=\.),? et al\.?$")
"""What databases write behind a name: its number, or that there are more."""
_OF_CHINA = re.compile(r"[\u4e00-\u9fff]{2,4}")
"""A whole name without a space."""
_JOINED = re.compile(r"(?<=[a-zß-öø-ÿ.])(?=[A-ZÀ-ÖØ-Þ])")
_PREFIXES = frozenset({"Mc", "Mac", "De", "Di", "Da", "Du", "La", "Le", "Van", "Fitz", "El", "Al"})


def tidy_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names that are not empty, in order; two authors may have the same."""
    tidied = (_ADDED.sub("", in_one_line(name)).strip(" ,;") for name in names)
    return tuple(str(divide(name)) for name in tidied if name and not _is_placeholder(name))


_NO_NAMES = frozenset("nan|na|n/a|none|null|-|et al|et al.|others|…|...".split("|"))


def _is_placeholder(name: str) -> bool:
    """What stands where a name is missing or left out: "nan", "[No author name available]", "et al."."""
    return name.lower() in _NO_NAMES or (name.startswith("[") and name.endswith("]"))


def split_names(text: str) -> list[str]:
    """The names in one text, parted by semicolons, bars, line ends, "and" or commas."""
    for mark in (";", "|", "\n"):
        if mark in text:
            return text.split(mark)
    parts = [part for part in _AND.split(text) if part.strip()]
    if len(parts) > 1 and all("," in part for part in parts):  # "Family, Given and Family, Given"
        return parts
    return [name for part in parts for name in _split_at_commas(part)]


def _split_at_commas(text: str) -> list[str]:
    """Names in a list with commas, where a comma may also stand between family and given name."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if all(map(_OF_CHINA.fullmatch, parts)):
        return parts
    if len(parts) < 2 or _is_one_name(parts):
        return [", ".join(parts)]
    if text.count(".") == 1 and text.endswith("."):  # PubMed's tables: "Family AB, Family CD."
        parts[-1] = parts[-1].removesuffix(".")
    pairs = list(zip(parts[::2], parts[1::2], strict=False))
    if all(map(_is_family_first, parts)):
        return parts
    if len(parts) % 2 == 0 and (
        all(map(_is_given, parts[1::2])) or not any(" " in part or "." in part for part in parts)
    ):
        return [", ".join(pair) for pair in pairs]  # "Family, A., Family, B."
    names: list[str] = []
    for part in parts:
        if is_suffix(part) and names:
            names[-1] += f", {part}"
        else:
            names.append(part)
    return names


def _is_one_name(parts: list[str]) -> bool:
    """Whether the parts are "Family, Given" or "Family, Given, Jr."; of two words, one is a family."""
    if len(parts) == 3 and (is_suffix(parts[1]) or is_suffix(parts[2])):
        return " " not in parts[0] or _is_given(parts[1]) or _is_given(parts[2])
    if len(parts) != 2:
        return False
    first, second = parts
    if _is_family_first(first) and _is_family_first(second):  # "Family AB, Family CD"
        return False
    if _is_given(second) or first[:1].islower():
        return True
    if " " not in first and not is_initials(first) and not is_initials(second.split()[0]):
        return True
    alone = " " not in first or not (is_initials(first.split()[-1]) or is_initials(first.split()[0]))
    return alone and " " not in second


def _is_family_first(text: str) -> bool:
    """Whether a text ends with initials behind something that is more than initials: "Family AB", "LEE J"."""
    words = text.split()
    return len(words) > 1 and len(words[0]) > 2 and not words[0].endswith(".") and is_initials(words[-1])


def _is_given(text: str) -> bool:
    """Whether a text is nothing but initials."""
    return all(map(is_initials, text.split()))


_GROUP = re.compile(r"\b(?:collaboration|consortium|group|team|network|committee|project)\b", re.IGNORECASE)


def given_first(name: str) -> str:
    """ "Given Family" as "Family, Given", from sources that write all names so; of a group its name."""
    words = name.split()
    suffix = words.pop() if len(words) > 2 and is_suffix(words[-1]) else ""
    if len(words) < 2 or "," in name or _GROUP.search(name):
        return name
    start = len(words) - 1
    while start > 1 and words[start - 1].islower():  # "Vincent van der Berg"
        start -= 1
    return ", ".join(filter(None, (" ".join(words[start:]), " ".join(words[:start]), suffix)))


def split_joined(text: str) -> list[str]:
    """Names that Springer's tables write without anything between them: "Ada AuthorBea Bee"."""
    names, start = [], 0
    for found in _JOINED.finditer(text):
        left = text[start : found.start()]
        last = left.rsplit(" ", 1)[-1]
        if " " in left and last not in _PREFIXES and not is_initials(last):
            names.append(left)
            start = found.start()
    return [*names, text[start:]]
