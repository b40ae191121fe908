"""Noun phrases as papers write them, found by what stands around the words: no tagger is needed.

English phrases end with their noun. So a phrase is the end of a run of words that are neither function words
nor verbs; which words are verbs, adjectives and nouns is learnt from what stands before and after them in the
same papers. All counting is done on arrays: a topic has some 60,000 words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from search.topics import word_lists as lists
from search.types import NO_PANEL, PANEL_CODES, Paper

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

LONGEST = 4
"""Words of a phrase at most: longer ones are hardly ever repeated. Chosen by hand."""
FEWEST_PAPERS = 3
"""Papers that must use a phrase before it can be shown. Chosen by hand."""
VERB = 0.2
"""Share of a word's uses beside a determiner or a subject from which it counts as a verb."""
HEAD = 0.15
"""Share of a word's uses at the end of a phrase from which it may be the last word of one."""
HEAD_OF_ADJECTIVE = 0.45
"""The same for words that end as adjectives do: "metric" and "Arabic" reach it, "semantic" does not."""
AFTER_NOUN = 0.35
"""Share of the uses after a determiner or another noun that a phrase beginning with -ing needs: "the training
data" has it, "learning word embeddings" does not."""
TORN = 0.6
"""Share of the uses that one and the same word stands before, from which a phrase is the end of a longer one:
"language processing"."""
ALONE = 0.2
"""Share of its uses in which a phrase must stand alone, with nothing that extends it. These six were chosen
on twenty topics of the ACL corpus, docs/studies/topic-terms.md."""
KNOWN = 4
"""Uses from which the shares of a word say something. Chosen by hand."""
TITLE = NO_PANEL + 1
"""Where a title's words stand; the panels have their codes."""

_TOKEN = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*|[^\w\s]")
_ADJECTIVE = re.compile(r"(?:al|ive|ic|ous|ful|less|able|ible|ary|ory|ed|ese|ish|ian|ual|ent|ant|wise|en)\Z")
_BREAK = "."


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase in its commonest spelling, and who uses it."""

    text: str
    words: tuple[str, ...]
    """In small letters."""
    papers: frozenset[int]
    """Places of the papers that use it in title or abstract."""
    by_panel: tuple[frozenset[int], ...]
    """The same by the panel of the sentence, in the order of PANELS."""
    titles: int
    """Titles that use it."""


@dataclass(frozen=True, slots=True)
class _Text:
    """All words of all papers, one after another."""

    words: list[str]
    ids: Numbers
    """Of each word in small letters, in `vocabulary`."""
    vocabulary: list[str]
    papers: Numbers
    parts: Numbers
    """The code of the panel, or TITLE."""
    firsts: Flags
    """Where a sentence begins, or a title's capitals say nothing."""
    written: frozenset[str]
    """The words that stand elsewhere, as written."""


@dataclass(frozen=True, slots=True)
class _Found:
    """One use of a phrase."""

    ends: Numbers
    lengths: Numbers
    before: Numbers
    """The word that extends it to the left, -1 where there is none."""
    modified: Flags
    """Whether a determiner or such a word stands before it."""


def find_phrases(papers: Sequence[Paper]) -> list[Phrase]:
    """The phrases that at least FEWEST_PAPERS papers use, in no particular order."""
    text = _read(papers)
    if not text.words:
        return []
    inside, ending, beginning = _classes(text)
    uses = _uses(text, inside, ending, beginning)
    return [phrase for group in _groups(text, uses) if (phrase := _phrase(text, uses, group))]


