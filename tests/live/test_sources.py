"""Each source as its documentation describes it: everything comes once, then only what is new."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from index_build.fetch.fetching import count
from index_build.fetch.journal import Journal
from index_build.fetch.updating import fetch_all
from index_build.fetch.values import Refused, Wish
from search.corpus.layout import STORE
from search.corpus.store import Store
from search.errors import InputError
from search.types import Paper
from tests.campaign.live import WISHES, judge, set_up, stored_titles
from tests.live import world
from tests.live.client import Servers


def stored(corpus: Path) -> dict[str, Paper]:
    with Store.open(corpus / STORE) as store:
        ids = [row[0] for row in store._connection.cursor().execute("SELECT id FROM records").fetchall()]
        return {paper.title: paper for paper in store.records(ids)}


@pytest.mark.parametrize("kind", WISHES)
def test_everything_comes_once_within_the_limits(kind: str, servers: Servers, tmp_path: Path) -> None:
    stage = set_up(servers, tmp_path, kind, 7)
    found = fetch_all(stage.corpus, [stage.wish], stage.settings)
    assert found.failed == {}
    assert found.gaps == []
    assert judge(stage, found) == ""
    assert len(stored_titles(stage.corpus)) == len(stage.records)
    assert found.done[0].taken.summary.rejected == {}
    assert servers.excess() == []


@pytest.mark.parametrize("kind", [kind for kind in WISHES if kind != "doi"])
def test_the_count_is_that_of_the_fetch(kind: str, servers: Servers, tmp_path: Path) -> None:
    stage = set_up(servers, tmp_path, kind, 11)
    told = count(stage.wish, stage.settings)
    assert told.records == len(stage.records)
    assert told.calls >= 1


NEWS = [
    kind
    for kind in WISHES
    if kind not in ("arxiv feed", "doi", "citations", "zotero", "biorxiv", "arxiv", "pubmed")
]


@pytest.mark.parametrize("kind", [*NEWS, "arxiv open", "pubmed open"])
def test_the_next_time_only_news_are_asked_for(kind: str, servers: Servers, tmp_path: Path) -> None:
    wish = WISHES[kind.removesuffix(" open")]
    wish = replace(wish, since="", until="")
    settings = servers.settings(tmp_path / "corpus", most=1000)
    servers.reset(records=30)
    first = fetch_all(settings.corpus, [wish], settings)
    assert first.stored.added == 30
    asked = len(servers.log()["arxiv"]["asked"])
    servers.reset(records=30, late=[3, 17])
    second = fetch_all(settings.corpus, [wish], settings, news=True)
    assert second.stored.replaced == 2, second.line()
    assert second.done[0].fetched.received < 30
    assert "It was revised later." in " ".join(paper.abstract for paper in stored(settings.corpus).values())
    third = fetch_all(settings.corpus, [wish], settings, news=True)
    assert third.stored.replaced == third.stored.added == 0
    assert asked >= 0


def test_the_feed_is_not_sent_twice(servers: Servers, tmp_path: Path) -> None:
    settings, wish = servers.settings(tmp_path / "corpus"), WISHES["arxiv feed"]
    fetch_all(settings.corpus, [wish], settings)
    before = len(servers.asked("arxiv"))
    fetch_all(settings.corpus, [wish], settings, news=True)
    assert len(servers.asked("arxiv-feed")) == 2
    assert len(servers.asked("arxiv")) == before


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("arxiv", "withdrawn"),
        ("arxiv category", "withdrawn"),
        ("openalex", "retracted"),
        ("pubmed", "retracted"),
        ("crossref", "retracted"),
        ("biorxiv", "withdrawn"),
        ("openreview", "withdrawn"),
    ],
)
def test_withdrawn_papers_stay_and_say_so(kind: str, status: str, servers: Servers, tmp_path: Path) -> None:
    settings, wish = servers.settings(tmp_path / "corpus"), WISHES[kind]
    servers.reset(records=9)
    fetch_all(settings.corpus, [wish], settings)
    servers.reset(records=9, gone=[4])
    found = fetch_all(settings.corpus, [wish], settings)
    marked = [paper.title for paper in stored(settings.corpus).values() if paper.reference.status == status]
    assert marked == [world.make(9)[4].title]
    assert found.has_news
    assert len(stored(settings.corpus)) == 9


def test_origin_and_licence_of_the_abstract_are_kept(servers: Servers, tmp_path: Path) -> None:
    settings = servers.settings(tmp_path / "corpus")
    servers.reset(records=5, citations={"cites:W4000000": [1, 2]})
    fetch_all(settings.corpus, [WISHES["arxiv category"], WISHES["citations"]], settings)
    title = world.make(5)[1].title
    with Store.open(settings.corpus / STORE) as store:
        record = next(paper for paper in store.records(["openalex:W4000001"]))
    assert record.reference.origins == ("cites W4000000",)
    assert record.reference.abstract_from == "OpenAlex"
    assert record.reference.abstract_licence == "cc-by"
    theirs = stored(settings.corpus)[title]
    assert theirs.reference.abstract_licence


def test_what_a_list_lacks_is_named(servers: Servers, tmp_path: Path) -> None:
    settings, records = servers.settings(tmp_path / "corpus"), world.make(4)
    servers.reset(records=4)
    wish = Wish(
        "doi", ids=(records[0].doi, f"https://arxiv.org/abs/{records[1].arxiv_id}v3", "10.5555/none", "cat")
    )
    found = fetch_all(settings.corpus, [wish], settings)
    assert found.done[0].fetched.missing == {
        "10.5555/none": "no source knows it",
        "cat": "no DOI, arXiv id or PMID",
    }
    assert set(stored_titles(settings.corpus)) == {records[0].title, records[1].title}


def test_an_older_venue_is_found_by_the_first_interface(servers: Servers, tmp_path: Path) -> None:
    settings = servers.settings(tmp_path / "corpus")
    servers.reset(records=9)
    found = fetch_all(settings.corpus, [Wish("openreview", text="Old.org/2019/Meeting")], settings)
    assert found.stored.added == 9
    assert any("Blind_Submission" in line for line in servers.asked("openreview-v1"))


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (Wish("arxiv", text="title:birds"), 'no field "title"'),
        (Wish("arxiv", category="cs.ZZ"), "no category"),
        (Wish("arxiv"), "Say what to ask"),
        (Wish("pubmed", text="a", since="2026-13-01"), "no day"),
        (Wish("pubmed", text="a", since="2026-02-01", until="2026-01-01"), "earlier day first"),
        (Wish("pubmed", text="a", category="x"), "--category"),
        (Wish("biorxiv", server="chemrxiv", since="2026-01-01"), "no server"),
        (Wish("biorxiv", server="biorxiv"), "--from"),
        (Wish("openreview", text="ICLR 2026"), "no venue"),
        (Wish("doi", ids=("cat",)), "Nothing in the list"),
        (Wish("doi"), "empty"),
        (Wish("citations", text="cat"), "names no paper"),
        (Wish("citations", text="10.1000/x", through="pubmed"), "not known"),
        (Wish("zotero", library="me"), "no library"),
        (Wish("elsewhere"), "no source"),
    ],
)  # fmt: skip
def test_nonsense_is_refused_before_anything_is_sent(
    wish: Wish, said: str, servers: Servers, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        count(wish, servers.settings(tmp_path / "corpus"))
    assert not any(source["asked"] for source in servers.log().values())


def test_a_query_that_a_source_refuses_is_told_in_its_words(servers: Servers, tmp_path: Path) -> None:
    settings = servers.settings(tmp_path / "corpus")
    for wish, why in (
        (Wish("arxiv", text="((("), "incorrect id format"),
        (Wish("pubmed", text="["), "syntax"),
        (Wish("openalex", filter="colour:red"), "unknown field colour"),
    ):
        with pytest.raises(Refused, match=why):
            count(wish, settings)


def test_arxiv_is_asked_in_parts_where_one_query_gives_too_little(servers: Servers, tmp_path: Path) -> None:
    settings = servers.settings(tmp_path / "corpus", most=9)
    servers.reset(records=40)
    wish = replace(WISHES["arxiv"], until="2026-03-02")
    found = fetch_all(settings.corpus, [wish], settings)
    assert len(stored_titles(settings.corpus)) == 40
    assert found.gaps == []
    assert sum("submittedDate" in line for line in servers.asked("arxiv")) > 8


def test_a_key_is_sent_and_written_nowhere(servers: Servers, tmp_path: Path) -> None:
    settings = servers.settings(tmp_path / "corpus", openalex_key="very-secret", contact="a@example.org")
    servers.reset(records=9, key="very-secret")
    fetch_all(settings.corpus, [WISHES["openalex"]], settings)
    assert len(stored_titles(settings.corpus)) == 9
    for path in (tmp_path / "corpus" / "raw").rglob("*"):
        if path.is_file():
            assert b"very-secret" not in path.read_bytes()
    with Journal(settings.corpus) as journal:
        assert "very-secret" not in repr(journal.wishes())
    wrong = replace(settings, openalex_key="wrong", corpus=tmp_path / "other")
    assert "does not let us in" in next(
        iter(fetch_all(wrong.corpus, [WISHES["openalex"]], wrong).failed.values())
    )
