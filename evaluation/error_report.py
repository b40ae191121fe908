"""Where a ranking goes wrong: each query's worst misses and false hits, with sentences and possible causes.

Causes are tagged by rules a reader can check by hand, after the phenomena the CSFCube paper discusses in
its error analysis; they are hints for reading, not verdicts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from textwrap import fill

from evaluation.collections import Collection, PoolQuery, facet_positions
from evaluation.metrics import ranked
from evaluation.word_baselines import abstract_text, words
from search.types import Facet, Sentence

SHOWN = 3
"""Misses and false hits per query."""
FEW, MANY = 0.15, 0.35
"""Shares of the query's word weight that count as few and many words in common."""
TELLING = 1.0
"""Words in more than a third of the papers tell nothing."""

TAGS = {
    "other words": "relevant, but fewer than 15 % of the query's words (by weight) occur in the abstract",
    "same words": "not relevant, though over 35 % of the query's words (by weight) occur in the abstract",
    "other facet": "the sentence with most words in common has another facet than the query asks about",
    "facet absent": "no sentence of the abstract is labelled with the query's facet",
    "several sentences": "the query asks with three or more sentences and one of them is hardly answered",
    "needs context": "a query sentence leans on its neighbours: it is short or opens with this, it, our",
    "claim only": "a result is asked for, and the query's sentences name no number",
}
_LEANING = re.compile(r"^(?:this|these|it|its|our|such|they|both)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Closest:
    """The sentence of a candidate that shares most of the query's words."""

    sentence: Sentence
    shared: tuple[str, ...]


class Weights:
    """How telling each word of a collection is: log(N / papers that have it)."""

    def __init__(self, collection: Collection) -> None:
        counts = Counter(
            word for paper in collection.papers.values() for word in set(words(abstract_text(paper)))
        )
        self._weights = {word: log(len(collection.papers) / count) for word, count in counts.items()}

    def of(self, found: set[str]) -> float:
        return sum(self._weights.get(word, 0.0) for word in found)

    def share(self, asked: set[str], there: set[str]) -> float:
        """How much of the asked words' weight is there."""
        return self.of(asked & there) / max(self.of(asked), 1e-9)

    def closest(self, asked: set[str], sentences: Sequence[Sentence]) -> Closest:
        best = max(sentences, key=lambda one: self.of(asked & set(words(one.text))))
        shared = sorted(asked & set(words(best.text)), key=lambda word: (-self.of({word}), word))
        return Closest(best, tuple(word for word in shared if self.of({word}) > TELLING)[:6])


def report(
    collection: Collection,
    queries: Sequence[PoolQuery],
    method: str,
    scores: Mapping[str, Mapping[str, float]],
) -> str:
    """All queries' misses and false hits of one method, the tags counted at the end."""
    weights = Weights(collection)
    counts: Counter[str] = Counter()
    parts = [f"Errors of {method}"]
    for query in queries:
        if query.id in scores:
            parts.append(_query_part(collection, query, ranked(scores[query.id]), weights, counts))
    explained = [f"  {counts[tag]:3}  {tag}: {rule}" for tag, rule in TAGS.items()]
    return "\n\n".join([*parts, "\n".join(["How often each tag was given:", *explained])])


def worst(query: PoolQuery, order: Sequence[str], relevant_from: int) -> tuple[list[str], list[str]]:
    """Relevant papers ranked lowest among those outside the first R, and grade 0 ranked highest inside."""
    relevant = sum(grade >= relevant_from for grade in query.grades.values())
    first, rest = order[:relevant], order[relevant:]
    misses = [paper for paper in rest if query.grades[paper] >= relevant_from]
    return misses[-SHOWN:][::-1], [paper for paper in first if query.grades[paper] == 0][:SHOWN]


def _query_part(
    collection: Collection, query: PoolQuery, order: Sequence[str], weights: Weights, counts: Counter[str]
) -> str:
    paper = collection.papers[query.paper_id]
    asked = [paper.sentences[place] for place in facet_positions(paper, query.facet)]
    misses, false_hits = worst(query, order, collection.relevant_from)
    lines = [f"== {query.id}: {paper.title}", *(_wrapped(f"> {one.text}") for one in asked)]
    for kind, found in (("missed", misses), ("false hit", false_hits)):
        for candidate in found:
            sentences = collection.papers[candidate].sentences
            all_asked = {word for one in asked for word in words(one.text)}
            close = weights.closest(all_asked, sentences)
            tags = find_tags(kind == "missed", query.facet, asked, sentences, weights)
            counts.update(tags)
            head = (
                f"{kind}: rank {order.index(candidate) + 1} of {len(order)}, grade {query.grades[candidate]}"
            )
            lines += [
                f"- {head}, {candidate}: {collection.papers[candidate].title}",
                f"  tags: {', '.join(tags) or 'none'}; words in common: {', '.join(close.shared) or 'none'}",
                _wrapped(f"  closest by words ({close.sentence.facet or 'no facet'}): {close.sentence.text}"),
            ]
    return "\n".join(lines)


def find_tags(
    missed: bool,
    facet: Facet | None,
    asked: Sequence[Sentence],
    sentences: Sequence[Sentence],
    weights: Weights,
) -> list[str]:
    """The rules of TAGS that hold for one wrongly ranked candidate."""
    each = [set(words(one.text)) for one in asked]
    all_asked = set().union(*each)
    there = {word for one in sentences for word in words(one.text)}
    share = weights.share(all_asked, there)
    panels = [one.panel for one in sentences]
    closest = weights.closest(all_asked, sentences).sentence
    rules = {
        "other words": missed and share < FEW,
        "same words": not missed and share > MANY,
        "other facet": facet in panels and closest.panel not in (None, facet),
        "facet absent": facet is not None and facet not in panels,
        "several sentences": len(each) >= 3 and min(weights.share(one, there) for one in each) < FEW,
        "needs context": any(len(words(one.text)) < 8 or _LEANING.match(one.text) for one in asked),
        "claim only": facet is Facet.RESULT and not any(re.search(r"\d", one.text) for one in asked),
    }
    return [tag for tag in TAGS if rules[tag]]


def _wrapped(text: str) -> str:
    return fill(text, 110, subsequent_indent="    ")
