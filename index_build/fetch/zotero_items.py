"""A paper as Zotero's API takes it: the item, and a note under it."""

from __future__ import annotations

import html
from typing import Any

from search.exports.references import Citation, container_of, kind_of
from search.names import divide
from search.types import Kind, Paper

_TYPES = {
    Kind.ARTICLE: "journalArticle",
    Kind.PROCEEDINGS_PAPER: "conferencePaper",
    Kind.CHAPTER: "bookSection",
    Kind.BOOK: "book",
    Kind.PROCEEDINGS: "book",
    Kind.THESIS: "thesis",
    Kind.REPORT: "report",
    Kind.PREPRINT: "preprint",
    Kind.DATASET: "dataset",
}
_OTHER = "document"
_WITH_DOI = frozenset({"journalArticle", "conferencePaper", "preprint", "dataset"})
"""Types that have a field for it; Zotero refuses an item with a field that its type does not have."""


def item_of(citation: Citation, collection: str) -> dict[str, Any]:
    """The item; only fields that its type has."""
    paper, reference = citation.paper, citation.paper.reference
    kind = _TYPES.get(kind_of(paper), _OTHER)
    item = {
        "itemType": kind,
        "title": paper.title,
        "creators": [_creator(name) for name in paper.authors],
        "abstractNote": paper.abstract,
        "date": reference.date or str(paper.year or ""),
        "url": paper.url,
        "language": reference.language,
        "rights": reference.licence,
        "extra": "\n".join(_extra(paper, kind)),
        "tags": [{"tag": tag} for tag in citation.tags],
        "collections": [collection] if collection else [],
        **_printed(paper, kind),
    }
    return {
        name: value for name, value in item.items() if value or name in ("creators", "tags", "collections")
    }


def note_of(citation: Citation, parent: str) -> dict[str, Any]:
    """Why the paper was found, as a note under its item."""
    text = html.escape(citation.note, quote=False)
    return {"itemType": "note", "parentItem": parent, "note": f"<p>{text}</p>", "tags": [], "collections": []}


def _creator(name: str) -> dict[str, str]:
    known = divide(name)
    if "," not in name:
        return {"creatorType": "author", "name": name}
    return {"creatorType": "author", "lastName": known.family, "firstName": known.given}


def _extra(paper: Paper, kind: str) -> list[str]:
    lines = [("PMID", paper.pmid), ("PMCID", paper.reference.pmcid), ("arXiv", paper.arxiv_id)]
    if kind not in _WITH_DOI:
        lines.insert(0, ("DOI", paper.doi))
    return [f"{name}: {value}" for name, value in lines if value]


def _printed(paper: Paper, kind: str) -> dict[str, str]:
    reference, place = paper.reference, container_of(paper)
    doi = {"DOI": paper.doi} if kind in _WITH_DOI else {}
    match kind:
        case "journalArticle":
            own = {
                "publicationTitle": place, "volume": reference.volume, "issue": reference.issue,
                "pages": reference.pages, "ISSN": ", ".join(reference.issn),
            }  # fmt: skip
        case "conferencePaper":
            own = {
                "proceedingsTitle": place, "pages": reference.pages, "publisher": reference.publisher,
                "conferenceName": reference.event, "ISBN": ", ".join(reference.isbn),
            }  # fmt: skip
        case "bookSection":
            own = {"bookTitle": place, "pages": reference.pages, "publisher": reference.publisher}
        case "book":
            own = {"publisher": reference.publisher, "ISBN": ", ".join(reference.isbn)}
        case "thesis":
            own = {"university": reference.publisher or paper.venue, "thesisType": reference.genre}
        case "report":
            own = {"institution": reference.publisher or paper.venue, "reportNumber": reference.number}
        case "preprint":
            archive = f"arXiv:{paper.arxiv_id}" if paper.arxiv_id else ""
            own = {"repository": place or ("arXiv" if archive else ""), "archiveID": archive}
        case _:
            own = {}
    return own | doi
