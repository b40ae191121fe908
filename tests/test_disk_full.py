"""Disks that are full or read-only: one sentence, the served corpus stays, and the work goes on later."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from index_build import steps
from index_build.__main__ import main
from index_build.importing import import_papers
from index_build.publish import full_disk_in_words, is_full_disk
from index_build.steps import build
from index_build.verify import verify
from search.corpus import layout
from search.corpus.manifest import read_manifest
from search.corpus.store import Snapshot, Store
from search.engine import Engine
from search.errors import CorpusError, TriptychError
from search.settings import Settings
from search.types import Paper, Query
from tests.app_driver import example, open_app, press, search_id, text_of, titles
from tests.miniature import build_miniature
from tests.random_encoder import RandomEncoder

ROOT = Path(__file__).resolve().parent.parent
FEW, MANY = 50, 1500
"""Papers that are served, and papers that no longer fit on the disk."""
Resize = Callable[[str], None]


def papers(count: int) -> Iterator[Paper]:
    for n in range(count):
        text = f"Subject {n} is hard. We solve case {n} by {n * 7919 % 1000}. It works in {n * 31} ways."
        yield Paper(f"p{n}", f"On subject number {n} of the field", text)


def take_in(corpus: Path, count: int) -> None:
    """What the tests do on a small disk, in a process of its own: import and build."""
    import_papers(corpus, papers(count))
    build(corpus, encoder=RandomEncoder(dimension=64))


def add_in_the_app(corpus: Path) -> None:
    from pages.ui.corpora import add_file

    lines = (f'{{"id": "n{n}", "title": "Nail {n} of many", "abstract": "Nails bend."}}' for n in range(2000))
    add_file(Settings(corpus=corpus), "new.jsonl", "\n".join(lines).encode(), lambda *_: None)


def run(*arguments: object) -> tuple[int, str]:
    """Exit code and last line of this file as a program; the code is negative where a signal ended it."""
    command = [sys.executable, "-m", "tests.test_disk_full", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).strip().rpartition("\n")[2]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Path, Resize]]:
    """A file system of its own in memory, and how to change its options."""
    place = tmp_path / "disk"
    place.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if mount is None or umount is None:
        pytest.skip("needs the command mount")
    made = subprocess.run([mount, "-t", "tmpfs", "-o", "size=64m", "tmpfs", place], capture_output=True)
    if made.returncode:
        pytest.skip(f"may not mount a small disk: {made.stderr.decode().strip()}")

    def change(options: str) -> None:
        subprocess.run([mount, "-o", f"remount,{options}", place], check=True)

    yield place, change
    subprocess.run([umount, "--lazy", place], check=True)


def used(folder: Path) -> int:
    """Kilobytes that are taken."""
    return shutil.disk_usage(folder).used // 1024


@pytest.mark.slow
@pytest.mark.parametrize("room", [0, 40, 400, 800, 1300, 1800, 2300, 2800, 3200, 3600, 4000])
def test_wherever_the_disk_gets_full_the_old_build_is_served(disk: tuple[Path, Resize], room: int) -> None:
    """`room` in kilobytes: the import and every step of the build fail in turn."""
    place, change = disk
    corpus = place / "corpus"
    take_in(corpus, FEW)
    served = read_manifest(layout.current_build(corpus))
    change(f"size={used(place) + room}k")
    code, told = run("take_in", corpus, MANY)
    assert code == 3, told
    assert told == (
        f"The disk is full ({corpus}): free some space and run the command again; "
        "the served corpus is untouched."
    )
    assert read_manifest(layout.current_build(corpus)) == served
    assert verify(corpus) == []
    with Snapshot.open(layout.current_build(corpus) / layout.STORE) as snapshot:
        assert snapshot.counts().papers == FEW
    assert len(list((corpus / layout.BUILDS).iterdir())) == 1
    change("size=64m")
    assert run("take_in", corpus, MANY) == (0, "done")
    assert read_manifest(layout.current_build(corpus)).papers == MANY
    assert verify(corpus) == []


@pytest.mark.slow
def test_the_app_says_that_the_disk_is_full(disk: tuple[Path, Resize]) -> None:
    place, change = disk
    corpus = build_miniature(place / "corpus")
    change(f"size={used(place) + 1500}k")
    code, told = run("add_in_the_app", corpus)
    assert (code, told[: len("The disk is full")]) == (3, "The disk is full")
    assert Engine.open(corpus).manifest.papers == 21


def test_a_search_is_answered_where_it_cannot_be_kept(
    disk: tuple[Path, Resize], host: pytest.MonkeyPatch
) -> None:
    """The list of searches, the visit and the kept paper find no room; what was found is drawn."""
    place, change = disk
    library = place / "library"
    host.setenv("TRIPTYCH_LIBRARY", str(library))
    text_of(open_app())  # makes the files
    (place / "ballast").write_bytes(bytes(200_000))
    change(f"size={used(place)}k")
    app = open_app()
    app.text_area(key="pasted").set_value("Bird song in recordings. We train a network. Errors fall.")
    app = press(app, "Find papers")
    assert titles(app)
    assert "could not be kept or read (database or disk is full)" in text_of(app)
    assert "reference" not in text_of(app)
    assert not app.exception
    change("size=64m")
    app = example(open_app())
    assert titles(app)
    assert "could not be kept" not in text_of(app)
    assert search_id(open_app("", s=search_id(app))) == search_id(app)


def test_a_read_only_corpus_is_served_and_building_says_why_not(
    disk: tuple[Path, Resize], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, change = disk
    corpus = build_miniature(place / "corpus")
    change("ro")
    engine = Engine.open(corpus)
    assert engine.search(Query((engine.read_text("Traffic jams in large cities."),))).results
    file = tmp_path / "new.jsonl"
    file.write_text('{"id": "new", "title": "A paper that is new", "abstract": "We add. It works."}')
    for arguments in (["build"], ["add", str(file)]):
        assert main([*arguments, "--out", str(corpus), "--quiet"]) == 3
        told = capsys.readouterr().err
        assert told.startswith(f"The folder {corpus} cannot be written to (Read-only file system):")
        assert told.count("\n") == 1


def test_a_list_of_rejects_that_was_cut_off_does_not_stop_an_import(tmp_path: Path) -> None:
    whole = '{"source": "old.bib", "place": "entry 1", "reason": "x", "record": ""}\n'
    (tmp_path / layout.REJECTS).write_text(whole + '{"source": "old.b')
    assert import_papers(tmp_path, papers(3)).stored.added == 3
    assert (tmp_path / layout.REJECTS).read_text() == whole


def test_every_library_says_it_differently(tmp_path: Path) -> None:
    for error in (
        OSError(28, "No space left on device"),
        duckdb.IOException("IO Error: Could not write all bytes to file: No space left on device"),
        duckdb.OutOfMemoryException("failed to offload data block, see max_temp_directory_size"),
        RuntimeError("Error in fwrite: write error in x.faiss"),
    ):
        with pytest.raises(CorpusError, match="The disk is full"), full_disk_in_words(tmp_path):
            raise error
    assert not is_full_disk(duckdb.CatalogException("no such table"))
    with pytest.raises(OSError, match="else"), full_disk_in_words(tmp_path):
        raise OSError(5, "something else")


def test_builds_of_the_same_moment_have_different_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopped(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC)

    monkeypatch.setattr(steps, "datetime", Stopped)
    names = set()
    for count in (3, 6, 9):
        take_in(tmp_path, count)
        names.add(read_manifest(layout.current_build(tmp_path)).build_id)
        assert verify(tmp_path) == []
    assert len(names) == 3
    with Store.open(tmp_path / layout.STORE) as store:
        assert store.counts().papers == 9


if __name__ == "__main__":
    try:
        if sys.argv[1] == "take_in":
            take_in(Path(sys.argv[2]), int(sys.argv[3]))
        else:
            add_in_the_app(Path(sys.argv[2]))
    except TriptychError as error:
        print(error)
        sys.exit(3)
    print("done")
