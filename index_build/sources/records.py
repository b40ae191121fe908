"""What every reader gives back: papers with tidy fields, and rejects with a reason that can be counted."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from urllib.parse import unquote

from index_build.markup import in_one_line
from search.types import Paper

RAW_START = 500
"""How much of a bad record a reject keeps, in characters."""


class Reason(StrEnum):
    """Why something was not read: short, stable phrases, each with advice for the user."""

    EMPTY_FILE = "empty file"
    UNKNOWN_FORMAT = "not a format that can be read"
    UNREADABLE = "file cannot be opened"
    CUT_OFF = "compressed file is damaged or cut off"
    NO_RECORDS = "no records in the file"
    NO_TEXT = "no title and no abstract"
    NOT_JSON = "not valid JSON"
    NOT_OBJECT = "not a JSON object"
    TOO_DEEP = "nested too deeply"
    TOO_LONG = "record too long"
    NOT_XML = "not valid XML"
    UNFINISHED = "record is not finished"
    BAD_ENTRY = "entry cannot be parsed"
    BAD_SHAPE = "fields of an unexpected kind"
    PDF = "no title and abstract found in the PDF"

    @property
    def advice(self) -> str:
        """One sentence on what happened and what to do."""
        return _ADVICE[self]


_ADVICE = {
    Reason.EMPTY_FILE: "The file has no content: export or download it again.",
    Reason.UNKNOWN_FORMAT: "The content is none of the known formats: export it as BibTeX, RIS, CSV or "
    "JSONL, and unpack archives first.",
    Reason.UNREADABLE: "The system would not open the file: check that it exists and may be read.",
    Reason.CUT_OFF: "The compressed file is damaged or ends early; everything before that point was read: "
    "download it again for the rest.",
    Reason.NO_RECORDS: "The format was recognised but the file holds no paper: check the export.",
    Reason.NO_TEXT: "A paper needs a title or an abstract to be found: add one in the source.",
    Reason.NOT_JSON: "The line or element is not valid JSON: repair it or export it again.",
    Reason.NOT_OBJECT: "Each JSON record must be an object with named fields such as title and abstract.",
    Reason.TOO_DEEP: "The JSON is nested deeper than any known format: check where the file comes from.",
    Reason.TOO_LONG: "The record is longer than 10 MB and was skipped: check where its end should be.",
    Reason.NOT_XML: "The record is not valid XML, or uses entities, which are not expanded: export it again.",
    Reason.UNFINISHED: "The record has a beginning and no end: the file was cut off or edited by hand.",
    Reason.BAD_ENTRY: "The entry breaks the rules of its format, often a missing brace or quote: repair it.",
    Reason.BAD_SHAPE: "A field holds another kind of value than its format allows: check the export.",
    Reason.PDF: "The PDF gave no text to work with: paste the title and abstract instead.",
}


@dataclass(frozen=True, slots=True)
class Reject:
    """Something that was not read, where it stands and why."""

    source: str
    """The file it is in."""
    place: str
    """"line 12", "record 3", "file"."""
    reason: str
    """A value of Reason."""
    raw: str
    """The start of the record, at most RAW_START characters."""


class BadRecord(Exception):
    """A record that cannot become a paper; the reader turns it into a Reject."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


def reject(source: str, place: str, reason: Reason, raw: str | bytes = "") -> Reject:
    """A Reject that keeps only the printable start of the record."""
    start = raw[:RAW_START]
    text = start.decode("utf-8", "replace") if isinstance(start, bytes) else start
    return Reject(source, place, reason.value, text.replace("\0", "").encode("utf-8", "replace").decode())


