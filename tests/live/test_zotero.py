"""Zotero both ways: in with tags and notes, results out with their reasons, conflicts and refusals."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from index_build.fetch import zotero_out
from index_build.fetch.fetching import count
from index_build.fetch.updating import fetch_all
from index_build.fetch.values import Refused, Unanswered, Wish
from index_build.fetch.zotero_out import CannotWrite, Writer
from search.corpus.layout import STORE
from search.corpus.store import Store
from search.errors import InputError
from search.exports.references import Citation
from search.settings import Settings
from search.types import Kind, Paper, Reference
from tests.live import world
from tests.live.client import Servers
from tests.live.zotero_protocol import WEB_KEY


def turn(servers: Servers, **values: Any) -> None:
    """Changes how the library behaves."""
    request = urllib.request.Request(f"{servers.address('control')}/zotero", data=json.dumps(values).encode())
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as answer:
        answer.read()


def papers(corpus: Path) -> list[Paper]:
    with Store.open(corpus / STORE) as store:
        ids = [
            row[0]
            for row in store._connection.cursor().execute("SELECT id FROM records ORDER BY 1").fetchall()
        ]
        return store.records(ids)


def citation(number: int = 1, **values: Any) -> Citation:
    paper = Paper(
        f"x:{number}",
        f"Paper number {number}",
        "It is about rain.",
        ("Author, Ann", "Group"),
        2024,
        "Journal of Rain",
    )
    return Citation(
        Paper(**({name: getattr(paper, name) for name in paper.__slots__} | values)), "Matches “rain”."
    )


class TestIn:
    def test_a_collection_comes_with_tags_and_notes(self, servers: Servers, tmp_path: Path) -> None:
        servers.reset(records=13)
        settings = servers.settings(tmp_path / "corpus")
        found = fetch_all(settings.corpus, [Wish("zotero", collection="reading group")], settings)
        came = papers(settings.corpus)
        assert found.gaps == []
        assert {paper.title for paper in came} == {world.make(13)[n].title for n in (0, 3, 6, 9, 12)}
        first = next(paper for paper in came if paper.title == world.make(13)[12].title)
        assert first.reference.notes == ("Remark on 12",)
        assert "tag 12" in first.fields
        assert first.reference.origins == ("Zotero: reading group",)

    def test_only_what_changed_comes_the_next_time_with_all_its_notes(
        self, servers: Servers, tmp_path: Path
    ) -> None:
        servers.reset(records=13)
        settings, wish = servers.settings(tmp_path / "corpus"), Wish("zotero")
        fetch_all(settings.corpus, [wish], settings)
        turn(servers, change_note="NOTE0004", change_item="ITEM0008")
        found = fetch_all(settings.corpus, [wish], settings, news=True)
        assert found.done[0].fetched.received < 6
        by_title = {paper.title: paper for paper in papers(settings.corpus)}
        assert by_title[world.make(13)[4].title].reference.notes == ("Changed",)
        assert by_title[f"{world.make(13)[8].title} revised"].reference.notes == ("Remark on 8",)
        assert len(by_title) == 13

    def test_where_it_is_switched_off_it_says_where_to_switch_it_on(
        self, servers: Servers, tmp_path: Path
    ) -> None:
        turn(servers, switched_on=False)
        with pytest.raises(Refused, match="Settings, Advanced"):
            count(Wish("zotero"), servers.settings(tmp_path))

    def test_where_it_does_not_run_that_is_said(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TRIPTYCH_CACHE", str(tmp_path))
        settings = Settings(sources=("zotero=http://127.0.0.1:9/api",))
        with pytest.raises(Unanswered, match="cannot be reached"):
            count(Wish("zotero"), settings, tries=1)

    def test_a_collection_that_is_not_there(self, servers: Servers, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="it has Reading group, Thesis"):
            count(Wish("zotero", collection="Poems"), servers.settings(tmp_path))

    def test_the_library_on_the_web_wants_its_key(self, servers: Servers, tmp_path: Path) -> None:
        wish = Wish("zotero", library="users/12345", collection="COLLAAAA")
        settings = servers.settings(tmp_path / "corpus", zotero_key=WEB_KEY)
        assert count(wish, settings).records == 7
        with pytest.raises(Refused, match="does not let us in"):
            count(wish, servers.settings(tmp_path / "corpus"))


class TestOut:
    def send(self, servers: Servers, tmp_path: Path, *citations: Citation, **given: Any) -> Any:
        library = given.pop("library", "")
        writer = Writer(servers.settings(tmp_path, **given), library)
        return writer.send(citations or (citation(),), "COLLBBBB")

    def written(self, servers: Servers, name: str = "zotero") -> list[dict[str, Any]]:
        items = servers.log()[name]["zotero"]["items"]
        return [item["data"] for key, item in items.items() if key.startswith("NEWW")]

    def test_a_paper_and_its_reason(self, servers: Servers, tmp_path: Path) -> None:
        sent = self.send(servers, tmp_path, citation(doi="10.5555/r"), citation(2))
        assert (sent.written, sent.there, sent.failed) == (2, 0, {})
        paper, _, note, _ = self.written(servers)
        assert paper["itemType"] == "journalArticle"
        assert paper["DOI"] == "10.5555/r"
        assert paper["collections"] == ["COLLBBBB"]
        assert paper["creators"][0] == {"creatorType": "author", "lastName": "Author", "firstName": "Ann"}
        assert note["note"] == "<p>Matches “rain”.</p>"
        assert note["parentItem"].startswith("NEWW")

    def test_collections_are_offered(self, servers: Servers, tmp_path: Path) -> None:
        assert Writer(servers.settings(tmp_path)).collections() == {
            "COLLAAAA": "Reading group",
            "COLLBBBB": "Thesis",
        }

    def test_a_key_that_is_remembered_needs_no_second_dialogue(
        self, servers: Servers, tmp_path: Path
    ) -> None:
        self.send(servers, tmp_path)
        self.send(servers, tmp_path)
        assert sum("authorize" in line for line in servers.asked("zotero")) == 1
        assert zotero_out._key_file().stat().st_mode & 0o077 == 0

    def test_a_key_for_one_write_is_asked_for_again(self, servers: Servers, tmp_path: Path) -> None:
        turn(servers, once=True)
        assert self.send(servers, tmp_path).written == 1
        assert len(self.written(servers)) == 2
        assert 401 in servers.log()["zotero"]["zotero"]["statuses"]

    @pytest.mark.parametrize("library", ["", "users/12345"])
    def test_a_conflict_is_solved_and_nothing_is_there_twice(
        self, library: str, servers: Servers, tmp_path: Path
    ) -> None:
        turn(servers, conflicts=2)
        sent = self.send(servers, tmp_path, library=library, zotero_key=WEB_KEY)
        assert sent.written == 1
        name = "zotero-web" if library else "zotero"
        assert 412 in servers.log()[name]["zotero"]["statuses"]
        assert len(self.written(servers, name)) == 2

    def test_an_answer_that_was_lost_is_no_second_paper(self, servers: Servers, tmp_path: Path) -> None:
        turn(servers, lose_answer=True)
        assert self.send(servers, tmp_path).written == 1
        assert [data["itemType"] for data in self.written(servers)] == ["journalArticle", "note"]

    def test_no_in_the_dialogue(self, servers: Servers, tmp_path: Path) -> None:
        turn(servers, denies=True)
        with pytest.raises(Refused, match="answered with no"):
            self.send(servers, tmp_path)
        assert self.written(servers) == []

    def test_an_older_zotero_takes_nothing(self, servers: Servers, tmp_path: Path) -> None:
        turn(servers, writes=False)
        with pytest.raises(CannotWrite, match="RIS"):
            self.send(servers, tmp_path)

    def test_a_paper_that_zotero_refuses_is_named(self, servers: Servers, tmp_path: Path) -> None:
        sent = self.send(servers, tmp_path, citation(title="refused"), citation(2))
        assert sent.written == 1
        assert sent.failed == {"refused": "this item is not good"}

    def test_what_came_from_zotero_is_not_sent_back(self, servers: Servers, tmp_path: Path) -> None:
        own = citation(3, reference=Reference(origins=("Zotero: Reading group",)))
        sent = self.send(servers, tmp_path, own)
        assert (sent.written, sent.there) == (0, 1)

    def test_many_papers_go_in_parts(self, servers: Servers, tmp_path: Path) -> None:
        sent = self.send(servers, tmp_path, *(citation(n) for n in range(60)))
        assert sent.written == 60
        assert len(self.written(servers)) == 120

    @pytest.mark.parametrize("kind", Kind)
    def test_each_kind_has_only_fields_of_its_type(self, kind: Kind) -> None:
        from index_build.fetch.zotero_items import item_of

        item = item_of(citation(doi="10.1/x", reference=Reference(kind=kind, publisher="P", number="7")), "C")
        assert ("DOI" in item) == (
            item["itemType"] in ("journalArticle", "conferencePaper", "preprint", "dataset")
        )
        assert item["title"]
        assert "10.1/x" in json.dumps(item)
