"""The fields of a paper, tidied: years, identifiers, links, names and keywords from whatever a source has."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from urllib.parse import unquote

from index_build.markup import in_one_line
from index_build.sources.names import split_names, tidy_names
from index_build.sources.rejects import BadRecord, Reason
from index_build.sources.sections import labelled
from search.types import Paper


def complete(paper: Paper) -> Paper:
    """The paper, if there is anything in it to search for, with the ids that its links and DOI hold."""
    paper = _without_placeholders(paper)
    if not paper.title and not paper.abstract:
        raise BadRecord(Reason.NO_TEXT)
    doi = paper.doi or (doi_of(paper.url) if "doi.org/" in paper.url else "")
    arxiv_id = paper.arxiv_id or arxiv_of(
        doi.removeprefix(_ARXIV_DOI) if doi.startswith(_ARXIV_DOI) else _after(paper.url, "arxiv.org/abs/")
    )
    pmid = paper.pmid or next((pmid_of(_after(paper.url, site)) for site in _PUBMED if site in paper.url), "")
    if (doi, arxiv_id, pmid) == (paper.doi, paper.arxiv_id, paper.pmid):
        return paper
    return replace(paper, doi=doi, arxiv_id=arxiv_id, pmid=pmid)


_NOTHING = frozenset(
    "nan|na|n/a|n.a.|#n/a|none|null|undefined|nil|-|--|—|.|?|no abstract|no abstract available|"
    "no abstract provided|abstract not available|abstract unavailable|not available|abstract|no title|"
    "no title available|<na>|\\n".split("|")
)
"""What programs write where they have no text, in lower case, without square brackets."""
_LONGEST_NOTHING = max(map(len, _NOTHING)) + 3
"""Characters up to which a text is looked up there: with brackets and a full stop around it."""


def is_nothing(text: str) -> bool:
    """Whether a text only says that there is none: "nan", "[No abstract available]"."""
    return len(text) <= _LONGEST_NOTHING and text.strip("[]. ").lower() in _NOTHING


def _without_placeholders(paper: Paper) -> Paper:
    if paper.abstract[:1] in "Uu" and not paper.sections and not paper.sentences:
        paper = replace(paper, abstract=labelled(paper.abstract))
    changes: dict[str, str | tuple[()]] = {
        name: "" for name in ("title", "abstract", "venue") if is_nothing(getattr(paper, name))
    }
    if "abstract" in changes and (paper.sections or paper.sentences):
        changes |= {"sections": (), "sentences": ()}
    return replace(paper, **changes) if any(getattr(paper, name) for name in changes) else paper  # type: ignore[arg-type]


_ARXIV_DOI = "10.48550/arxiv."
_PUBMED = ("pubmed.ncbi.nlm.nih.gov/", "ncbi.nlm.nih.gov/pubmed/")


def _after(url: str, site: str) -> str:
    return url.partition(site)[2] if site in url else ""


_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_EARLIEST, _LATEST = 1500, date.today().year + 2
"""Years that can be true: since there are printed papers, and papers may be dated ahead by a year or two."""


def year_of(value: object) -> int | None:
    """The first plausible year in a number or a date as text: 2017, "2017", "2017-05-01", "May 2017"."""
    if not isinstance(value, int):
        match = _YEAR.search(str(value)) if value else None
        value = int(match[1]) if match else 0
    return value if _EARLIEST <= value <= _LATEST else None


# A SICI, which older DOIs of Wiley and of the American societies hold, has "<pages:code>" in the middle.
_DOI = re.compile(
    r"10\.\d{4,9}(?:\.\d{1,9}){0,5}/"
    r"(?:[^\s\"<>\ud800-\udfff]|<[\w./-]{1,20}::?[\w./-]{1,30}>(?=\d)){1,2000}"
)
_ANGLES = re.compile(
    r"\\ifmmode[<>]\\else\\text(less|greater)\\fi(?:\{\})?|\\ensuremath\{([<>])\}|"
    r"\{?\\text(less|greater)(?:\{\}|\}| )?|\{?\$(<|>)\$\}?|\\?&(?:amp;)?(lt|gt|#60|#62|#x3c|#x3e);|%3([CE])",
    re.IGNORECASE,
)


def doi_of(value: object) -> str:
    """The bare, lower-case DOI in a text or address, or nothing."""
    if not isinstance(value, str) or "10." not in value:
        return ""
    if any(mark in value for mark in ("\\", "&", "%", "$")):
        value = _ANGLES.sub(_angle, value)
    match = _DOI.search(unquote(value) if "%2" in value else value)
    doi = match[0].lower() if match else ""
    while doi and (doi[-1] in ".,;:'}]/" or (doi[-1] == ")" and doi.count("(") < doi.count(")"))):
        doi = doi[:-1]
    return doi if "/" in doi else ""


def _angle(written: re.Match[str]) -> str:
    """An angle bracket as LaTeX, HTML or an address writes it."""
    kind = next(filter(None, written.groups()))
    return "<" if kind.lower() in ("less", "<", "lt", "c", "#60", "#x3c") else ">"


_ARXIV = re.compile(r"(?<![\d.])(\d{4}\.\d{4,5}|(?<![a-z-])[a-z-]++(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?(?!\d)")


def arxiv_of(value: object) -> str:
    """The bare arXiv id in an id, "arXiv:..." text or address, without its version, or nothing."""
    match = _ARXIV.search(value) if isinstance(value, str) else None
    return match[1] if match else ""


_PMID = re.compile(r"(?<!\d)\d{1,9}(?!\d)")


def pmid_of(value: object) -> str:
    """The digits of a PubMed id or address, or nothing; 0 is what programs write for none."""
    match = _PMID.search(str(value)) if value else None
    return match[0].lstrip("0") if match else ""


def url_of(value: object) -> str:
    """A web address; anything else, such as a script, is not one to link to."""
    text = value.strip() if isinstance(value, str) else ""
    usable = text.startswith(("https://", "http://")) and " " not in text and text.isprintable()
    return text if usable else ""


def full_name(family: str, given: str = "", suffix: str = "") -> str:
    """ "Family, Given" with what is known; a suffix follows the given name: "Family, Given, Jr."."""
    return ", ".join(part for part in (family.strip(), given.strip(), suffix.strip()) if part)


def unique(values: Iterable[str]) -> tuple[str, ...]:
    """The values that are not empty, tidied, each once, in their first order."""
    return tuple(dict.fromkeys(filter(None, map(in_one_line, values))))


def fingerprint(*parts: str) -> str:
    """Eight hex digits of the content, for records without an id of their own."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:8]


