"""A corpus that grows: what is added goes beside the rest, and searches answer as if all were built anew."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from index_build import growth
from index_build.memory import disk_needed, memory_of
from index_build.publisher import batches_of
from index_build.steps import build, compact
from index_build.verify import verify
from search.corpus import layout
from search.corpus.folder import FolderBuild, FolderCorpus
from search.corpus.manifest import Manifest, read_manifest
from search.corpus.store import Store
from search.errors import CorpusError
from search.settings import Settings
from search.text.sentences import split_paper
from search.types import Filters, Paper
from tests.random_encoder import RandomEncoder

WORDS = "saw nail plank glue wood steel copper oak pine birch ash elm maple cedar fir".split()


def paper(number: int, **values: object) -> Paper:
    random = np.random.default_rng(number)
    texts = [" ".join(random.choice(WORDS, 6)) for _ in range(2 + number % 3)]
    made = Paper(
        id=f"p{number}",
        title=f"Paper number {number} about {random.choice(WORDS)}",
        abstract=". ".join(text.capitalize() for text in texts) + ".",
        year=2000 + number % 20,
        venue=f"Journal {number % 3}",
    )
    return split_paper(replace(made, **values))  # type: ignore[arg-type]


def papers(first: int, last: int) -> list[Paper]:
    return [paper(number) for number in range(first, last)]


def add(corpus: Path, more: list[Paper]) -> Manifest:
    path = corpus / layout.STORE
    with Store.open(path, read_only=False) if path.exists() else Store.create(path) as store:
        store.add(more)
    return build(corpus, encoder=RandomEncoder())


def opened(corpus: Path) -> FolderBuild:
    found = FolderCorpus(corpus)
    name = found.builds()[0]
    return found.open(name, found.manifest(name))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "WHOLE", 50)


@pytest.fixture
def grown(tmp_path: Path) -> Path:
    """200 papers, then 10 more, of older ones 5 changed, then 12 more."""
    corpus = tmp_path / "grown"
    assert add(corpus, papers(0, 200)).segments == ()
    changed = [
        paper(number, venue="Elsewhere", abstract="A new text. It is about copper.") for number in range(5)
    ]
    first = add(corpus, [*papers(200, 210), *changed])
    assert [(each.folder, each.papers, each.removed) for each in first.segments] == [
        ("", 200, 5),
        ("1", 15, 0),
    ]
    second = add(corpus, papers(210, 214))
    assert [(each.papers, each.removed) for each in second.segments] == [(200, 5), (19, 0)]
    third = add(corpus, papers(214, 216))
    assert [(each.papers, each.removed) for each in third.segments] == [(200, 5), (19, 0), (2, 0)]
    return corpus


@pytest.fixture
def anew(grown: Path, tmp_path: Path) -> Path:
    corpus = tmp_path / "anew"
    corpus.mkdir()
    (corpus / layout.STORE).write_bytes((grown / layout.STORE).read_bytes())
    assert build(corpus, encoder=RandomEncoder()).segments == ()
    return corpus


def test_a_grown_build_answers_as_one_built_anew(grown: Path, anew: Path) -> None:
    one, other = opened(grown), opened(anew)
    assert (one.manifest.papers, one.manifest.sentences) == (other.manifest.papers, other.manifest.sentences)
    ids = [found.id for found in other.papers_by_row(other.spread(1000))]
    assert len(ids) == 216

    def named(build: FolderBuild, rows: np.ndarray) -> list[list[str]]:
        return [[found.id for found in build.headings_by_row(row[row >= 0])] for row in np.atleast_2d(rows)]

    mine, theirs = one.rows_of(ids), other.rows_of(ids)
    assert (mine >= 0).all()
    assert np.array_equal(one.whole_vectors(mine), other.whole_vectors(theirs))
    ours, expected = one.sentences(mine), other.sentences(theirs)
    assert np.array_equal(ours.offsets, expected.offsets)
    assert np.array_equal(ours.vectors, expected.vectors)
    assert np.array_equal(ours.panels, expected.panels)
    assert one.papers_by_row(mine) == other.papers_by_row(theirs)
    assert one.ids_of(mine) == other.ids_of(theirs)
    assert one.papers_with(WORDS) == other.papers_with(WORDS)
    terms = {"copper": 1.0, "oak": 0.5, "text": 2.0}
    # Only the average length stays that of the first build.
    assert one.words(terms).of(mine) == pytest.approx(other.words(terms).of(theirs), rel=0.02)
    best = [set(named(each, each.words(terms).best(20)[1])[0]) for each in (one, other)]
    assert len(best[0] & best[1]) >= 19
    vectors = other.whole_vectors(theirs[[0, 3, 100, 205, 215]]).astype(np.float32)
    for filters in (
        Filters(),
        Filters(year_from=2010),
        Filters(venues=("Elsewhere",)),
        Filters(ids=("p1", "p212")),
    ):
        assert one.count(filters) == other.count(filters)
        found = one.near_papers(vectors, 10, filters)[1], other.near_papers(vectors, 10, filters)[1]
        assert named(one, found[0]) == named(other, found[1])
        found = one.near_sentences(vectors, 10, filters)[1], other.near_sentences(vectors, 10, filters)[1]
        assert named(one, found[0]) == named(other, found[1])
        assert one.year_counts(filters) == other.year_counts(filters)
        assert one.venue_counts(filters) == other.venue_counts(filters)
    assert set(one.headings_by_row(one.passing(Filters(ids=("p1", "p212")), 9))) == set(
        other.headings_by_row(other.passing(Filters(ids=("p1", "p212")), 9))
    )
    assert one.facet_shares() == pytest.approx(other.facet_shares())
    for text in ("p3", "Paper number 3 about", "Paper number 214", "paper"):
        found_by_title, expected_by_title = one.find(text, 400), other.find(text, 400)
        assert found_by_title[0].id == expected_by_title[0].id
        # Among equally close ones the order of rows decides, and a paper that was changed has a later row.
        assert {each.id for each in found_by_title} == {each.id for each in expected_by_title}
        assert [len(each.title) for each in found_by_title] == [len(each.title) for each in expected_by_title]
    assert one.arrivals(ids).tolist() == other.arrivals(ids).tolist()
    assert one.arrivals(["nowhere"]).tolist() == [-1]
    moved = [each for batch in batches_of(one, size=50) for each in batch.papers]
    assert {each.id for each in moved} == set(ids)


def test_older_builds_and_readers_keep_what_they_share(grown: Path) -> None:
    reader = opened(grown)
    before = reader.papers_by_row(reader.spread(300))
    vectors = reader.whole_vectors(reader.spread(300))
    for number in range(216, 219):
        add(grown, [paper(number)])
    assert reader.papers_by_row(reader.spread(300)) == before
    assert np.array_equal(reader.whole_vectors(reader.spread(300)), vectors)
    assert verify(grown) == []
    assert opened(grown).manifest.papers == 219


def test_removed_papers_are_gone(grown: Path) -> None:
    with Store.open(grown / layout.STORE, read_only=False) as store:
        store._connection.execute("DELETE FROM records WHERE id IN ('p7', 'p215')")
    manifest = build(grown, encoder=RandomEncoder())
    assert manifest.papers == 214
    found = opened(grown)
    assert found.rows_of(["p7", "p8", "p215"]).tolist()[::2] == [-1, -1]
    assert found.paper("p7") is None
    assert verify(grown) == []


def test_compact_makes_one_segment_and_only_where_there_are_several(grown: Path) -> None:
    encoder = RandomEncoder()
    manifest = build(grown, encoder=encoder, whole=True)
    assert manifest.segments == ()
    assert encoder.encoded == 0, "all is in the cache"
    assert (manifest.papers, verify(grown)) == (216, [])
    assert read_manifest(layout.current_build(grown)) == manifest


def test_much_that_is_new_makes_all_anew(grown: Path) -> None:
    assert add(grown, papers(216, 300)).segments == ()


def test_damage_in_a_shared_segment_is_found_and_repaired(grown: Path) -> None:
    file = layout.current_build(grown) / layout.PAPER_VECTORS
    content = bytearray(file.read_bytes())
    content[-100] ^= 1
    file.write_bytes(bytes(content))
    assert any(problem.file == file for problem in verify(grown))
    assert build(grown, encoder=RandomEncoder()).segments == ()
    assert verify(grown) == []


def test_a_bent_list_of_removed_papers_is_refused(grown: Path) -> None:
    file = layout.current_build(grown) / "removed-0.npy"
    for bent in ([0, 1, 2, 3, 900], [4, 3, 2, 1, 0], [0, 1, 2]):
        np.save(file, np.array(bent, np.int32))
        with pytest.raises(CorpusError):
            opened(grown)


def test_a_segment_of_another_place_is_refused(grown: Path) -> None:
    folder = layout.current_build(grown)
    manifest = read_manifest(folder)
    for strange in ("../..", "/tmp", "9", "a"):
        bent = (manifest.segments[0], replace(manifest.segments[1], folder=strange), manifest.segments[2])
        replace(manifest, segments=bent).write(folder)
        with pytest.raises(CorpusError, match=r"manifest\.json"):
            read_manifest(folder)


@pytest.mark.slow
def test_a_killed_addition_leaves_what_was_served(grown: Path) -> None:
    before = read_manifest(layout.current_build(grown))
    with Store.open(grown / layout.STORE, read_only=False) as store:
        store.add(papers(300, 320))
    code = (
        "import sys, os, signal; from pathlib import Path; from index_build import growth, folder_publisher\n"
        "from index_build.steps import build; from tests.random_encoder import RandomEncoder\n"
        "growth.WHOLE = 50\n"
        "def kill(*_): os.kill(os.getpid(), signal.SIGKILL)\n"
        "setattr(folder_publisher, sys.argv[2], kill); build(Path(sys.argv[1]), encoder=RandomEncoder())"
    )
    for moment in ("take_over", "check_segment", "seal", "serve"):
        subprocess.run([sys.executable, "-c", code, str(grown), moment], check=False)
        assert read_manifest(layout.current_build(grown)) == before
        assert opened(grown).manifest.papers == 216
    encoder = RandomEncoder()
    assert build(grown, encoder=encoder).papers == 236
    assert encoder.encoded == 0
    assert verify(grown) == []


def test_what_a_build_needs_is_known_beforehand(grown: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert disk_needed(800_000, 5_500_000, 384, cached=False) > 8e9
    assert memory_of(700).total == 700
    assert 512 <= memory_of(0).total <= 2048
    with Store.open(grown / layout.STORE, read_only=False) as store:
        store.add(papers(300, 302))
    monkeypatch.setattr("index_build.memory.ASKED_FROM", 0)
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("", (), {"free": 10_000}))
    with pytest.raises(CorpusError, match="needs about"):
        build(grown, encoder=RandomEncoder())


def test_a_build_that_is_whole_stays_when_compacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = add(tmp_path, papers(0, 5))
    monkeypatch.setattr("index_build.steps.encoder_of", lambda *_: RandomEncoder())
    assert compact(tmp_path, Settings(corpus=tmp_path)) == manifest
