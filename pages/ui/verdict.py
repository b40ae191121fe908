"""What an answer is worth, in a sentence: how many results are near, what the corpus lacks, what to try."""

from __future__ import annotations

from pages.ui.escape import plain
from search.types import Likeness, Results

CLOSE = {Likeness.NEAR_IDENTICAL, Likeness.SIMILAR}
FOREIGN = 0.5
"""Share of words that no paper uses from which a text seems to be in another language or field. Abstracts of
foreign fields have up to 0.3, text in a foreign language has 0.7 and more. Chosen by hand on eight texts."""
ELSEWHERE = (
    "Nothing close here: most words of your text are in no paper of this corpus. "
    "Its papers are about something else, or in another language."
)


def verdict(results: Results) -> str:
    words = [result.likeness for result in results.results]
    close, related = sum(word in CLOSE for word in words), words.count(Likeness.RELATED)
    if not words:
        return ""
    if close:
        return f"{close} close and {related} related among the nearest {len(words)}."
    if related:
        return f"Nothing close, {related} related among the nearest {len(words)}.{_little(results)}"
    if results.lacking.unknown >= FOREIGN:
        return ELSEWHERE
    return f"Nothing close here.{_little(results)} Try other sentences, fewer filters or another corpus."


def _little(results: Results) -> str:
    rare = [f"“{plain(word)}”" for word in results.lacking.rare]
    if not rare:
        return ""
    named = " or ".join(filter(None, (", ".join(rare[:-1]), rare[-1])))
    return f" Hardly a paper here mentions {named}."
