"""Why a paper was found: its sentences beside the query's, the words they share, and one plain line.

Nothing here is generated: a reason quotes both sentences and names a place in the query.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from search.ranking import phrases
from search.types import Choice, Facet, Pair, Paper, Query, shown_panel

SMALLEST_SHARE = 0.02
"""Pairs with less than this fraction of the strongest pair's share are not shown; chosen by hand."""
MOST_PAIRS = 20
"""Most pairs shown for one paper; chosen by hand."""
MOST_TERMS = 4
"""Most shared terms named for one pair; chosen by hand."""
LONGEST_QUOTE = 110
"""Characters of a sentence that a reason quotes, about 16 words."""
LEAST_COSINE = 0.01
"""Smallest cosine a pair is counted with, so that shares exist even where no cosine is positive."""
COMMON = 1.5
"""Idf up to which a word is too common to explain a match: it is in more than a fifth of the papers. In the
demo corpus these are 19 words, such as "model", "result" and "using". Chosen by hand."""

NEAR = 0.42
"""Cosine of two words' embeddings from which they count as near in meaning: "image" and "photo" have 0.45,
"ensures" and "guarantee" 0.46. Chosen by reading the pairs of 25 searches in the demo corpus."""
NEAR_PAIRS = 3
"""Pairs of a result, the strongest, whose near words are looked for."""

HELD_BACK = 0.1
"""How far a result must stand lower for being like what is avoided, for that to be said: on the scale of
scores, from 0 to 1. Chosen by hand."""
MOST_AVOIDED = 2
"""Most terms of the avoided sentences that are named then; single words only where there is no phrase."""

_WORD = re.compile(r"[^\W_]+(?:[-'’.+][^\W_]+)*[+#]*")
_PART = re.compile(r"[^\W_]+")
_PREFIXES = frozenset(
    """
    anti auto bi co cross extra fine high hyper inter intra low macro meta micro mini mono multi near non one
    over poly post pre pseudo quasi re self semi single sub super trans tri two ultra un under well
    """.split()
)
"""Parts of joined words that mean little alone: "non-linear" and "non-negative" have little in common."""
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
"""Words that abstracts of every field use: they explain no match, however rare they are in a corpus."""


Likeness = Callable[[Sequence[str], Sequence[str]], NDArray[np.float32]]


class Words:
    """Which words of a text say something, in forms that can be compared. Remembers what it has read."""

    def __init__(
        self,
        normalise: Callable[[str], list[str]],
        rarity: Callable[[str], float],
        common: float = COMMON,
        likeness: Likeness | None = None,
    ) -> None:
        """`normalise` gives a word's index terms, none for function words; `rarity` is a term's idf.

        A word whose idf is not above `common` says nothing about a match. `likeness` gives the cosines of
        two lists of words, where the encoder knows them.
        """
        self.terms = lru_cache(maxsize=100_000)(normalise)
        self._common = common
        self.likeness = likeness
        self.rarity = rarity
        self.term = lru_cache(maxsize=100_000)(self._term)
        self.phrases = lru_cache(maxsize=5_000)(self._phrases)

    def _term(self, word: str) -> str:
        """The index term of a telling word, else nothing."""
        parts = self.terms(word)
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
    carried = shares * np.maximum(similarity, LEAST_COSINE)
    carried /= carried.sum()
    strongest = np.argsort(-carried, axis=None, kind="stable")[:MOST_PAIRS]
    kept = [flat for flat in strongest if carried.flat[flat] >= SMALLEST_SHARE * carried.max()]
    whole = float(sum(carried.flat[flat] for flat in kept))
    pairs = []
    for number, flat in enumerate(kept):
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
                near_terms=near_terms(asked.text, answer.text, words) if number < NEAR_PAIRS else (),
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


def avoided_terms(query: Query, paper: Paper, words: Words) -> tuple[str, ...]:
    """What the avoided sentences and the paper both name, the rarest first."""
    sentences = (sentence for each in query.papers for sentence in each.sentences)
    avoided = " ".join(sentence.text for sentence in sentences if sentence.choice is Choice.AVOID)
    shared = shared_terms(avoided, f"{paper.title}. {paper.abstract}", words)
    pairs = tuple(term for term in shared if " " in term)
    return (pairs or shared)[:MOST_AVOIDED]


def near_terms(ours: str, theirs: str, words: Words, most: int = MOST_TERMS) -> tuple[tuple[str, str], ...]:
    """Pairs of telling words that mean nearly the same without being the same, the nearest first."""
    mine, others = (
        {phrase[0]: spelled for phrase, spelled in words.phrases(text).items() if len(phrase) == 1}
        for text in (ours, theirs)
    )
    left = [term for term in mine if term not in others]
    right = [term for term in others if term not in mine]
    if words.likeness is None or not left or not right:
        return ()
    likeness = words.likeness([mine[term] for term in left], [others[term] for term in right])
    found: list[tuple[str, str]] = []
    for flat in np.argsort(-likeness, axis=None, kind="stable"):
        row, column = divmod(int(flat), len(right))
        if likeness[row, column] < NEAR or len(found) == most:
            break
        pair = mine[left[row]], others[right[column]]
        if not any(pair[0] == a or pair[1] == b for a, b in found):
            found.append(pair)
    return tuple(found)


def give_reason(query: Query, pairs: Sequence[Pair], words: Words) -> str:
    """One line in plain words, with the phrases that match in the strongest pair."""
    if not pairs:
        return "Found by its words; no sentence stands out."
    first = pairs[0]
    ours = _phrase(first.query_text, first, [near for near, _ in first.near_terms], words)
    theirs = _phrase(first.text, first, [near for _, near in first.near_terms], words)
    return f"Matches {_name_place(query, first)}, “{ours}”, with “{theirs}”."


def _phrase(text: str, pair: Pair, near: Sequence[str], words: Words) -> str:
    parts = phrases.phrase(text, pair.shared_terms, words.terms, near, LONGEST_QUOTE, LONGEST_QUOTE)
    return "".join(part for part, _ in parts).rstrip(".")


def _name_place(query: Query, pair: Pair) -> str:
    """ "your method sentence 2", "your text", or "method sentence 2 of “Title”" among several papers."""
    paper = query.papers[pair.query_paper]
    panel = shown_panel(pair.query_facet)
    facet = "" if panel is Facet.OTHER else f"{panel.value} "
    name = f"{facet}sentence {pair.query_sentence + 1}"
    if len(query.papers) > 1:
        return f"{name} of “{_shorten(paper.title or paper.sentences[0].text)}”"
    return "your text" if len(paper.sentences) == 1 else f"your {name}"


def _shorten(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + "…"
