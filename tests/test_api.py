"""The HTTP API, asked over loopback: answers, refusals, pages, tags, limits, keys."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx2 as httpx
import pytest

from index_build.steps import build
from search.__main__ import main
from search.api import limits
from search.api.application import make_api
from search.api.cursors import make_cursor
from search.api.keys import FILE, Keys
from search.api.limits import Rates
from search.api.operations import OPERATIONS
from search.api.surroundings import Surroundings, alone
from search.corpus import layout
from search.corpus.store import Store
from search.settings import Settings
from tests.api_client import Served, served
from tests.conftest import ROOT
from tests.miniature import METHODS, PROBLEMS, build_miniature, make_paper
from tests.test_host_checks import free_port

PLENTY = 1_000_000
JSON = {"Content-Type": "application/json"}
ABSTRACT = f"My own work\n{PROBLEMS['fraud']} {METHODS['graphs']}"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("api")
    return Settings(corpus=build_miniature(folder / "corpus"), library=folder / "library")


@pytest.fixture(scope="module")
def here(settings: Settings) -> Surroundings:
    return alone(settings, PLENTY)


@pytest.fixture(scope="module")
def api(here: Surroundings) -> Iterator[Served]:
    with served(here) as running:
        yield running


@pytest.fixture
def client(api: Served) -> Iterator[httpx.Client]:
    with api.client() as opened:
        yield opened


def found(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each["id"] for each in answer.json()["results"]]


def test_the_answer_is_that_of_the_command_line(
    client: httpx.Client, settings: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "query.txt"
    file.write_text(ABSTRACT, encoding="utf-8")
    main(["--corpus", str(settings.corpus), str(file), "--json", "--top", "5"])
    printed = json.loads(capsys.readouterr().out)
    answered = client.post("/search", json={"papers": [{"text": ABSTRACT}], "top": 5}).json()
    assert answered.pop("next") is None
    for each in (printed, answered):
        del each["seconds"]
    assert answered == printed


def test_choices_avoid_weights_and_filters(client: httpx.Client) -> None:
    body = {"papers": [{"id": "fraud-trees", "facet": "method", "avoid": "background"}], "top": 4}
    assert {each.split("-")[1] for each in found(client.post("/search", json=body))} == {"trees"}
    chosen = {"papers": [{"id": "fraud-trees", "match": [1]}], "top": 3}
    assert {each.split("-")[0] for each in found(client.post("/search", json=chosen))} == {"fraud"}
    narrow = body | {"filters": {"year_from": 2012, "year_to": 2012}}
    assert found(client.post("/search", json=narrow))[0] == "traffic-trees"
    paper = client.post("/read", json={"text": ABSTRACT}).json()["paper"]
    assert [each["number"] for each in paper["sentences"]] == [1, 2]
    first, second = paper["sentences"]
    heavy = {"papers": [{"sentences": [first | {"weight": 100}, second | {"weight": 0.1}]}], "top": 1}
    (result,) = client.post("/search", json=heavy).json()["results"]
    assert result["pairs"][0]["query_sentence"] == 1
    assert result["pairs"][0]["share"] > 0.9


def test_the_other_operations(client: httpx.Client) -> None:
    paper = client.get("/paper", params={"id": "fraud-trees"}).json()["paper"]
    assert [each["facet"] for each in paper["sentences"]] == ["background", "method", "result"]
    near = client.get("/neighbours", params={"id": "fraud-trees", "facet": "method", "top": 3})
    assert {each.split("-")[1] for each in found(near)} == {"trees"}
    looked_up = client.get("/papers", params={"find": "study of fraud with trees"}).json()["papers"]
    assert looked_up[0]["id"] == "fraud-trees"
    panels = client.post("/triptych", json={"paper": {"id": "fraud-trees"}, "top": 3}).json()["panels"]
    assert set(panels) == {"background", "method", "result"}
    assert {each["id"].split("-")[0] for each in panels["background"]["results"]} == {"fraud"}
    topic = client.post("/explore", json={"topic": "traffic jams"}).json()
    assert topic["panels"]["background"]["sentences"][0]["text"] == PROBLEMS["traffic"]
    corpus = client.get("/corpus").json()
    assert (corpus["papers"], corpus["years"]) == (21, {"from": 2010, "to": 2014})


@pytest.mark.parametrize("format", ["bibtex", "ris", "csl-json", "csv", "markdown"])
def test_exports(client: httpx.Client, format: str) -> None:
    by_search = client.post("/export", json={"format": format, "papers": [{"id": "fraud-trees"}], "top": 2})
    by_id = client.post("/export", json={"format": format, "ids": ["tumours-trees"]})
    assert by_search.status_code == by_id.status_code == 200
    assert "Matches" in by_search.text
    assert "tumours" in by_id.text


def test_pages_are_of_one_ranking_and_one_build(client: httpx.Client) -> None:
    body = {"papers": [{"text": ABSTRACT}], "top": 7}
    whole, pages, cursor = found(client.post("/search", json=body)), [], None
    while True:
        more = body | {"per_page": 3} | ({"cursor": cursor} if cursor else {})
        page = client.post("/search", json=more).json()
        pages.append([(each["rank"], each["id"]) for each in page["results"]])
        if not (cursor := page["next"]):
            break
        last = cursor
    assert [len(page) for page in pages] == [3, 3, 1]
    assert [each for page in pages for each in page] == list(enumerate(whole, start=1))
    other = client.post("/search", json=body | {"top": 6, "per_page": 3, "cursor": last})
    assert (other.status_code, "another question" in other.json()["detail"]) == (400, True)
    gone = client.post("/search", json=body | {"cursor": make_cursor("older", body, 3)})
    assert (gone.status_code, "new build" in gone.json()["detail"]) == (410, True)
    assert client.post("/search", json=body | {"cursor": "[1]"}).status_code == 400


def test_unchanged_answers_are_not_sent_again(client: httpx.Client) -> None:
    first = client.get("/paper", params={"id": "fraud-trees"})
    build = client.get("/corpus").json()["build"]
    assert build in first.headers["etag"]
    again = client.get(
        "/paper", params={"id": "fraud-trees"}, headers={"If-None-Match": first.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    other = client.get("/paper", params={"id": "fraud-trees"}, headers={"If-None-Match": '"else"'})
    assert other.status_code == 200


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"papers": [], "top": NaN}', "not JSON"),
        (b'{"papers": []}', "nothing to search for"),
        (b'{"papers": [{"id": "nobody"}]}', "No paper of this corpus has the id 'nobody'"),
        (b'{"papers": [{"txt": "x"}]}', "There is no field 'txt' here"),
        (b'{"papers": [{"id": "bare", "text": "x"}]}', "given twice over"),
        (b'{"papers": [{"id": "bare", "match": [9]}]}', "There is no sentence 9"),
        (b'{"papers": [{"id": "bare", "facet": "methods"}]}', "'methods' is none of"),
        (b'{"papers": [{"title": "x", "text": null}]}', "text is null"),
        (b'{"papers": [{"sentences": [{"text": "x", "chioce": "avoid"}]}]}', "no field 'chioce' here"),
        (b'{"papers": [{"id": "bare"}], "filters": null}', "filters is None, not an object"),
        (b'{"papers": [{"id": "bare"}], "top": 0}', "1 to 1000 results"),
        (b'{"papers": [{"id": "bare"}], "filters": {"year": 1}}', "there is no filter 'year'"),
        (b'{"papers": [{"text": "\\ud800"}]}', "not a text"),
        (b'{"papers": ' + b"[" * 100_000, "not JSON"),
    ],
)
def test_a_mistake_is_one_sentence(client: httpx.Client, body: bytes, said: str) -> None:
    answer = client.post("/search", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["type"], problem["title"], problem["status"]) == ("about:blank", "Bad Request", 400)
    assert said in problem["detail"]


def test_size_kind_host_and_origin(client: httpx.Client) -> None:
    large = b'{"text": "' + b"x" * limits.MOST_BYTES + b'"}'
    assert client.post("/read", content=large, headers=JSON).status_code == 413
    parts = (b"x" * 100_000 for _ in range(50))
    assert client.post("/read", content=parts, headers=JSON).status_code == 413
    assert client.post("/read", content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 415
    assert client.get("/corpus", headers={"Host": "evil.example"}).status_code == 403
    foreign = client.get("/corpus", headers={"Origin": "https://evil.example"})
    assert foreign.status_code == 403
    assert "access-control-allow-origin" not in foreign.headers


def test_pages_of_a_site_that_is_set_may_ask(here: Surroundings) -> None:
    with served(replace(here, origins=("https://lab.example",))) as api, api.client() as client:
        ours = client.get("/health", headers={"Origin": "https://lab.example"})
        assert (ours.status_code, ours.headers["access-control-allow-origin"]) == (200, "https://lab.example")
        asked = {"Origin": "https://lab.example", "Access-Control-Request-Method": "POST"}
        assert client.options("/search", headers=asked).status_code == 204
        assert client.get("/health", headers={"Origin": "https://evil.example"}).status_code == 403


def test_a_slow_answer_and_a_slow_body_are_ended(here: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_SECONDS", 0.2)

    def slow(client: str, work: object) -> object:
        time.sleep(1)
        return None

    with served(replace(here, ask=slow)) as api, api.client() as client:
        late = client.get("/corpus")
        assert (late.status_code, late.headers["retry-after"]) == (503, "5")

        def body() -> Iterator[bytes]:
            yield b"{"
            time.sleep(1)
            yield b"}"

        sent = client.post("/read", content=body(), headers={"Content-Type": "application/json"})
        assert sent.status_code == 408


def test_fifty_clients_get_what_is_allowed_and_no_more(here: Surroundings) -> None:
    with served(replace(here, rate=100)) as api, ThreadPoolExecutor(50) as pool:

        def ask(_: int) -> httpx.Response:
            with api.client() as client:
                return client.get("/paper", params={"id": "fraud-trees"})

        answers = list(pool.map(ask, range(160)))
    statuses = [answer.status_code for answer in answers]
    assert (statuses.count(200), statuses.count(429)) == (100, 60)
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert int(refused.headers["retry-after"]) in range(1, 61)
    assert refused.headers["ratelimit"].startswith('"requests";r=0;t=')
    assert refused.headers["ratelimit-policy"] == '"requests";q=100;w=60'


def test_more_than_can_wait_come_back_later(here: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_WAITING", 0)
    answers: list[int] = []

    def slow(client: str, work: object) -> object:
        time.sleep(0.3)
        return work()  # type: ignore[operator]

    with served(replace(here, ask=slow, threads=1)) as api, ThreadPoolExecutor(20) as pool:

        def ask(_: int) -> int:
            with api.client() as client:
                return client.get("/health").status_code

        answers = list(pool.map(ask, range(20)))
    assert set(answers) == {200, 503}


def test_a_window_begins_anew() -> None:
    now = [0.0]
    rates = Rates(2, lambda: now[0])
    assert [rates.take("a").refused for _ in range(3)] == [False, False, True]
    assert not rates.take("b").refused
    now[0] = 60
    assert rates.take("a").left == 1


# -- keys


def test_no_route_answers_without_a_key(here: Surroundings, tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    secret = keys.create("reader")
    app = make_api(replace(here, keys=keys))
    walked = set()
    with served(replace(here, keys=keys)) as api, api.client() as client:
        for route in app.routes:  # type: ignore[attr-defined]
            for method in route.methods:
                path = route.path.removeprefix("/api/v1").replace("{search}", "x")
                for wrong in ({}, {"Authorization": "Bearer none"}, {"Authorization": f"Basic {secret}"}):
                    walked.add((path, client.request(method, path, headers=wrong).status_code))
        open_paths = {each.path for each in OPERATIONS if not each.needs_key}
        assert open_paths == {"/health", "/ready", "/feeds/{search}"}
        assert ("/feeds/x", 404) in walked, "the address of a feed is its key"
        assert {path for path, status in walked if status != 401} == {"/health", "/ready", "/feeds/x"}
        assert len(walked) >= len({each.path for each in OPERATIONS}) + 1
        with api.client(Authorization=f"Bearer {secret}") as known:
            assert known.get("/corpus").status_code == 200
            assert "bearer" in known.get("/openapi.json").text
            keys.revoke("reader")
            assert known.get("/corpus").status_code == 401


def test_keys_are_hashed_on_disk_and_made_by_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRIPTYCH_LIBRARY", str(tmp_path))
    assert main(["keys", "create", "notebook", "--owner", "ann@example.org"]) == 0
    secret = capsys.readouterr().out.split()[0]
    written = (tmp_path / FILE).read_text()
    assert secret not in written
    assert hashlib.sha256(secret.encode()).hexdigest() in written
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    assert Keys(tmp_path).find(secret).owner == "ann@example.org"  # type: ignore[union-attr]
    assert main(["keys", "create", "notebook"]) == 2
    assert main(["keys", "list"]) == 0
    assert "notebook\t" in capsys.readouterr().out
    assert main(["keys", "revoke", "notebook"]) == 0
    assert main(["keys", "revoke", "notebook"]) == 2
    assert Keys(tmp_path).find(secret) is None


def test_damaged_keys_let_nobody_in(here: Surroundings, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("[{}]")
    with served(replace(here, keys=Keys(tmp_path))) as api, api.client(Authorization="Bearer x") as client:
        answer = client.get("/corpus")
    assert (answer.status_code, "cannot be read" in answer.json()["detail"]) == (503, True)


# -- kept searches, and the server as a process


def test_kept_searches(client: httpx.Client) -> None:
    body = {"name": "Trees elsewhere", "papers": [{"id": "fraud-trees", "facet": "method"}], "top": 3}
    made = client.post("/searches", json=body)
    assert made.status_code == 201
    id = made.json()["id"]
    assert made.headers["location"] == f"/api/v1/searches/{id}"
    assert id in [each["id"] for each in client.get("/searches").json()["searches"]]
    assert {each.split("-")[1] for each in found(client.get(f"/searches/{id}/results"))} == {"trees"}
    assert client.delete(f"/searches/{id}").status_code == 204
    assert client.get(f"/searches/{id}").status_code == 404


def test_a_host_that_keeps_nothing_says_so(here: Surroundings) -> None:
    with served(replace(here, history=None)) as api, api.client() as client:
        assert client.get("/searches").status_code == 403


def start(settings: Settings, *options: str) -> tuple[subprocess.Popen[bytes], Served]:
    port = free_port()
    env = os.environ | {"TRIPTYCH_LIBRARY": str(settings.library), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "search", "serve", "--corpus", str(settings.corpus), "--port", str(port)]
    settings.library.mkdir(exist_ok=True)
    with (settings.library / "log").open("wb") as log:
        process = subprocess.Popen([*command, *options], cwd=ROOT, env=env, stdout=log, stderr=log)
    server = Served(port)
    with server.client() as client:
        for _ in range(600):
            try:
                if client.get("/ready").status_code == 200:
                    return process, server
            except httpx.TransportError:
                assert process.poll() is None
            time.sleep(0.1)
    process.kill()
    raise TimeoutError


@pytest.mark.slow
def test_a_killed_server_loses_no_kept_search_and_two_workers_agree(
    settings: Settings, tmp_path: Path
) -> None:
    own = replace(settings, library=tmp_path / "library")
    process, server = start(own)
    body = {"name": "Kept", "papers": [{"text": ABSTRACT}], "top": 3}
    with server.client() as client:
        id = client.post("/searches", json=body).json()["id"]
        expected = found(client.get(f"/searches/{id}/results"))
    process.kill()
    process.wait()
    process, server = start(own, "--workers", "2")
    try:
        answers = []
        for _ in range(20):  # each over a connection of its own, so that both workers are asked
            with server.client() as client:
                answers.append((client.get("/searches").text, found(client.get(f"/searches/{id}/results"))))
        assert len({text for text, _ in answers}) == 1
        assert all(ids == expected for _, ids in answers)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) in (0, -signal.SIGTERM)


@pytest.mark.slow
def test_a_stopped_server_finishes_what_it_does_and_logs_no_text(settings: Settings) -> None:
    process, server = start(settings)
    with ThreadPoolExecutor(8) as pool:

        def ask(number: int) -> int:
            with server.client() as client:
                body = {"papers": [{"text": f"{ABSTRACT} zanzibarquokka {number}"}]}
                return client.post("/search", json=body).status_code

        waiting = [pool.submit(ask, number) for number in range(8)]
        while not any(each.done() for each in waiting):
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        statuses = [each.exception() or each.result() for each in waiting]
    process.wait(60)
    log = (settings.library / "log").read_bytes()
    assert all(status == 200 or isinstance(status, httpx.ConnectError) for status in statuses)
    assert b"POST /search 200" in log
    assert b"zanzibarquokka" not in log
    assert b"fraud" not in log.lower()


def test_a_new_build_is_served_without_a_restart(tmp_path: Path) -> None:
    corpus = build_miniature(tmp_path / "corpus")
    here = alone(Settings(corpus=corpus, library=tmp_path / "library"), PLENTY)
    with served(here) as api, api.client() as client:
        before = client.get("/corpus")
        with Store.open(corpus / layout.STORE, read_only=False) as store:
            store.add([replace(make_paper("fraud", "graphs"), id="new", title="Something new about seals")])
        build(corpus)
        after = client.get("/corpus", headers={"If-None-Match": before.headers["etag"]})
    assert after.status_code == 200
    assert after.json()["papers"] == before.json()["papers"] + 1
