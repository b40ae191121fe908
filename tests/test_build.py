"""Builds: what is in them, what is done again and what is not, and that a kill never harms what is served."""

from __future__ import annotations

import errno
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from index_build.cache import VectorCache, cache_folder
from index_build.publish import LOCK, describe_files, only_writer
from index_build.status import describe, status
from index_build.steps import build
from index_build.verify import verify
from search.corpus import layout
from search.corpus.bm25 import LexicalIndex
from search.corpus.checksums import write_checksums
from search.corpus.faiss_index import VectorIndex
from search.corpus.manifest import check_build, read_manifest
from search.corpus.store import Snapshot, Store
from search.encoder.loading import load_encoder
from search.errors import CorpusError
from search.settings import Settings
from search.text.sentences import split_paper
from search.types import Document, Encoded, Facet, Paper, Section
from tests.random_encoder import RandomEncoder

ROOT = Path(__file__).resolve().parent.parent


def papers(first: int, last: int) -> list[Paper]:
    made = [
        Paper(
            f"p{n}",
            f"On subject number {n} of the field",
            f"Subject {n} is hard. We solve case {n}. It works.",
        )
        for n in range(first, last)
    ]
    return [split_paper(paper) for paper in made]


def add(corpus: Path, more: list[Paper]) -> None:
    path = corpus / layout.STORE
    with Store.open(path, read_only=False) if path.exists() else Store.create(path) as store:
        store.add(more)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    add(folder, [*papers(0, 40), split_paper(Paper("bare", "A title and nothing else at all"))])
    return folder


def test_rows_are_the_same_everywhere(corpus: Path) -> None:
    encoder = RandomEncoder()
    manifest = build(corpus, encoder=encoder)
    folder = layout.current_build(corpus)
    assert check_build(folder) == manifest
    assert (manifest.papers, manifest.sentences) == (41, 121)
    sentences = np.load(folder / layout.SENTENCE_VECTORS)
    whole = np.load(folder / layout.PAPER_VECTORS)
    index, lexical = (
        VectorIndex.open(folder / layout.SENTENCE_INDEX),
        LexicalIndex.open(folder / layout.LEXICAL),
    )
    with Snapshot.open(folder / layout.STORE) as snapshot:
        offsets = snapshot.sentence_offsets()
        for document in snapshot.documents():
            row = document.paper_row
            expected = encoder.encode_one(document)  # type: ignore[arg-type]
            np.testing.assert_allclose(whole[row], expected.paper, atol=1e-3)
            np.testing.assert_allclose(
                sentences[offsets[row] : offsets[row + 1]], expected.sentences, atol=1e-3
            )
            assert index.search(expected.sentences, 1)[1][:, 0].tolist() == list(
                range(*offsets[row : row + 2])
            )
            np.testing.assert_allclose(
                snapshot.probabilities()[offsets[row] : offsets[row + 1]], expected.facets, atol=1e-3
            )
        assert snapshot.rows_of(["p7"])[0] == lexical.search({"7": 1.0}, 1)[1][0]


def test_the_default_encoder_from_text_to_neighbour(tmp_path: Path) -> None:
    subjects = {
        "plants": "Leaves turn light into sugar. We measure the rate of photosynthesis in wheat.",
        "stars": "Galaxies rotate faster than expected. We map dark matter with gravitational lenses.",
        "trees": "Sentences have a structure. A neural network predicts their dependency trees.",
    }
    add(tmp_path, [split_paper(Paper(id, f"On {id}", text)) for id, text in subjects.items()])
    manifest = build(tmp_path)
    encoder = load_encoder("default")
    assert (manifest.encoder, manifest.dimension) == (encoder.id, encoder.dimension)
    asked = encoder.encode_one(Document("", ("Syntactic parsing with deep learning.",)))
    index = VectorIndex.open(layout.current_build(tmp_path) / layout.SENTENCE_INDEX)
    assert set(index.search(asked.sentences, 2)[1][0]) == {4, 5}
    assert verify(tmp_path) == []


def test_the_source_knows_its_facets_better(corpus: Path) -> None:
    abstract = "Nothing is known. We measured it."
    given = Paper(
        "s", "A structured abstract of some length", abstract, sections=(Section(0, 17, Facet.RESULT),)
    )
    add(corpus, [split_paper(given)])
    build(corpus, encoder=RandomEncoder())
    with Snapshot.open(layout.current_build(corpus) / layout.STORE) as snapshot:
        paper = snapshot.paper("s")
    assert paper is not None
    assert paper.sentences[0].facet is Facet.RESULT
    assert paper.sentences[0].probabilities[3] == 1.0
    assert max(paper.sentences[1].probabilities) < 1.0


