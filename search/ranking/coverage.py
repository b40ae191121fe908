"""What the corpus lacks of a query: words that hardly any of its papers use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from search.ranking.explanation import Words
from search.types import Lacking

FEW = 2
"""Papers that may use a word that is called rare: one of them can be the example itself. Chosen by hand."""
NAMED = 3
"""Most rare words that are named."""
SHORTEST = 4
"""Letters of a rare word: shorter ones are mostly symbols and abbreviations of the text's own."""


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
