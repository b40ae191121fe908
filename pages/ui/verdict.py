"""What an answer is worth, in a sentence: how many results are near, what the corpus lacks, what to try."""

from __future__ import annotations

from pages.ui.escape import plain
from search.ranking.coverage import ELSEWHERE
from search.types import Filters, Likeness, Results

CLOSE = {Likeness.NEAR_IDENTICAL, Likeness.SIMILAR}
NOTHING = (
    "Nothing close here: this corpus seems to have next to nothing on your text. "
    "Its papers are about something else, or in another language."
)


def verdict(results: Results) -> str:
    words = [result.likeness for result in results.results]
    close, related = sum(word in CLOSE for word in words), words.count(Likeness.RELATED)
    if not words:
        return ""
    if close:
        return f"{close} close and {related} related among the nearest {len(words)}."
    if results.covered < ELSEWHERE and results.query.filters == Filters():
        return NOTHING
    if related:
        return f"Nothing close, {related} related among the nearest {len(words)}.{_little(results)}"
    fewer = "" if results.query.filters == Filters() else "fewer filters, "
    return f"Nothing close here.{_little(results)} Try {fewer}other sentences or another corpus."


def _little(results: Results) -> str:
    rare = [f"“{plain(word)}”" for word in results.lacking.rare]
    if not rare:
        return ""
    named = " or ".join(filter(None, (", ".join(rare[:-1]), rare[-1])))
    return f" Hardly any paper here mentions {named}."
