"""What the corpus has on a query: how near its nearest papers are, which words hardly any of them uses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from search.ranking.explanation import Words
from search.types import Lacking, Result

FEW = 2
"""Papers that may use a word that is called rare: one of them can be the example itself. Chosen by hand."""
NAMED = 3
"""Most rare words that are named."""
SHORTEST = 4
"""Letters of a rare word: shorter ones are mostly symbols and abbreviations of the text's own."""

NEAREST = 5
"""Results that tell what a corpus has on a query; chosen by hand."""
WEIGHTS = (7.1, 9.9, 4.9, -2.5)
"""Of what `observe` finds, in the log-odds that the corpus covers a query."""
CONSTANT = -6.7
ELSEWHERE = 0.2
"""Below it a corpus has next to nothing on a query. Chosen on the half that was tuned on: of the queries that
belong to a corpus 2 % lie below."""


def cover(results: Sequence[Result], lacking: Lacking) -> float:
    """How likely it is, from 0 to 1, that a query is about what this corpus is about.

    By logistic regression on one half of the queries of `python -m evaluation coverage`; the other half says
    how often it is right.
    """
    if not results:
        return 0.0
    odds = CONSTANT + sum(w * x for w, x in zip(WEIGHTS, observe(results, lacking), strict=True))
    return 1 / (1 + math.exp(-odds))


def observe(results: Sequence[Result], lacking: Lacking) -> tuple[float, float, float, float]:
    """Of the nearest results the mean cosine of sentences, of whole papers, the words; the unknown share."""
    near = results[:NEAREST]
    parts = [(each.evidence.sentences, each.evidence.whole_paper, each.evidence.words) for each in near]
    sentences, whole, words = (sum(part) / len(near) for part in zip(*parts, strict=True))
    return sentences, whole, words, lacking.unknown


def find_lacking(
    texts: Iterable[str], words: Words, papers_with: Callable[[Collection[str]], Mapping[str, int]]
) -> Lacking:
    """The rare words of the texts, those that they use most first, and how many words no paper uses."""
    counts: Counter[str] = Counter()
    spellings: dict[str, str] = {}
    for text in texts:
        for phrase, spelling in words.phrases(text).items():
            if len(phrase) == 1:
                counts[phrase[0]] += 1
                spellings.setdefault(phrase[0], spelling)
    papers = papers_with(counts)
    rare = [term for term, _ in counts.most_common() if papers[term] <= FEW and _is_word(spellings[term])]
    unknown = sum(not found for found in papers.values())
    return Lacking(
        rare=tuple(spellings[term] for term in rare[:NAMED]),
        unknown=unknown / len(papers) if papers else 1.0,
    )


def _is_word(text: str) -> bool:
    return text.isalpha() and len(text) >= SHORTEST and not text.isupper()
