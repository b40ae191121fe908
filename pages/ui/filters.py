"""What a result must be, and how sentences are matched: two small panels beside the results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from pages.ui import charts, state
from search.types import Filters, Matcher

MATCHERS: dict[Matcher | None, tuple[str, str]] = {
    None: ("Recommended", "The way that ranked best on judged queries."),
    Matcher.SINGLE: ("Single", "One sentence that is very close is enough."),
    Matcher.BEST: ("Best of each", "Each of your sentences finds its closest counterpart; the mean counts."),
    Matcher.TRANSPORT: ("Transport", "All your sentences are spread over all of theirs at the least cost."),
    Matcher.ATTENTION: ("Attention", "Every pair counts, the close ones far more."),
}

FROM_LINK = "The papers named in the link"


@dataclass(frozen=True, slots=True)
class Facts:
    """What the corpus offers to filter by, asked once per build."""

    years: dict[int, int]
    venues: dict[str, int]
    fields: dict[str, int]
    sources: dict[str, int]
    origins: dict[str, int]


@st.cache_data(show_spinner=False, max_entries=4)
def facts(build_id: str) -> Facts:
    store = state.engine().store
    return Facts(
        store.year_counts(),
        store.venue_counts(),
        store.field_counts(),
        store.source_counts(),
        store.origin_counts(),
    )


def preset(filters: Filters, matcher: Matcher | None) -> None:
    """Sets the widgets to the filters of an opened link."""
    keys = st.session_state
    keys["filter-venues"], keys["filter-fields"] = filters.venues, filters.fields
    keys["filter-sources"] = filters.sources
    keys["filter-origins"] = filters.origins
    keys["filter-doi"], keys["matcher"] = filters.has_doi, matcher
    keys["filter-list"] = FROM_LINK if filters.ids else ""
    state.visit().linked_ids = filters.ids
    if filters.year_from or filters.year_to:
        keys["filter-years"] = (filters.year_from or 0, filters.year_to or 9999)
    else:
        keys.pop("filter-years", None)


def choose() -> tuple[Filters, Matcher | None]:
    """Draws both panels and returns what is chosen."""
    chosen = choose_filters()
    with st.popover("Advanced", icon=":material/tune:"):
        matcher = _matcher()
    return chosen, matcher


def choose_filters() -> Filters:
    with st.popover("Filters", icon=":material/filter_alt:"):
        return _filters()


def _filters() -> Filters:
    known = facts(state.build_id())
    first, last = _years(known.years)
    venues = _several("Venue", "filter-venues", known.venues)
    fields = _several("Field", "filter-fields", known.fields)
    sources = _several("Source", "filter-sources", known.sources) if len(known.sources) > 1 else ()
    origins = _several("How it came here", "filter-origins", known.origins) if known.origins else ()
    ids = _papers_of_a_list()
    has_doi = st.checkbox("Only papers with a DOI", key="filter-doi", persist_state="session")
    return Filters(first, last, venues, fields, sources, ids, has_doi, origins)


def _several(label: str, key: str, counts: dict[str, int]) -> tuple[str, ...]:
    # A link may name a venue that this corpus does not have.
    _set(key, [value for value in st.session_state.get(key, ()) if value in counts])
    placeholder = f"Any {label.lower()}"
    return tuple(
        st.multiselect(
            label,
            list(counts),
            key=key,
            persist_state="session",
            placeholder=placeholder,
            filter_mode="contains",
            select_all=False,  # it stands first, so Enter after a few letters would take all that match
        )
    )


def _set(key: str, value: object) -> None:
    """Sets a widget only where its value differs: what is set wins over what the visitor does meanwhile."""
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value


def _papers_of_a_list() -> tuple[str, ...] | None:
    linked = state.visit().linked_ids
    names = ["", *state.shelf().names, *([FROM_LINK] if linked else [])]
    if st.session_state.get("filter-list") not in names:
        st.session_state["filter-list"] = ""
    name = st.selectbox(
        "Only papers on a list",
        names,
        format_func=lambda name: name or "Any paper",
        key="filter-list",
        persist_state="session",
    )
    if name == FROM_LINK:
        return linked
    return tuple(sorted(state.library().ids(name))) if name else None


def _years(counts: dict[int, int]) -> tuple[int | None, int | None]:
    if len(counts) < 2:
        return None, None
    low, high = min(counts), max(counts)
    if "filter-years" in st.session_state:
        start, end = st.session_state["filter-years"]
        _set("filter-years", (max(start, low), min(end, high)))
    else:
        _set("filter-years", (low, high))
    st.vega_lite_chart(spec=_chart(state.build_id(), counts), alt="Papers per year")
    years = st.slider("Years", low, high, key="filter-years", persist_state="session")
    start, end = cast(tuple[int, int], years)  # two, as the session has two
    return (start if start > low else None), (end if end < high else None)


@st.cache_data(show_spinner=False, max_entries=4)
def _chart(build_id: str, _counts: dict[int, int]) -> dict[str, Any]:
    """As Vega-Lite, made once for each build: a tenth of every click went into writing the same again."""
    return charts.years(_counts).to_dict()


def _matcher() -> Matcher | None:
    return st.radio(
        "How sentences are matched",
        list(MATCHERS),
        format_func=lambda matcher: MATCHERS[matcher][0],
        captions=[caption for _, caption in MATCHERS.values()],
        key="matcher",
        persist_state="session",
    )
