"""Papers by what is typed: the letters of title, authors and years, then compared as in a folder."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from zlib import crc32

import duckdb
import numpy as np

from search.corpus.store.identity import normalise_title
from search.corpus.store.title_words import Batch, TitleWords
from search.databases import LOCKED
from search.types import Paper

MOST_WORDS = 60
"""Words of a title and its authors that are stored; a list of a thousand authors is cut. Chosen by hand."""
THREE = 3
_WORD = re.compile(r"[^\W_]+")


def letters(text: str) -> dict[int, float]:
    """Each word and each three letters in a row of it as numbers: words with slips share most of them."""
    found: dict[int, float] = {}
    for word in _words(text)[:MOST_WORDS]:
        marked = f" {word} "
        for start in range(max(len(marked) - THREE + 1, 1)):
            found.setdefault(_number(marked[start : start + THREE]), 1.0)
        found[_number(f"={word}")] = 3.0
    return found or {0: 1.0}


def shortened(found: dict[int, float]) -> dict[int, float]:
    """As it is stored: in a long title each letter counts less."""
    size = math.sqrt(sum(value * value for value in found.values()))
    return {number: value / size for number, value in found.items()}


def title_text(paper: Paper) -> str:
    return " ".join((paper.title, *paper.authors, str(paper.year or "")))


def closest(text: str, papers: Sequence[Paper], limit: int) -> list[int]:
    """Places of the papers whose titles, authors and years have the words of a text, closest first."""
    words = TitleWords([_batch(papers)], len(papers), _near)
    places, costs = words.find(text)
    phrase = normalise_title(text)
    order = []
    for place, cost in zip(places.tolist(), costs.tolist(), strict=True):
        title = normalise_title(papers[place].title)
        order.append((cost, phrase not in title, len(title), place))
    return [place for *_, place in sorted(order)[:limit]]


def _batch(papers: Sequence[Paper]) -> Batch:
    pairs = sorted(
        {(word, place) for place, paper in enumerate(papers) for word in _words(title_text(paper))}
    )
    words = list(dict.fromkeys(word for word, _ in pairs))
    number = {word: place for place, word in enumerate(words)}
    occurrences = np.array([number[word] for word, _ in pairs], np.int32)
    return words, occurrences, np.array([place for _, place in pairs], np.int32)


def _words(text: str) -> list[str]:
    return _WORD.findall(normalise_title(text))


def _number(text: str) -> int:
    """A number that Milvus takes; 0 is left for titles without a letter."""
    return 1 + crc32(text.encode("utf-8", "surrogatepass")) % (2**31 - 2)


def _near(words: Sequence[str], word: str, edits: int) -> dict[str, int]:
    query = """SELECT * FROM (SELECT word, damerau_levenshtein(word, ?) AS edits
        FROM (SELECT unnest(?::VARCHAR[]) AS word)) WHERE edits <= ?"""
    with duckdb.connect(":memory:", config=LOCKED) as connection:
        return dict(connection.execute(query, [word, list(words), edits]).fetchall())
