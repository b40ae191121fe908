"""BibTeX that LaTeX, Zotero and JabRef read alike."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from search.exports.references import (
    Citation,
    container_of,
    editors_alone,
    kind_of,
    make_keys,
    one_line,
    place_in,
)
from search.names import divide, is_group, is_suffix
from search.types import Kind, Paper


def write_bibtex(citations: Sequence[Citation]) -> str:
    keys = make_keys([citation.paper for citation in citations])
    return "\n".join(_entry(key, citation) for key, citation in zip(keys, citations, strict=True))


_TYPES = {
    Kind.ARTICLE: ("article", "journal", "publisher"),
    Kind.NEWS: ("article", "journal", "publisher"),
    Kind.PROCEEDINGS_PAPER: ("inproceedings", "booktitle", "publisher"),
    Kind.CHAPTER: ("incollection", "booktitle", "publisher"),
    Kind.ENTRY: ("incollection", "booktitle", "publisher"),
    Kind.BOOK: ("book", "", "publisher"),
    Kind.PROCEEDINGS: ("proceedings", "", "publisher"),
    Kind.THESIS: ("phdthesis", "", "school"),
    Kind.REPORT: ("techreport", "", "institution"),
    Kind.MANUSCRIPT: ("unpublished", "", "institution"),
    Kind.DATASET: ("dataset", "howpublished", "publisher"),
    Kind.SOFTWARE: ("software", "howpublished", "publisher"),
    Kind.WEB_PAGE: ("online", "howpublished", "organization"),
    Kind.PATENT: ("patent", "", "holder"),
    Kind.STANDARD: ("standard", "", "organization"),
}
"""Entry type, field of the venue, field of the publisher; BibTeX prints types it does not know as @misc."""
_OTHER = ("misc", "howpublished", "publisher")
_NAMED = (Kind.NEWS, Kind.ENTRY, Kind.PREPRINT, Kind.PRESENTATION)
"""Kinds that share their entry type with another and are named beside it."""
_NUMBERED = (Kind.REPORT, Kind.PATENT, Kind.STANDARD)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def _entry(key: str, citation: Citation) -> str:
    paper, kind = citation.paper, kind_of(citation.paper)
    entry, venue, publisher = _TYPES.get(kind, _OTHER)
    if entry == "phdthesis" and "master" in paper.reference.genre.lower():
        entry = "mastersthesis"
    fields = {
        "title": _protect(paper),
        "author": "" if editors_alone(paper) else " and ".join(_name(name) for name in paper.authors),
        "editor": " and ".join(_name(name) for name in paper.reference.editors),
        "year": str(paper.year or ""),
        venue: _latex(container_of(paper) if venue in ("journal", "booktitle") else place_in(paper)),
        **_printed(paper, kind, publisher),
        "doi": _verbatim(paper.doi),
        "eprint": _verbatim(paper.arxiv_id),
        "archiveprefix": "arXiv" if paper.arxiv_id else "",
        "pmid": _verbatim(paper.pmid),
        "pmcid": _verbatim(paper.reference.pmcid),
        "url": _verbatim(paper.url),
        "urldate": paper.reference.accessed,
        "keywords": _keywords(citation.keywords),
        "abstract": _latex(paper.abstract),
        "abstractfrom": _latex(paper.reference.abstract_from),
        "abstractlicence": _latex(paper.reference.abstract_licence),
        "status": _latex(paper.reference.status),
        "annote": _latex(citation.note),
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if name and value]
    if len(paper.reference.date) >= 7:
        lines.insert(2, f"  month = {_MONTHS[int(paper.reference.date[5:7]) - 1]}")
    return f"@{entry}{{{key},\n" + ",\n".join(lines) + "\n}\n"


def _printed(paper: Paper, kind: Kind, publisher: str) -> dict[str, str]:
    """The fields that come from the reference."""
    reference = paper.reference
    own = kind in _NUMBERED
    at_home = kind in (Kind.THESIS, Kind.REPORT, Kind.MANUSCRIPT)
    by = reference.publisher or (paper.venue if at_home else "")
    return {
        "date": reference.date if len(reference.date) > 7 else "",
        "entrysubtype": kind.value if kind in _NAMED else "",
        "type": _latex("" if reference.genre in _IMPLIED else reference.genre),
        "volume": _latex(reference.volume),
        "number": _latex(reference.number if own else reference.issue),
        "pages": _latex(reference.pages).replace("-", "--")
        if _RANGE.fullmatch(reference.pages)
        else _latex(reference.pages),
        "eid": "" if own else _latex(reference.number),
        "series": _latex(reference.series),
        "edition": _latex(reference.edition),
        publisher: _latex(by),
        "address": _latex(reference.place),
        "eventtitle": _latex(reference.event),
        "shortjournal": _latex(reference.short_venue),
        "issn": ", ".join(reference.issn),
        "isbn": ", ".join(reference.isbn),
        "language": _latex(reference.language),
        "copyright": _latex(reference.licence),
        "note": _latex(reference.note),
    }


_IMPLIED = ("PhD thesis", "Master's thesis")
"""What the entry type says already."""
_RANGE = re.compile(r"[A-Za-z]{0,4}\d{1,9}[A-Za-z]{0,4}-[A-Za-z]{0,4}\d{1,9}[A-Za-z]{0,4}")


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\textbraceleft{}",  # \{ would unbalance the braces around the value
        "}": r"\textbraceright{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: "\\" + character for character in "&%$#_"},
    }
)


def _latex(text: str) -> str:
    """One line of text with LaTeX's own characters escaped; accents stay as Unicode."""
    # An empty group keeps LaTeX from setting two of these as a dash or a quotation mark.
    return _PAIR.sub(r"\1{}", one_line(text).translate(_LATEX))


