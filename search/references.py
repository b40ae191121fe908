"""A reference as one text and back, and one reference from those of several records of a paper."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import lru_cache
from operator import attrgetter
from typing import Any

from search.types import Kind, Reference

EMPTY = Reference()
NAMES = tuple(field.name for field in fields(Reference))
LISTS = frozenset({"editors", "issn", "isbn", "keywords", "origins", "notes"})
_GATHERED = ("keywords", "origins", "notes")
"""Lists that a paper has from all its records."""
_OF_ABSTRACT = ("abstract_from", "abstract_licence")
"""What goes with the abstract that was chosen, whichever record it is of."""
LONGEST_LIST = 10_000
"""Values in one list; more is an error in the data. Chosen by hand."""
_values = attrgetter(*NAMES)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
PREPRINT_START = f'"kind":"{Kind.PREPRINT}"'
"""How the packed reference of a preprint begins behind its brace."""


def as_dict(reference: Reference) -> dict[str, Any]:
    """What is known, by name, in the order of the fields."""
    return {name: value for name, value in zip(NAMES, _values(reference), strict=True) if value}


@lru_cache(maxsize=4096)  # asked twice for each record of a batch
def pack(reference: Reference) -> str:
    """What is known, as JSON; nothing where nothing is."""
    return "" if reference is EMPTY or reference == EMPTY else _encode(as_dict(reference))


def unpack(text: str) -> Reference:
    """The reverse of `pack`; ValueError or TypeError for a text that it did not write."""
    try:
        return from_dict(json.loads(text)) if text else EMPTY
    except RecursionError:
        raise ValueError("a reference is too deep") from None


def from_dict(values: Any) -> Reference:
    """The reverse of `as_dict`; names that are not known are passed over, wrong values are a TypeError."""
    if not isinstance(values, dict):
        raise TypeError("a reference is no object")
    return Reference(**{name: _checked(name, values[name]) for name in NAMES if values.get(name)})


def _checked(name: str, value: Any) -> Any:
    if name in LISTS:
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
            raise TypeError(f"{name} is no list of texts")
        return tuple(value[:LONGEST_LIST])
    if not isinstance(value, str):
        raise TypeError(f"{name} is no text")
    return Kind(value) if name == "kind" else value


PRINTED_TOGETHER = (
    "kind", "genre", "date", "volume", "issue", "pages", "number", "series", "edition", "publisher",
    "place", "event", "editors", "container", "short_venue", "note", "accessed", "status",
)  # fmt: skip
"""What describes one publication: the volume of a journal does not go with the number of its preprint."""


def is_preprint(reference: Reference) -> bool:
    return reference.kind in (Kind.PREPRINT, Kind.MANUSCRIPT)


def merge(references: Sequence[Reference]) -> Reference:
    """One reference: the published before the preprint, then in order; the others fill what it lacks.

    What is printed together comes from records of one kind; keywords, language and the like from all.
    """
    known = [reference for reference in references if reference != EMPTY]
    if len(known) < 2:
        return known[0] if known else EMPTY
    ordered = sorted(known, key=lambda reference: (is_preprint(reference), reference.kind is None))
    best = ordered[0]
    for other in ordered[1:]:
        same = other.kind in (best.kind, None)
        names = [name for name in NAMES if name not in LISTS and (same or name not in PRINTED_TOGETHER)]
        gaps = {name: getattr(other, name) for name in names if not getattr(best, name)}
        if same and not best.editors:
            gaps["editors"] = other.editors
        for name in ("issn", "isbn", *_GATHERED) if same else _GATHERED:
            gaps[name] = tuple(dict.fromkeys(getattr(best, name) + getattr(other, name)))
        best = replace(best, **gaps)
    return best


def merge_packed(texts: Sequence[str], of_abstract: str | None = None) -> str:
    """The same for packed references; `of_abstract` is that of the record whose abstract was chosen."""
    known = [text for text in texts if text]
    alone = len(known) < 2
    if alone and (of_abstract in (None, *known) or "abstract_from" not in "".join(known)):
        return "".join(known)
    merged = merge([unpack(text) for text in known])
    if of_abstract is not None:
        chosen = unpack(of_abstract)
        merged = replace(merged, **{name: getattr(chosen, name) for name in _OF_ABSTRACT})
    return pack(merged)
