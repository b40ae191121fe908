"""Why and where a paper was kept: stored with it, carried in files, and absent from libraries of before."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.errors import InputError
from search.library.copies import sound_copies
from search.library.files import Kept, ReadingList, dump_lists, load_lists
from search.library.origins import Origin, Quote, origin_from_json, origin_to_json
from search.library.store import Library
from search.types import Facet, Paper, Sentence

ABSTRACT = "Tides are slow. We time them."
TIDES = Paper(
    "p:1",
    "Tides in closed basins",
    ABSTRACT,
    sentences=(Sentence("Tides are slow.", 0, 15, Facet.OBJECTIVE), Sentence("We time them.", 16, 29)),
)
ORIGIN = Origin(
    reason="Matches your text: both mention “tides”.",
    title="Slow water",
    search="abc",
    query='{"triptych_query": 1}',
    corpus="a corpus of 36 papers",
    quotes=(Quote("Water is slow.", "Tides are slow.", Facet.OBJECTIVE), Quote("We wait.", "We time them.")),
)


def test_a_paper_keeps_its_sentences_and_where_it_was_found(tmp_path: Path) -> None:
    library = Library.open(tmp_path)
    library.keep("Sea", [Kept(TIDES, origin=ORIGIN)])
    library.close()
    (kept,) = Library.open(tmp_path).reading_list("Sea").kept
    assert (kept.paper, kept.origin) == (TIDES, ORIGIN)


def test_a_list_file_carries_both() -> None:
    lists = (ReadingList("Sea", (Kept(TIDES, "note", ("a",), True, "2026-11-18", ORIGIN),)),)
    assert load_lists(dump_lists(lists).encode()) == lists


texts = st.text(max_size=30)
quotes = st.builds(Quote, texts, texts, st.none() | st.sampled_from(Facet))
origins = st.builds(Origin, texts, texts, texts, texts, texts, st.lists(quotes, max_size=3).map(tuple))


@given(origins)
def test_an_origin_comes_back(origin: Origin) -> None:
    written = origin_to_json(origin)
    assert origin_from_json(json.loads(written) if written else {}) == origin


PAPER = {"id": "1", "title": "T", "abstract": ABSTRACT}


@pytest.mark.parametrize(
    "changed",
    [
        {"origin": 3},
        {"origin": {"reason": ["x"]}},
        {"origin": {"quotes": "x"}},
        {"origin": {"quotes": [{"yours": "x", "facet": "mood"}]}},
        {"origin": {"quotes": [{"yours": {"a": 1}}]}},
        {"paper": PAPER | {"sentences": "x"}},
        {"paper": PAPER | {"sentences": [[0, 5]]}},
        {"paper": PAPER | {"sentences": [[0, 500, None]]}},
        {"paper": PAPER | {"sentences": [[5, 9, None], [0, 3, None]]}},
        {"paper": PAPER | {"sentences": [[0, True, None]]}},
        {"paper": PAPER | {"sentences": [[0, 5, "mood"]]}},
    ],
)
def test_what_does_not_fit_gets_one_sentence(changed: dict[str, object]) -> None:
    content = {
        "format": "triptych-lists",
        "version": 1,
        "lists": [{"papers": [{"paper": PAPER} | changed]}],
    }
    with pytest.raises(InputError) as error:
        load_lists(json.dumps(content).encode())
    assert str(error.value).count(". ") == 0


VERSION_1 = """
create table about (version integer);
create sequence list_ids;
create table lists (
    id integer primary key default nextval('list_ids'), owner varchar not null, name varchar not null,
    unique (owner, name));
create table kept (
    list_id integer not null, paper_id varchar not null, paper varchar not null, note varchar not null,
    tags varchar[] not null, is_read boolean not null, added varchar not null,
    primary key (list_id, paper_id));
insert into about values (1);
insert into lists (owner, name) values ('', 'Sea'), ('ana', 'Hers');
insert into kept values
    (1, 'p:1', '{"id": "p:1", "title": "Tides", "abstract": "Water moves."}',
        'mine', ['a'], true, '2025-01-02'),
    (2, 'p:2', '{"id": "p:2", "title": "Winds"}', '', [], false, '2025-01-03');
"""


@pytest.fixture
def former(tmp_path: Path) -> Path:
    """A library as version 1 left it."""
    with duckdb.connect(str(tmp_path / "library.duckdb")) as connection:
        connection.execute(VERSION_1)
    return tmp_path


def test_a_library_of_before_opens_as_it_is(former: Path) -> None:
    for turn in range(2):
        library = Library.open(former)
        first = library.reading_list("Sea").kept[0]
        assert (first.paper.abstract, first.note, first.tags, first.read) == (
            "Water moves.",
            "mine",
            ("a",),
            True,
        )
        assert (first.origin, first.added) == (Origin(), "2025-01-02")
        assert library.of("ana").ids("Hers") == {"p:2"}
        assert library.keep("Sea", [Kept(Paper(f"n:{turn}", "New"), origin=ORIGIN)]) == 1
        library.close()
    (written,) = former.glob("library-version-1-*.json")
    assert b"Water moves." in written.read_bytes()


def test_a_library_of_before_is_unchanged_where_no_copy_of_it_can_be_written(
    former: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("search.library.database.write_former", full)
        with pytest.raises(Exception, match="disk is full"):
            Library.open(former)
    with duckdb.connect(str(former / "library.duckdb")) as connection:
        assert connection.execute("select version from about").fetchall() == [(1,)]
    assert len(Library.open(former).ids("Sea")) == 1


def test_a_copy_of_before_brings_back_what_it_held(former: Path) -> None:
    Library.open(former).close()
    (copy,) = sound_copies(former)
    assert {row.origin for each in copy.lists for row in each.rows} == {""}


def test_papers_move_to_and_fro_with_their_notes() -> None:
    library = Library.open(None)
    library.keep("Sea", [Kept(TIDES, "mine", ("a",), True, origin=ORIGIN)])
    library.create("Air")
    for _ in range(2):
        assert library.move("Sea", "Air", "p:1")
        (kept,) = library.reading_list("Air").kept
        assert (kept.note, kept.tags, kept.read, kept.origin) == ("mine", ("a",), True, ORIGIN)
        assert library.ids("Sea") == set()
        assert library.move("Air", "Sea", "p:1")
    library.keep("Air", [Kept(TIDES, "hers")])
    assert not library.move("Sea", "Air", "p:1")
    assert library.reading_list("Air").kept[0].note == "hers"
    with pytest.raises(InputError, match="no list"):
        library.move("Sea", "Fire", "p:1")
