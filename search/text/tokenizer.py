"""Text -> search terms, made for science: formulas, Greek letters, joined words, plurals."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

TOKENIZER = "science-1"
"""Goes into the manifest: raise it whenever `tokenize` gives other terms."""

_STOP_WORDS = frozenset(
    "a an and are as at be been but by can for from had has have in into is it its of on or our s such t "
    "that the their then there these they this those to was we were which while with".split()
)
_GREEK = {
    letter: unicodedata.name(letter).rsplit(" ", 1)[1].lower().replace("lamda", "lambda")
    for letter in "αβγδεζηθικλμνξοπρστυφχψω"
} | {"ς": "sigma"}
_PLAIN = str.maketrans(_GREEK | dict.fromkeys("‐‑‒–−", "-"))
_MARKS = re.compile(r"[\u0300-\u036f]")

_WORD = re.compile(
    r"[\u3040-\u30ff\u4e00-\u9fff]"  # scripts without spaces: a character is a term
    r"|[cf](?:\+\+|#)(?!\w)"  # C++, C#, F#
    r"|[^\W_]+(?:(?:[-._+]|(?<=\d),(?=\d)|(?<=\bn),(?=n\b))[^\W_]+)*"  # also joined: 1,2-dichloroethane
)
_JOINT = re.compile(r"[-_+]|(?<!\d)[.,]|[.,](?!\d)|,(?!\d{3}(?!\d))")
"""Where a joined word comes apart; the point of 3.5 and the comma of 1,000 do not."""


def tokenize(text: str) -> list[str]:
    """The search terms of a text, in order and with repetitions.

    Accents, ligatures, subscripts and Greek letters become plain letters (H₂O is h2o, β is beta).
    A joined word gives its parts and the whole, so "pre-training" is found by "pretraining" and by
    "training"; a plural gives its singular; function words are left out.
    """
    if not text.isascii():
        text = _MARKS.sub("", unicodedata.normalize("NFKD", text)).lower().translate(_PLAIN)
    terms: list[str] = []
    for word in _WORD.findall(text.lower()):
        if word.isalnum():
            if word not in _STOP_WORDS:
                terms.append(_singular(word))
        else:
            terms += _come_apart(word)
    return terms


def _come_apart(word: str) -> list[str]:
    """The parts of a joined word and the whole: "gpt-3.5" is gpt, 3.5 and gpt3.5."""
    parts = [part.replace(",", "") for part in _JOINT.split(word) if part] if word[-1] not in "+#" else [word]
    terms = [_singular(part) for part in parts if part not in _STOP_WORDS]
    whole = "".join(parts)
    if len(parts) > 1 and not whole.isdecimal():
        terms.append(_singular(whole))
    return terms


def _singular(word: str) -> str:
    """Harman's S-stemmer: the plural ending and nothing else ("studies" is study, "corpus" stays)."""
    if len(word) < 4 or word[-1] != "s" or word[-2] in "sui":
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    return word[:-1]


def weigh_terms(texts: Iterable[tuple[str, float]]) -> dict[str, float]:
    """A query from several texts, each with its weight; a term repeated counts again, as in BM25."""
    terms: Counter[str] = Counter()
    for text, weight in texts:
        for term in tokenize(text):
            terms[term] += weight  # type: ignore[assignment]
    return dict(terms)
