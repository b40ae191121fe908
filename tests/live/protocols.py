"""What each source answers when nothing goes wrong: status, headers, body."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any
from xml.sax.saxutils import escape

from tests.live.world import Record

Said = tuple[int, dict[str, str], bytes]
JSON = {"Content-Type": "application/json"}
XML = {"Content-Type": "application/xml"}
NOBODY = "nobody"
"""A query that nothing matches."""


@dataclass
class State:
    """One source as it is now."""

    records: list[Record]
    page: int = 7
    """Records that a source gives at a time where it decides that itself."""
    shift: int = 0
    """How much the announced total is off in this answer: a fault."""
    expired: frozenset[str] = frozenset()
    """Tokens that are no longer known."""
    key: str = ""
    """The key that is wanted; none where empty."""
    citations: dict[str, list[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: bytes

    def number(self, name: str, default: int) -> int:
        return int(self.params.get(name, default))


def _json(value: Any, status: int = 200, **headers: str) -> Said:
    return (
        status,
        JSON | {name.replace("_", "-"): text for name, text in headers.items()},
        json.dumps(value).encode(),
    )


def _matching(state: State, query: str) -> list[Record]:
    return [] if NOBODY in query else state.records


# -- arXiv


def arxiv(asked: Asked, state: State) -> Said:
    if ids := asked.params.get("id_list"):
        wanted = {re.sub(r"v\d+$", "", id) for id in ids.split(",")}
        found = [record for record in state.records if record.arxiv_id in wanted]
        return _atom(found, len(found))
    query = asked.params.get("search_query", "")
    if "(((" in query:
        return _atom_error("incorrect id format")
    found = _matching(state, query)
    if days := re.search(r"submittedDate:\[(\d{8})\d{4} TO (\d{8})\d{4}\]", query):
        found = [record for record in found if days[1] <= f"{record.day:%Y%m%d}" <= days[2]]
    by_change = asked.params.get("sortBy") == "lastUpdatedDate"
    found = sorted(found, key=lambda record: (record.changed if by_change else record.day, record.number))
    if asked.params.get("sortOrder") == "descending":
        found.reverse()
    start, size = asked.number("start", 0), asked.number("max_results", 10)
    if size > 2000 or start + size > 30_000:
        return _atom_error("max_results too large")
    return _atom(found[start : start + size], len(found) + state.shift)


def _atom(records: Sequence[Record], total: int) -> Said:
    entries = "".join(
        f"<entry><id>http://arxiv.org/abs/{r.arxiv_id}v1</id><updated>{r.changed}T00:00:00Z</updated>"
        f"<published>{r.day}T00:00:00Z</published><title>{escape(r.title)}</title>"
        f"<summary>  {escape(r.abstract)}\n</summary>"
        + "".join(f"<author><name>{given} {family}</name></author>" for family, given in r.authors)
        + ("<arxiv:comment>This paper has been withdrawn by the author</arxiv:comment>" if r.gone else "")
        + '<category term="cs.CL"/></entry>'
        for r in records
    )
    return 200, XML, (
        '<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom" '
        'xmlns:arxiv="http://arxiv.org/schemas/atom" '
        'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"><title>arXiv Query</title>'
        f"<opensearch:totalResults>{total}</opensearch:totalResults>{entries}</feed>"
    ).encode()  # fmt: skip


def _atom_error(why: str) -> Said:
    status, headers, body = _atom([], 1)
    entry = (
        "<entry><id>http://arxiv.org/api/errors#incorrect</id><title>Error</title>"
        f"<summary>{why}</summary></entry>"
    )
    return status, headers, body.replace(b"</feed>", f"{entry}</feed>".encode())


def arxiv_oai(asked: Asked, state: State) -> Said:
    token = asked.params.get("resumptionToken", "")
    if token in state.expired and token:
        return _oai('<error code="badResumptionToken">The token is no longer known</error>')
    if token:
        since, until, skip = token.split("|")
    else:
        if not re.fullmatch(r"[a-z-]+(:[a-z-]+)?(:[A-Za-z-]+)?", asked.params.get("set", "")):
            return _oai('<error code="badArgument">no such set</error>')
        since, until, skip = asked.params.get("from", ""), asked.params.get("until", ""), "0"
    found = [
        r
        for r in state.records
        if since <= r.changed.isoformat() and (not until or r.changed.isoformat() <= until)
    ]
    found.sort(key=lambda record: (record.changed, record.number))
    start = int(skip)
    if not found:
        return _oai('<error code="noRecordsMatch"/>')
    rows = "".join(_oai_record(record) for record in found[start : start + state.page])
    following = f"{since}|{until}|{start + state.page}" if start + state.page < len(found) else ""
    total = len(found) + state.shift
    more = f'<resumptionToken cursor="{start}" completeListSize="{total}">{following}</resumptionToken>'
    return _oai(f"<ListRecords>{rows}{more if following or start else ''}</ListRecords>")


def _oai(inside: str) -> Said:
    return 200, XML, (
        '<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
        f"<responseDate>2026-11-18T00:00:00Z</responseDate>{inside}</OAI-PMH>"
    ).encode()  # fmt: skip


def _oai_record(r: Record) -> str:
    head = f"<identifier>oai:arXiv.org:{r.arxiv_id}</identifier><datestamp>{r.changed}</datestamp>"
    if r.gone:
        return f'<record><header status="deleted">{head}</header></record>'
    authors = "".join(
        f"<author><keyname>{family}</keyname><forenames>{given}</forenames></author>"
        for family, given in r.authors
    )
    return (
        f"<record><header>{head}</header><metadata>"
        f'<arXiv xmlns="http://arxiv.org/OAI/arXiv/"><id>{r.arxiv_id}</id><created>{r.day}</created>'
        f"<authors>{authors}</authors><title>{escape(r.title)}</title><categories>cs.CL</categories>"
        "<license>http://creativecommons.org/licenses/by/4.0/</license>"
        f"<abstract>{escape(r.abstract)}</abstract></arXiv></metadata></record>"
    )


def arxiv_feed(asked: Asked, state: State) -> Said:
    tag = f'"{len(state.records)}"'
    if asked.headers.get("if-none-match") == tag:
        return 304, {"ETag": tag}, b""
    items = "".join(
        f"<item><title>{escape(r.title)}</title><link>https://arxiv.org/abs/{r.arxiv_id}</link>"
        f"<description>arXiv:{r.arxiv_id}v1 Announce Type: new Abstract: {escape(r.abstract)}</description>"
        "<arxiv:announce_type>new</arxiv:announce_type></item>"
        for r in state.records
    )
    return 200, XML | {"ETag": tag}, (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<rss xmlns:arxiv="http://arxiv.org/schemas/atom" version="2.0">'
        f"<channel><title>{escape(asked.path)}</title>{items}</channel></rss>"
    ).encode()  # fmt: skip


# -- OpenAlex


def openalex(asked: Asked, state: State) -> Said:
    if state.key and asked.params.get("api_key") != state.key:
        return _json({"error": "Unauthorized", "message": "an API key is required"}, 401)
    name = asked.path.removeprefix("/works").strip("/")
    if name:
        found = [
            r
            for r in state.records
            if name in (f"doi:{r.doi}", f"doi:10.48550/arxiv.{r.arxiv_id}", f"pmid:{r.pmid}")
        ]
        return _json(_work(found[0])) if found else _json({"error": "not found"}, 404)
    records = _matching(state, asked.params.get("search", ""))
    for each in filter(None, asked.params.get("filter", "").split(",")):
        kind, _, value = each.partition(":")
        if kind == "doi":
            records = [r for r in records if r.doi in value.split("|")]
        elif kind in ("cites", "cited_by"):
            records = [state.records[n] for n in state.citations.get(f"{kind}:{value}", [])]
        elif kind == "from_publication_date":
            records = [r for r in records if r.day.isoformat() >= value]
        elif kind == "to_publication_date":
            records = [r for r in records if r.day.isoformat() <= value]
        elif kind not in ("author.id", "primary_topic.id"):
            return _json({"error": "Invalid filter", "message": f"unknown field {kind}"}, 400)
    size, cursor = asked.number("per_page", 25), asked.params.get("cursor", "")
    if size > 100:
        return _json({"error": "per_page too large"}, 400)
    if cursor in state.expired and cursor:
        return _json({"error": "cursor expired"}, 400)
    start = 0 if cursor in ("", "*") else int(cursor)
    following = str(start + size) if cursor and records[start : start + size] else None
    meta = {"count": len(records) + state.shift, "per_page": size, "next_cursor": following}
    return _json({"meta": meta, "results": [_work(r) for r in records[start : start + size]]})


def _work(r: Record) -> dict[str, Any]:
    places: dict[str, list[int]] = {}
    for place, word in enumerate(r.abstract.split()):
        places.setdefault(word, []).append(place)
    return {
        "id": f"https://openalex.org/W{4_000_000 + r.number}",
        "doi": f"https://doi.org/{r.doi}",
        "title": r.title,
        "publication_year": r.day.year,
        "publication_date": r.day.isoformat(),
        "ids": {"openalex": f"https://openalex.org/W{4_000_000 + r.number}"},
        "type": "article",
        "is_retracted": r.gone,
        "primary_location": {
            "license": "cc-by",
            "source": {"display_name": "Journal of Rivers", "type": "journal"},
        },
        "authorships": [{"author": {"display_name": f"{given} {family}"}} for family, given in r.authors],
        "abstract_inverted_index": places,
    }


# -- PubMed


def pubmed(asked: Asked, state: State) -> Said:
    if asked.path.endswith("esearch.fcgi"):
        return _esearch(asked, state)
    wanted = asked.params.get("id", "").split(",")
    found = {r.pmid: r for r in state.records}
    rows = "".join(_article(found[id]) for id in wanted if id in found)
    return 200, XML, f'<?xml version="1.0" ?><PubmedArticleSet>{rows}</PubmedArticleSet>'.encode()


def _esearch(asked: Asked, state: State) -> Said:
    term = asked.params.get("term", "")
    if term == "[":
        return _json({"esearchresult": {"ERROR": "Search Backend failed: syntax"}})
    first, last = (asked.params.get(name, "").replace("/", "-") for name in ("mindate", "maxdate"))
    found = [r for r in _matching(state, term) if first <= r.day.isoformat() <= (last or "9")]
    if since := re.search(r'"(\d{4}/\d\d/\d\d)"\[mdat\]', term):
        found = [r for r in found if r.changed.isoformat() >= since[1].replace("/", "-")]
    most = min(asked.number("retmax", 20), 9_999)
    ids = [r.pmid for r in reversed(found)][:most]
    return _json({"esearchresult": {"count": str(len(found) + state.shift), "idlist": ids}})


def _article(r: Record) -> str:
    authors = "".join(
        f"<Author><LastName>{family}</LastName><ForeName>{given}</ForeName></Author>"
        for family, given in r.authors
    )
    retracted = "<PublicationType>Retracted Publication</PublicationType>" if r.gone else ""
    return (
        f"<PubmedArticle><MedlineCitation><PMID>{r.pmid}</PMID><Article>"
        "<Journal><Title>Journal of Rivers</Title>"
        f"<JournalIssue><PubDate><Year>{r.day.year}</Year></PubDate></JournalIssue></Journal>"
        f"<ArticleTitle>{escape(r.title)}.</ArticleTitle>"
        f"<Abstract><AbstractText>{escape(r.abstract)}</AbstractText></Abstract><AuthorList>{authors}</AuthorList>"
        "<PublicationTypeList><PublicationType>Journal Article</PublicationType>"
        f"{retracted}</PublicationTypeList>"
        "</Article></MedlineCitation><PubmedData><ArticleIdList>"
        f'<ArticleId IdType="doi">{r.doi}</ArticleId></ArticleIdList></PubmedData></PubmedArticle>'
    )


# -- Europe PMC


def europepmc(asked: Asked, state: State) -> Said:
    query = asked.params.get("query", "")
    if not query:
        return _json({"version": "6.9", "errCode": 400, "errMsg": "the query is empty"})
    cursor, size = asked.params.get("cursorMark", "*"), min(asked.number("pageSize", 25), 1000)
    records = _matching(state, query)
    if "EXT_ID:" in query or "DOI:" in query:
        named = set(re.findall(r'DOI:"([^"]+)"|EXT_ID:(\d+)', query))
        values = {value for pair in named for value in pair}
        records = [r for r in records if {r.doi, r.pmid} & values]
    if days := re.search(r"UPDATE_DATE:\[(\S+) TO", query):
        records = [r for r in records if r.changed.isoformat() >= days[1]]
    start = 0 if cursor == "*" else int(cursor)
    some = records[start : start + size]
    return _json(
        {
            "version": "6.9",
            "hitCount": len(records) + state.shift,
            "nextCursorMark": str(start + len(some)) if some else cursor,
            "resultList": {"result": [_european(r) for r in some]},
        }
    )


def _european(r: Record) -> dict[str, Any]:
    return {
        "id": r.pmid,
        "source": "MED",
        "pmid": r.pmid,
        "doi": r.doi,
        "title": f"{r.title}.",
        "authorString": ", ".join(f"{family} A" for family, _ in r.authors),
        "abstractText": r.abstract.replace("<b>", "&lt;b>").replace("& ", "&amp; "),
        "pubYear": str(r.day.year),
        "firstPublicationDate": r.day.isoformat(),
        "journalInfo": {"journal": {"title": "Journal of Rivers"}},
        "license": "cc by",
    }


# -- Semantic Scholar


def semanticscholar(asked: Asked, state: State) -> Said:
    if asked.path == "/paper/batch":
        names = json.loads(asked.body)["ids"]
        if len(names) > 500:
            return _json({"error": "too many ids"}, 400)
        known = {f"DOI:{r.doi}": r for r in state.records} | {f"ARXIV:{r.arxiv_id}": r for r in state.records}
        known |= {f"PMID:{r.pmid}": r for r in state.records}
        return _json([_scholarly(known[name]) if name in known else None for name in names])
    if asked.path == "/paper/search/bulk":
        records = _matching(state, asked.params.get("query", ""))
        since = asked.params.get("publicationDateOrYear", "").split(":")[0]
        records = [r for r in records if r.day.isoformat() >= since]
        token = asked.params.get("token", "")
        if token in state.expired and token:
            return _json({"error": "token expired"}, 400)
        start = int(token or 0)
        following = str(start + state.page) if start + state.page < len(records) else None
        data = [_scholarly(r) for r in records[start : start + state.page]]
        return _json({"total": len(records) + state.shift, "token": following, "data": data})
    which = asked.path.rsplit("/", 1)[-1]
    start, size = asked.number("offset", 0), min(asked.number("limit", 100), state.page)
    name = asked.path.removeprefix("/paper/").removesuffix(f"/{which}").removeprefix("DOI:")
    numbers = state.citations.get(f"{which}:{name}", [])
    inner = {"references": "citedPaper", "citations": "citingPaper"}[which]
    answer: dict[str, Any] = {
        "offset": start,
        "data": [{inner: _scholarly(state.records[n])} for n in numbers[start : start + size]],
    }
    if start + size < len(numbers):
        answer["next"] = start + size
    return _json(answer)


def _scholarly(r: Record) -> dict[str, Any]:
    return {
        "paperId": f"{r.number:040x}",
        "corpusId": 7_000_000 + r.number,
        "title": r.title,
        "abstract": r.abstract,
        "year": r.day.year,
        "publicationDate": r.day.isoformat(),
        "authors": [{"name": f"{given} {family}"} for family, given in r.authors],
        "venue": "Journal of Rivers",
        "externalIds": {"DOI": r.doi, "ArXiv": r.arxiv_id},
    }


# -- Crossref


def crossref(asked: Asked, state: State) -> Said:
    records = _matching(state, asked.params.get("query", ""))
    dois = [each[4:] for each in asked.params.get("filter", "").split(",") if each.startswith("doi:")]
    if dois:
        records = [r for r in records if r.doi in dois]
    for each in asked.params.get("filter", "").split(","):
        if each.startswith("from-index-date:"):
            records = [r for r in records if r.changed.isoformat() >= each.partition(":")[2]]
    size, cursor = asked.number("rows", 20), asked.params.get("cursor", "*")
    if size > 1000:
        return _json({"status": "failed", "message": [{"message": "rows too large"}]}, 400)
    if cursor in state.expired and cursor != "*":
        return _json({"status": "failed", "message": [{"message": "cursor expired"}]}, 400)
    start = 0 if cursor == "*" else int(cursor)
    items = [_deposited(r) for r in records[start : start + size]]
    message = {"total-results": len(records) + state.shift, "items": items, "items-per-page": size}
    if "cursor" in asked.params:
        message["next-cursor"] = str(start + len(items))
    return _json({"status": "ok", "message-type": "work-list", "message": message})


def _deposited(r: Record) -> dict[str, Any]:
    text = r.abstract.replace("&", "&amp;").replace("<b>", "&lt;b&gt;")
    found: dict[str, Any] = {
        "DOI": r.doi,
        "type": "journal-article",
        "title": [r.title],
        "abstract": f"<jats:p>{text}</jats:p>",
        "author": [{"family": family, "given": given} for family, given in r.authors],
        "container-title": ["Journal of Rivers"],
        "issued": {"date-parts": [[r.day.year, r.day.month, r.day.day]]},
        "reference-count": 0,
        "is-referenced-by-count": 0,
    }
    if r.gone:
        found["updated-by"] = [{"type": "retraction", "DOI": "10.5555/notice"}]
    return found


# -- bioRxiv


def biorxiv(asked: Asked, state: State) -> Said:
    _, server, *rest = asked.path.strip("/").split("/")
    if rest[-1] == "na":
        doi = "/".join(rest[:-1])
        found = [r for r in state.records if r.doi == doi and server == "biorxiv"]
        start = 0
    else:
        first, last, start = rest[0], rest[1], int(rest[2])
        found = [r for r in state.records if first <= r.day.isoformat() <= last]
    some = found[start : start + min(30, state.page)]
    if not some:
        return _json({"messages": [{"status": "no posts found"}], "collection": []})
    message = {"status": "ok", "cursor": start, "count": len(some), "total": str(len(found) + state.shift)}
    return _json({"messages": [message], "collection": [_posted(r, server) for r in some]})


def _posted(r: Record, server: str) -> dict[str, Any]:
    return {
        "doi": r.doi,
        "title": r.title,
        "authors": "; ".join(f"{family}, {given}" for family, given in r.authors),
        "date": r.day.isoformat(),
        "version": "1",
        "type": "WITHDRAWN" if r.gone else "new results",
        "license": "cc_by",
        "category": "neuroscience",
        "jatsxml": "https://example.org/x.xml",
        "abstract": r.abstract.replace("&", "&amp;").replace("<b>", "&lt;b&gt;"),
        "server": server,
    }


# -- OpenReview


def openreview(asked: Asked, state: State) -> Said:
    if "/2019/" in asked.params.get("content.venueid", ""):  # only the first interface has these
        return _json({"notes": [], "count": 0})
    return _notes(asked, state, lambda value: {"value": value})


def openreview_v1(asked: Asked, state: State) -> Said:
    if not asked.params.get("invitation", "").endswith("/-/Blind_Submission"):
        return _json({"notes": [], "count": 0})
    return _notes(asked, state, lambda value: value)


def _notes(asked: Asked, state: State, wrap: Callable[[Any], Any]) -> Said:
    records = _matching(state, " ".join(asked.params.values()))
    if asked.params.get("sort") == "tmdate:desc":
        records = sorted(records, key=lambda r: (r.changed, r.number), reverse=True)
    start, size = asked.number("offset", 0), min(asked.number("limit", 50), 1000)
    notes = [
        {
            "id": f"n{r.number}",
            "forum": f"n{r.number}",
            "cdate": _milliseconds(r.day),
            "tmdate": _milliseconds(r.changed),
            "license": "CC BY 4.0",
            "content": {
                "title": wrap(r.title),
                "abstract": wrap(r.abstract),
                "authors": wrap([f"{given} {family}" for family, given in r.authors]),
                "keywords": wrap(["rivers"]),
                "venue": wrap("Meeting 2026 Withdrawn Submission" if r.gone else "Meeting 2026 Poster"),
            },
        }
        for r in records[start : start + size]
    ]
    return _json({"notes": notes, "count": len(records) + state.shift})


def _milliseconds(day: date) -> int:
    return int(datetime.combine(day, time(), UTC).timestamp() * 1000)


SPOKEN: dict[str, Callable[[Asked, State], Said]] = {
    "arxiv": arxiv,
    "arxiv-oai": arxiv_oai,
    "arxiv-feed": arxiv_feed,
    "openalex": openalex,
    "pubmed": pubmed,
    "europepmc": europepmc,
    "semanticscholar": semanticscholar,
    "crossref": crossref,
    "biorxiv": biorxiv,
    "openreview": openreview,
    "openreview-v1": openreview_v1,
}
