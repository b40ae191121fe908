"""The HTTP layer: what is repeated, waited for and refused, and that nobody is asked too often."""

from __future__ import annotations

import threading
import time
from email.utils import formatdate
from itertools import pairwise
from pathlib import Path

import pytest

from index_build.fetch.fetching import count
from index_build.fetch.pace import Pace
from index_build.fetch.updating import fetch_all
from index_build.fetch.values import Answer, Stopped, Unanswered
from index_build.fetch.web import TRIES, Client, is_loopback, retry_after
from search.errors import SettingsError
from search.settings import Settings
from tests.campaign.live import WISHES, stored_titles
from tests.live.client import Servers

FAULTS = ("429", "429-date", "500", "503", "cut", "gzip-cut", "chunk-cut", "drop", "html")


@pytest.mark.parametrize("fault", [*FAULTS, "slow", "repeat", "empty", "total", "expired"])
def test_a_fault_now_and_then_costs_nothing(fault: str, servers: Servers, tmp_path: Path) -> None:
    settings = servers.settings(tmp_path / "corpus")
    servers.reset(records=20, share=0.5, faults=[fault], seed=3)
    found = fetch_all(settings.corpus, [WISHES["crossref"]], settings)
    assert found.failed == {}
    assert len(stored_titles(settings.corpus)) == 20 or found.gaps
    assert servers.excess() == []
    assert servers.log()["crossref"]["faults"].get(fault)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_source_that_only_fails_is_named_and_asked_no_more(
    fault: str, servers: Servers, tmp_path: Path
) -> None:
    servers.reset(always=fault)
    with pytest.raises(Unanswered, match=r"Crossref \(127.0.0.1:\d+\) gave no usable answer"):
        count(WISHES["crossref"], servers.settings(tmp_path))
    assert len(servers.asked("crossref")) == TRIES
    assert servers.excess() == []


def test_the_wait_that_a_source_asks_for_is_kept(servers: Servers, tmp_path: Path) -> None:
    servers.reset(records=5, share=1.0, faults=["429-soon"], seed=1)
    begun = time.monotonic()
    count(WISHES["crossref"], servers.settings(tmp_path))
    if servers.log()["crossref"]["faults"].get("429-soon"):
        assert time.monotonic() - begun >= 0.9
    assert servers.excess() == []


def test_retry_after_in_both_forms() -> None:
    assert retry_after({"retry-after": "7"}) == 7
    assert retry_after({}) is None
    assert retry_after({"retry-after": "soon"}) is None
    now = 4_000_000_000  # a server whose clock is far ahead
    headers = {"retry-after": formatdate(now + 30, usegmt=True), "date": formatdate(now, usegmt=True)}
    assert retry_after(headers) == 30
    assert retry_after({"retry-after": formatdate(0, usegmt=True)}) == 0


def test_two_processes_share_one_pause(tmp_path: Path) -> None:
    """As threads with files of their own, which lock each other out just as processes do."""
    times: list[float] = []
    both = threading.Lock()

    def ask() -> None:
        for _ in range(5):
            with Pace("example.org", 0.02, tmp_path).turn() as turn:
                assert both.acquire(blocking=False)  # nobody else has a turn
                times.append(time.time())
                turn.arrived()
                both.release()

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(times) == 10
    assert min(b - a for a, b in pairwise(times)) >= 0.0199


@pytest.mark.parametrize("content", ["", "x y", "99999999999 0", "0 99999999999", "1 2 3"])
def test_a_strange_file_of_times_does_not_stop_us_for_long(content: str, tmp_path: Path) -> None:
    (tmp_path / "a.times").write_text(content)
    pace = Pace("a", 0.01, tmp_path)
    stop_at = time.monotonic() + (0.5 if content.startswith("0 9") else 60)

    def late() -> bool:
        return time.monotonic() > stop_at

    if content.startswith("0 9"):  # an hour at most, which somebody can stop
        with pytest.raises(Stopped), pace.turn(late):
            pass
    else:
        with pace.turn(late):
            pass


def test_somebody_who_stops_does_not_wait(servers: Servers, tmp_path: Path) -> None:
    servers.reset(always="503")
    settings, asked = servers.settings(tmp_path, pause=3600.0), []

    def stop() -> bool:
        asked.append(time.monotonic())
        return len(asked) > 5

    with pytest.raises(Stopped):  # else this would take an hour
        count(WISHES["crossref"], settings, stop=stop)
    assert len(servers.asked("crossref")) <= 1


def test_this_machine_needs_no_proxy(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert count(WISHES["crossref"], servers.settings(tmp_path)).records == 20
    assert is_loopback("http://[::1]:80/")
    assert not is_loopback("https://example.org/")


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRIPTYCH_CACHE", str(tmp_path))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    settings = Settings(sources=("crossref=http://crossref.example.org;pause=0.001",))
    with pytest.raises(Unanswered, match="the proxy cannot be reached"):
        count(WISHES["crossref"], settings, tries=1)


def test_the_pause_of_a_real_address_cannot_be_shortened_by_a_key_alone() -> None:
    from index_build.fetch.addresses import TABLE, place_of

    assert place_of("arxiv", Settings()).pause == 3.0
    assert place_of("arxiv", Settings()) == TABLE["arxiv"]


@pytest.mark.parametrize(
    "line",
    [
        "nobody=http://a",
        "crossref=ftp://a",
        "crossref=http://a;pause=x",
        "crossref=http://a;size=3",
        "crossref",
    ],
)
def test_a_wrong_line_of_the_table_is_refused(line: str) -> None:
    from index_build.fetch.addresses import place_of

    with pytest.raises(SettingsError, match="sources"):
        place_of("crossref", Settings(sources=(line,)))


def test_where_the_host_forbids_it_nothing_is_sent(servers: Servers, tmp_path: Path) -> None:
    settings = servers.settings(tmp_path / "corpus", allow_fetch=False)
    for work in (
        lambda: count(WISHES["crossref"], settings),
        lambda: fetch_all(settings.corpus, [WISHES["crossref"]], settings),
    ):
        with pytest.raises(SettingsError, match="allow_fetch"):
            work()
    assert servers.asked("crossref") == []


def test_who_we_are(servers: Servers, tmp_path: Path) -> None:
    from index_build.fetch.values import Call

    client = Client(servers.settings(tmp_path, contact="lab@example.org"))
    assert "mailto:lab@example.org" in client._headers(Call("crossref"))["User-Agent"]
    answer, status = client(Call("crossref", "/works"), lambda answer: answer.status)
    assert status == 200
    assert isinstance(answer, Answer)
    assert "mailto=lab%40example.org" in servers.asked("crossref")[-1]
