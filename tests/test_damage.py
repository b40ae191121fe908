"""Damaged files: a flipped byte is found, never served without a word, and the build before it stands in."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from index_build.publish import describe_files
from index_build.steps import build
from index_build.verify import verify
from search.corpus import bm25, health, layout
from search.corpus.bm25 import LexicalIndex
from search.corpus.checksums import BLOCK, CHECKSUMS, Blocks, DamagedError, sums_of, write_checksums
from search.corpus.health import Health
from search.corpus.manifest import check_build, read_manifest
from search.corpus.store import Store
from search.corpus.vector_file import MappedVectors, VectorFile
from search.engine import Engine, opening
from search.errors import CorpusError, InputError
from search.settings import Settings
from search.types import Query
from tests.miniature import METHODS, PROBLEMS, all_papers, build_miniature, make_paper

EXTRA = replace(make_paper("traffic", "trees"), id="extra", title="A new paper of the second build", doi="")
FLIPS = 50


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with two builds: the current one has a paper more."""
    corpus = build_miniature(tmp_path_factory.mktemp("made") / "corpus")
    with Store.open(corpus / layout.STORE, read_only=False) as store:
        store.add([EXTRA])
    build(corpus)
    return corpus


@pytest.fixture
def corpus(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "corpus"))


def files(corpus: Path) -> list[Path]:
    """Every file of the current build."""
    return sorted(path for path in layout.current_build(corpus).rglob("*") if path.is_file())


@contextmanager
def flipped(path: Path, place: int, bits: int = 1) -> Iterator[None]:
    """The file with some bits of one byte turned over, for a while."""
    sound = path.read_bytes()
    path.write_bytes(sound[:place] + bytes([sound[place] ^ bits]) + sound[place + 1 :])
    try:
        yield
    finally:
        path.write_bytes(sound)


def opened(corpus: Path) -> Engine:
    """The engine once all files were looked at, however slow the machine."""
    engine = Engine.open(corpus)
    assert engine.health.wait()
    return engine


def ask(engine: Engine) -> list[object]:
    """The answers to two searches, to the last digit."""
    texts = (f"{PROBLEMS['fraud']} {METHODS['graphs']}", "Bayesian sampling of traffic jams and of birds")
    found = [engine.search(Query((engine.read_text(text),), top=30)) for text in texts]
    return [(results.results, results.build_id) for results in found]


def some_flips(corpus: Path, count: int) -> list[tuple[Path, int, int]]:
    """Places in every file, the same in every run."""
    chance = random.Random(7)
    of_build = files(corpus)
    return [
        (path, chance.randrange(path.stat().st_size), 1 << chance.randrange(8))
        for path in (of_build[turn % len(of_build)] for turn in range(count))
    ]


# -- flips


