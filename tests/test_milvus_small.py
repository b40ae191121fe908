"""The whole way through a Milvus server with sparse vectors: what it answers is what the folder answers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from index_build.__main__ import main
from index_build.milvus import MilvusPublisher
from index_build.moving import compare, engine_on
from index_build.steps import build
from index_build.straight import BEGUN, build_there
from pages.ui import state
from search.api.surroundings import alone
from search.corpus import layout
from search.corpus.checksums import DamagedError
from search.corpus.folder import FolderBuild
from search.corpus.milvus import corpus as pointers
from search.corpus.milvus.build import MilvusBuild
from search.corpus.milvus.corpus import MilvusCorpus
from search.corpus.milvus.shapes import DETAILS, PAPERS, collection_of
from search.corpus.places import corpus_at
from search.corpus.served import Served
from search.corpus.store import Store
from search.engine import Engine
from search.errors import CorpusError
from search.settings import Settings
from search.topics import explore
from search.types import Filters, Query
from tests import milvus_corpora
from tests.api_client import served
from tests.app_driver import example, open_app, text_of, titles
from tests.milvus_servers import MilvusServer, needs_small, running
from tests.random_encoder import RandomEncoder

pytestmark = [needs_small, pytest.mark.slow]
PLENTY = 1_000
FILTERS = (
    Filters(),
    Filters(year_from=2012),
    Filters(year_to=2012, has_doi=True),
    Filters(venues=("Long Reads",)),
    Filters(fields=("tumours", "rivers", "graphs")),
    Filters(sources=("nowhere",)),
    Filters(origins=("arXiv today",)),
    Filters(ids=("bare", "long", "second:record", "not here")),
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    with running("small", tmp_path_factory.mktemp("milvus") / "data") as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return milvus_corpora.make_folder(tmp_path_factory.mktemp("folder") / "corpus")


@pytest.fixture(scope="module")
def here(folder: Path) -> Iterator[FolderBuild]:
    found = milvus_corpora.opened(folder)
    yield found
    found.close()


@pytest.fixture(scope="module")
def target(server: MilvusServer, folder: Path) -> MilvusCorpus:
    corpus = MilvusCorpus(server.address())
    moved = milvus_corpora.publish(folder, corpus)
    assert (moved.same, moved.largest, moved.words) == (1.0, pytest.approx(0, abs=1e-6), True)
    return corpus


@pytest.fixture
def there(target: MilvusCorpus) -> Iterator[MilvusBuild]:
    name = target.builds()[0]
    found = target.open(name, target.manifest(name))
    yield found
    found.close()


def test_papers_vectors_and_panels_are_those_of_the_folder(here: FolderBuild, there: MilvusBuild) -> None:
    served: Served = there
    rows = here.next_rows(-1, 100)[::-1]
    assert served.next_rows(-1, 100).tolist() == rows[::-1].tolist()
    assert served.papers_by_row(rows) == here.papers_by_row(rows)
    assert served.headings_by_row(rows) == here.headings_by_row(rows)
    assert served.ids_of(rows) == here.ids_of(rows)
    ours, theirs = served.sentences(rows), here.sentences(rows)
    assert max(np.diff(ours.offsets)) > 128  # the long one, in parts
    for name in ("vectors", "panels", "offsets"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    assert np.array_equal(served.whole_vectors(rows), here.whole_vectors(rows))
    assert served.manifest == replace(here.manifest, files=(), segments=())
    assert len(served.sentences(rows[:0]).vectors) == len(served.whole_vectors(rows[:0])) == 0


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_every_way_of_searching_finds_the_same(
    here: FolderBuild, there: MilvusBuild, filters: Filters
) -> None:
    vectors = here.whole_vectors(here.spread(3)).astype(np.float32)
    assert there.count(filters) == here.count(filters)
    for name in ("near_sentences", "near_papers"):
        (ours, rows), (theirs, others) = (getattr(each, name)(vectors, 9, filters) for each in (there, here))
        width = theirs.shape[1]
        assert np.where(rows[:, :width] < 0, 0, ours[:, :width]) == pytest.approx(theirs, abs=2e-3)
        for mine, other in zip(rows, others, strict=True):
            assert set(mine[mine >= 0]) == set(other[other >= 0])
    words, others = (
        each.words({"river": 1.0, "study": 0.5, "nowhere-at-all": 9.0}) for each in (there, here)
    )
    assert words.best(9, filters)[0] == pytest.approx(others.best(9, filters)[0], abs=1e-4)
    rows = here.next_rows(-1, 100)
    assert words.of(rows) == pytest.approx(others.of(rows), abs=1e-4)
    passing, expected = there.passing(filters, 12), here.passing(filters, 12)
    assert (passing is None) == (expected is None)
    assert passing is None or expected is None or passing.tolist() == expected.tolist()


def test_counts_and_names_are_those_of_the_folder(here: FolderBuild, there: MilvusBuild) -> None:
    for name in ("year_counts", "venue_counts", "field_counts", "source_counts"):
        assert getattr(there, name)() == getattr(here, name)()
        assert getattr(there, name)(Filters(year_to=2012)) == getattr(here, name)(Filters(year_to=2012))
    assert there.origin_counts() == here.origin_counts()
    assert there.facet_shares() == here.facet_shares()
    terms = ["river", "study", "the", "nowhere-at-all"]
    assert there.papers_with(terms) == dict(here.papers_with(terms))
    ids = ["second:record", "long", "nothing", 'a" or row >= 0 or "']
    assert there.rows_of(ids).tolist() == here.rows_of(ids).tolist()
    assert there.arrivals(ids).tolist() == here.arrivals(ids).tolist()
    assert [each.id for each in there.papers(ids)] == [each.id for each in here.papers(ids)]
    assert there.paper("nothing") is None


@pytest.mark.parametrize(
    "text",
    ["10.5555/twice", "https://doi.org/10.5555/twice", "LONG", "paper of many sentences",
     "papr of mny sentnces", "ada many 2012", "no such words at all", "", '") or row >= 0'],
)  # fmt: skip
def test_papers_are_looked_up_as_in_the_folder(here: FolderBuild, there: MilvusBuild, text: str) -> None:
    assert [each.id for each in there.find(text, 3)] == [each.id for each in here.find(text, 3)]


def test_results_are_the_same_with_their_evidence(here: FolderBuild, there: MilvusBuild) -> None:
    found = compare(engine_on(here), engine_on(there), 12)
    assert (found.same, found.largest) == (1.0, pytest.approx(0, abs=1e-4))
    ours, theirs = engine_on(there), engine_on(here)
    query = Query((ours.example("long"),), filters=Filters(year_to=2013), top=5)
    for one, other in zip(ours.search(query).results, theirs.search(query).results, strict=True):
        assert (one.paper, one.reason, len(one.pairs)) == (other.paper, other.reason, len(other.pairs))
        assert one.score == pytest.approx(other.score, abs=1e-3)
    assert len(ours.plane(query).points) == len(theirs.plane(query).points) > 0


def test_explaining_results_asks_the_server_once_for_their_words(there: MilvusBuild) -> None:
    engine, asked = engine_on(there), []
    real = there._names.find
    there._names.find = lambda wanted: asked.append(len(wanted)) or real(wanted)  # type: ignore[method-assign]
    engine.search(Query((engine.example("long"),), top=5))
    assert len(asked) <= 6


def test_a_build_that_lost_rows_gives_no_answer(target: MilvusCorpus, there: MilvusBuild) -> None:
    """Where a node is lost, fewer rows answer; here they are taken away."""
    engine = engine_on(there)
    query = Query((engine.example("long"),), top=3)
    assert engine.search(query).results
    client = target._server().client
    name = collection_of(target.address.name, there.manifest.build_id, PAPERS)
    lost = client.query(name, filter="row == 3", output_fields=["*"])
    client.delete(name, filter="row == 3")
    with pytest.raises(DamagedError, match="Only part of the corpus"):
        engine.search(query)
    with pytest.raises(CorpusError, match="Only part of the corpus"):
        target.open(target.builds()[0], target.manifest(target.builds()[0]))
    client.insert(name, [dict(row) for row in lost])
    assert engine.search(query).results


def test_a_publish_that_was_cut_off_goes_on(server: MilvusServer, folder: Path) -> None:
    corpus = MilvusCorpus(server.address("cut"))
    real, calls = MilvusPublisher._write, []

    def cut(self: MilvusPublisher, part: str, rows: list[dict[str, object]], first: int, end: int) -> None:
        calls.append(part)
        if part == DETAILS:
            real(self, part, rows[: len(rows) // 2], first, end)
            raise KeyboardInterrupt
        real(self, part, rows, first, end)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MilvusPublisher, "_write", cut)
        with pytest.raises(KeyboardInterrupt):
            milvus_corpora.publish(folder, corpus)
    with pytest.raises(CorpusError, match="publish one with"):
        corpus.builds()
    assert milvus_corpora.publish(folder, corpus).same == 1.0
    assert milvus_corpora.publish(folder, corpus).was_there


def test_readers_keep_their_build_while_another_is_published(
    server: MilvusServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No error and no answer out of two builds; the older build goes with the next but one."""
    monkeypatch.setattr(pointers, "STALE", 0.0)
    folder = milvus_corpora.make_folder(tmp_path / "corpus", few=True)
    corpus = MilvusCorpus(server.address("growing"))
    milvus_corpora.publish(folder, corpus)
    first = corpus.current()
    store = corpus.open(first, corpus.manifest(first))
    reader = engine_on(store)
    query = Query((reader.example(store.headings_by_row([2])[0].id),), top=30)
    expected = [result.paper.id for result in reader.search(query).results]
    wrong: list[object] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            try:
                found = [result.paper.id for result in reader.search(query).results]
            except Exception as error:
                found = [repr(error)]
            if found != expected:
                wrong.append(found)
            time.sleep(0.02)

    reading = threading.Thread(target=read)
    reading.start()
    milvus_corpora.make_folder(folder, milvus_corpora.one_more(1), few=True)
    milvus_corpora.publish(folder, corpus)
    done.set()
    reading.join()
    assert wrong == []
    second = corpus.current()
    assert second != first
    assert corpus.manifest(second).papers == corpus.manifest(first).papers + 1
    MilvusPublisher(corpus.address).prune(1)
    there = {name for name in corpus._server().collections() if name.startswith("growing_")}
    assert there == {collection_of("growing", corpus.current(), part) for part in ("about", *store._of)}


