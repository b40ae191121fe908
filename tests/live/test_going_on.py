"""A fetch that ended early goes on and asks nothing twice; kept answers are enough to import again."""

from __future__ import annotations

from pathlib import Path

import pytest

from index_build.fetch.journal import Journal, only_fetcher
from index_build.fetch.taking_in import take_in
from index_build.fetch.updating import fetch_all, take_in_again
from index_build.fetch.values import Answer, Call, Page, Stopped, Wish
from search.corpus.layout import STORE
from search.errors import CorpusError
from search.settings import Settings
from tests.campaign import live
from tests.campaign.__main__ import main
from tests.campaign.live import WISHES, fingerprint, stored_titles
from tests.live.client import Servers


@pytest.mark.parametrize("kind", ["arxiv category", "crossref", "pubmed", "zotero"])
def test_what_was_asked_is_not_asked_again(kind: str, servers: Servers, tmp_path: Path) -> None:
    servers.reset(records=40)
    wish = WISHES[kind]
    calm = servers.settings(tmp_path / "calm")
    fetch_all(calm.corpus, [wish], calm)
    total = sum(len(source["asked"]) for source in servers.log().values())
    servers.reset(records=40)
    settings, reports = servers.settings(tmp_path / "corpus"), []
    with pytest.raises(Stopped):
        fetch_all(
            settings.corpus, [wish], settings, lambda *told: reports.append(told), lambda: len(reports) > 2
        )
    assert not (settings.corpus / STORE).exists()
    fetch_all(settings.corpus, [wish], settings)
    asked = [line for source in servers.log().values() for line in source["asked"]]
    assert len(asked) <= total + 1
    assert fingerprint(settings.corpus) == fingerprint(calm.corpus)


def test_a_damaged_answer_is_fetched_again(servers: Servers, tmp_path: Path) -> None:
    servers.reset(records=30)
    settings, reports = servers.settings(tmp_path / "corpus"), []
    with pytest.raises(Stopped):
        fetch_all(
            settings.corpus,
            [WISHES["crossref"]],
            settings,
            lambda *told: reports.append(told),
            lambda: len(reports) > 2,
        )
    for path in sorted((settings.corpus / "raw").rglob("*.gz"))[:1]:
        path.write_bytes(path.read_bytes()[:-20])
    fetch_all(settings.corpus, [WISHES["crossref"]], settings)
    assert len(stored_titles(settings.corpus)) == 30


def test_kept_answers_are_taken_in_without_the_network(servers: Servers, tmp_path: Path) -> None:
    servers.reset(records=20)
    settings = servers.settings(tmp_path / "corpus")
    fetch_all(settings.corpus, [WISHES["crossref"], WISHES["zotero"]], settings)
    before = fingerprint(settings.corpus)
    asked = sum(len(source["asked"]) for source in servers.log().values())
    (settings.corpus / STORE).unlink()
    take_in_again(settings.corpus, settings)
    assert fingerprint(settings.corpus) == before
    assert sum(len(source["asked"]) for source in servers.log().values()) == asked


def test_one_fetch_at_a_time(servers: Servers, tmp_path: Path) -> None:
    settings = servers.settings(tmp_path / "corpus")
    with only_fetcher(settings.corpus), pytest.raises(CorpusError, match="Another fetch"):
        fetch_all(settings.corpus, [WISHES["crossref"]], settings)


def test_a_source_that_fails_does_not_keep_the_others(servers: Servers, tmp_path: Path) -> None:
    settings = servers.settings(tmp_path / "corpus", openalex_key="wrong")
    servers.reset(records=12, key="right")
    found = fetch_all(settings.corpus, [WISHES["openalex"], WISHES["crossref"]], settings)
    assert list(found.failed) == ["OpenAlex, rivers"]
    assert len(stored_titles(settings.corpus)) == 12
    assert "1 of 2 fetches up to date: 12 papers added" in found.line()
    with Journal(settings.corpus) as journal:
        assert journal.last(WISHES["openalex"]).ended is None


def test_a_journal_that_is_none_is_said(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "journal.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(CorpusError, match="journal"):
        Journal(tmp_path)


def test_the_campaign_finds_what_goes_wrong(servers: Servers, tmp_path: Path) -> None:
    """A corpus that lacks a record without a word, and one that has it twice, are failures."""
    stage = live.set_up(servers, tmp_path, "crossref", 5)
    found = fetch_all(stage.corpus, [stage.wish], stage.settings)
    assert live.judge(stage, found) == ""
    more = live.Stage(servers, tmp_path, stage.wish, live.world.make(41, 5), stage.settings)
    assert "lost without a word" in live.judge(more, found)
    fewer = live.Stage(servers, tmp_path, stage.wish, stage.records[1:], stage.settings)
    assert "strange" in live.judge(fewer, found)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["sources", "--times", "13"], ["fetch-kill", "--times", "2"]])
def test_short_campaigns(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    "source", ["openalex", "crossref", "semanticscholar", "biorxiv", "openreview", "pubmed"]
)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b'{"data": [1, null, []], "results": [1, null], "notes": [7, {"content": 3}], '
        b'"collection": [2, "withdrawn"], "is_retracted": true, '
        b'"message": {"items": [5, {"updated-by": 3}]}}',
        b"<PubmedArticleSet><PubmedArticle>Retracted Publication</PubmedArticle></PubmedArticleSet>",
    ],
)
def test_no_answer_ends_an_import(source: str, body: bytes, tmp_path: Path) -> None:
    """What a source sends is a stranger's, and a page that cannot be read is rejected with its place."""
    settings = Settings(corpus=tmp_path)
    with Journal(tmp_path) as journal:
        wish = {"biorxiv": WISHES["biorxiv"], "openreview": WISHES["openreview"]}.get(
            source, Wish(source, text="x")
        )
        run, call = journal.begin(wish), Call(source)
        journal.keep(run, call, Answer(200, {}, body))
        journal.add_page(run, 0, Page(call.key, ("a", "b")))
        journal.end(run, (), {})
        summary = take_in(tmp_path, journal, run, settings).summary
    assert summary.rejected
    assert summary.stored.added == 0
