"""The address names the search that is shown: `?s=` by its id, `?q=` with all of it packed inside.

`?t=` begins a search with a text, as the bookmarklet does.

An id stays the same while sentences are chosen and filters moved, so the browser's history has one entry per
search, Back shows the search before as it was left, and a reload finds it again.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import NoReturn
from urllib.parse import urlsplit, urlunsplit

import streamlit as st

from pages.ui import filters, looks, state
from pages.ui.escape import plain
from search.errors import CorpusError, InputError
from search.history import new_id
from search.library.origins import Origin
from search.query.choosing import MOST_CHARACTERS, MOST_SENTENCES
from search.query.saving import SavedQuery, from_json, from_link, to_json, to_link
from search.types import Query, QueryPaper

LONGEST = 6000
"""Characters of a packed query; servers and mail programs cut longer addresses."""
CHANGED = (
    "The corpus has changed since this search was saved, so the ranking may differ from the one it showed."
)
GONE = "This search is not kept here any more: it was cleared, or the app was restarted. Start again below."
TEXT = "triptych_text"
LOOK, ORIGIN = "triptych_look", "triptych_origin"
"""Beside the query of a kept search: how its answer is looked at (`looks.now`), and where it came from."""


def follow_address() -> None:
    """Makes the visit show what the address names, and the address name what is shown."""
    here, asked = state.visit(), st.query_params.get("s", "")
    if packed := st.query_params.pop("q", ""):
        take_up(from_link(packed), origin="From a link")
    elif text := st.query_params.pop("t", ""):
        begin_with_text(text)
    elif asked and (here.draft is None or here.draft.id != asked):
        _reopen(asked)
    if here.draft and (here.arrived or here.addressed != here.draft.id):
        st.query_params["s"] = here.addressed = here.draft.id


def _reopen(id: str) -> None:
    content = state.history().content(id)
    if not content:
        del st.query_params["s"]
        state.visit().draft = None
        raise InputError(GONE)
    if content.startswith(f'{{"{TEXT}"'):
        read_text(json.loads(content)[TEXT], id)
    else:
        kept = json.loads(content)
        take_up(from_json(content), origin=str(kept.get(ORIGIN) or "An earlier search"), id=id)
        looks.take_up(kept.get(LOOK))


def begin_with_text(text: str) -> None:
    """Reads what was pasted; it is kept first, so that a reload in the meantime loses nothing."""
    id, text = new_id(), text.strip()
    title = (text[:200].splitlines() or [""])[0]
    # One character more than is read, so that it is still known to be too long.
    kept = json.dumps({TEXT: text[: MOST_CHARACTERS + 1]})
    with suppress(CorpusError):  # a full disk does not stop a search; `remember` tells of it
        state.history().put(id, state.searcher(), title, kept)
    st.query_params["s"] = id
    try:
        read_text(text, id)
    except InputError:  # nothing to search for: the page stays the start page
        del st.query_params["s"]
        with suppress(CorpusError):
            state.history().forget(id, state.searcher())
        raise


def read_text(text: str, id: str) -> None:
    read = state.compute(state.engine().read_text, text[:MOST_CHARACTERS])
    state.start((read,), "Pasted text", note_on(len(text), read), id)


def note_on(characters: int, read: QueryPaper) -> str:
    """What to say of a text of this length, of which perhaps not all was read."""
    cuts = [f"its first {MOST_CHARACTERS:,} characters were read"] * (characters > MOST_CHARACTERS)
    if len(read.sentences) >= MOST_SENTENCES:
        cuts.append(f"its first {MOST_SENTENCES:,} sentences were taken")
    return f"The text was long: {', and '.join(cuts)}." if cuts else ""


def take_up(saved: SavedQuery, origin: str, id: str = "") -> None:
    """Makes a saved query the visitor's draft, with its filters and a note if the corpus has changed."""
    query = state.engine().restore(saved.query)
    changed = saved.build_id not in ("", state.build_id())
    state.start(query.papers, origin, CHANGED if changed else "", id)
    state.visit().top = query.top
    filters.preset(query.filters, query.matcher)


def open_again(origin: Origin) -> NoReturn:
    """Shows a search that a paper was kept from, as it was then."""
    same = state.history().content(origin.search) == origin.query
    take_up(from_json(origin.query), "An earlier search", origin.search if same else "")
    state.show_search()


def remember(draft: state.Draft, query: Query, build_id: str) -> None:
    """Keeps the search under its id as it is now; where that fails, says so once."""
    here, asked = state.visit(), json.loads(to_json(query, build_id, indent=None))
    beside = {LOOK: looks.now(), ORIGIN: draft.origin}
    content = json.dumps(asked | beside, ensure_ascii=False, separators=(",", ":"))
    if here.remembered != (draft.id, content):
        first, *more = draft.papers
        own = first.title or next((sentence.text for sentence in first.sentences), "")
        title = draft.origin if more else own
        here.remembered = draft.id, content
        try:
            state.history().put(draft.id, state.searcher(), title[:200], content)
        except CorpusError as error:  # what was found is shown all the same
            st.warning(plain(str(error)), icon=":material/info:")


def packed_link(query: Query, build_id: str) -> str:
    """An address that carries the whole query; empty when it would be too long."""
    packed = to_link(query, build_id)
    return _address(f"q={packed}") if len(packed) <= LONGEST else ""


def short_link(draft: state.Draft) -> str:
    """An address that names the search, for those who reach this app."""
    return _address(f"s={draft.id}")


def _address(query: str) -> str:
    page = urlsplit(st.context.url or "")
    return urlunsplit((page.scheme, page.netloc, page.path or "/", query, ""))
