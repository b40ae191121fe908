"""Papers as BibTeX, RIS, CSL-JSON, CSV and Markdown, each with the reason it was found in a note."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from search.errors import InputError
from search.types import Likeness, Paper, Results


@dataclass(frozen=True, slots=True)
class Reference:
    """One paper to be written out and what to note about it."""

    paper: Paper
    note: str = ""
    score: float | None = None
    likeness: Likeness | None = None


def export(results: Results, format: str) -> str:
    """A whole result set in one of FORMATS, in the order of the ranking."""
    references = [
        Reference(result.paper, result.reason, result.score, result.likeness) for result in results.results
    ]
    return write(references, format)


def cite(paper: Paper, format: str) -> str:
    """One paper in one of FORMATS."""
    return write([Reference(paper)], format)


def write(references: Sequence[Reference], format: str) -> str:
    """References in one of FORMATS."""
    if format not in FORMATS:
        raise InputError(f"There is no export format {format!r}: choose one of {', '.join(FORMATS)}.")
    return FORMATS[format](references)


# -- BibTeX


def _bibtex(references: Sequence[Reference]) -> str:
    keys = _keys([reference.paper for reference in references])
    return "\n".join(_entry(key, reference) for key, reference in zip(keys, references, strict=True))


def _entry(key: str, reference: Reference) -> str:
    paper = reference.paper
    kind, venue = {
        "conference": ("inproceedings", "booktitle"),
        "journal": ("article", "journal"),
        "": ("misc", "howpublished"),
    }[_kind(paper)]
    fields = {
        "title": _protect(paper.title),
        "author": " and ".join(_bibtex_name(name) for name in paper.authors),
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
    return _PAIR.sub(r"\1{}", _line(text).translate(_LATEX))


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


def _bibtex_name(name: str) -> str:
    """A name BibTeX does not take apart where it is not "Family, Given", and never at an "and"."""
    whole = "," not in name and " " in name.strip()
    braced = whole and not _is_person(name)
    parts = name.split(", ")
    text = _latex(
        ", ".join([parts[0], parts[2], parts[1]]) if len(parts) == 3 else name
    )  # Family, Jr., Given
    if braced or re.search(r"\band\b", name, re.I):
        return f"{{{text}}}"
    return text


def _is_person(name: str) -> bool:
    """Whether an undivided name looks like given and family name, not like a group of people."""
    return not re.search(r"\b(?:team|group|collaboration|consortium|society|committee|the|of)\b", name, re.I)


def _verbatim(text: str) -> str:
    """An identifier or address: its characters are not LaTeX, but it must not end the value."""
    return _line(text).replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C").replace(" ", "%20")


def _keys(papers: Iterable[Paper]) -> list[str]:
    """Citation keys like `lovelace2017learning`, each once."""
    seen: dict[str, int] = {}
    keys = []
    for paper in papers:
        key = _key(paper)
        seen[key] = seen.get(key, 0) + 1
        keys.append(key if seen[key] == 1 else f"{key}-{seen[key]}")
    return keys


def _key(paper: Paper) -> str:
    names = paper.authors[0].split(",")[0].split() if paper.authors else []
    words = [word for word in map(_plain, paper.title.split()) if len(word) > 3]
    family, word = _plain("".join(names[-1:])), "".join(words[:1])
    return f"{family}{paper.year or ''}{word}" or _plain(paper.id) or "paper"


def _plain(text: str) -> str:
    """Lower-case ASCII letters and digits of a text."""
    decomposed = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]", "", decomposed.lower())


# -- RIS


def _ris(references: Sequence[Reference]) -> str:
    return "".join(_record(reference) for reference in references)


def _record(reference: Reference) -> str:
    paper = reference.paper
    kind = {"conference": "CONF", "journal": "JOUR", "": "GEN"}[_kind(paper)]
    arxiv = f"arXiv:{paper.arxiv_id}" if paper.arxiv_id else ""
    pmid = f"PMID:{paper.pmid}" if paper.pmid else ""
    lines = [
        ("TY", kind),
        ("TI", paper.title),
        *(("AU", name) for name in paper.authors),
        ("PY", str(paper.year or "")),
        ("T2", paper.venue),
        ("DO", paper.doi),
        ("AN", arxiv or pmid),
        ("C1", pmid if arxiv else ""),
        ("UR", paper.url),
        *(("KW", field) for field in paper.fields),
        ("AB", paper.abstract),
        ("N1", reference.note),
    ]
    # A tag lasts until the line ends, so a line break in a value would start a wrong one.
    body = "".join(f"{tag}  - {_line(value)}\n" for tag, value in lines if value.strip())
    return body + "ER  - \n\n"


# -- CSL-JSON


def _csl_json(references: Sequence[Reference]) -> str:
    keys = _keys([reference.paper for reference in references])
    items = [_item(key, reference) for key, reference in zip(keys, references, strict=True)]
    return json.dumps(items, ensure_ascii=False, indent=1) + "\n"


def _item(key: str, reference: Reference) -> dict[str, Any]:
    paper = reference.paper
    kind = {"conference": "paper-conference", "journal": "article-journal", "": "article"}[_kind(paper)]
    item = {
        "id": key,
        "type": kind,
        "title": paper.title,
        "author": [_csl_name(name) for name in paper.authors],
        "issued": {"date-parts": [[paper.year]]} if paper.year else None,
        "container-title": paper.venue,
        "DOI": paper.doi,
        "PMID": paper.pmid,
        "archive": "arXiv" if paper.arxiv_id else "",
        "archive_location": paper.arxiv_id,
        "URL": paper.url,
        "keyword": _keywords(paper.fields),
        "abstract": paper.abstract,
        "note": reference.note,
    }
    return {name: value for name, value in item.items() if value}


def _keywords(fields: Sequence[str]) -> str:
    """Keywords in one text; semicolons part them, since a keyword may hold commas."""
    return "; ".join(fields) + (";" if len(fields) == 1 and "," in fields[0] else "")


def _csl_name(name: str) -> dict[str, str]:
    family, comma, given = name.partition(",")
    return {"family": family.strip(), "given": given.strip()} if comma else {"literal": name.strip()}


# -- CSV

_COLUMNS = (
    "rank score likeness id title authors year venue fields doi arxiv_id pmid url abstract note".split()
)


def _csv(references: Sequence[Reference]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(_row(rank, reference) for rank, reference in enumerate(references, start=1))
    return out.getvalue()


def _row(rank: int, reference: Reference) -> list[str]:
    paper = reference.paper
    cells = [
        str(rank),
        "" if reference.score is None else f"{reference.score:.3f}",
        reference.likeness.value if reference.likeness else "",
        paper.id,
        paper.title,
        "; ".join(paper.authors),
        str(paper.year or ""),
        paper.venue,
        "; ".join(paper.fields),
        paper.doi,
        paper.arxiv_id,
        paper.pmid,
        paper.url,
        paper.abstract,
        reference.note,
    ]
    return [_inert(cell) for cell in cells]


def _inert(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe goes before = + - @ and the like."""
    cell = cell.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    return "'" + cell if cell.lstrip()[:1] in ("=", "+", "-", "@") or cell[:1] in ("\t", "\n") else cell


