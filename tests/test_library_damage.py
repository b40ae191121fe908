"""What was kept stays: batches are whole, kills and full disks change nothing, damage is mended."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from search.errors import CorpusError, InputError
from search.library.copies import COPIES, OwnedList, Row, sound_copies, write_copy
from search.library.files import Kept, ReadingList
from search.library.store import Library
from search.types import Paper
from tests.app_driver import open_app, text_of

ROOT = Path(__file__).resolve().parent.parent
TEXT = "Water moves in closed basins. " * 30


def papers(count: int, start: int = 0) -> list[Kept]:
    return [Kept(Paper(f"p:{number}", f"Title {number}", TEXT)) for number in range(start, start + count)]


def damaged(folder: Path) -> list[Path]:
    return sorted(folder.glob("library-damaged-*.duckdb"))


def copies(folder: Path) -> list[Path]:
    return sorted(folder.glob("library-copy-*.json"))


def fill(folder: Path, *, close: bool = True) -> Library:
    """A library of two owners, with a note."""
    library = Library.open(folder)
    library.keep("Sea", papers(20))
    library.annotate("Sea", "p:3", note="read twice", tags=["tide"], read=True)
    library.of("ana").keep("Hers", papers(5))
    if close:
        library.close()
    return library


def check_filled(folder: Path) -> None:
    library = Library.open(folder)
    assert library.names() == ["Sea"]
    (kept,) = [each for each in library.reading_list("Sea").kept if each.paper.id == "p:3"]
    assert (kept.note, kept.tags, kept.read, kept.paper.abstract) == ("read twice", ("tide",), True, TEXT)
    assert len(library.ids("Sea")) == 20
    assert len(library.of("ana").ids("Hers")) == 5
    library.close()


@pytest.mark.parametrize("folder", ["memory", "disk"])
def test_a_batch_is_stored_whole_or_not_at_all(tmp_path: Path, folder: str) -> None:
    library = Library.open(None if folder == "memory" else tmp_path)
    batch = papers(200)
    batch[150] = Kept(batch[150].paper, note="\ud800")  # half a character, which no store takes
    with pytest.raises(InputError, match="cannot be stored"):
        library.keep("Sea", batch)
    assert library.names() == []
    assert library.keep("Sea", papers(200)) == 200
    assert len(library.ids("Sea")) == 200


def test_several_lists_are_stored_together(tmp_path: Path) -> None:
    library = Library.open(tmp_path)
    half = [Kept(Paper("p:1", "Title"), note="\ud800")]
    with pytest.raises(InputError, match="cannot be stored"):
        library.keep_lists([ReadingList("One", tuple(papers(3))), ReadingList("Two", tuple(half))])
    assert library.names() == []
    twice = tuple(papers(3)) + tuple(papers(3))
    assert library.keep_lists([ReadingList("One", twice), ReadingList("Two", tuple(papers(2)))]) == 5


def flip(data: bytes) -> bytes:
    """One byte in the middle of each block and each header is another."""
    changed = bytearray(data)
    for place in (100, 4200, 8300, *range(12288 + 500, len(data), 5000)):
        changed[place] ^= 0xFF
    return bytes(changed)


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "changed": flip,
    "cut short": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "something else": lambda data: b"This is no library. " * 1000,
    "zeros at the end": lambda data: data[:20000] + bytes(len(data) - 20000),
}


@pytest.mark.parametrize("how", CHANGES)
def test_a_damaged_library_says_so_is_kept_and_comes_back(tmp_path: Path, how: str) -> None:
    fill(tmp_path)
    file = tmp_path / "library.duckdb"
    file.write_bytes(CHANGES[how](file.read_bytes()))
    broken = file.read_bytes()
    with pytest.raises(CorpusError, match=r"was damaged.*25 papers again, from the copy of 20") as told:
        Library.open(tmp_path)
    (aside,) = damaged(tmp_path)
    assert aside.name in str(told.value)
    assert aside.read_bytes() == broken
    check_filled(tmp_path)
    assert list(tmp_path.glob("*.part")) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_who_may_read_the_library_stays_as_it_was(tmp_path: Path) -> None:
    fill(tmp_path)
    file = tmp_path / "library.duckdb"
    file.write_bytes(b"broken")
    file.chmod(0o640)
    with pytest.raises(CorpusError, match="was damaged"):
        Library.open(tmp_path)
    assert file.stat().st_mode & 0o777 == damaged(tmp_path)[0].stat().st_mode & 0o777 == 0o640


def test_the_page_says_it_once_and_goes_on(host: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "library"
    fill(folder)
    (folder / "library.duckdb").write_bytes(b"broken")
    app = open_app("library")
    assert "was damaged" in text_of(app)
    assert "library-damaged-" in text_of(app)
    app.run()
    assert "was damaged" not in text_of(app)
    assert "20 papers, 1 read" in text_of(app)


def test_damage_to_the_latest_changes_alone_leaves_the_rest(tmp_path: Path) -> None:
    """DuckDB keeps them in a file of their own until they are worked in."""
    fill(tmp_path / "old")
    library = Library.open(tmp_path / "old")
    library.create("Later")  # makes a copy, and works everything in
    library.keep("Later", papers(30, start=100))
    shutil.copytree(tmp_path / "old", tmp_path / "new")  # as a kill leaves it
    library.close()
    wal = tmp_path / "new" / "library.duckdb.wal"
    data = bytearray(wal.read_bytes())
    data[len(data) // 2] ^= 0xFF
    wal.write_bytes(data)
    with pytest.raises(CorpusError, match="25 papers again, without the latest changes"):
        Library.open(tmp_path / "new")
    assert len(list((tmp_path / "new").glob("library-damaged-*.wal"))) == 1
    again = Library.open(tmp_path / "new")
    assert (again.names(), len(again.ids("Sea"))) == (["Sea", "Later"], 20)


def test_a_damaged_copy_is_passed_over(tmp_path: Path) -> None:
    fill(tmp_path)
    newer = tmp_path / "library-copy-29991231T235959Z.json"
    newer.write_bytes(copies(tmp_path)[-1].read_bytes().replace(b"read twice", b"read never"))
    (tmp_path / "library.duckdb").write_bytes(b"broken")
    with pytest.raises(CorpusError, match="25 papers again"):
        Library.open(tmp_path)
    check_filled(tmp_path)


def test_without_a_sound_copy_it_begins_empty_and_says_so(tmp_path: Path) -> None:
    fill(tmp_path)
    for copy in copies(tmp_path):
        copy.write_text("broken")
    (tmp_path / "library.duckdb").write_bytes(b"broken")
    with pytest.raises(CorpusError, match="no sound copy"):
        Library.open(tmp_path)
    assert damaged(tmp_path)[0].read_bytes() == b"broken"
    assert Library.open(tmp_path).names() == []


def test_damage_that_comes_while_it_is_open_is_mended_too(tmp_path: Path) -> None:
    library = fill(tmp_path, close=False)
    library._connection.execute("checkpoint")
    library._database._leave()
    file = tmp_path / "library.duckdb"
    file.write_bytes(flip(file.read_bytes()))
    with pytest.raises(CorpusError, match="was damaged"):
        library.names()
    assert library.names() == ["Sea"]
    library.keep("Sea", papers(1, start=50))
    assert len(library.ids("Sea")) == 21


MEND = """
import sys
from pathlib import Path
from search.errors import CorpusError
from search.library.store import Library
print("ready", flush=True)
try:
    Library.open(Path(sys.argv[1]))