def _read(papers: Sequence[Paper]) -> _Text:
    words: list[str] = []
    firsts: list[int] = []
    stretches: list[tuple[int, int, int]] = []
    for place, paper in enumerate(papers):
        sentences = ((PANEL_CODES[sentence.facet], sentence.text) for sentence in paper.sentences)
        for part, text in ((TITLE, paper.title), *sentences):
            found = _TOKEN.findall(text)
            firsts.append(len(words))
            words += found
            words.append(_BREAK)
            stretches.append((place, part, len(found) + 1))
    index: dict[str, int] = {}
    ids = np.array([index.setdefault(word, len(index)) for word in map(str.lower, words)], np.int64)
    places, codes, lengths = np.array(stretches, np.int64).reshape(-1, 3).T
    parts = np.repeat(codes, lengths)
    first = parts == TITLE
    first[firsts] = True
    written = frozenset(word for word, leads in zip(words, first.tolist(), strict=True) if not leads)
    return _Text(words, ids, list(index), np.repeat(places, lengths), parts, first, written)


def _classes(text: _Text) -> tuple[Flags, Flags, Flags]:
    """For each entry of the vocabulary: may it stand in a phrase, end one, begin one?"""

    def flags(holds: Callable[[str], bool]) -> Flags:
        return np.fromiter(map(holds, text.vocabulary), bool, len(text.vocabulary))

    def share(of: Flags) -> NDArray[np.float64]:
        return np.bincount(text.ids[of & told], minlength=len(text.vocabulary)) / np.maximum(uses, 1)

    told = text.parts != TITLE  # titles are no sentences
    after, before = np.append(text.ids[1:], text.ids[-1]), np.insert(text.ids[:-1], 0, text.ids[-1])
    uses = np.bincount(text.ids[told], minlength=len(text.vocabulary))
    determiner = flags(lists.DETERMINERS.__contains__)
    verb = share(determiner[after] | flags(lists.SUBJECTS.__contains__)[before])
    end = share(flags(lists.ENDS.__contains__)[after])
    adjective = flags(lambda word: bool(_ADJECTIVE.search(word)))
    known = uses >= KNOWN
    inside = flags(is_content) & ~((verb > VERB) & (verb * uses >= 2))
    ending = inside & np.where(adjective, known & (end >= HEAD_OF_ADJECTIVE), ~known | (end >= HEAD))
    ending &= ~flags(lists.NOT_LAST.__contains__)
    return inside, ending, inside & ~flags(lists.WEAK_MODIFIERS.__contains__)