# -- Markdown


def _markdown(references: Sequence[Reference]) -> str:
    return "".join(f"{rank}. {_bullet(reference)}" for rank, reference in enumerate(references, start=1))


def _bullet(reference: Reference) -> str:
    paper = reference.paper
    title, link = f"**{_escape(paper.title or paper.id)}**", _link(paper)
    facts = [_escape("; ".join(paper.authors)), _escape(paper.venue), str(paper.year or "")]
    lines = [f"[{title}]({link})" if link else title, ". ".join(fact for fact in facts if fact)]
    if reference.likeness and reference.score is not None:
        lines.append(f"*{reference.likeness.value} ({reference.score:.2f})*")
    return "  \n   ".join(line for line in (*lines, _escape(reference.note)) if line) + "\n"


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~$!&])", r"\\\1", _line(text))


def _link(paper: Paper) -> str:
    """Where the paper is: its own address if it is a web address, else through its DOI or arXiv id."""
    if re.match(r"https?://\S+$", paper.url):
        link = paper.url
    elif paper.doi:
        link = f"https://doi.org/{paper.doi}"
    else:
        link = f"https://arxiv.org/abs/{paper.arxiv_id}" if paper.arxiv_id else ""
    return re.sub(r"[()<>\s\\]", lambda found: f"%{ord(found[0]):02X}", link)


# -- all of them

_MEETING = re.compile(r"\b(?:proceedings|proc|conference|workshop|symposium|meeting|findings)\b", re.I)


def _kind(paper: Paper) -> str:
    """Whether it appeared at a "conference", in a "journal", or in no known place."""
    if not paper.venue.strip():
        return ""
    return "conference" if _MEETING.search(paper.venue) else "journal"


def _line(text: str) -> str:
    """The text on one line, without control characters."""
    shown = (" " if unicodedata.category(character) == "Cc" else character for character in text)
    return " ".join("".join(shown).split())


FORMATS: dict[str, Callable[[Sequence[Reference]], str]] = {
    "bibtex": _bibtex,
    "ris": _ris,
    "csl-json": _csl_json,
    "csv": _csv,
    "markdown": _markdown,
}
"""Every format by the name users give it."""

SUFFIXES = {"bibtex": "bib", "ris": "ris", "csl-json": "json", "csv": "csv", "markdown": "md"}
"""What a file of each format is called."""
