"""Lists survive a restart, keep owners apart and travel as a file."""

import json
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.errors import CorpusError, InputError
from search.library.files import (
    LONGEST_NOTE,
    LONGEST_TAG,
    MOST_KEPT,
    MOST_PARTS,
    MOST_TAGS,
    Kept,
    ReadingList,
    dump_lists,
    load_lists,
    paper_from_json,
    paper_to_json,
)
from search.library.store import MOST_LISTS, Library
from search.types import Paper

TIDES = Paper("p:1", "Tides in closed basins", "Water moves.", ("Mar, Ana",), 2001, "Ocean notes", ("sea",))
WINDS = Paper("p:2", "Winds over warm water")


@pytest.fixture
def library() -> Library:
    return Library.open(None)


def test_a_list_survives_closing_the_store(tmp_path: Path) -> None:
    first = Library.open(tmp_path)
    first.keep("Sea", [Kept(TIDES)])
    first.annotate("Sea", "p:1", note="read twice", tags=["tide", " tide ", "basin"], read=True)
    first.close()
    (kept,) = Library.open(tmp_path).reading_list("Sea").kept
    assert (kept.paper, kept.note, kept.tags, kept.read) == (TIDES, "read twice", ("basin", "tide"), True)


def test_keeping_twice_keeps_the_note(library: Library) -> None:
    assert library.keep("Sea", [Kept(TIDES), Kept(WINDS)]) == 2
    library.annotate("Sea", "p:1", note="mine", tags=[], read=False)
    assert library.keep("Sea", [Kept(TIDES)]) == 0
    assert library.reading_list("Sea").kept[0].note == "mine"


def test_owners_do_not_see_each_other(library: Library) -> None:
    library.of("ana").keep("Sea", [Kept(TIDES)])
    assert library.of("ben").names() == []
    assert library.of("ben").all_ids() == set()
    with pytest.raises(InputError, match='no list "Sea"'):
        library.of("ben").reading_list("Sea")


def test_rename_drop_and_delete(library: Library) -> None:
    library.keep("Sea", [Kept(TIDES), Kept(WINDS)])
    library.rename("Sea", "  Water   and air ")
    library.drop("Water and air", "p:2")
    assert library.all_ids() == {"p:1"}
    library.create("Other")
    with pytest.raises(InputError, match="already"):
        library.rename("Other", "Water and air")
    library.delete("Water and air")
    assert (library.names(), library.all_ids()) == (["Other"], set())


@pytest.mark.parametrize("name", ["", "   ", "x" * 81])
def test_a_list_needs_a_name(library: Library, name: str) -> None:
    with pytest.raises(InputError, match="1 to 80 characters"):
        library.create(name)


def test_nobody_fills_a_library_until_it_cannot_be_drawn(library: Library) -> None:
    """A file of 100,000 empty lists held everyone's library for eight minutes."""
    library.keep("Sea", [Kept(TIDES)])
    for lists in ([f"List {number}" for number in range(MOST_LISTS)], ["n" * 81]):
        with pytest.raises(InputError):
            library.keep_lists(map(ReadingList, lists))
    assert library.names() == ["Sea"]
    library.keep_lists(ReadingList(f"List {number}") for number in range(MOST_LISTS - 1))
    with pytest.raises(InputError, match=f"up to {MOST_LISTS}"):
        library.create("One more")
    assert library.create("Sea") == "Sea"
    for remarks in (
        {"note": "n" * (LONGEST_NOTE + 1), "tags": []},
        {"note": "", "tags": ["t" * (LONGEST_TAG + 1)]},
    ):
        with pytest.raises(InputError):
            library.annotate("Sea", "p:1", **remarks)  # type: ignore[arg-type]


def test_many_writers_at_once_lose_nothing(library: Library) -> None:
    def keep(start: int) -> None:
        for number in range(start, start + 10):
            library.keep("Sea", [Kept(Paper(f"p:{number}", "Title"))])

    threads = [threading.Thread(target=keep, args=(10 * n,)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(library.ids("Sea")) == 50


def test_a_library_of_another_version_says_so(tmp_path: Path) -> None:
    library = Library.open(tmp_path)
    library._connection.execute("update about set version = 99")
    library.close()
    with pytest.raises(CorpusError, match="version 99"):
        Library.open(tmp_path)


def test_a_library_that_is_no_folder_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(CorpusError, match="cannot be opened"):
        Library.open(tmp_path / "file")


texts = st.text(max_size=40)
papers = st.builds(
    Paper,
    id=st.text(min_size=1, max_size=20),
    title=st.text(min_size=1, max_size=60),
    abstract=texts,
    authors=st.lists(texts, max_size=3).map(tuple),
    year=st.none() | st.integers(1, 3000),
    venue=texts,
    fields=st.lists(texts, max_size=3).map(tuple),
    doi=texts,
    url=texts,
)
kept = st.builds(Kept, papers, texts, st.lists(texts, max_size=3).map(tuple), st.booleans(), texts)
reading_lists = st.builds(ReadingList, st.text(min_size=1), st.lists(kept, max_size=3).map(tuple))


@given(st.lists(reading_lists, max_size=3))
def test_lists_come_back_from_their_file(given_lists: list[ReadingList]) -> None:
    assert load_lists(dump_lists(given_lists).encode("utf-8", "surrogatepass")) == tuple(given_lists)


@given(papers)
def test_a_paper_comes_back_from_json(paper: Paper) -> None:
    assert paper_from_json(json.loads(paper_to_json(paper))) == paper


ENTRY = b'[{"papers": [{"paper": {"id": "1", "title": "T"}, %s}]}]}'
START = b'{"format": "triptych-lists", "version": 1, "lists": '


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00",
        b"[]",
        b'{"format": "zotero"}',
        START.replace(b"1", b"9") + b"[]}",
        START + b"7}",
        START + b"[1]}",
        START + b'[{"name": "x"}]}',
        START + b'[{"papers": [{"paper": {}}]}]}',
        START + b'[{"papers": [{"paper": {"id": "1", "title": 3}}]}]}',
        b"[" * 100_000,
        START + b'[{"papers": [' + b"[]," * MOST_PARTS + b"[]]}]}",
        START + b'[{"papers": [' + b"0," * MOST_KEPT + b"0]}]}",
        START + ENTRY % (b'"note": "%s"' % (b"n" * (LONGEST_NOTE + 1))),
        START + ENTRY % (b'"tags": [%s]' % b",".join(b'"%d"' % number for number in range(MOST_TAGS + 1))),
        START + ENTRY % (b'"tags": ["%s"]' % (b"t" * (LONGEST_TAG + 1))),
    ],
    ids=range(16),
)
def test_a_bad_list_file_gets_one_sentence(data: bytes) -> None:
    with pytest.raises(InputError) as error:
        load_lists(data)
    assert str(error.value).count(". ") == 0
