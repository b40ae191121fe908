"""Text to sentences with spans: Punkt, told about scientific abbreviations, needing no download."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

from search.text import punkt
from search.types import Paper, Section, Sentence

ABBREVIATIONS = frozenset(
    """
    e.g i.e eg ie cf c.f vs viz etc et al resp approx ca w.r.t i.i.d a.k.a a.s a.m p.m
    fig figs eq eqs eqn eqns tab sec secs sect ch chap app appx ref refs thm lem prop def cor alg
    no nos nr vol vols pp p ed eds edn proc trans conf symp dept univ inst rev
    dr drs prof mr mrs ms st jr sr ph.d m.sc b.sc m.d inc ltd co corp u.s u.k u.s.a
    sp spp ssp subsp var cv gen nov str ser fam
    jan feb mar apr jun jul aug sep sept oct dec min max avg std temp conc wt hr hrs sq
    """.split()
)
"""Lower case and without the final stop, as Punkt wants them."""

NEVER_LAST = frozenset(
    """
    e.g i.e eg ie cf c.f vs viz resp approx ca w.r.t fig figs eq eqs eqn eqns sec secs sect ref refs
    thm dr drs prof mr mrs ms vol
    """.split()
)
"""Abbreviations that never end a sentence, whatever follows."""

STARTERS = frozenset(
    """
    additionally all also although among an and another as at based because besides both but by
    compared consequently despite due during each experimental experiments extensive finally first firstly
    following for from furthermore given hence here how however if in indeed instead it its later
    many more moreover most motivated nevertheless next nonetheless not now on one or other our
    overall particularly previous recent recently results second secondly several similarly since so some
    specifically such surprisingly that the their then there thereby therefore these they third this those
    though through thus to today together two under unfortunately unlike until using we what when where
    whereas whether which while with without yet you
    """.split()
)
"""Words that have a capital letter only at the start of a sentence: one of them after "et al." or "vitamin
C." shows that a new sentence begins."""

_OTHER_STOPS = "。｡．！？؟۔।॥።։"
"""Stops of other scripts; no space need follow them."""
_OTHER_STOP = re.compile(rf"[{_OTHER_STOPS}]+[”’」』）)\]]*")
_LOST_SPACE = re.compile(
    r"(?<=[a-z)\]%])[.!?](?=(?:" + "|".join(sorted(word.capitalize() for word in STARTERS)) + r")[ ,])"
)
"""The stop in "a new model.We train it"."""
_LINE_END = re.compile(rf"[.!?{_OTHER_STOPS}][\"'”’»)\]]*\s*$")
BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_LAST_WORD = re.compile(r"(?<![^\s(\[\"'“‘,;:/])[^\s(\[\"'“‘,;:/]+(?=\.$)")
_WORD = re.compile(r"\w")
_LIST_NUMBER = re.compile(r"\(?\d{1,2}\.")
_ASIDE = re.compile(r"[^?!]?[?!][\"”’)]?\s+[a-z]")
_LONGEST = 20_000
"""Characters that Punkt gets in one piece; longer texts are cut at a space. Chosen by hand."""
_LONGEST_WORD = 300
"""Characters after which a word without end is cut, too; chosen by hand."""
_LONGEST_KEYWORDS = 20
"""Words of a title or a list of keywords, at most; chosen by hand."""
_LONGEST_ABSTRACT = 380
"""Words that the model reads at once, about: its 512 tokens. Longer texts are labelled part by part."""
_FEWEST_IN_A_PART = 4
"""Sentences of such a part; shorter paragraphs join the next. Chosen by hand: an abstract has some."""
_SEVERAL_PER_LINE = 1.5
"""Sentences per line, on average, from which lines are paragraphs, not one sentence each; chosen by hand."""


@cache
def _punkt() -> Any:
    module = punkt.load()
    parameters = module.PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS)
    for word in STARTERS:
        parameters.ortho_context[word] = 1 << 5  # Punkt's mark for "seen in lower case within a sentence"
    return module.PunktSentenceTokenizer(parameters)