def test_nothing_changed_keeps_the_build(corpus: Path) -> None:
    encoder = RandomEncoder()
    first = build(corpus, encoder=encoder)
    assert build(corpus, encoder=encoder) == first
    assert encoder.encoded == 41


@pytest.mark.parametrize("change", ["papers", "encoder", "settings"])
def test_a_change_makes_a_new_build_and_encodes_only_what_is_new(corpus: Path, change: str) -> None:
    first = build(corpus, encoder=RandomEncoder())
    encoder, settings = RandomEncoder(), Settings()
    if change == "papers":
        add(corpus, papers(40, 45))
    elif change == "encoder":
        encoder = RandomEncoder("random-2")
    else:
        settings = replace(settings, bm25_k1=0.9)
    second = build(corpus, settings, encoder=encoder)
    assert second.build_id != first.build_id
    assert encoder.encoded == {"papers": 5, "encoder": 41, "settings": 0}[change]
    assert verify(corpus) == []


def test_an_open_reader_keeps_its_build(corpus: Path) -> None:
    build(corpus, encoder=RandomEncoder())
    folder = layout.current_build(corpus)
    with Snapshot.open(folder / layout.STORE) as reader:
        index = VectorIndex.open(folder / layout.SENTENCE_INDEX)
        for start in (40, 50, 60):
            add(corpus, papers(start, start + 10))
            build(corpus, Settings(keep_builds=1), encoder=RandomEncoder())
        assert reader.counts().papers == 41
        assert index.search(np.ones((1, 16)), 121)[1].max() == 120
    assert read_manifest(layout.current_build(corpus)).papers == 71


@pytest.mark.parametrize("keep", [1, 3])
def test_old_builds_are_kept_as_set(corpus: Path, keep: int) -> None:
    made = []
    for start in range(40, 80, 10):
        add(corpus, papers(start, start + 10))
        made.append(build(corpus, Settings(keep_builds=keep), encoder=RandomEncoder()).build_id)
    left = {folder.name for folder in (corpus / layout.BUILDS).iterdir()}
    assert len(left) == keep
    assert made[-1] in left