def name_paper(
    prefix: str, title: str, abstract: str = "", *, doi: str = "", arxiv: str = "", pmid: str = ""
) -> str:
    """A stable id for a record that has none: its DOI, arXiv id or PMID, else the prefix and its content."""
    for scheme, value in (("doi", doi), ("arxiv", arxiv), ("pmid", pmid)):
        if value:
            return f"{scheme}:{value}"
    return f"{prefix}{fingerprint(title, abstract)}"


def plain(value: object) -> str:
    """A scalar as text; anything else is nothing."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def object_of(value: object) -> Mapping[str, object]:
    """A JSON object; anything else is an empty one."""
    return value if isinstance(value, dict) else {}


def objects_of(value: object) -> list[Mapping[str, object]]:
    """The JSON objects in a list; anything else is an empty list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def id_of(*values: object) -> str:
    """The first of the values that can be an id, as text."""
    texts = (plain(value) for value in values)
    return in_one_line(next((text for text in texts if text and not is_nothing(text)), ""))


def texts_of(value: object) -> list[str]:
    """The texts in a list, or in one text with separators, or under "name" in a list of objects."""
    if isinstance(value, str):
        return list(keywords_of(value))
    items = value if isinstance(value, list) else []
    return [plain(item.get("name") if isinstance(item, dict) else item) for item in items]


def keywords_of(text: str) -> tuple[str, ...]:
    """Keywords in one text: parted by semicolons if there are any, for a keyword may hold commas."""
    return unique(text.split(";" if ";" in text else ","))


_QUALIFIERS = re.compile(r"\s?/.*|\s?\[[^\[\]]{0,200}\]?$|\*", re.DOTALL)


def headings_of(keywords: Iterable[str]) -> Iterator[str]:
    """Keywords; where one has the star of a main subject heading, all go without stars and qualifiers."""
    words = list(keywords)
    starred = any(word.startswith("*") or word.endswith("*") for word in words)
    return (_QUALIFIERS.sub("", word).strip() if starred else word for word in words)


def first_text(record: Mapping[str, object], *names: str) -> str:
    """The first of the fields that has text; a list is joined by commas."""
    for name in names:
        value = record.get(name)
        text = ", ".join(filter(None, texts_of(value))) if isinstance(value, list) else plain(value)
        if text:
            return text
    return ""


def authors_of(value: object) -> tuple[str, ...]:
    """Names from a list of texts or objects, or from one text with something between the names."""
    if isinstance(value, str):
        return tidy_names(split_names(value))
    items = value if isinstance(value, list) else []
    return tidy_names(_author(item) if isinstance(item, dict) else plain(item) for item in items)


def _author(item: Mapping[str, object]) -> str:
    """ "Family, Given" from the names that Semantic Scholar, CSL and others give the parts."""
    family = first_text(item, "family", "last", "surname", "lastname")
    particle = plain(item.get("non-dropping-particle"))
    given = first_text(item, "given", "first", "forename", "firstname")
    middle = item.get("middle")
    if isinstance(middle, list):
        given = " ".join([given, *texts_of(middle)])
    if not family:
        return first_text(item, "name", "literal", "full_name", "display_name") or given
    given = f"{given} {plain(item.get('dropping-particle'))}".strip()  # "Alexander von", of Humboldt
    return full_name(f"{particle} {family}".strip(), given, plain(item.get("suffix")))