def test_a_corpus_comes_back_into_a_folder(
    target: MilvusCorpus, here: FolderBuild, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["publish", str(target.address), "--to", str(tmp_path / "back"), "--quiet"]) == 0
    assert "100.0% of the best 20 are the same" in capsys.readouterr().out
    back = milvus_corpora.opened(tmp_path / "back")
    rows = here.next_rows(-1, 100)
    assert back.papers_by_row(rows) == here.papers_by_row(rows)
    assert [set(ids) for ids in back.ids_of(rows)] == [set(ids) for ids in here.ids_of(rows)]
    assert np.array_equal(back.sentences(rows).vectors, here.sentences(rows).vectors)
    build(tmp_path / "back", encoder=RandomEncoder(dimension=384))  # and more can be added to it


def test_the_command_says_what_was_done_and_what_cannot_be(
    server: MilvusServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["publish", str(folder), "--to", server.address(), "--quiet"]) == 0
    assert "as before" in capsys.readouterr().out
    assert main(["publish", str(folder), "--to", str(folder)]) == 2
    assert main(["publish", str(folder), "--to", server.address("x"), "--index", "rabitq", "--quiet"]) == 3
    assert "needs Milvus 2.6 or later" in capsys.readouterr().err


def test_the_engine_opens_an_address_with_its_model(server: MilvusServer, app_corpus: Path) -> None:
    corpus = corpus_at(server.address("app"))
    assert isinstance(corpus, MilvusCorpus)
    milvus_corpora.publish(app_corpus, corpus)
    ours, theirs = Engine.open(server.address("app")), Engine.open(app_corpus)
    text = "We train a convolutional network on recordings of birds. It hears rare birds in noise."
    both = [engine.search(Query((engine.read_text(text),))).results for engine in (ours, theirs)]
    assert [each.paper.id for each in both[0]] == [each.paper.id for each in both[1]]
    topics = [explore(engine, "machine learning for birds") for engine in (ours, theirs)]
    assert [paper.id for paper in topics[0].papers] == [paper.id for paper in topics[1].papers]


