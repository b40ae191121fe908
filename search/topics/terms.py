"""Which phrases tell a panel or a cluster from the rest of a topic."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.text.tokenizer import tokenize
from search.topics.phrases import FEWEST_PAPERS, Phrase, is_generic, singular
from search.topics.values import Term
from search.types import PANELS, Facet

Floats = NDArray[np.float64]
Usual = Callable[[str], float]
"""Search term -> the share of the corpus's papers that use it."""

TERMS = 8
"""Most terms shown for each panel."""
NAMES = 2
"""Phrases that make the name of a cluster."""
LIFT = 1.2
"""A topic must use a phrase at least this many times as often as the corpus uses its rarest word."""
LIFT_OF_WORD = 6.0
"""The same for a word alone. Both were chosen on ten topics of the ACL corpus."""
LIFT_IN_CLUSTER = 0.3
"""The same in the name of a cluster, which is told from the other clusters rather than from the corpus.
Chosen by hand."""
LONGER = 1.5
"""Weight of a phrase of several words beside a word alone: it says more. Chosen by hand."""
MOST_LIFT = 64.0
"""Beyond this a term does not become more characteristic. Chosen by hand."""
TITLES = 3
"""Titles that must use a word alone, unless it is written in capitals: "rise" is in many abstracts and names
nothing, "sarcasm" is in titles, too. Chosen by hand."""
FAMILIAR = 1 / 30
"""Share of a topic's papers that must use a short form such as "WER", unless they spell it out: what fewer
use nobody can guess. Chosen on the topics of docs/studies/topic-terms.md."""
COMMON_IN_CLUSTER = 0.08
"""Share of a cluster's papers that a phrase of its name must be in. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A phrase worth showing."""

    phrase: Phrase
    meant: frozenset[str]
    """Its words in the singular, short forms spelt out where the topic's papers do so."""
    weight: float
    own: bool
    """Whether it is the topic's own rather than the corpus's."""


def worth_showing(
    phrases: Sequence[Phrase], papers: int, asked: Iterable[str], usual: Usual
) -> list[Weighed]:
    """The phrases that say more than was asked, with how much each is the topic's own."""
    known, long_forms = {singular(word) for word in asked}, _long_forms(phrases)
    kept = []
    for phrase in phrases:
        meant = _meant(phrase, long_forms)
        if (
            _is_short_form(phrase)
            and len(phrase.papers) < FAMILIAR * papers
            and not _spelt(phrase, long_forms)
        ):
            continue
        lift = _lift(phrase, meant - known, papers, usual)
        if lift >= LIFT_IN_CLUSTER:
            kept.append(Weighed(phrase, meant, _weight(phrase, lift), lift >= LIFT))
    return sorted(kept, key=lambda each: each.phrase.text)


def _long_forms(phrases: Iterable[Phrase]) -> dict[str, Phrase]:
    """Initials -> the most frequent phrase with them: "wsd", "absa"."""
    found: dict[str, Phrase] = {}
    for phrase in phrases:
        parts = _parts(phrase.words)
        initials = "".join(part[0] for part in parts)
        if len(parts) > 1 and (initials not in found or len(phrase.papers) > len(found[initials].papers)):
            found[initials] = phrase
    return found


def _is_short_form(phrase: Phrase) -> bool:
    return len(phrase.words) == 1 and phrase.text.removesuffix("s").isupper()


def _spelt(phrase: Phrase, long_forms: Mapping[str, Phrase]) -> bool:
    return phrase.text.removesuffix("s").lower() in long_forms


def _parts(words: Iterable[str]) -> list[str]:
    return [part for word in words for part in word.split("-") if part]


def _meant(phrase: Phrase, long_forms: Mapping[str, Phrase]) -> frozenset[str]:
    meant: set[str] = set()
    for word, shown in zip(phrase.words, phrase.text.split(), strict=True):
        short = shown.removesuffix("s").lower()  # of "KGs", too
        long = long_forms.get(short) if _capitals(shown) > 1 else None
        meant |= {singular(part) for part in _parts(long.words if long else (word,))}
    return frozenset(meant)


def _capitals(text: str) -> int:
    return sum(letter.isupper() for letter in text)


def _lift(phrase: Phrase, own: frozenset[str], papers: int, usual: Usual) -> float:
    """How many times as often the topic uses a phrase as the corpus uses its rarest word; `own` is what was
    not asked. 0 where it says nothing."""
    if all(map(is_generic, own)):
        return 0.0
    rarest = min((usual(term) for word in own for term in tokenize(word)), default=0.0)
    lift = len(phrase.papers) / papers / max(rarest, 1 / MOST_LIFT**2)
    if len(phrase.words) > 1:
        return lift
    return lift if lift >= LIFT_OF_WORD and _is_named(phrase) else 0.0


def _weight(phrase: Phrase, lift: float) -> float:
    longer = LONGER if len(phrase.words) > 1 else 1.0
    return math.log2(min(1 + lift, MOST_LIFT)) * (1 + min(phrase.titles, TITLES) / TITLES) * longer