def split(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text; `text[s.start:s.end] == s.text` and only white space lies between them."""
    return tuple(Sentence(text[start:end], start, end) for start, end in _spans(text))


def is_sentence(text: str) -> bool:
    """Whether this is more than a title or keywords: it ends like a sentence, or it is as long as one."""
    return bool(_LINE_END.search(text)) or len(text.split()) > _LONGEST_KEYWORDS


def parts_of(text: str, sentences: Sequence[Sentence]) -> list[slice]:
    """Which sentences are read together: all of an abstract; of a longer text each part of some sentences."""
    whole = [slice(0, len(sentences))]
    if sum(len(sentence.text.split()) for sentence in sentences) <= _LONGEST_ABSTRACT:
        return whole
    breaks = [match.end() for match in BLANK_LINE.finditer(text)] or sorted(line_ends(text))
    places = [bisect_left(sentences, place, key=lambda each: each.start) for place in breaks]
    edges = [0]
    for place in places:
        if place - edges[-1] >= _FEWEST_IN_A_PART and len(sentences) - place >= _FEWEST_IN_A_PART:
            edges.append(place)
    return [slice(*pair) for pair in pairwise([*edges, len(sentences)])]


def split_paper(paper: Paper) -> Paper:
    """The paper with its sentences; those its source gave are kept, sections become hinted facets.

    Without an abstract the title is the one sentence.
    """
    if paper.sentences:
        return paper if _fit(paper) else _joined(paper)
    if not paper.abstract.strip():
        start, end = _trimmed(paper.title, 0, len(paper.title))
        title = (Sentence(paper.title[start:end], start, end),) if start < end else ()
        return replace(paper, abstract="", sentences=title)
    edges = [edge for section in paper.sections for edge in (section.start, section.end)]
    spans = _spans(paper.abstract, edges)
    return replace(paper, sentences=tuple(_with_hints(paper.abstract, spans, paper.sections)))


def _fit(paper: Paper) -> bool:
    return all(paper.abstract[given.start : given.end] == given.text for given in paper.sentences)


def _joined(paper: Paper) -> Paper:
    """With an abstract made of the given sentences, for those that are not found in the given one."""
    given = [sentence for sentence in paper.sentences if sentence.text.strip()]
    ends = list(accumulate(len(sentence.text) + 1 for sentence in given))
    sentences = (
        replace(sentence, start=end - 1 - len(sentence.text), end=end - 1)
        for sentence, end in zip(given, ends, strict=True)
    )
    joined = " ".join(sentence.text for sentence in given)
    return split_paper(replace(paper, abstract=joined, sentences=tuple(sentences)))


def _with_hints(
    text: str, spans: Iterable[tuple[int, int]], sections: Iterable[Section]
) -> Iterator[Sentence]:
    """The sentences, each with the facet of the section it begins in; one pass over both, in order."""
    left = deque(sorted(sections, key=lambda section: section.start))
    for start, end in spans:
        while left and left[0].end <= start:
            left.popleft()
        facet = left[0].facet if left and left[0].start <= start else None
        yield Sentence(text[start:end], start, end, facet=facet, hinted=facet is not None)


def _spans(text: str, edges: Iterable[int] = ()) -> list[tuple[int, int]]:
    """Spans of the sentences; one also ends at each of `edges`."""
    edges = {0, len(text), *edges}
    lines = line_ends(text)
    pieces = pairwise(sorted(edges | (lines or _breaks(text))))
    if not lines:
        return _tidy(text, (span for piece in pieces for span in _sentences(text, *piece)))
    by_line = _tidy(text, pieces)
    by_words = _tidy(text, (span for piece in by_line for span in _sentences(text, *piece)))
    # One sentence on each line is the author's own split; lines of several sentences are paragraphs.
    return by_line if len(by_words) < _SEVERAL_PER_LINE * len(by_line) else by_words


def line_ends(text: str) -> set[int]:
    """Where lines end, if there are several and each but the last ends with a full stop."""
    lines = [line for line in text.split("\n") if line.strip()] if "\n" in text else []
    if len(lines) < 2 or not all(_LINE_END.search(line) for line in lines[:-1]):
        return set()
    return {place for place, character in enumerate(text) if character == "\n"}


def _breaks(text: str) -> set[int]:
    """Where a sentence ends for reasons Punkt does not know: blank lines, other scripts, lost spaces."""
    breaks = {match.end() for match in _LOST_SPACE.finditer(text)}
    breaks |= {match.end() for match in BLANK_LINE.finditer(text)}
    if len(text) > _LONGEST:  # Punkt is not made for a whole book in one piece
        for place in range(_LONGEST, len(text), _LONGEST):
            breaks.add(text.find(" ", place, place + _LONGEST_WORD) + 1 or place)
    if not text.isascii():
        breaks |= {match.end() for match in _OTHER_STOP.finditer(text)}
    return breaks


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Punkt's spans within a stretch of the text, never split after abbreviations such as "i.e."."""
    first: int | None = None
    try:
        spans = list(_punkt().span_tokenize(text[start:end]))
    except TimeoutError:  # nltk gives up on text that is not language; it stays in one piece
        spans = [(0, end - start)]
    for left, right in spans:
        first = start + left if first is None else first
        if start + right < end and _goes_on(text, first, start + right):
            continue
        yield first, start + right
        first = None
    if first is not None:
        yield first, end


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether the sentence goes on here: after "i.e.", after a number in a list ("2. We"), or after a
    question mark that a lower-case word follows ("why?" they ask)."""
    word = _LAST_WORD.search(text[max(start, end - 20) : end])
    if word and word.group().lower() in NEVER_LAST:
        return True
    return bool(_LIST_NUMBER.fullmatch(text, start, end) or _ASIDE.match(text, max(start, end - 2)))


def _tidy(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans without white space at the ends; one without a letter or digit is added to the one before."""
    tidy: list[tuple[int, int]] = []
    for span in spans:
        start, end = _trimmed(text, *span)
        if start >= end:
            continue
        if tidy and not _WORD.search(text, start, end):
            start = tidy.pop()[0]
        tidy.append((start, end))
    return tidy


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))
