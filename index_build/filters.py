"""Which papers a corpus takes in: rules that say why a paper is left out, so that they can be counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from index_build.language import guess_language
from search.errors import InputError
from search.types import Paper

Rule = Callable[[Paper], str]
"""The reason to leave out a split paper; empty to keep it."""


def csfcube(paper: Paper) -> str:
    """The rules of CSFCube's datasheet (Mysore et al. 2021): abstracts that can be judged by facet."""
    lengths = [len(sentence.text.split()) for sentence in paper.sentences] if paper.abstract else []
    if len(lengths) < 3:
        return "fewer than 3 sentences"
    if len(lengths) > 20:
        return "more than 20 sentences"
    if max(lengths) > 80:
        return "a sentence of more than 80 tokens"
    return "all sentences under 4 tokens" if max(lengths) < 4 else ""


PRESETS: dict[str, Rule] = {"csfcube": csfcube}


def years(wanted: str) -> Rule:
    """A year or a range, open at either end: "2015", "2010-2020", "2010-", "-2000"."""
    match = re.fullmatch(r"(\d{4})?\s*(-)?\s*(\d{4})?", wanted.strip())
    if not match or not wanted.strip(" -"):
        raise InputError(
            f'"{wanted}" is not a year or a range of years: write 2015, 2010-2020, 2010- or -2000.'
        )
    first, dash, last = match.groups()
    low = int(first or 0)
    high = int(last or (9999 if dash else first))
    if low > high:
        raise InputError(f'The range of years "{wanted}" ends before it begins: write {high}-{low}.')

    def rule(paper: Paper) -> str:
        if paper.year is None:
            return "no year"
        return "" if low <= paper.year <= high else f"year outside {wanted}"

    return rule


def fields(wanted: Sequence[str]) -> Rule:
    """One of these fields, by a whole word of its name or its code: "Statistics", "cs.CL", "cs"."""
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in wanted), re.IGNORECASE)
    reason = f"field is not {' or '.join(wanted)}"
    return lambda paper: "" if any(pattern.search(field) for field in paper.fields) else reason


def languages(wanted: Sequence[str]) -> Rule:
    """One of these languages ("en", "de"); a text too short to tell is kept."""
    codes = {code.lower() for code in wanted}
    reason = f"language is not {' or '.join(wanted)}"
    return lambda paper: "" if guess_language(f"{paper.title}. {paper.abstract}") in {"", *codes} else reason


def make_rules(
    preset: str = "", year: str = "", field: Sequence[str] = (), language: Sequence[str] = ()
) -> list[Rule]:
    """The rules asked for, the cheap ones first."""
    rules = [years(year)] if year else []
    rules += [fields(field)] if field else []
    rules += [languages(language)] if language else []
    return rules + ([PRESETS[preset]] if preset else [])