def complete(paper: Paper) -> Paper:
    """The paper, if there is anything in it to search for, with the ids that its links and DOI hold."""
    if not paper.title and not paper.abstract:
        raise BadRecord(Reason.NO_TEXT)
    doi = paper.doi or (doi_of(paper.url) if "doi.org/" in paper.url else "")
    arxiv_id = paper.arxiv_id or arxiv_of(
        doi.removeprefix(_ARXIV_DOI) if doi.startswith(_ARXIV_DOI) else _after(paper.url, "arxiv.org/abs/")
    )
    pmid = paper.pmid or pmid_of(_after(paper.url, "pubmed.ncbi.nlm.nih.gov/"))
    if (doi, arxiv_id, pmid) == (paper.doi, paper.arxiv_id, paper.pmid):
        return paper
    return replace(paper, doi=doi, arxiv_id=arxiv_id, pmid=pmid)


_ARXIV_DOI = "10.48550/arxiv."


def _after(url: str, site: str) -> str:
    return url.partition(site)[2] if site in url else ""


_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_EARLIEST, _LATEST = 1500, date.today().year + 2


def year_of(value: object) -> int | None:
    """The first plausible year in a number or a date as text: 2017, "2017", "2017-05-01", "May 2017"."""
    if not isinstance(value, int):
        match = _YEAR.search(str(value)) if value else None
        value = int(match[1]) if match else 0
    return value if _EARLIEST <= value <= _LATEST else None


_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/[^\s\"<>\ud800-\udfff]+")


def doi_of(value: object) -> str:
    """The bare, lower-case DOI in a text or address, or nothing."""
    if not isinstance(value, str) or "10." not in value:
        return ""
    match = _DOI.search(unquote(value) if "%2" in value else value)
    doi = match[0].lower() if match else ""
    while doi and (doi[-1] in ".,;:'}]/" or (doi[-1] == ")" and doi.count("(") < doi.count(")"))):
        doi = doi[:-1]
    return doi if "/" in doi else ""


_ARXIV = re.compile(r"(?<![\d.])(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?(?!\d)")


def arxiv_of(value: object) -> str:
    """The bare arXiv id in an id, "arXiv:..." text or address, without its version, or nothing."""
    match = _ARXIV.search(value) if isinstance(value, str) else None
    return match[1] if match else ""


_PMID = re.compile(r"\d{1,9}(?!\d)")


def pmid_of(value: object) -> str:
    """The digits of a PubMed id or address, or nothing."""
    match = _PMID.search(str(value)) if value else None
    return match[0] if match else ""


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
    """A stable id for a record that has none: from its DOI, arXiv id or PMID, else from its text."""
    for scheme, value in (("doi", doi), ("arxiv", arxiv), ("pmid", pmid)):
        if value:
            return f"{scheme}:{value}"
    return f"{prefix}:{fingerprint(title, abstract)}"


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
    return in_one_line(next(filter(None, map(plain, values)), ""))


def texts_of(value: object) -> list[str]:
    """The texts in a list, or in one text with separators, or under "name" in a list of objects."""
    if isinstance(value, str):
        return list(keywords_of(value))
    items = value if isinstance(value, list) else []
    return [plain(item.get("name") if isinstance(item, dict) else item) for item in items]


def keywords_of(text: str) -> tuple[str, ...]:
    """Keywords in one text: parted by semicolons if there are any, for a keyword may hold commas."""
    return unique(text.split(";" if ";" in text else ","))


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
        return unique(_part_names(value))
    items = value if isinstance(value, list) else []
    return unique(_author(item) if isinstance(item, dict) else plain(item) for item in items)


def _part_names(text: str) -> list[str]:
    """Names parted by semicolons, "and", or commas; "Family, Given" is one name."""
    if ";" in text:
        return text.split(";")
    if text.count(".") == 1:  # PubMed's tables: "Family AB, Family CD."
        text = text.rstrip(" .")
    parts = [part.strip() for part in re.split(r",(?: and )?| and ", text)]
    is_list = all(" " in part for part in parts) and not parts[0][:1].islower()
    return parts if is_list else text.split(" and ")


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
    return full_name(f"{particle} {family}".strip(), given, plain(item.get("suffix")))