def _is_named(phrase: Phrase) -> bool:
    """Whether a word alone names something; "tweets" and "essays" are things that are worked with."""
    plural = singular(phrase.words[0]) != phrase.words[0]
    return (phrase.titles >= TITLES and not plural) or _capitals(phrase.text) > 1


def log_odds(own: Floats, rest: Floats) -> Floats:
    """How much more one part uses each phrase than the rest, in standard errors.

    Log-odds with an informative Dirichlet prior (Monroe, Colaresi and Quinn 2008): with y counts in the part,
    z counts in the rest, n and m their sums and a the prior (all counts together),
    d = log((y+a)/(n+A-y-a)) - log((z+a)/(m+A-z-a)), divided by sqrt(1/(y+a) + 1/(z+a)).
    """
    prior = own + rest
    everything = prior.sum()

    def odds(counts: Floats) -> Floats:
        return np.asarray(np.log((counts + prior) / (counts.sum() + everything - counts - prior + 1e-9)))

    return np.asarray((odds(own) - odds(rest)) / np.sqrt(1 / (own + prior) + 1 / (rest + prior)))


def terms_of_panels(phrases: Sequence[Weighed]) -> dict[Facet, tuple[Term, ...]]:
    """For each panel the phrases that its sentences use more than the others'; each phrase in one panel."""
    phrases = [each for each in phrases if each.own and any(each.phrase.by_panel)]
    if not phrases:
        return dict.fromkeys(PANELS, ())
    counts = np.array([[len(each) for each in every.phrase.by_panel] for every in phrases], float)
    total = counts.sum(axis=1)
    contrast = np.stack([log_odds(own, total - own) for own in counts.T], axis=1)
    weights = np.array([each.weight for each in phrases])
    best = contrast.argmax(axis=1)
    found: dict[Facet, tuple[Term, ...]] = {}
    for code, panel in enumerate(PANELS):
        own = counts[:, code]
        good = (best == code) & (own >= FEWEST_PAPERS)
        score = np.where(good, weights * np.sqrt(own) * (1 + np.maximum(contrast[:, code], 0)), 0)
        ranked = [phrases[k] for k in np.argsort(-score, kind="stable") if score[k] > 0]
        found[panel] = tuple(Term(each.phrase.text, each.phrase.papers) for each in distinct(ranked, TERMS))
    return found


def names_of_clusters(
    phrases: Sequence[Weighed], groups: Mapping[int, int], panel: int | None = None
) -> list[str]:
    """A name for each cluster: phrases that its papers use and the others do not; empty for none.

    `groups` gives the cluster of each paper by its place. With `panel`, a code as in `search.types`, only
    phrases count that the sentences of that panel use.
    """
    if panel is not None:
        phrases = [each for each in phrases if len(each.phrase.by_panel[panel]) >= FEWEST_PAPERS]
    sizes = Counter(groups.values())
    counts = np.zeros((len(sizes), len(phrases)))
    for column, each in enumerate(phrases):
        for place in each.phrase.papers & groups.keys():
            counts[groups[place], column] += 1
    used = counts.sum(axis=0) > 0
    phrases, counts = [each for each, is_used in zip(phrases, used, strict=True) if is_used], counts[:, used]
    weights = np.array([each.weight for each in phrases])
    total, taken, names = counts.sum(axis=0), list[Weighed](), []
    contrasts = np.array([log_odds(own, total - own) for own in counts])
    home = contrasts.argmax(axis=0) if len(phrases) else np.zeros(0, int)
    for number, (own, contrast) in enumerate(zip(counts, contrasts, strict=True)):
        least = max(FEWEST_PAPERS, COMMON_IN_CLUSTER * sizes[number])
        score = np.where((home == number) & (contrast > 0) & (own >= least), weights * contrast, 0)
        ranked = [phrases[k] for k in np.argsort(-score, kind="stable") if score[k] > 0]
        new = [each for each in ranked if not any(_is_part(each, other) for other in taken)]
        chosen = distinct(new, NAMES)
        taken += chosen
        names.append(", ".join(each.phrase.text for each in chosen))
    return names


def _is_part(one: Weighed, other: Weighed) -> bool:
    """Whether one phrase is the other with a word more: "neural network", "deep neural network"."""
    return one.meant <= other.meant or other.meant <= one.meant


def distinct(ranked: Iterable[Weighed], most: int) -> list[Weighed]:
    """The first phrases that do not say again what one before says."""
    kept: list[Weighed] = []
    for each in ranked:
        if not any(_overlap(each, other) for other in kept):
            kept.append(each)
        if len(kept) == most:
            break
    return kept


def _overlap(one: Weighed, other: Weighed) -> bool:
    """Whether two phrases share a word that is not of every field, or their noun."""
    shared = one.meant & other.meant
    return any(not is_generic(word) for word in shared) or (
        singular(one.phrase.words[-1]) == singular(other.phrase.words[-1])
    )