def test_the_api_answers_as_from_the_folder_and_never_in_part(
    server: MilvusServer, app_corpus: Path, tmp_path: Path
) -> None:
    corpus = MilvusCorpus(server.address("asked"))
    milvus_corpora.publish(app_corpus, corpus)
    folder = Settings(corpus=app_corpus, library=tmp_path / "library")
    body = {
        "papers": [{"text": "We train a network on recordings of birds. It hears rare birds in noise."}],
        "top": 5,
    }
    with (
        served(alone(folder, PLENTY)) as ours,
        served(alone(folder.at(server.address("asked")), PLENTY)) as theirs,
        ours.client() as here,
        theirs.client() as there,
    ):
        narrow = body | {"filters": {"year_from": 2012}}
        for asked in (body, narrow):
            answers = [each.post("/search", json=asked).json()["results"] for each in (here, there)]
            ids, others = ([found["id"] for found in answer] for answer in answers)
            assert ids == others != []
        client, name = corpus._server().client, collection_of("asked", corpus.current(), PAPERS)
        client.delete(name, filter="row == 3")
        refused = there.post("/search", json=body | {"top": 4})  # not one that is remembered
        assert (refused.status_code, "Only part of the corpus" in refused.json()["detail"]) == (503, True)


@pytest.mark.usefixtures("server")
class TestApp:
    @pytest.fixture(autouse=True)
    def on_milvus(self, server: MilvusServer, app_corpus: Path, host: pytest.MonkeyPatch) -> Iterator[None]:
        milvus_corpora.publish(app_corpus, MilvusCorpus(server.address("app")))
        host.setenv("TRIPTYCH_CORPUS", server.address("app"))
        state.settings.clear()
        yield
        state.settings.clear()

    def test_finds_explores_and_says_where_papers_are_added(self) -> None:
        app = example(open_app())
        assert not app.exception
        assert len(titles(app)) > 5
        found = open_app("corpus")
        assert not found.exception
        assert "This corpus is served by Milvus" in text_of(found)
        assert "Merged records" not in text_of(found)
        assert not open_app("explore", q="birds").exception
        assert not open_app("library").exception


