"""Explore: a topic in words, and the corpus answers: its clusters, problems, methods and results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import pandas as pd
import streamlit as st

from pages.ui import filters, frame, html, state, topic_charts
from pages.ui.escape import markup, one_line, plain, told_apart
from pages.ui.palette import coloured, look
from pages.ui.words import counted
from search.topics import UNNAMED, Cluster, Hit, Topic, explore
from search.types import PANELS, Facet, Filters, Paper

QUESTIONS = {
    Facet.BACKGROUND: "What problems",
    Facet.METHOD: "Which methods",
    Facet.RESULT: "Which results",
}
SHOWN = 5
"""Sentences or papers of a list that are shown at first, and more at a time."""
BARS = 8
"""Venues and fields shown."""
NOTABLE = 0.05
"""Share of the papers from which a venue or a field says something; at least three papers. By hand."""
EXAMPLES = 3
"""Central papers of a cluster that a search with it begins with."""
SEARCH = ":material/search:"
EXACT = 100
"""Number of papers from which it is rounded and shown with "about"; chosen by hand."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What is clicked; empty means everything."""

    clusters: frozenset[int]
    """Places in `Topic.papers` of the chosen clusters."""
    years: frozenset[int]
    venues: frozenset[str]
    fields: frozenset[str]

    def places(self, topic: Topic) -> frozenset[int]:
        return frozenset(place for place, paper in enumerate(topic.papers) if self._holds(place, paper))

    def _holds(self, place: int, paper: Paper) -> bool:
        return (
            (not self.clusters or place in self.clusters)
            and (not self.years or paper.year in self.years)
            and (not self.venues or paper.venue in self.venues)
            and (not self.fields or bool(self.fields & set(paper.fields)))
        )


def page() -> None:
    st.title("Explore a topic", anchor=False)
    st.markdown("Name a topic, and read what the corpus says of it: its problems, its methods, its results.")
    state.engine()
    text = _ask()
    if not text:
        st.info(
            "Type a topic such as “detecting rare events in long recordings”.", icon=":material/lightbulb:"
        )
        return
    topic = find(state.build_id(), text, filters.choose_filters())
    if not topic.papers:
        st.info("No paper passes these filters: widen the years or clear one.", icon=":material/filter_alt:")
        return
    _total(topic)
    places = _overview(topic).places(topic)
    _table(topic, places)
    _panels(topic, places)


