"""Names of authors in BibTeX, also where they are parted by commas and semicolons instead of "and"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bibtexparser.middlewares.names import (
    InvalidNameError,
    parse_single_name_into_parts,
    split_multiple_persons_names,
)

from index_build.markup import in_one_line, latex_text
from index_build.sources.names import split_names, tidy_names
from index_build.sources.records import full_name
from search.names import is_initials, is_suffix


def names_of(text: str) -> Iterator[str]:
    """Names as "Family, Given"; one that is wholly in braces is a group and stays as it is."""
    text = _LAST_AND.sub("", text)
    persons = [each for name in split_multiple_persons_names(text) for each in _apart(name)]
    if len(persons) == 1 and "{" not in text and _is_a_list(text):
        yield from tidy_names(split_names(latex_text(text)))  # not BibTeX's way to part names
        return
    for person in persons:
        if person == "others":  # BibTeX's "et al."
            continue
        if _PART.match(person):
            yield _from_parts(person)
            continue
        try:
            parts = parse_single_name_into_parts(person)
        except InvalidNameError:
            yield from tidy_names([latex_text(person)])
            continue
        family, given, suffix = (" ".join(words) for words in (parts.von + parts.last, parts.first, parts.jr))
        if is_suffix(given) and suffix:  # "Family, Given, Jr."
            given, suffix = suffix, given
        elif is_suffix(given):  # "Given Family, Jr."
            parts = parse_single_name_into_parts(person.rpartition(",")[0])
            family, given, suffix = " ".join(parts.von + parts.last), " ".join(parts.first), given
        if person.startswith("{") and not given:
            yield in_one_line(latex_text(family))
        elif given and "," not in person and all(map(is_initials, family.split())):
            yield from tidy_names([latex_text(person)])  # "Family A.B."
        else:
            yield latex_text(full_name(family, given, suffix))


_PART = re.compile(r"(family|given|prefix|suffix)\s{0,3}=\s{0,3}")


def _from_parts(person: str) -> str:
    """A name as BibLaTeX may have it: "family=Berg, given=Karel, prefix=van der"."""
    pieces = [piece.strip() for piece in person.split(",")]
    parts = {found[1]: piece[found.end() :] for piece in pieces if (found := _PART.match(piece))}
    family = f"{parts.get('prefix', '')} {parts.get('family', '')}".strip()
    return latex_text(full_name(family, parts.get("given", ""), parts.get("suffix", "")))


def _apart(person: str) -> list[str]:
    """A name without the number that DBLP gives namesakes; Cochrane joins several names by commas."""
    person = _NAMESAKE.sub("", person).rstrip(", ")
    if _PART.match(person):
        return [person]
    parts = [] if "{" in person else person.split(",")
    if len(parts) > 1 and all(map(_IS_WHOLE.match, map(str.strip, parts))):
        return parts
    if len(parts) < 4 or len(parts) % 2:
        return [person]
    return [
        f"{family.strip()}, {given.strip()}" for family, given in zip(parts[::2], parts[1::2], strict=True)
    ]


_IS_WHOLE = re.compile(r"[A-Z]\.(?:[ -]?[A-Z]\.){0,3} ?[^\W\d_a-z][^\W\d_]")
"""A name with its initials first, which commas part: "A. Author, B. Bee and C. Cee"."""
_LAST_AND = re.compile(r"(?<!\s)\s+and\s*$")
_NAMESAKE = re.compile(r"(?<=[^\W\d]) \d{4}$")


def _is_a_list(text: str) -> bool:
    """Whether commas or semicolons part names; "Family, Jr., Given" is one."""
    parts = text.split(",")
    if _PART.match(text):
        return False
    if len(parts) == 2 and len(split_names(text)) == 2:
        return True
    return ";" in text or len(parts) > 3 or (len(parts) == 3 and not is_suffix(parts[1].strip()))