def test_a_corpus_is_built_straight_there(
    here: FolderBuild, server: MilvusServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.create(tmp_path / layout.STORE) as store:
        store.add(milvus_corpora.papers())
    corpus = MilvusCorpus(server.address("straight"))
    encoder = RandomEncoder(dimension=384)
    with monkeypatch.context() as stopped:
        stopped.setattr(MilvusPublisher, "seal", _stop)
        with pytest.raises(KeyboardInterrupt):
            build_there(tmp_path, corpus, Settings(), encoder=encoder)
    assert corpus.current() == ""
    begun = json.loads((tmp_path / BEGUN).read_bytes())["build_id"]
    made = build_there(tmp_path, corpus, Settings(), encoder=encoder)
    assert made.build_id == begun == corpus.current()
    assert build_there(tmp_path, corpus, Settings(), encoder=encoder) == corpus.manifest(begun)
    assert not (tmp_path / layout.BUILDS).exists()
    there = corpus.open(begun, corpus.manifest(begun))
    found = compare(engine_on(here), engine_on(there), 20)
    there.close()
    assert (found.same, found.largest) == (1.0, pytest.approx(0, abs=1e-6))


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_folder_is_no_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store.create(tmp_path / layout.STORE) as store:
        store.add(milvus_corpora.papers())
    assert main(["build", "--out", str(tmp_path), "--to", str(tmp_path / "other")]) == 2
    assert "a folder is --out" in capsys.readouterr().err