def _ask() -> str:
    with st.form("topic", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        # The box is set from the address only where that changed otherwise, by a link, Back or Forward, or
        # where the visitor comes from another page, which takes the text of the box away.
        asked = st.query_params.get("topic", "") or _left_behind()
        if asked != st.session_state.get("topic-shown") or "topic-text" not in st.session_state:
            st.session_state["topic-shown"] = st.session_state["topic-text"] = asked
        text = st.text_input("Topic", key="topic-text", max_chars=500)
        if st.form_submit_button("Explore", type="primary", icon=":material/travel_explore:"):
            st.session_state["topic-shown"] = st.query_params["topic"] = (text or "").strip()
    return str(st.session_state["topic-shown"])


def _left_behind() -> str:
    """The topic that was shown before the visitor went to another page, put into the address again."""
    before = str(st.session_state.get("topic-shown", ""))
    if not before or not state.visit().arrived:
        return ""
    st.query_params["topic"] = before
    return before


@st.cache_data(show_spinner="Reading the corpus on this topic…", max_entries=30)
def find(build_id: str, text: str, chosen: Filters) -> Topic:
    return state.compute(explore, state.engine(), text, chosen)


def _total(topic: Topic) -> None:
    st.header(total_in_words(topic), anchor=False)
    read = len(topic.papers)
    if topic.related < read:
        st.caption(f"Few papers are clearly about this. Shown are the {read:,} nearest.")
    elif topic.related > read:
        st.caption(
            f"They score at least “related” to the topic. Below are the {read:,} nearest.",
            help="The number is an estimate: most of the judged abstracts it rests on are of computer "
            "science and medicine.",
        )
    else:
        st.caption("They score at least “related” to the topic.")


def total_in_words(topic: Topic) -> str:
    """ "12 papers", "Some 340 papers", "More than 1,000 papers"."""
    number = topic.related
    if number < EXACT:
        return counted(number, "paper")
    rounded = number // EXACT * EXACT if topic.bounded else round(number, -1)
    return f"{'More than' if topic.bounded else 'Some'} {rounded:,} papers"


def _overview(topic: Topic) -> Narrowed:
    """Clusters, map and charts, and what is chosen in them."""
    chosen: list[Cluster] = []
    if topic.clusters:
        left, right = st.columns([5, 7], gap="large")
        with left:
            chosen = _clusters(topic)
        with right:
            _map(topic)
    places = frozenset(place for cluster in chosen for place in cluster.papers)
    return _charts(topic, places)


def _clusters(topic: Topic) -> list[Cluster]:
    st.header("Clusters", anchor=False)
    st.caption("Papers that are alike, named by phrases that set them apart.")
    shades = topic_charts.colours([cluster.name for cluster in topic.clusters], state.is_dark())
    with st.container(gap="xsmall"):
        for number, (cluster, shade) in enumerate(zip(topic.clusters, shades, strict=True)):
            _cluster(topic, cluster, number, shade)
    # Another topic has other clusters: what was chosen before is not in its way.
    return st.multiselect(
        "Show only",
        topic.clusters,
        format_func=lambda cluster: cluster.name,
        key=f"topic-clusters-{st.session_state['topic-shown']}",
        placeholder="All clusters",
        help="Narrows what is shown below to the papers of these clusters.",
    )


def _cluster(topic: Topic, cluster: Cluster, number: int, shade: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"cluster-{number}"):
        st.html(
            f'<p style="margin: 0"><span aria-hidden="true" style="display: inline-block; width: 0.8em; '
            f'height: 0.8em; border-radius: 50%; background: {shade}"></span> <strong>{markup(cluster.name)}'
            f'</strong> <span class="quiet">{counted(len(cluster.papers), "paper")}</span></p>'
        )
        if cluster.name != UNNAMED:
            label = f"Search with this{told_apart(cluster.name)}"
            if st.button(label, key=f"search-cluster-{number}", type="tertiary", icon=SEARCH):
                _search_with(topic, cluster)


def _search_with(topic: Topic, cluster: Cluster) -> None:
    """Begins a search with the central papers of the cluster as examples."""
    engine = state.engine()
    central = [topic.papers[place].id for place in cluster.papers[:EXAMPLES]]
    state.start(tuple(map(engine.example, central)), f"Cluster: {cluster.name}")
    state.show_search()


def _cluster_names(topic: Topic) -> list[str]:
    """The name of each paper's cluster."""
    names = [UNNAMED] * len(topic.papers)
    for cluster in topic.clusters:
        for place in cluster.papers:
            names[place] = cluster.name
    return names


def _map(topic: Topic) -> None:
    st.header("Map", anchor=False)
    st.caption("Papers that lie close together are alike. Click a point to see its paper.")
    points = pd.DataFrame(
        {
            "id": [paper.id for paper in topic.papers],
            "x": [x for x, _ in topic.places],
            "y": [y for _, y in topic.places],
            "Title": [one_line(paper.title) for paper in topic.papers],
            "Year": [str(paper.year or "") for paper in topic.papers],
            "Cluster": _cluster_names(topic),
        }
    )
    names = [cluster.name for cluster in topic.clusters]
    told = "A map of the papers, with the names of the clusters that are listed beside it."
    chart = topic_charts.topic_map(points, names, state.is_dark())
    event = st.altair_chart(chart, on_select="rerun", key="topic-map", alt=told)
    for paper_id in dict.fromkeys(each["id"] for each in event.selection.get("picked", []) if "id" in each):
        _paper(next(paper for paper in topic.papers if paper.id == paper_id))


def _paper(paper: Paper) -> None:
    st.page_link(
        "pages/paper.py",
        label=f"{plain(paper.title) or 'Untitled'} :gray[{plain(html.byline_text(paper))}]",
        query_params={"id": paper.id},
    )


def _charts(topic: Topic, clusters: frozenset[int]) -> Narrowed:
    papers = [paper for place, paper in enumerate(topic.papers) if not clusters or place in clusters]
    venues = notable([paper.venue for paper in papers if paper.venue], len(papers))
    fields = notable([field for paper in papers for field in paper.fields], len(papers))
    kinds = ["Year", *(["Venue"] if venues else []), *(["Field"] if fields else [])]
    columns = dict(zip(kinds, st.columns([7, 4, 4][: len(kinds)], gap="large"), strict=True))
    with columns["Year"]:
        years = _years(topic, clusters)
    picked: dict[str, list[str]] = {"Venue": [], "Field": []}
    for kind, counts in (("Venue", venues), ("Field", fields)):
        if counts:
            with columns[kind]:
                st.header(f"By {kind.lower()}", anchor=False)
                told = ", ".join(f"{value} {count}" for value, count in counts.items())
                picked[kind] = _picked(topic_charts.pick_bars(counts, kind), kind, told)
    if years or any(picked.values()) or len(kinds) > 1:
        st.caption("Click bars to narrow what is shown below. Click again to undo.")
    return Narrowed(
        clusters, frozenset(map(int, years)), frozenset(picked["Venue"]), frozenset(picked["Field"])
    )


def notable(values: Sequence[str], papers: int) -> dict[str, int]:
    """The values that many papers share, the most frequent first; empty where that says nothing."""
    least = max(3, NOTABLE * papers)
    often = {value: count for value, count in Counter(values).most_common(BARS) if count >= least}
    return often if len(often) > 1 else {}


def _years(topic: Topic, clusters: frozenset[int]) -> list[str]:
    names = _cluster_names(topic)
    counts: dict[int, Counter[str]] = {}
    for place, (paper, name) in enumerate(zip(topic.papers, names, strict=True)):
        if paper.year and (not clusters or place in clusters):
            counts.setdefault(paper.year, Counter())[name] += 1
    st.header("By year", anchor=False)
    if not counts:
        st.caption("These papers have no year.")
        return []
    shown = [cluster.name for cluster in topic.clusters] or [UNNAMED]
    told = ", ".join(f"{year}: {sum(counts[year].values())}" for year in sorted(counts))
    picked = _picked(topic_charts.years(counts, shown, state.is_dark()), "Year", told)
    with st.expander("The numbers"):
        st.table(_year_table(counts, shown))
    return picked


def _year_table(counts: Mapping[int, Counter[str]], names: Sequence[str]) -> pd.DataFrame:
    table = pd.DataFrame(
        {plain(name): [counts[year][name] for year in sorted(counts, reverse=True)] for name in names},
        index=[str(year) for year in sorted(counts, reverse=True)],
    )
    return table if len(names) > 1 else table.set_axis(["Papers"], axis=1)


def _picked(chart: alt.Chart, field: str, told: str) -> list[str]:
    event = st.altair_chart(chart, on_select="rerun", key=f"topic-{field}", alt=told)
    return [each[field] for each in event.selection.get("picked", []) if field in each]


def _panels(topic: Topic, places: frozenset[int]) -> None:
    shown = {topic.papers[place].id for place in places}
    for column, facet in zip(st.columns(len(PANELS), gap="medium"), PANELS, strict=True):
        with column:
            st.header(f"{QUESTIONS[facet]} · {coloured(facet)}", anchor=False)
            terms = [term for term in topic.terms[facet] if term.papers & places]
            st.markdown(" ".join(f":{look(facet).name}-badge[{plain(term.text)}]" for term in terms))
            hits = [hit for hit in topic.hits[facet] if hit.paper.id in shown]
            if not hits:
                st.caption("No sentence of this kind. Undo a choice above to see more.")
            _sentences(hits, facet)


def _sentences(hits: list[Hit], facet: Facet) -> None:
    for number, hit in enumerate(hits[: _shown(f"more-{facet}")]):
        with st.container(gap=None, key=f"hit-{facet}-{number}"):
            st.html(html.quote(hit.text, hit.paper, facet))
            label = f"Open{told_apart(hit.paper.title)}"
            st.page_link("pages/paper.py", label=label, query_params={"id": hit.paper.id})
    _offer_more(f"more-{facet}", len(hits))


def _shown(key: str) -> int:
    return int(st.session_state.get(key, SHOWN))


def _offer_more(key: str, there_are: int) -> None:
    if there_are > _shown(key) and st.button("Show more", key=f"button-{key}"):
        st.session_state[key] = _shown(key) + SHOWN
        st.rerun()


def _table(topic: Topic, places: frozenset[int]) -> None:
    """Methods against problems; a click on a number opens its papers."""
    methods, problems = topic.sides[Facet.METHOD], topic.sides[Facet.BACKGROUND]
    if not methods or not problems:
        return
    st.header("Methods and problems", anchor=False)
    st.caption("Papers grouped by method, down, and by problem, across. Click a number to see the papers.")
    crossed = [[_both(method, problem, places) for problem in problems] for method in methods]
    frame = pd.DataFrame(
        [[len(papers) for papers in row] for row in crossed],
        index=pd.Index([method.name for method in methods], name="Method"),
        columns=[problem.name for problem in problems],
    )
    event = st.dataframe(
        frame, on_select="rerun", selection_mode="single-cell", key="topic-table", row_height=40
    )
    for row, column in event.selection.get("cells", []):
        if row < len(methods) and column in frame.columns:
            number = list(frame.columns).index(column)
            _crossing(topic, methods[row], problems[number], crossed[row][number])


def _both(one: Cluster, other: Cluster, places: frozenset[int]) -> list[int]:
    return sorted(set(one.papers) & set(other.papers) & places)


def _crossing(topic: Topic, method: Cluster, problem: Cluster, places: Sequence[int]) -> None:
    names = f"method “{plain(method.name)}” and problem “{plain(problem.name)}”"
    st.subheader(f"{counted(len(places), 'paper')}: {names}", anchor=False)
    for place in places[: _shown("more-crossing")]:
        _paper(topic.papers[place])
    _offer_more("more-crossing", len(places))


frame.draw(page)