@pytest.mark.slow
@pytest.mark.parametrize("small", [health.SMALL, -1], ids=["before opening", "in the background"])
def test_no_flip_changes_an_answer_without_a_word(
    corpus: Path, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is found by verify; served is the same answer as before, or the build before it with a notice."""
    monkeypatch.setattr(health, "SMALL", small)
    expected, current = ask(Engine.open(corpus)), layout.current_name(corpus)
    noticed = 0
    for path, place, bits in some_flips(corpus, FLIPS):
        with flipped(path, place, bits):
            assert verify(corpus) != [], (path, place)
            engine = opened(corpus)
            answers = ask(engine)
            if engine.manifest.build_id == current and not engine.health.damage:
                assert answers == expected, (path, place)
            else:
                noticed += 1
                assert engine.in_service().manifest.build_id != current
                assert "is damaged" in engine.in_service().notice
    assert verify(corpus) == []
    assert ask(Engine.open(corpus)) == expected
    assert noticed > 0.9 * FLIPS


def test_a_few_flips_of_every_file(corpus: Path) -> None:
    current = layout.current_name(corpus)
    for path, place, bits in some_flips(corpus, 2 * len(files(corpus))):
        with flipped(path, place, bits):
            problems = verify(corpus)
            engine = opened(corpus).in_service()
            assert problems, (path, place)
            assert engine.manifest.build_id != current or path.name == layout.MANIFEST


def test_reading_notices_what_the_background_has_not_reached(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors and word scores are compared block by block: no answer comes from a bad one."""
    monkeypatch.setattr(health, "SMALL", -1)
    monkeypatch.setattr(opening, "PATIENCE", 0.0)
    monkeypatch.setattr(Health, "start", lambda self: None)
    monkeypatch.setattr(Health, "wait", lambda self, seconds=None: True)
    folder = layout.current_build(corpus)
    lexical = Path(layout.LEXICAL)
    for name in (
        layout.SENTENCE_VECTORS,
        layout.PAPER_VECTORS,
        lexical / bm25.SCORES,
        lexical / bm25.PAPERS,
    ):
        with flipped(folder / name, (folder / name).stat().st_size // 2):
            engine = Engine.open(corpus)
            assert engine.manifest.build_id == folder.name
            answers = ask(engine)
            assert str(name) in engine.health.damage
            assert answers == ask(engine.in_service())
            assert engine.in_service().manifest.build_id != folder.name
            assert engine.in_service() is engine.in_service()


# -- by block


def test_a_block_is_compared_when_it_is_first_read(tmp_path: Path) -> None:
    path = tmp_path / "some.npy"
    vectors = np.random.default_rng(1).standard_normal((1000, 64)).astype(np.float16)
    np.save(path, vectors)
    sums = sums_of(path)
    bad = 5 * BLOCK + 77
    row = (bad - 128) // 128
    with flipped(path, bad):
        for kind in (VectorFile, MappedVectors):
            told: list[str] = []
            file = kind(path, Blocks(path, sums, told.append))
            np.testing.assert_array_equal(file[np.arange(100)], vectors[:100])
            np.testing.assert_array_equal(file[900:], vectors[900:])
            assert told == []
            for rows in (np.array([3, row]), slice(row - 1, row + 1)):
                with pytest.raises(DamagedError, match=r"some\.npy is damaged near byte 81,920"):
                    file[rows]
            assert len(told) == 2
            with pytest.raises(DamagedError):
                file[row]


def test_a_whole_file_is_known_after_one_look(tmp_path: Path) -> None:
    path = tmp_path / "some.bin"
    path.write_bytes(bytes(range(256)) * 1000)
    blocks = Blocks(path, sums_of(path), pytest.fail)
    assert not blocks.is_known
    blocks.require_all()
    assert blocks.is_known
    path.write_bytes(b"")
    blocks.require(np.array([0]), np.array([256_000]))  # looked at once, then trusted
    with pytest.raises(DamagedError, match="0 bytes for 16 checksums"):
        Blocks(path, np.zeros(16, np.uint32), pytest.fail)


def test_word_scores_are_compared_as_they_are_read(tmp_path: Path) -> None:
    texts = [f"common word{n} word{n % 7}" for n in range(9000)]
    LexicalIndex.build(texts, tmp_path)
    path = tmp_path / bm25.SCORES
    blocks = {bm25.SCORES: Blocks(path, sums_of(path), lambda damage: None)}
    index = LexicalIndex.open(tmp_path, blocks)
    expected = LexicalIndex.open(tmp_path).scores({"word8999": 1.0})
    with flipped(path, 300):  # among the scores of the first terms
        np.testing.assert_array_equal(index.scores({"word8999": 1.0}), expected)
        with pytest.raises(DamagedError, match=bm25.SCORES):
            index.scores({"common": 1.0, "word3": 1.0})


# -- which build is served


def test_the_notice_says_what_happened_and_what_to_do(corpus: Path) -> None:
    sound = Engine.open(corpus)
    assert (sound.notice, sound.in_service()) == ("", sound)
    path = layout.current_build(corpus) / layout.SENTENCE_INDEX
    with flipped(path, 1000):
        engine = Engine.open(corpus)
    assert engine.manifest.papers == sound.manifest.papers - 1
    assert engine.notice == (
        "The newest build of this corpus is damaged, so the one before it is served "
        f"({engine.manifest.papers} papers, of {engine.manifest.created[:10]}). The file {path} has another "
        "content than when it was built (its checksum differs). "
        f"To repair it, run `python -m index_build build --out {corpus}`."
    )


def test_damage_found_later_takes_the_build_out_of_service(corpus: Path) -> None:
    engine = Engine.open(corpus)
    engine.health.tell("The file x is damaged; build the corpus again.")
    answers = ask(engine)
    assert {build for _, build in answers} == {engine.in_service().manifest.build_id}
    assert engine.in_service().manifest.papers == engine.manifest.papers - 1
    assert "The file x is damaged." in engine.in_service().notice


def test_a_repaired_corpus_is_served_again(corpus: Path) -> None:
    engine = Engine.open(corpus)
    path = layout.current_build(corpus) / layout.PAPER_VECTORS
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    engine.health.tell("The file x is damaged; build the corpus again.")
    repaired = build(corpus)
    assert engine.in_service().manifest == repaired
    assert engine.in_service().notice == ""
    assert verify(corpus) == []


def test_without_another_build_the_damage_is_the_answer(tmp_path: Path) -> None:
    corpus = build_miniature(tmp_path / "corpus")
    engine = Engine.open(corpus)
    engine.health.tell("The file x is damaged; build the corpus again.")
    for _ in range(2):
        with pytest.raises(CorpusError, match="The file x is damaged"):
            ask(engine)
    with flipped(files(corpus)[-1], 100), pytest.raises(CorpusError, match="build the corpus again"):
        Engine.open(corpus)


def test_errors_of_the_user_are_no_damage(corpus: Path) -> None:
    engine = Engine.open(corpus)
    with pytest.raises(InputError):
        engine.search(Query(()))
    assert engine.health.damage == ""


def test_a_build_that_is_removed_while_it_is_looked_at_is_not_damaged(corpus: Path) -> None:
    folder = layout.current_build(corpus)
    looking = Health(folder, check_build(folder))
    shutil.rmtree(folder)
    looking._whole = list(read_manifest(next((corpus / layout.BUILDS).iterdir())).files)
    looking.start()
    assert looking.wait()
    assert looking.damage == ""


def test_builds_without_checksums_still_open(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As 0.8.0 made them: damage is found file by file."""
    monkeypatch.setattr(health, "SMALL", -1)
    folder = layout.current_build(corpus)
    (folder / CHECKSUMS).unlink()
    old = replace(read_manifest(folder), files=tuple(describe_files(folder)))
    (folder / layout.MANIFEST).write_text(json.dumps(asdict(old), indent=1) + "\n")
    assert verify(corpus) == []
    engine = Engine.open(corpus)
    assert engine.health.wait()
    assert (engine.health.damage, engine.health.blocks) == ("", {})
    assert len(ask(engine)) == 2
    with flipped(folder / layout.SENTENCE_VECTORS, 5000):
        assert opened(corpus).in_service().manifest.build_id != folder.name


# -- what verify finds


def swap(corpus: Path, name: str) -> Path:
    """The file of another build with as many papers and sentences, signed anew."""
    other = corpus.parent / "other"
    with Store.create(other / layout.STORE) as store:
        texts = {paper.id: paper for paper in all_papers()}
        papers = [*texts.values(), replace(EXTRA, title="Something else altogether of that length")]
        renamed = [
            replace(paper, title=f"{paper.title} again", abstract=paper.abstract[::-1]) for paper in papers
        ]
        store.add(renamed[::-1])
    build(other)
    folder, source = layout.current_build(corpus), layout.current_build(other) / name
    assert read_manifest(folder).counts == read_manifest(source.parent).counts
    for path in [source] if source.is_file() else list(source.iterdir()):
        (folder / path.relative_to(source.parent)).write_bytes(path.read_bytes())
    return folder


def sign(folder: Path) -> None:
    replace(read_manifest(folder), files=tuple(describe_files(folder))).write(folder)


PARTS = [layout.STORE, layout.SENTENCE_INDEX, layout.PAPER_INDEX, layout.LEXICAL, layout.SENTENCE_VECTORS]


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("thorough", [False, True], ids=["manifest signed", "everything signed"])
def test_verify_finds_files_of_another_build(corpus: Path, name: str, thorough: bool) -> None:
    folder = swap(corpus, name)
    if thorough:
        write_checksums(folder)
    sign(folder)
    assert verify(corpus) != []


def test_verify_finds_what_was_added_or_rewritten(corpus: Path) -> None:
    folder = layout.current_build(corpus)
    (folder / "more.bin").write_bytes(b"1")
    assert [problem.file.name for problem in verify(corpus)] == ["more.bin"]
    (folder / "more.bin").unlink()
    path = folder / layout.MANIFEST
    text = path.read_text()
    for bent in (
        text.replace(' "', '  "', 1),
        text.replace('"default"', '"quality"'),
        text.replace("\n", " "),
    ):
        path.write_text(bent)
        assert verify(corpus) != []
    path.write_text(text)
    assert verify(corpus) == []
    assert build(corpus, Settings()).build_id == folder.name


def test_looking_at_the_files_ends(corpus: Path) -> None:
    engine = Engine.open(corpus)
    until = time.monotonic() + 60
    while not engine.health.wait(0.1):
        assert time.monotonic() < until
    assert all(blocks.is_known for blocks in engine.health.blocks.values())
