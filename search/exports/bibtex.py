"""BibTeX that LaTeX, Zotero and JabRef read alike."""

from __future__ import annotations

import re
from collections.abc import Sequence

from search.exports.references import Reference, kind_of, make_keys, one_line


def write_bibtex(references: Sequence[Reference]) -> str:
    keys = make_keys([reference.paper for reference in references])
    return "\n".join(_entry(key, reference) for key, reference in zip(keys, references, strict=True))


def _entry(key: str, reference: Reference) -> str:
    paper = reference.paper
    kind, venue = {
        "conference": ("inproceedings", "booktitle"),
        "journal": ("article", "journal"),
        "": ("misc", "howpublished"),
    }[kind_of(paper)]
    fields = {
        "title": _protect(paper.title),
        "author": " and ".join(_name(name) for name in paper.authors),
        "year": str(paper.year or ""),
        venue: _latex(paper.venue),
        "doi": _verbatim(paper.doi),
        "eprint": _verbatim(paper.arxiv_id),
        "archiveprefix": "arXiv" if paper.arxiv_id else "",
        "pmid": _verbatim(paper.pmid),
        "url": _verbatim(paper.url),
        "keywords": ", ".join(_keyword(field) for field in paper.fields),
        "abstract": _latex(paper.abstract),
        "note": _latex(reference.note),
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@{kind}{{{key},\n" + ",\n".join(lines) + "\n}\n"


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


def _keyword(field: str) -> str:
    """A keyword, in braces if it holds what keywords are parted by."""
    return f"{{{_latex(field)}}}" if "," in field or ";" in field else _latex(field)


def _protect(title: str) -> str:
    """A title in which words with inner capitals keep them: {BERT}, {PubMed}."""
    words = (
        f"{{{_latex(word)}}}" if any(map(str.isupper, word[1:])) else _latex(word) for word in title.split()
    )
    return " ".join(words)


def _name(name: str) -> str:
    """A name BibTeX does not take apart where it is not "Family, Given", and never at an "and"."""
    whole = "," not in name and " " in name.strip()
    braced = whole and not _is_person(name)
    parts = name.split(", ")
    if len(parts) == 3:  # BibTeX wants "Family, Jr., Given"
        name = ", ".join([parts[0], parts[2], parts[1]])
    text = _latex(name)
    if braced or re.search(r"\band\b", name, re.I):
        return f"{{{text}}}"
    return text


def _is_person(name: str) -> bool:
    """Whether an undivided name looks like given and family name, not like a group of people."""
    return not re.search(r"\b(?:team|group|collaboration|consortium|society|committee|the|of)\b", name, re.I)


def _verbatim(text: str) -> str:
    """An identifier or address: its characters are not LaTeX, but it must not end the value."""
    return one_line(text).replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C").replace(" ", "%20")