except CorpusError:
    pass
"""


@pytest.mark.slow
def test_a_kill_while_it_is_mended_loses_nothing(tmp_path: Path) -> None:
    moments = random.Random(7)
    for turn in range(6):
        folder = tmp_path / str(turn)
        fill(folder)
        (folder / "library.duckdb").write_bytes(b"broken")
        command = [sys.executable, "-c", MEND, str(folder)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(moments.random() / 20)
            process.kill()
        with suppress(CorpusError):  # where the kill came before the end
            Library.open(folder).close()
        check_filled(folder)


HOLD = """
import sys
from pathlib import Path
from search.library.store import Library
library = Library.open(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


def test_a_library_in_use_is_not_taken_for_damaged(tmp_path: Path) -> None:
    fill(tmp_path)
    before = (tmp_path / "library.duckdb").read_bytes()
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(CorpusError, match="close other programs"):
            Library.open(tmp_path)
        other.kill()
    assert damaged(tmp_path) == []
    assert (tmp_path / "library.duckdb").read_bytes() == before


def test_a_copy_is_made_now_and_then_not_at_every_change(tmp_path: Path) -> None:
    library = Library.open(tmp_path)
    library.keep("Sea", papers(3))
    (first,) = copies(tmp_path)
    written = first.stat().st_mtime_ns
    for number in range(30):
        library.annotate("Sea", "p:1", note=f"note {number}", tags=[], read=False)
    assert [copy.stat().st_mtime_ns for copy in copies(tmp_path)] == [written]
    library.close()  # and once more at the end
    (newest, *_) = sound_copies(tmp_path)
    assert "note 29" in {row.note for each in newest.lists for row in each.rows}


def test_only_the_last_copies_stay(tmp_path: Path) -> None:
    for day in range(1, 9):
        (tmp_path / f"library-copy-2020010{day}T000000Z.json").write_text("old")
    write_copy(tmp_path, [OwnedList("", "Sea", (Row("p:1", "{}", "", ["a"], True, "now"),))])
    assert len(copies(tmp_path)) == COPIES
    (only,) = sound_copies(tmp_path)
    assert only.lists[0].rows == (Row("p:1", "{}", "", ["a"], True, "now"),)


FULL = """
import resource, sys
from pathlib import Path
from search.errors import CorpusError
from search.library.store import Library
from tests.test_library_damage import papers

folder = Path(sys.argv[1])
library = Library.open(folder)
library.keep("Sea", papers(20))
room = max(path.stat().st_size for path in folder.iterdir()) + int(sys.argv[2])
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
told = []
for number in range(3):
    try:
        library.keep("More", papers(3000, start=1000))
    except CorpusError as error:
        told.append(str(error))
    assert library.names() == ["Sea"], library.names()
    assert len(library.ids("Sea")) == 20
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
assert len(told) == 3, told
assert all("could not be changed" in text and text.count(". ") == 0 for text in told), told
assert library.keep("More", papers(3000, start=1000)) == 3000
library.close()
assert len(Library.open(folder).all_ids()) == 3020
print("good")
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
@pytest.mark.parametrize("room", [0, 4096, 300_000])
def test_a_full_disk_leaves_the_old_state_and_gives_one_sentence(tmp_path: Path, room: int) -> None:
    """A limit on the size of files stands for the full disk: writing fails in the same place."""
    command = [sys.executable, "-c", FULL, str(tmp_path), str(room)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "good\n", done.stderr


KEEP = """
import sys
from pathlib import Path
from search.library import database
from search.library.store import Library
from tests.test_library_damage import papers

database.COPY_EVERY = 0.0  # copies as often as can be: a kill may come at any moment of one
library = Library.open(Path(sys.argv[1]))
first = len(library.all_ids())
for batch in range(first, 100_000, 7):
    library.keep("Sea", papers(7, start=batch))
    print(batch + 7, flush=True)
"""


@pytest.mark.slow
def test_a_kill_at_any_moment_loses_nothing_that_was_reported(tmp_path: Path) -> None:
    moments = random.Random(5)
    reported = 0
    for _ in range(8):
        command = [sys.executable, "-c", KEEP, str(tmp_path)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(moments.randint(1, 12)):
                reported = int(process.stdout.readline())
            time.sleep(moments.random() / 20)
            process.kill()
            reported = int((process.stdout.read().split() or [reported])[-1])
        library = Library.open(tmp_path)
        there = len(library.all_ids())
        assert there >= reported
        assert there % 7 == 0
        library.close()
    assert damaged(tmp_path) == []
