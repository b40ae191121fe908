"""Why something was not read: reasons that can be counted, each with a sentence for the user."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from search.types import Paper

log = logging.getLogger("triptych.sources")

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
    OUTSIDE = "text outside of any record"
    ENCODING = "encoding is a guess"
    DOUBLED = "two records run into one"
    FAULT = "the reader failed on it"
    PDF = "no title and abstract found in the PDF"
    NO_ABSTRACTS = "no abstracts in this format"
    ATTACHMENT = "an attachment or a note"
    BAD_WORKBOOK = "workbook cannot be opened"

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
    Reason.TOO_LONG: "The record is too long to be one paper and was skipped: check where its end should be.",
    Reason.NOT_XML: "The record is not valid XML, or uses entities, which are not expanded: export it again.",
    Reason.UNFINISHED: "The record has a beginning and no end: the file was cut off or edited by hand.",
    Reason.BAD_ENTRY: "The entry breaks the rules of its format, often a missing brace or quote: repair it.",
    Reason.BAD_SHAPE: "A field holds another kind of value than its format allows: check the export.",
    Reason.OUTSIDE: "The text belongs to no record and was not read: check the first line of each record.",
    Reason.ENCODING: "The file is not in UTF-8 and its letters could be read in more than one way: check the "
    "names, and save it as UTF-8 if they are wrong.",
    Reason.DOUBLED: "A field comes twice with different values, as where the end of a record and the start "
    "of the next are lost; one paper was read of it: check the place.",
    Reason.FAULT: "This is a fault of Triptych, not of the file, and the rest was read: please report it.",
    Reason.PDF: "The PDF gave no text to work with: paste the title and abstract instead.",
    Reason.NO_ABSTRACTS: "The papers were read, but this format holds no abstracts, which the search "
    "compares: fetch the same papers from OpenAlex, Semantic Scholar or PubMed to have them.",
    Reason.ATTACHMENT: "The item is a file or a note beside a paper and was passed over.",
    Reason.BAD_WORKBOOK: "The workbook is damaged, locked, or holds more than it may: save it as CSV.",
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

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason.value)
        self.reason = reason
        self.detail = detail
        """What to keep of it instead of the start of the record."""


def reject(source: str, place: str, reason: Reason, raw: str | bytes = "") -> Reject:
    """A Reject that keeps only the printable start of the record."""
    start = raw[:RAW_START]
    text = start.decode("utf-8", "replace") if isinstance(start, bytes) else start
    return Reject(source, place, reason.value, text.replace("\0", "").encode("utf-8", "replace").decode())


def attempt(make: Callable[[], Paper], source: str, place: str, raw: str | bytes) -> Paper | Reject:
    """The paper of one record, or its Reject: whatever goes wrong in a record ends with that record."""
    try:
        return make()
    except BadRecord as bad:
        return reject(source, place, bad.reason, bad.detail or raw)
    except MemoryError:  # no fault of the record
        raise
    except Exception as error:
        log.warning("%s, %s: %r", source, place, error)
        return reject(source, place, Reason.FAULT, raw)
