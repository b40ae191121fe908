"""What the user asks for: which sentences to match and avoid, and a query as a file or a link."""

from __future__ import annotations

import base64
import binascii
import json
import math
import zlib
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from search.errors import InputError
from search.types import Choice, Facet, Filters, Matcher, Query, QueryPaper, QuerySentence

FORMAT = 1
MOST_CHARACTERS = 50_000
"""The longest text that is read as a query: some 30 abstracts."""
MOST_PAPERS = 200
"""The longest list of papers to search with."""
MOST_RESULTS = 1000
NOTHING = "There is nothing to search for: paste a title and abstract, or type a few words."
_LARGEST_FILE = 2_000_000


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A query from a file or a link, with the build whose ranking it showed ("" where unknown)."""

    query: Query
    build_id: str = ""


def choose_all(paper: QueryPaper) -> QueryPaper:
    """The whole abstract: every sentence is to be matched."""
    return choose_sentences(paper, range(len(paper.sentences)))


def choose_facet(paper: QueryPaper, facet: Facet, avoid: Facet | None = None) -> QueryPaper:
    """Match all sentences of one panel, and keep away from those of another if one is given."""
    return choose_sentences(paper, positions_of(paper, facet), positions_of(paper, avoid) if avoid else ())


def positions_of(paper: QueryPaper, facet: Facet) -> list[int]:
    """Where the sentences of a panel stand; InputError if there are none."""
    panels = [sentence.facet.panel if sentence.facet else None for sentence in paper.sentences]
    found = [position for position, panel in enumerate(panels) if panel is facet.panel]
    if not found:
        raise InputError(
            f"No sentence of this abstract is labelled {facet.panel.value}: "
            "correct a label or choose sentences one by one."
        )
    return found


def choose_sentences(paper: QueryPaper, match: Collection[int], avoid: Collection[int] = ()) -> QueryPaper:
    """Match and avoid the sentences at these positions (the first is 0), ignore the others."""
    for position in (*match, *avoid):
        if not 0 <= position < len(paper.sentences):
            raise InputError(
                f"There is no sentence {position + 1}: this abstract has {len(paper.sentences)}; "
                "choose among them."
            )
    if both := sorted(set(match) & set(avoid)):
        raise InputError(f"Sentence {both[0] + 1} is both to be matched and to be avoided: decide for one.")
    choices = dict.fromkeys(match, Choice.MATCH) | dict.fromkeys(avoid, Choice.AVOID)
    sentences = (
        replace(sentence, choice=choices.get(position, Choice.IGNORE))
        for position, sentence in enumerate(paper.sentences)
    )
    return replace(paper, sentences=tuple(sentences))


def check(query: Query) -> None:
    """Say in one sentence what is missing before a search; nothing if the query can be answered."""
    sentences = [sentence for paper in query.papers for sentence in paper.sentences]
    if not any(sentence.text.strip() for sentence in sentences):
        raise InputError(NOTHING)
    if not any(sentence.choice is Choice.MATCH and sentence.weight > 0 for sentence in sentences):
        raise InputError("No sentence is chosen to be matched: tick at least one.")
    if any(not (math.isfinite(sentence.weight) and sentence.weight >= 0) for sentence in sentences):
        raise InputError("A sentence has a weight that is not a number from 0 up: correct it.")
    if len(query.papers) > MOST_PAPERS:
        raise InputError(
            f"A search takes up to {MOST_PAPERS} papers at once, not {len(query.papers)}: choose some."
        )
    if not 1 <= query.top <= MOST_RESULTS:
        raise InputError(
            f"A search gives 1 to {MOST_RESULTS} results, not {query.top}: choose another number."
        )


def to_json(query: Query, build_id: str = "", *, texts: bool = True, indent: int | None = 1) -> str:
    """The query as a file; without `texts`, papers of the corpus are named by their id alone."""
    content: dict[str, Any] = {
        "triptych_query": FORMAT,
        "build": build_id,
        "papers": [_paper_out(paper, texts or not paper.paper_id) for paper in query.papers],
        "matcher": query.matcher.value if query.matcher else None,
        "filters": _filters_out(query.filters),
        "top": query.top,
    }
    return json.dumps(content, ensure_ascii=False, indent=indent, separators=None if indent else (",", ":"))


def _filters_out(filters: Filters) -> dict[str, Any]:
    plain = asdict(Filters())
    return {key: value for key, value in asdict(filters).items() if value != plain[key]}


def _paper_out(paper: QueryPaper, texts: bool) -> dict[str, Any]:
    return {
        "id": paper.paper_id,
        "title": paper.title if texts else "",
        "sentences": [_sentence_out(sentence, texts) for sentence in paper.sentences],
    }


def _sentence_out(sentence: QuerySentence, texts: bool) -> dict[str, Any]:
    content: dict[str, Any] = {"text": sentence.text} if texts else {}
    content |= {"facet": sentence.facet.value if sentence.facet else None, "choice": sentence.choice.value}
    return content if sentence.weight == 1 else content | {"weight": sentence.weight}


def from_json(text: str) -> SavedQuery:
    """A query file read back, checked field by field."""
    if len(text) > _LARGEST_FILE:
        raise InputError("This query file is too large to be one: choose a file saved by Triptych.")
    try:
        content = json.loads(text)
        version = content["triptych_query"]
    except (ValueError, RecursionError, TypeError, KeyError):
        raise InputError(
            "This is not a query saved by Triptych: choose a file made by “Save query”."
        ) from None
    if version != FORMAT:
        raise InputError(f"This query has version {version!r} but this app reads {FORMAT}: update the app.")
    try:
        return SavedQuery(_query_in(content), str(content.get("build") or ""))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InputError(f"This saved query is damaged ({error}): save it again.") from None


def _query_in(content: dict[str, Any]) -> Query:
    filters = {key: _filter_in(value) for key, value in content.get("filters", {}).items()}
    return Query(
        papers=tuple(_paper_in(paper) for paper in content["papers"]),
        matcher=Matcher(content["matcher"]) if content.get("matcher") else None,
        filters=Filters(**filters),
        top=int(content.get("top", 20)),
    )


def _filter_in(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    if isinstance(value, int):
        return value
    raise ValueError(f"{value!r} is no filter")


def _paper_in(content: dict[str, Any]) -> QueryPaper:
    sentences: Iterable[dict[str, Any]] = content["sentences"]
    return QueryPaper(
        title=str(content.get("title", "")),
        sentences=tuple(
            QuerySentence(
                text=str(sentence.get("text", "")),
                facet=Facet(sentence["facet"]) if sentence.get("facet") else None,
                choice=Choice(sentence.get("choice", Choice.MATCH)),
                weight=float(sentence.get("weight", 1)),
            )
            for sentence in sentences
        ),
        paper_id=str(content.get("id", "")),
    )


def to_link(query: Query, build_id: str = "") -> str:
    """The query as letters that fit an address: papers of the corpus by id, pasted text packed."""
    packed = zlib.compress(to_json(query, build_id, texts=False, indent=None).encode(), 9)
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def from_link(link: str) -> SavedQuery:
    """The query of a link; `Engine.restore` gives papers of the corpus their texts back."""
    try:
        packed = base64.urlsafe_b64decode(link.strip() + "=" * (-len(link.strip()) % 4))
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(packed, _LARGEST_FILE).decode()
        if not unpacker.eof:
            raise ValueError("cut short")
    except (binascii.Error, zlib.error, ValueError):
        raise InputError("This link is damaged or was cut short: copy it again, in full.") from None
    return from_json(text)
