"""Searches by id: kept as they are left, listed by who made them, forgotten when asked."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from search import history
from search.errors import CorpusError
from search.history import History, new_id


@pytest.fixture(params=["file", "memory"])
def searches(request: pytest.FixtureRequest, tmp_path: Path) -> History:
    return History.open(tmp_path / "library" if request.param == "file" else None)


def test_a_search_is_found_as_it_was_left(searches: History) -> None:
    searches.put("a", "ana", "Seals", "one")
    searches.put("a", "ana", "Seals on ice", "two")
    assert searches.content("a") == "two"
    assert searches.content("b") == ""
    entry = searches.entry("a")
    assert entry is not None
    assert (entry.title, entry.name) == ("Seals on ice", "")


def test_the_last_used_come_first_and_owners_see_their_own(searches: History) -> None:
    for id, owner in (("a", "ana"), ("b", "ben"), ("c", "ana")):
        searches.put(id, owner, f"Title {id}", id)
    searches.put("a", "ana", "Title a", "again")
    assert [entry.id for entry in searches.recent("ana", 5)] == ["a", "c"]
    assert [entry.id for entry in searches.recent("ana", 1)] == ["a"]
    assert [entry.id for entry in searches.recent("ben", 5)] == ["b"]


def test_what_was_searched_with_again_and_again_is_listed_once(searches: History) -> None:
    for id, title in (("a", "Seals"), ("b", "Ice"), ("c", "Seals"), ("d", "Seals"), ("e", ""), ("f", "")):
        searches.put(id, "ana", title, f"asked in way {id}")
    assert [entry.id for entry in searches.recent("ana", 5)] == ["f", "e", "d", "b"]
    searches.rename("d", "ana", "kept")
    assert [entry.id for entry in searches.recent("ana", 5)] == ["f", "e", "c", "b"]


def test_a_name_keeps_a_search_when_the_others_are_cleared(searches: History) -> None:
    for id in "abc":
        searches.put(id, "ana", id, id)
    searches.rename("a", "ben", "not his")
    searches.rename("b", "ana", "  Seals  ")
    searches.put("b", "ana", "b", "changed since")
    searches.clear("ana")
    assert [entry.name for entry in searches.named("ana")] == ["Seals"]
    assert searches.content("b") == "changed since"
    assert searches.content("a") == searches.content("c") == ""
    searches.forget("b", "ben")
    assert searches.content("b")
    searches.forget("b", "ana")
    assert not searches.content("b")


def test_only_so_many_without_a_name_are_kept(searches: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST", 3)
    for number in range(6):
        searches.put(str(number), "ana", "", f"x{number}")
        if number == 0:
            searches.rename("0", "ana", "first")
    assert [entry.id for entry in searches.recent("ana", 9)] == ["5", "4", "3"]
    assert [entry.id for entry in searches.named("ana")] == ["0"]


def test_threads_share_it_and_a_file_outlives_the_process(tmp_path: Path) -> None:
    searches = History.open(tmp_path)
    ids = [new_id() for _ in range(40)]
    threads = [threading.Thread(target=searches.put, args=(id, "", id, id)) for id in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    searches.close()
    again = History.open(tmp_path)
    assert {again.content(id) for id in ids} == set(ids)
    assert len(set(ids)) == 40


def test_a_folder_that_cannot_be_used_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CorpusError, match="set `library` to another folder"):
        History.open(tmp_path / "file")


@pytest.mark.parametrize("when", ["before it is opened", "while it is open"])
def test_a_damaged_file_is_set_aside_and_the_searches_begin_anew(tmp_path: Path, when: str) -> None:
    searches = History.open(tmp_path)
    for number in range(50):
        searches.put(str(number), "", "Title", "content" * 500)
    file, data = tmp_path / "searches.sqlite", bytearray()
    if when == "while it is open":
        searches._file.connection.execute("pragma wal_checkpoint(truncate)")
        data += file.read_bytes()
        file.write_bytes(data[:4096] + bytes(len(data) - 4096))
        searches._file.connection.execute("pragma cache_size = 0")
        with pytest.raises(CorpusError, match="was damaged, so it begins anew"):
            searches.recent("", 5)
    else:
        searches.close()
        file.write_bytes(b"no database at all" * 100)
        with pytest.raises(CorpusError, match="was damaged, so it begins anew"):
            History.open(tmp_path)
        searches = History.open(tmp_path)
    searches.put("new", "", "Title", "content")
    assert [entry.id for entry in searches.recent("", 5)] == ["new"]
    assert len(list(tmp_path.glob("searches-damaged-*.sqlite"))) == 1


def test_what_can_be_read_of_a_damaged_file_is_taken_over(tmp_path: Path) -> None:
    searches = History.open(tmp_path)
    for number in range(60):
        searches.put(str(number), "", "Title", "content" * 1500)
        searches.rename(str(number), "", f"Name {number}")
    searches.close()
    file = tmp_path / "searches.sqlite"
    data = bytearray(file.read_bytes())
    half = len(data) // 2 // 4096 * 4096
    data[half : half + 4096] = b"\xff" * 4096
    file.write_bytes(data)
    with pytest.raises(CorpusError, match=r"again that could be read, .* kept as searches-damaged"):
        History.open(tmp_path)
    again = History.open(tmp_path)
    assert 10 < len(again.named("")) < 60
    assert all(again.content(entry.id) == "content" * 1500 for entry in again.named(""))
    again.close()


def test_what_was_seen_before_the_corpus_grew_is_known_for_a_day(searches: History) -> None:
    monday = datetime(2026, 11, 16, tzinfo=UTC)
    assert searches.see("ana", "one", 100, monday) is None
    assert searches.see("ana", "one", 100, monday + timedelta(days=1)) is None
    friday = monday + timedelta(days=4)
    for hours in (0, 5, 20):  # a reload, another page, later that day
        before = searches.see("ana", "two", 130, friday + timedelta(hours=hours))
        assert before is not None
        assert (before.papers, before.when) == (100, monday + timedelta(days=1))
    assert searches.see("ana", "two", 130, friday + timedelta(days=2)) is None
    assert searches.see("ben", "two", 130, friday) is None
    assert searches.see("ana", "three", 90, friday + timedelta(days=3)) is None