_PAIR = re.compile(r"([-'`])(?=\1)")


def _keywords(fields: Sequence[str]) -> str:
    """Keywords between commas; a comma behind the only one shows that it is one."""
    return ", ".join(map(_keyword, fields)) + ("," if len(fields) == 1 and ";" in fields[0] else "")


def _keyword(field: str) -> str:
    """A keyword, in braces if it holds what keywords are parted by."""
    return f"{{{_latex(field)}}}" if "," in field or ";" in field else _latex(field)


def _protect(paper: Paper) -> str:
    """The title; words with inner capitals, and names that the abstract shows to be names, keep theirs."""
    names = _names_in(paper.abstract)
    return " ".join(
        f"{{{_latex(word)}}}" if any(map(str.isupper, word[1:])) or _bare(word) in names else _latex(word)
        for word in paper.title.split()
    )


_MARKS = string.punctuation + "“”‘’«»…–—¿¡"


def _bare(word: str) -> str:
    """A word without the marks around it, and without the "s" of a genitive."""
    return word.strip(_MARKS).removesuffix("'s").removesuffix("’s")


_ENDS = (".", "!", "?", ":", ";", "”", '"', ")")


def _names_in(abstract: str) -> frozenset[str]:
    """Words with a capital within a sentence that never stand without it."""
    words = abstract.split()
    bare = [_bare(word) for word in words]
    capital = {
        word
        for before, word in zip(words, bare[1:], strict=False)
        if word[:1].isupper() and len(word) > 1 and not before.endswith(_ENDS)
    }
    return frozenset(capital - {word.capitalize() for word in bare if word[:1].islower()})


def _name(name: str) -> str:
    """A name in BibTeX's order, "Family, Jr., Given"; what BibTeX would take apart stands in braces."""
    known = divide(name)
    if not known.given:
        return _undivided(name)
    parts = [known.family, known.suffix, known.given] if known.suffix else [known.family, known.given]
    if any(_AND.search(part) for part in parts):
        return f"{{{_latex(name)}}}"
    return ", ".join(f"{{{_latex(part)}}}" if "," in part else _latex(part) for part in parts)


def _undivided(name: str) -> str:
    """A group in braces, a person as the name stands; a "Jr." at its end would be taken for the family."""
    words = name.split()
    if (" " in name.strip() and is_group(name)) or _AND.search(name) or "," in name:
        return f"{{{_latex(name)}}}"
    if len(words) > 2 and is_suffix(words[-1]):
        return _latex(f"{words[-2]}, {words[-1]}, {' '.join(words[:-2])}")
    return _latex(name)


_AND = re.compile(r"\band\b", re.IGNORECASE)


def _verbatim(text: str) -> str:
    """An identifier or address: its characters are not LaTeX, but it must not end the value."""
    return one_line(text).replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C").replace(" ", "%20")
