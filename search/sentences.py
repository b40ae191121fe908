"""Text to sentences with spans: Punkt, told about scientific abbreviations, needing no download."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

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
"""Words with a capital only where a sentence begins: after "et al." or "vitamin C." they decide."""

_OTHER_STOPS = "。｡．！？؟۔।॥።։"
"""Stops of other scripts; no space need follow them."""
_OTHER_STOP = re.compile(rf"[{_OTHER_STOPS}]+[”’」』）)\]]*")
_LOST_SPACE = re.compile(
    r"(?<=[a-z)\]%])[.!?](?=(?:" + "|".join(sorted(word.capitalize() for word in STARTERS)) + r")[ ,])"
)
"""The stop in "a new model.We train it"."""
_LINE_END = re.compile(rf"[.!?{_OTHER_STOPS}][\"'”’»)\]]*\s*$")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘,;:/]+(?=\.$)")
_WORD = re.compile(r"\w")
_LIST_NUMBER = re.compile(r"\(?\d{1,2}\.")
_ASIDE = re.compile(r"[^?!]?[?!][\"”’)]?\s+[a-z]")
_LONGEST = 20_000

_LABEL = re.compile(r"^[ \t]*(?:abstract|summary)\b[ \t]*(?:[:.—–-]+[ \t]*|(?=\n)|$)", re.I | re.M)
_TITLE_LABEL = re.compile(r"^\s*title[ \t]*[:—–-][ \t]*", re.I)
_AFTER_ABSTRACT = re.compile(
    r"^[ \t]*(?:key ?words|index terms|ccs concepts|1?\.?[ \t]*introduction[ \t]*$).*", re.I | re.M | re.S
)
_CUT_WORD = re.compile(r"(\w+)-[ \t]*\n[ \t]*([a-z]\w*)")
_RUNS_ON = re.compile(
    r"(?:[.,;:。-]|\b(?:a|an|and|are|by|for|from|in|is|of|on|or|that|the|to|we|which|with))\s*$"
)
_KEEPS_HYPHEN = frozenset(
    "self non pre post multi cross semi co re sub inter well state end low high long".split()
)


@cache
def _punkt() -> Any:
    # Loaded when first needed: nltk brings all of SciPy along, which takes a second or more.
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    parameters = PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS)
    for word in STARTERS:
        parameters.ortho_context[word] = 1 << 5  # Punkt's mark for "seen in lower case within a sentence"
    return PunktSentenceTokenizer(parameters)


def split(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text; `text[s.start:s.end] == s.text` and only white space lies between them."""
    return tuple(Sentence(text[start:end], start, end) for start, end in _spans(text))


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
    sentences = tuple(_with_hint(paper.abstract, start, end, paper.sections) for start, end in spans)
    return replace(paper, sentences=sentences)


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


def _with_hint(text: str, start: int, end: int, sections: Iterable[Section]) -> Sentence:
    facet = next((section.facet for section in sections if section.start <= start < section.end), None)
    return Sentence(text[start:end], start, end, facet=facet, hinted=facet is not None)


def _spans(text: str, edges: Iterable[int] = ()) -> list[tuple[int, int]]:
    """Spans of the sentences; one also ends at each of `edges`."""
    edges = {0, len(text), *edges}
    lines = _lines(text)
    pieces = pairwise(sorted(edges | (lines or _breaks(text))))
    if not lines:
        return _tidy(text, (span for piece in pieces for span in _sentences(text, *piece)))
    by_line = _tidy(text, pieces)
    by_words = _tidy(text, (span for piece in by_line for span in _sentences(text, *piece)))
    # One sentence on each line is the author's own split; a few lines of several are paragraphs.
    return by_line if len(by_words) < 1.5 * len(by_line) else by_words


def _lines(text: str) -> set[int]:
    """Where lines end, if there are several and each but the last ends with a full stop."""
    lines = [line for line in text.split("\n") if line.strip()] if "\n" in text else []
    if len(lines) < 2 or not all(_LINE_END.search(line) for line in lines[:-1]):
        return set()
    return {place for place, character in enumerate(text) if character == "\n"}


def _breaks(text: str) -> set[int]:
    """Where a sentence ends for reasons Punkt does not know: blank lines, other scripts, lost spaces."""
    breaks = {match.end() for match in _LOST_SPACE.finditer(text)}
    breaks |= {match.end() for match in _BLANK_LINE.finditer(text)}
    if len(text) > _LONGEST:  # Punkt is not made for a whole book in one piece
        spaces = (text.find(" ", place) + 1 for place in range(_LONGEST, len(text), _LONGEST))
        breaks |= {place for place in spaces if place}
    if not text.isascii():
        breaks |= {match.end() for match in _OTHER_STOP.finditer(text)}
    return breaks


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Punkt's spans within a stretch of the text, never parted after the likes of "i.e."."""
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
    """Whether no sentence ends here: after "i.e.", after a number in a list ("2. We"), in "why?" they ask."""
    word = _LAST_WORD.search(text, max(start, end - 20), end)
    if word and word.group().lower() in NEVER_LAST:
        return True
    return bool(_LIST_NUMBER.fullmatch(text, start, end) or _ASIDE.match(text, max(start, end - 2)))


def _tidy(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans without outer white space; what has no letter or digit is the tail of the one before."""
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


def parse_pasted(text: str) -> tuple[str, str]:
    """The title and abstract in what a user pasted, with the line breaks of a PDF repaired.

    The first line is the title, unless the text only starts in the middle of things: a first line that
    runs on into the next, or one that ends with a full stop, belongs to the abstract.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u00ad", "").strip()
    labelled = _TITLE_LABEL.match(text) is not None
    text = _TITLE_LABEL.sub("", text)
    label = _LABEL.search(text)
    if label:
        title, rest = _first_title(text[: label.start()]), text[label.end() :]
    else:
        title = _first_title(text)
        if not labelled and (len(title) > 300 or _RUNS_ON.search(title)):
            title = ""
        rest = text[len(title) :]
    return " ".join(_unwrap(title).split()), _unwrap(_AFTER_ABSTRACT.sub("", rest))


def _first_title(text: str) -> str:
    """The first line, with the lines that continue it in lower case up to the first blank one."""
    block = _BLANK_LINE.split(text, maxsplit=1)[0]
    title, *others = block.split("\n")
    for line in others:
        if not line.lstrip()[:1].islower():
            break
        title += "\n" + line
    return title


def _unwrap(text: str) -> str:
    """One line per paragraph, words cut at line ends made whole; a sentence per line stays so."""
    text = text.strip()
    if _lines(text):
        return text
    text = _CUT_WORD.sub(lambda cut: _mend(cut, text), text)
    paragraphs = (" ".join(paragraph.split()) for paragraph in _BLANK_LINE.split(text))
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _mend(cut: re.Match[str], text: str) -> str:
    """A cut word keeps its hyphen if it is written so elsewhere or its first part is a usual prefix."""
    left, right = cut.groups()
    keeps = left.lower() in _KEEPS_HYPHEN or f"{left}-{right}".lower() in text.lower()
    return f"{left}-{right}" if keeps else left + right
