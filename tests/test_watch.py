"""`python -m search watch` and the feeds: what is new since the last time, told once, with its reason."""

from __future__ import annotations

import email
import email.policy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from index_build.steps import build
from search.__main__ import main
from search.api.surroundings import alone
from search.corpus import layout
from search.corpus.store import Store
from search.history import History, new_id
from search.query.choosing import choose_facet
from search.query.saving import to_json
from search.settings import Settings
from search.types import Facet, Query
from search.watch.digests import ATOM, link_of
from tests.api_client import served
from tests.miniature import METHODS, build_miniature, make_paper

ATOM_ENTRY, ATOM_TITLE = f"{{{ATOM}}}entry", f"{{{ATOM}}}title"


def add_paper(corpus: Path, problem: str, method: str, id: str, title: str) -> None:
    paper = replace(make_paper(problem, method), id=id, title=title, doi="")
    with Store.open(corpus / layout.STORE, read_only=False) as store:
        store.add([paper])
    build(corpus)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    made = Settings(corpus=build_miniature(tmp_path / "corpus"), library=tmp_path / "library")
    monkeypatch.setenv("TRIPTYCH_CORPUS", str(made.corpus))
    monkeypatch.setenv("TRIPTYCH_LIBRARY", str(made.library))
    return made


@pytest.fixture
def kept(settings: Settings) -> str:
    """Trees as a method, fraud as a problem to avoid."""
    engine = alone(settings, 100).engine()
    paper = choose_facet(engine.example("fraud-trees"), Facet.METHOD, Facet.BACKGROUND)
    history, id = History.open(settings.library), new_id()
    history.put(id, "", paper.title, to_json(Query((paper,), top=6)))
    history.rename(id, "", "Trees <elsewhere>")
    history.close()
    return id


def entries(feed: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(feed.encode()).iter(ATOM_ENTRY))


Watch = Callable[..., tuple[int, str]]


@pytest.fixture
def watch(kept: str, capsys: pytest.CaptureFixture[str]) -> Watch:
    def run(*options: str) -> tuple[int, str]:
        code = main(["watch", *options])
        return code, capsys.readouterr().out

    return run


def ids(digest: str) -> list[str]:
    return [each["id"] for search in json.loads(digest)["searches"] for each in search["results"]]


def test_what_is_new_is_told_once_and_what_is_avoided_never(watch: Watch, settings: Settings) -> None:
    code, first = watch("--format", "json")
    assert code == 0
    assert "traffic-trees" in ids(first)
    assert watch("--format", "json") == (1, "")
    add_paper(settings.corpus, "proteins", "trees", "new-near", "Forests that fold")
    add_paper(settings.corpus, "fraud", "trees", "new-avoided", "More cards and boosted forests")
    add_paper(settings.corpus, "proteins", "agents", "new-far", "Rewards that fold")
    assert watch("--format", "json", "--dry-run")[0] == 0
    code, second = watch("--format", "json")
    assert (code, ids(second)) == (0, ["new-near"])
    result = json.loads(second)["searches"][0]["results"][0]
    assert result["pairs"][0]["text"] == METHODS["trees"]
    assert "Matches" in result["reason"] or "method" in result["reason"]
    assert watch("--format", "json") == (1, "")
    assert ids(watch("--format", "json", "--reader", "colleague")[1]).count("new-near") == 1


def test_every_format_has_the_reason_and_the_sentences(watch: Watch, tmp_path: Path) -> None:
    sentence = METHODS["trees"]
    markdown = watch("--dry-run")[1]
    assert "## Trees \\<elsewhere\\>" in markdown
    assert f"  > {sentence}" in markdown
    assert "Matches your method sentence" in markdown
    feed = ElementTree.fromstring(watch("--dry-run", "--format", "atom")[1])
    assert "Trees <elsewhere>" in str(feed.findtext(ATOM_TITLE))
    entry = feed.find(ATOM_ENTRY)
    assert entry is not None
    assert sentence in str(entry.findtext(f"{{{ATOM}}}content"))
    assert "Matches your method sentence" in str(entry.findtext(f"{{{ATOM}}}summary"))
    file = tmp_path / "news.eml"
    assert watch("--dry-run", "--format", "eml", "--out", str(file)) == (0, "")
    mail = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
    assert str(mail["subject"]).endswith("new papers for your searches")
    assert sentence in mail.get_content().replace("\n", " ")


def test_what_could_not_be_written_is_told_the_next_time(watch: Watch, tmp_path: Path) -> None:
    assert watch("--out", str(tmp_path / "no" / "folder" / "x.md"))[0] == 2
    assert watch("--name", "Other")[0] == 2
    assert watch("--name", "Trees <elsewhere>")[0] == 0


def test_the_feed_of_a_kept_search(kept: str, settings: Settings) -> None:
    here = alone(settings, 1000)
    with served(here) as api, api.client() as client:
        first = client.get(f"/feeds/{kept}")
        assert first.headers["content-type"] == "application/atom+xml; charset=utf-8"
        known = {"If-None-Match": first.headers["etag"]}
        assert client.get(f"/feeds/{kept}", headers=known).status_code == 304
        add_paper(settings.corpus, "proteins", "trees", "new-near", "Forests that fold")
        second = client.get(f"/feeds/{kept}", headers=known)
        assert second.status_code == 200
        before, after = (
            [
                entry.findtext(f"{{{ATOM}}}id")
                for entry in ElementTree.fromstring(each.content).iter(ATOM_ENTRY)
            ]
            for each in (first, second)
        )
        assert len(after) == len(before) + 1
        assert set(before) < set(after)
        assert "Forests that fold" in second.text
        assert kept not in second.text.replace(f"/feeds/{kept}", ""), "the id is a secret"
        assert here.history is not None
        here.history.rename(kept, "", "")
        assert client.get(f"/feeds/{kept}").status_code == 404


def test_control_characters_make_no_broken_feed(kept: str, settings: Settings, watch: Watch) -> None:
    add_paper(settings.corpus, "traffic", "trees", "odd", "Jams \x08 & <forests> \x1f")
    feed = ElementTree.fromstring(watch("--format", "atom")[1])
    titles = [entry.findtext(ATOM_TITLE) for entry in feed.iter(ATOM_ENTRY)]
    assert any("& <forests>" in str(title) for title in titles)


@pytest.mark.parametrize(
    ("paper", "link"),
    [
        (
            {"doi": "10.1002/(SICI)1097-4571(199009)41:6<391::AID-ASI1>3.0.CO;2-9"},
            "41:6%3C391::AID-ASI1%3E3.0",
        ),
        ({"url": 'https://example.org/a b"c<d>?q=ü#e'}, "https://example.org/a%20b%22c%3Cd%3E?q=%C3%BC#e"),
        ({"url": "https://example.org/a%20b", "doi": "10.1/x"}, "https://example.org/a%20b"),
        ({"url": "javascript:alert(1)", "doi": "10.1/x?y#z%"}, "https://doi.org/10.1/x%3Fy%23z%25"),
    ],
)
def test_links_are_addresses_that_every_reader_takes(paper: dict[str, str], link: str) -> None:
    made = replace(make_paper("fraud", "trees"), **{"url": "", "doi": ""} | paper)
    assert link in link_of(made)
    assert all(mark not in link_of(made) for mark in ' "<>')
