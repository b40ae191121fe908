"""The language of an abstract, by its script and its commonest words: enough to keep a corpus in one."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_WORDS = {
    "en": "the of and to in is that for we this with are by on as be from which an our at these can has",
    "de": "der die und das den von mit ist des ein eine nicht zu auf für im werden sich dem wird durch auch",
    "fr": "le la les des et une est dans pour que sur par nous avec qui ce cette sont aux du au ces ont",
    "es": "el la los las y del que en una para con por se un como este esta es son más entre sus al lo",
    "pt": "o os as e da do dos das que em uma para com por um como este esta são não ao na no mais foi",
    "it": "il lo la gli di e che per una con sono della nel del le un questo questa è dei alla si delle",
    "nl": "de het een en van in is dat op te voor met zijn die niet aan wordt door deze worden ook naar",
}
"""Frequent words of each language. Some are in several lists; the language with the most of them wins."""
_MARKS = {code: frozenset(words.split()) for code, words in _WORDS.items()}
_SCRIPTS = {
    "CYRILLIC": "ru", "GREEK": "el", "ARABIC": "ar", "HEBREW": "he", "DEVANAGARI": "hi", "HANGUL": "ko",
    "HIRAGANA": "ja", "KATAKANA": "ja", "CJK": "zh", "THAI": "th", "GEORGIAN": "ka", "ARMENIAN": "hy",
}  # fmt: skip
_SAMPLE = 2000
"""Characters that are looked at."""
_FEWEST_WORDS, _CLEAR_LEAD = 3, 1.3
"""Frequent words a text must have, and their least ratio to those of the second language; chosen by hand."""
_JAPANESE = 0.1
"""Share of letters in the two Japanese scripts from which a text is Japanese; chosen by hand."""
_TOKEN = re.compile(r"[^\W\d_]+")


def guess_language(text: str) -> str:
    """An ISO 639-1 code; empty when the text is too short or too mixed to tell."""
    sample = text[:_SAMPLE]
    if not sample.isascii():
        by_script = _by_script(sample)
        if by_script:
            return by_script
    tokens = Counter(_TOKEN.findall(sample.lower()))
    hits = {code: sum(tokens[word] for word in marks) for code, marks in _MARKS.items()}
    best, second = sorted(hits, key=lambda code: -hits[code])[:2]
    return best if hits[best] >= _FEWEST_WORDS and hits[best] >= _CLEAR_LEAD * hits[second] else ""


def _by_script(text: str) -> str:
    """The language of the script that most letters are in, if it is not Latin."""
    scripts = Counter(unicodedata.name(letter, "").split(" ")[0] for letter in text if letter.isalpha())
    if not scripts:
        return ""
    # Japanese texts mix Chinese characters with two scripts of their own: some letters of those decide.
    if scripts["HIRAGANA"] + scripts["KATAKANA"] > _JAPANESE * scripts.total():
        return "ja"
    return _SCRIPTS.get(scripts.most_common(1)[0][0], "")