def _uses(text: _Text, inside: Flags, ending: Flags, beginning: Flags) -> _Found:
    within = inside[text.ids]
    last = within & ending[text.ids]
    last[:-1] &= ~within[1:]
    determiner = np.fromiter((w in lists.DETERMINERS for w in text.vocabulary), bool, len(text.vocabulary))
    adverb = np.fromiter((_is_adverb(word) for word in text.vocabulary), bool, len(text.vocabulary))
    extending = beginning | adverb  # "morphologically rich languages"
    found = []
    ends = np.flatnonzero(last)
    for length in range(1, LONGEST + 1):
        ends = ends[ends - length + 1 >= 0]
        ends = ends[within[ends - length + 1]]
        starts = ends - length + 1
        good = beginning[text.ids[starts]]
        previous = np.where(starts[good] > 0, text.ids[starts[good] - 1], -1)
        longer = np.where((previous >= 0) & extending[previous], previous, -1)
        modified = (longer >= 0) | determiner[previous]
        found.append((ends[good], np.full(good.sum(), length), longer, modified))
    return _Found(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _groups(text: _Text, uses: _Found) -> list[Numbers]:
    """The uses of each phrase, whatever its spelling, that enough papers use."""
    keys: dict[str, int] = {}
    joined = [_part(word) for word in text.vocabulary]
    heads = [_part(singular(word)) for word in text.vocabulary]
    ids = text.ids.tolist()
    of_use = np.empty(len(uses.ends), np.int64)
    for number, (end, length) in enumerate(zip(uses.ends.tolist(), uses.lengths.tolist(), strict=True)):
        key = "".join([joined[each] for each in ids[end - length + 1 : end]]) + heads[ids[end]]
        of_use[number] = keys.setdefault(key, len(keys))
    pairs = np.unique(np.stack([of_use, text.papers[uses.ends]]), axis=1)
    often = np.bincount(pairs[0], minlength=len(keys)) >= FEWEST_PAPERS
    order = np.argsort(of_use, kind="stable")
    order = order[often[of_use[order]]]
    cuts = np.flatnonzero(np.diff(of_use[order])) + 1
    return [group for group in np.split(order, cuts) if len(group)]


def _phrase(text: _Text, uses: _Found, group: Numbers) -> Phrase | None:
    """The phrase of these uses, or None where they are no name of anything."""
    ends, lengths = uses.ends[group], uses.lengths[group]
    spelling = _spelling(text, ends, lengths)
    words = tuple(spelling.lower().split())
    if not is_name(words):
        return None
    before = uses.before[group]
    extended = before[before >= 0]
    if len(extended) and np.bincount(extended).max() > TORN * len(group):
        return None
    if len(extended) > (1 - ALONE) * len(group):
        return None
    if words[0].endswith("ing") and uses.modified[group].mean() < AFTER_NOUN:
        return None
    papers, parts = text.papers[ends], text.parts[ends]
    return Phrase(
        text=spelling,
        words=words,
        papers=frozenset(papers.tolist()),
        by_panel=tuple(frozenset(papers[parts == code].tolist()) for code in range(NO_PANEL)),
        titles=len(set(papers[parts == TITLE].tolist())),
    )


def _spelling(text: _Text, ends: Numbers, lengths: Numbers) -> str:
    """The commonest spelling; capitals of titles and of first words are not the word's own."""

    def spelt(place: int) -> str:
        word = text.words[place]
        small = _small(word) if text.firsts[place] else word
        return word if small not in text.written and word in text.written else small

    spellings = Counter(
        " ".join(map(spelt, range(end - length + 1, end + 1)))
        for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
    )
    return max(spellings, key=lambda spelling: (spellings[spelling], spelling))


def _part(word: str) -> str:
    return word.replace("-", "")


def _small(word: str) -> str:
    """Without a capital, where the first letter is the only one."""
    return word.lower() if word[1:] == word[1:].lower() else word


@lru_cache(maxsize=50_000)
def singular(word: str) -> str:
    """A word without the ending of the plural, to tell that two spellings are one; not to be shown."""
    if len(word) < 4 or not word.endswith("s") or word[-2] in "sui":
        return word
    return word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]


def is_name(words: Sequence[str]) -> bool:
    """Whether words name something: one of them is not of every field, and a lone one is a noun."""
    if all(map(is_generic, words)) or _is_participle(words[-1]) or "named" in words[1:]:
        return False
    return len(words) > 1 or (len(words[0]) > 2 and not words[0].endswith("ing"))


def _is_participle(word: str) -> bool:
    """ "information expressed", "models trained": the noun stands before; "seed" and "need" are nouns."""
    return word.endswith("ed") and not word.endswith("eed") and len(word) > 3


@lru_cache(maxsize=50_000)
def is_generic(word: str) -> bool:
    return word in lists.GENERIC or singular(word) in lists.GENERIC or word in lists.WEAK_MODIFIERS


@lru_cache(maxsize=50_000)
def is_content(word: str) -> bool:
    """Whether a word in small letters can be part of a phrase at all."""
    if len(word) < 2 or not word[0].isalpha() or word in lists.FUNCTION_WORDS or word[-4:].isdecimal():
        return False
    if word.endswith(("'s", "’s")) or _is_adverb(word):
        return False
    return _stem(word) not in lists.VERB_STEMS


def _is_adverb(word: str) -> bool:
    return word.endswith("ly") and len(word) > 4


def _stem(word: str) -> str:
    """A verb's plain form, where the word is that or its form with -s."""
    if word in lists.VERB_STEMS or not word.endswith("s"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith("es") and word[:-2] in lists.VERB_STEMS else word[:-1]
