"""What clients of all kinds send to the API: odd bodies and methods, much at once, searches without end."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2 as httpx
import pytest

from search import history as kept_searches
from search.api import exchange, limits
from search.api.exchange import Rankings
from search.api.limits import Room
from search.api.surroundings import Surroundings, alone
from search.errors import ModelError
from search.history import History
from search.query.saving import to_json
from search.settings import Settings
from search.types import Query, Results
from search.watch.notes import Notes, Run
from tests.api_client import Served, served
from tests.miniature import build_miniature

JSON = {"Content-Type": "application/json"}
SEARCH = {"papers": [{"id": "fraud-trees", "facet": "method"}], "top": 6}


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("clients")
    return Settings(corpus=build_miniature(folder / "corpus"), library=folder / "library")


@pytest.fixture(scope="module")
def here(settings: Settings) -> Surroundings:
    return alone(settings, 1_000_000)


@pytest.fixture(scope="module")
def api(here: Surroundings) -> Iterator[Served]:
    with served(here) as running:
        yield running


@pytest.fixture
def client(api: Served) -> Iterator[httpx.Client]:
    with api.client() as opened:
        yield opened


@pytest.mark.parametrize(
    ("body", "headers", "status", "said"),
    [
        (b'{"papers": [{"id": "fraud-trees"}], "top": 1, "top": 2}', JSON, 400, "'top' is given twice"),
        (b'{"papers": [{"id": "a", "id": "b"}]}', JSON, 400, "'id' is given twice"),
        (
            gzip.compress(json.dumps(SEARCH).encode(), mtime=0),
            JSON | {"Content-Encoding": "gzip"},
            415,
            "compressed",
        ),
        (b'{"papers": [' + b"{}," * 600_000 + b"{}]}", JSON, 413, "more than 500,000 parts"),
        (b"[" * 100_000, JSON, 400, "not JSON"),
        (b'{"top": ' + b"[" * 500 + b"]" * 500 + b"}", JSON, 400, "papers"),
        (b"{}", {"Content-Type": "text/plain"}, 415, "must be JSON"),
    ],
)
def test_odd_bodies_are_refused_in_a_sentence(
    client: httpx.Client, body: bytes, headers: dict[str, str], status: int, said: str
) -> None:
    answer = client.post("/search", content=body, headers=headers)
    assert (answer.status_code, said in answer.json()["detail"]) == (status, True), answer.text


@pytest.mark.parametrize("value", [["bibtex"], {"a": 1}, None, True, "\ud800", 10**30])
@pytest.mark.parametrize("field", ["format", "facet", "avoid", "matcher", "cursor", "choice"])
def test_no_value_in_the_place_of_a_word_is_a_fault(client: httpx.Client, field: str, value: object) -> None:
    body: dict[str, object] = {"papers": [{"id": "fraud-trees"}]}
    match field:
        case "format":
            path, body = "/export", {"format": value, "ids": ["fraud-trees"]}
        case "facet" | "avoid":
            path, body = "/search", {"papers": [{"id": "fraud-trees", field: value}]}
        case "choice":
            path, body = "/search", {"papers": [{"sentences": [{"text": "We do.", field: value}]}]}
        case _:
            path, body = "/search", body | {field: value}
    answer = client.post(path, content=json.dumps(body), headers=JSON)
    allowed = {200, 400} if field in ("matcher", "choice") and value is None else {400}
    assert answer.status_code in allowed, answer.text


def test_each_address_says_what_it_takes(client: httpx.Client) -> None:
    for method in ("OPTIONS", "PUT", "PATCH"):
        answer = client.request(method, "/searches")
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, POST")
    assert client.put("/searches/x").headers["allow"] == "DELETE, GET, HEAD"
    head = client.head("/corpus")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == client.get("/corpus").headers["etag"]
    assert client.get("/corpus/").status_code == 404  # no redirect, which would pass by keys and limits


def test_what_is_kept_may_change_and_then_its_tag_does(client: httpx.Client, here: Surroundings) -> None:
    made = client.post("/searches", json=SEARCH | {"name": "Trees"}).json()
    first = client.get(f"/searches/{made['id']}/results")
    tag = {"If-None-Match": first.headers["etag"]}
    assert client.get(f"/searches/{made['id']}/results", headers=tag).status_code == 304
    other = Query((here.engine().example("tumours-graphs"),), top=3)
    here.history.put(made["id"], "", "Changed in the app", to_json(other))
    again = client.get(f"/searches/{made['id']}/results", headers=tag)
    assert (again.status_code, len(again.json()["results"])) == (200, 3)
    client.delete(f"/searches/{made['id']}")


def test_searches_are_kept_up_to_a_number_and_a_size(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_searches, "MOST_NAMED", 2)
    answers = [client.post("/searches", json=SEARCH | {"name": f"Search {number}"}) for number in range(4)]
    assert [each.status_code for each in answers] == [201, 201, 400, 400]
    assert "take the name from some of them" in answers[2].json()["detail"]
    kept = client.get("/searches").json()["searches"]
    client.delete(f"/searches/{kept[0]['id']}")
    monkeypatch.setattr(kept_searches, "MOST_CHARACTERS", 100)
    assert client.post("/searches", json=SEARCH | {"name": "Long"}).status_code == 400
    assert len(client.get("/searches").json()["searches"]) == 1
    for each in client.get("/searches").json()["searches"]:
        client.delete(f"/searches/{each['id']}")


def test_large_bodies_that_stall_leave_room_for_others(
    api: Served, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_SECONDS", 3.0)
    head = b"POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    data = head + b"Content-Length: 4000000\r\n\r\n" + b" " * 3_900_000
    stalled = []
    for _ in range(6):
        one = socket.create_connection(("127.0.0.1", api.port), timeout=20)
        threading.Thread(target=_send, args=(one, data), daemon=True).start()
        stalled.append(one)
    answers = b"".join(one.recv(200) for one in stalled)
    for one in stalled:
        one.close()
    assert b"503" in answers  # more than MOST_HELD is not held
    assert b"408" in answers  # and what is held is let go of
    assert client.post("/search", json=SEARCH).status_code == 200
    large = SEARCH | {"filters": {"fields": ["x" * 100] * 9000}}
    assert client.post("/search", json=large).status_code == 200


def _send(one: socket.socket, data: bytes) -> None:
    try:
        one.sendall(data)
    except OSError:  # refused meanwhile
        return


def test_room_is_given_back_and_small_bodies_need_none() -> None:
    room = Room()
    with room.share() as first, room.share() as second:
        assert first(limits.MOST_HELD)
        assert not second(limits.MOST_HELD)
        assert second(limits.SMALL)
    with room.share() as third:
        assert third(limits.MOST_HELD)


def test_what_is_remembered_for_later_pages_is_bounded(
    here: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "MOST_REMEMBERED", 10)
    engine, memory, found = here.engine(), Rankings(), list[Results]()
    for top in (6, 3, 4):
        query = Query((engine.example("fraud-trees"),), top=top)
        found.append(engine.search(query))
        memory.put(("build", query), found[-1])
    known = [memory.get(("build", each.query)) for each in found]
    assert known == [None, found[1], found[2]]


def test_without_a_place_for_searches_questions_are_answered(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with served(alone(replace(settings, library=tmp_path / "file"), 1000)) as api, api.client() as client:
        assert client.post("/search", json=SEARCH).status_code == 200
        assert client.get("/searches").status_code == 403


@pytest.mark.parametrize("name", ["searches.sqlite", "watch.sqlite"])
def test_a_damaged_file_of_searches_or_notes_stops_nothing(
    settings: Settings, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(b"no database at all" * 1000)
    with served(alone(replace(settings, library=tmp_path), 1000)) as api, api.client() as client:
        assert client.post("/searches", json=SEARCH | {"name": "Trees"}).status_code == 201
    assert list(tmp_path.glob("*-damaged-*.sqlite"))


def test_a_feed_whose_notes_cannot_be_written_says_so_and_works_again(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = alone(replace(settings, library=tmp_path), 1000)
    assert here.notes is not None
    with served(here) as api, api.client() as client:
        id = client.post("/searches", json=SEARCH | {"name": "Trees"}).json()["id"]
        here.notes._file.connection.execute("pragma query_only = on")  # as on a full disk: no write succeeds
        refused = client.get(f"/feeds/{id}")
        assert (refused.status_code, "could not be kept" in refused.json()["detail"]) == (503, True)
        here.notes._file.connection.execute("pragma query_only = off")
        assert client.get(f"/feeds/{id}").status_code == 200


def test_notes_left_half_done_are_taken_back(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    run = Run("build", 3)
    with pytest.raises(Exception, match="could not be kept or read"):
        notes.note("watch", "one", run, [object()])  # type: ignore[list-item]
    assert notes.told("watch", "one") == []
    notes.note("watch", "one", run, ["paper"])
    assert [each.paper_id for each in notes.told("watch", "one")] == ["paper"]
    notes.close()


def test_a_file_that_another_took_the_place_of_is_followed(tmp_path: Path) -> None:
    ours, theirs = History.open(tmp_path), History.open(tmp_path)
    ours.put("1", "", "One", "{}")
    for each in tmp_path.glob("searches.sqlite*"):
        each.unlink()
    fresh = History.open(tmp_path)
    theirs.put("2", "", "Two", "{}")
    assert [entry.id for entry in fresh.recent("", 5)] == ["2"]
    for each in (ours, theirs, fresh):
        each.close()


def test_ready_means_that_the_model_is_loaded(here: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(text: str) -> None:
        raise ModelError("The model cannot be loaded: download it again.")

    with served(here) as api, api.client() as client:
        assert client.get("/ready").status_code == 200
        monkeypatch.setattr(here.engine(), "read_text", read)
        assert client.get("/ready").status_code == 503
