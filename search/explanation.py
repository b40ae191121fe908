"""Why a paper was found: its sentences beside the query's, the words they share, and one plain line.

Nothing here is generated: every word of a reason is in both sentences or names a place in the query.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from search.types import Facet, Pair, Paper, Query

SMALLEST_SHARE = 0.02
"""Pairs that carry less than this part of what the strongest carries are not shown."""
MOST_PAIRS = 20
MOST_TERMS = 4

_WORD = re.compile(r"[^\W_]+(?:[-'’.+][^\W_]+)*[+#]*")
_PART = re.compile(r"[^\W_]+")
_PREFIXES = frozenset(
    """
    anti auto bi co cross extra high hyper inter intra low macro meta micro mini mono multi near non one over
    poly post pre pseudo quasi re self semi single sub super trans tri two ultra un under well
    """.split()
)
"""Parts of joined words that tell nothing alone: "non-linear" and "non-negative" have little in common."""
_FILLER = frozenset(
    """
    about across address aim also analysis approach article based be better between both compared
    consider demonstrate different do does evaluate evaluation existing experiment explore find first
    framework further give given good have here how however idea important improve improved improvement
    instead introduce investigate known large make many method more most much multiple new not novel number
    obtain one only other over paper perform performance present problem propose proposed provide recent
    recently research result same set several show shown significant significantly simple since some still
    study such system task technique than them through thus two under us use used using various via way we
    well what when where whether who will without work would you your
    """.split()
)


class Words:
    """Which words of a text say something, in forms that can be compared. Remembers what it has read."""

    def __init__(
        self, normalise: Callable[[str], list[str]], rarity: Callable[[str], float], common: float = 1.5
    ) -> None:
        """`normalise` gives a word's index terms, none for function words; `rarity` is a term's idf.

        A word that is not rarer than `common` (1.5: in a fifth of the papers) says nothing about a match.
        """
        self._normalise, self._common = normalise, common
        self.rarity = rarity
        self.term = lru_cache(maxsize=100_000)(self._term)
        self.phrases = lru_cache(maxsize=5_000)(self._phrases)

    def _term(self, word: str) -> str:
        """The index term of a telling word, else nothing."""
        parts = self._normalise(word)
        term = parts[-1] if parts else ""  # the whole of a joined word comes last
        if len(term) < 2 or term.isdigit() or term in _FILLER or self.rarity(term) <= self._common:
            return ""
        return term

    def _phrases(self, text: str) -> dict[tuple[str, ...], str]:
        """Telling words, also in joined ones, and neighbours that are both telling, each as it is spelled."""
        words = [(self.term(match.group()), *match.span()) for match in _WORD.finditer(text)]
        found: dict[tuple[str, ...], str] = {}
        for term, start, end in reversed(words):
            spelled = text[start:end]
            parts = [part for part in _PART.findall(spelled) if part.lower() not in _PREFIXES]
            for each, spelling in (*((self.term(part), part) for part in parts), (term, spelled)):
                if each:
                    found[(each,)] = spelling
        for (left, start, end), (right, next_start, next_end) in pairwise(words):
            if left and right and text[end:next_start] == " ":
                found[left, right] = text[start:next_end]
        return found


@dataclass(frozen=True, slots=True)
class Place:
    """Where a matched sentence stands in the query."""

    paper: int
    sentence: int


def find_pairs(
    query: Query,
    places: Sequence[Place],
    paper: Paper,
    similarity: NDArray[np.float32],
    shares: NDArray[np.float32],
    words: Words,
) -> tuple[Pair, ...]:
    """The pairs that carry the match, the strongest first; their shares sum to 1.

    similarity and shares are [m, n]: the sentences of the query at `places` by those of the paper.
    """
    carried = shares * np.maximum(similarity, 0.01)
    carried /= carried.sum()
    strongest = np.argsort(-carried, axis=None, kind="stable")[:MOST_PAIRS]
    kept = [flat for flat in strongest if carried.flat[flat] >= SMALLEST_SHARE * carried.max()]
    whole = float(sum(carried.flat[flat] for flat in kept))
    pairs = []
    for flat in kept:
        row, position = divmod(int(flat), carried.shape[1])
        asked = query.papers[places[row].paper].sentences[places[row].sentence]
        answer = paper.sentences[position]
        pairs.append(
            Pair(
                query_paper=places[row].paper,
                query_sentence=places[row].sentence,
                query_text=asked.text,
                query_facet=asked.facet,
                position=position,
                text=answer.text,
                facet=answer.facet,
                similarity=float(similarity[row, position]),
                share=float(carried[row, position]) / whole,
                shared_terms=shared_terms(asked.text, answer.text, words),
            )
        )
    return tuple(pairs)


def shared_terms(ours: str, theirs: str, words: Words, most: int = MOST_TERMS) -> tuple[str, ...]:
    """Words and pairs of neighbouring words that both texts use, the rarest first, as ours spells them."""
    mine, others = words.phrases(ours), words.phrases(theirs)
    shared = [phrase for phrase in mine if phrase in others]
    shared.sort(key=lambda phrase: -sum(map(words.rarity, phrase)))
    chosen: list[tuple[str, ...]] = []
    for phrase in shared:
        if not any(
            set(phrase) & set(other) or mine[phrase] in _PART.findall(mine[other]) for other in chosen
        ):
            chosen.append(phrase)
    return tuple(mine[phrase] for phrase in chosen[:most])


def give_reason(query: Query, pairs: Sequence[Pair]) -> str:
    """One line in plain words, from the strongest pair."""
    if not pairs:
        return "Found by its words; no sentence stands out."
    first = pairs[0]
    place = _name_place(query, first)
    if not first.shared_terms:
        return f"Matches {place} in other words: they share no telling term."
    terms = ", ".join(f"“{term}”" for term in first.shared_terms)
    return f"Matches {place}: both mention {terms}."


def _name_place(query: Query, pair: Pair) -> str:
    """ "your method sentence 2", "your text", or "method sentence 2 of “Title”" among several papers."""
    paper = query.papers[pair.query_paper]
    panel = pair.query_facet.panel if pair.query_facet else Facet.OTHER
    facet = "" if panel is Facet.OTHER else f"{panel.value} "
    name = f"{facet}sentence {pair.query_sentence + 1}"
    if len(query.papers) > 1:
        return f"{name} of “{_shorten(paper.title or paper.sentences[0].text)}”"
    return "your text" if len(paper.sentences) == 1 else f"your {name}"


def _shorten(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + "…"