def test_progress_reaches_the_end(corpus: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    build(corpus, progress=lambda *step: seen.append(step), encoder=RandomEncoder())
    assert ("encode", 41, 41) in seen
    assert seen[-1] == ("index", 3, 3)


def test_one_writer_at_a_time(corpus: Path) -> None:
    with only_writer(corpus), pytest.raises(CorpusError, match="Another build is writing"):
        build(corpus, encoder=RandomEncoder())
    build(corpus, encoder=RandomEncoder())
    assert (corpus / LOCK).exists()


def test_an_empty_corpus_says_so_and_serves_nothing(tmp_path: Path) -> None:
    add(tmp_path, [])
    with pytest.raises(CorpusError, match="no papers"):
        build(tmp_path, encoder=RandomEncoder())
    with pytest.raises(CorpusError, match="no built corpus"):
        layout.current_build(tmp_path)


def test_another_encoder_is_refused_in_one_sentence(corpus: Path) -> None:
    manifest = build(corpus, Settings(encoder="random"), encoder=RandomEncoder())
    manifest.require_encoder("random-1", "random")
    with pytest.raises(
        CorpusError,
        match=r'built with encoder random-1 .* loads other-1. Build it again, or set `encoder = "random"`\.',
    ):
        manifest.require_encoder("other-1", "other")
    with pytest.raises(CorpusError, match=r"loads random-2\. Build it again\.$"):
        manifest.require_encoder("random-2", "random")


def test_another_tokenizer_is_refused(corpus: Path) -> None:
    manifest = build(corpus, encoder=RandomEncoder())
    manifest.require_tokenizer(manifest.tokenizer)
    with pytest.raises(CorpusError, match="this version has words-9"):
        manifest.require_tokenizer("words-9")


def test_another_layout_is_refused(corpus: Path) -> None:
    build(corpus, encoder=RandomEncoder())
    folder = layout.current_build(corpus)
    replace(read_manifest(folder), schema=99).write(folder)
    with pytest.raises(CorpusError, match="layout 99"):
        check_build(folder)
    (folder / layout.MANIFEST).write_text("{")
    with pytest.raises(CorpusError, match=layout.MANIFEST):
        check_build(folder)


def test_a_full_disk_is_said_and_harms_nothing(corpus: Path) -> None:
    build(corpus, encoder=RandomEncoder())
    add(corpus, papers(40, 50))

    class DiskFull(RandomEncoder):
        def encode_one(self, document: Document) -> Encoded:
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(CorpusError, match="is full"):
        build(corpus, encoder=DiskFull())
    assert read_manifest(layout.current_build(corpus)).papers == 41
    assert build(corpus, encoder=RandomEncoder()).papers == 51


def files_of(corpus: Path) -> list[str]:
    return [entry.path for entry in read_manifest(layout.current_build(corpus)).files]


def test_verify_names_a_flipped_byte_and_a_missing_file(corpus: Path) -> None:
    build(corpus, encoder=RandomEncoder())
    folder = layout.current_build(corpus)
    assert verify(corpus) == []
    assert len(files_of(corpus)) >= 9
    for name in files_of(corpus):
        path = folder / name
        sound = path.read_bytes()
        middle = len(sound) // 2
        path.write_bytes(sound[:middle] + bytes([sound[middle] ^ 1]) + sound[middle + 1 :])
        assert path in [problem.file for problem in verify(corpus)], name
        path.unlink()
        assert f"{path}: is missing" in map(str, verify(corpus))
        with pytest.raises(CorpusError, match=path.name):
            check_build(folder)
        path.write_bytes(sound)
    assert verify(corpus) == []


def test_building_again_repairs_a_damaged_build(corpus: Path) -> None:
    encoder = RandomEncoder()
    build(corpus, encoder=encoder)
    path = layout.current_build(corpus) / layout.SENTENCE_VECTORS
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert verify(corpus)[0].file == path
    build(corpus, encoder=encoder)
    assert verify(corpus) == []
    assert encoder.encoded == 41


@pytest.mark.parametrize(
    "name",
    [layout.STORE, layout.SENTENCE_VECTORS, layout.PAPER_VECTORS, layout.SENTENCE_INDEX, layout.LEXICAL],
)
def test_verify_names_a_wrong_count(corpus: Path, name: str) -> None:
    """A file of another build with a checksum that fits: only counting finds it."""
    build(corpus, encoder=RandomEncoder())
    small = layout.current_build(corpus)
    add(corpus, papers(40, 50))
    build(corpus, encoder=RandomEncoder())
    folder = layout.current_build(corpus)
    for source in [small / name] if (small / name).is_file() else list((small / name).iterdir()):
        (folder / source.relative_to(small)).write_bytes(source.read_bytes())
    write_checksums(folder)
    manifest = read_manifest(folder)
    replace(manifest, files=tuple(describe_files(folder))).write(folder)
    problems = verify(corpus)
    assert [problem.file for problem in problems] == [folder / name]
    assert "instead of" in problems[0].what


def test_verify_names_a_pointer_that_leads_nowhere(corpus: Path) -> None:
    build(corpus, encoder=RandomEncoder())
    (corpus / layout.CURRENT).write_text("no-such-build\n")
    assert "no-such-build" in str(verify(corpus)[0])
    build(corpus, encoder=RandomEncoder())
    assert verify(corpus) == []


def test_status_says_what_is_there(corpus: Path) -> None:
    build(corpus, encoder=RandomEncoder())
    found = status(corpus)
    assert sum(found.facet_shares.values()) == pytest.approx(1)
    assert found.total_bytes >= found.build_bytes + found.cache_bytes > 0
    text = describe(found)
    for part in ("41", "121", "random-1", "random-1-facets", "method", "MB", "flat, 16 bit", "ago"):
        assert part in text


@pytest.mark.slow
def test_killing_a_build_at_ten_random_moments(tmp_path: Path) -> None:
    """What was served stays whole, and the next build goes on instead of starting over."""
    corpus, trial = tmp_path / "corpus", tmp_path / "trial"
    add(trial, papers(0, 700))
    before = time.perf_counter()
    build(trial, encoder=RandomEncoder(seconds=0.001))
    whole = time.perf_counter() - before
    add(corpus, papers(0, 50))
    build(corpus, encoder=RandomEncoder())
    add(corpus, papers(50, 700))
    command = [sys.executable, "-m", "tests.random_encoder", str(corpus)]
    moments = random.Random(10)
    for attempt in range(10):
        add(corpus, papers(700 + attempt, 701 + attempt))
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"begun\n"
            time.sleep(moments.uniform(0, whole))
            process.kill()
        assert verify(corpus) == []
        with Snapshot.open(layout.current_build(corpus) / layout.STORE) as snapshot:
            assert snapshot.counts().papers >= 50
    encoder = RandomEncoder()
    with VectorCache(cache_folder(corpus, encoder.id), encoder.dimension) as cache:
        kept = len(cache)
    assert kept > 50
    manifest = build(corpus, encoder=encoder)
    assert manifest.papers == 710
    assert encoder.encoded == 710 - kept
    assert verify(corpus) == []
    assert all((folder / layout.MANIFEST).exists() for folder in (corpus / layout.BUILDS).iterdir())
