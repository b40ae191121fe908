"""Files, the teacher's vectors, pools and pairs, and what may not be trained on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search.encoding import Encoded
from search.errors import InputError
from search.tokens import Document
from tests.random_encoder import RandomEncoder
from tests.training_aspects.made import (
    CPU,
    DOCUMENTS,
    LONG,
    no_progress,
    random_vectors,
    record,
    say_nothing,
    some_document,
    write_lines,
)
from training import teacher
from training.aspect_data import (
    JUDGEMENTS,
    SOURCE_MARK,
    Aligned,
    Corpus,
    Graded,
    Words,
    align,
    make_corpus,
    make_pools,
    mine_neighbours,
    read_graded,
    read_judged,
)
from training.aspects import cited_set, cocited_test, graded_set
from training.cited import is_held_out, read_few_cocited, read_partners
from training.papers import (
    ACL,
    CITED,
    CITING,
    COCITED,
    CSFCUBE,
    Cocited,
    read_citing,
    read_cocited,
    read_documents,
)
from training.states import LowerLayers
from training.teacher import Vectors, encode_all


class Stopping(RandomEncoder):
    """Gives up before the document with this number."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self.last = last

    def encode(self, documents: Iterable[Document], progress: Any = None) -> Iterator[Encoded]:
        for one in super().encode(documents):
            if self.encoded > self.last:
                raise KeyboardInterrupt
            yield one


@pytest.fixture
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teacher, "CHUNK", 2)


FIVE = [some_document(number) for number in range(5)]


@pytest.mark.usefixtures("_small_chunks")
def test_kept_chunks_are_read(tmp_path: Path) -> None:
    first, again = RandomEncoder(), RandomEncoder()
    vectors = encode_all(FIVE, first, tmp_path, say_nothing)
    kept = encode_all(FIVE, again, tmp_path, say_nothing)
    assert (first.encoded, again.encoded) == (5, 0)
    for paper, document in enumerate(FIVE):
        encoded = first.encode_one(document)
        for found in (vectors, kept):
            np.testing.assert_array_equal(found.of(paper), encoded.sentences.astype(np.float16))
            np.testing.assert_array_equal(found.papers[paper], encoded.paper.astype(np.float16))


@pytest.mark.usefixtures("_small_chunks")
def test_only_what_is_new_is_encoded(tmp_path: Path) -> None:
    encode_all(FIVE, RandomEncoder(), tmp_path, say_nothing)
    changed, other = RandomEncoder(), RandomEncoder("random-2")
    encode_all([*FIVE[:2], LONG, *FIVE[3:]], changed, tmp_path, say_nothing)
    encode_all(FIVE, other, tmp_path, say_nothing)
    assert (changed.encoded, other.encoded) == (2, 5)


@pytest.mark.usefixtures("_small_chunks")
def test_a_stopped_encoding_goes_on_after_its_last_chunk(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        encode_all(FIVE, Stopping(3), tmp_path, say_nothing)
    again = RandomEncoder()
    encode_all(FIVE, again, tmp_path, say_nothing)
    assert again.encoded == 3


# -- files


@pytest.mark.parametrize("name", ["papers.jsonl", "papers.jsonl.gz"])
def test_documents_named_come_in_the_order_of_their_ids(tmp_path: Path, name: str) -> None:
    records = [record(id, some_document(number)) for number, id in enumerate(("c", "a", "d", "b"))]
    file = write_lines(tmp_path / name, [*records, {"id": "empty", "title": "t", "abstract": None}])
    assert list(read_documents(file, ["d", "c", "a"])) == ["a", "c", "d"]
    assert list(read_documents(file)) == ["c", "a", "d", "b"]
    document = read_documents(file, ["c"])["c"]
    assert document.title == some_document(0).title
    assert len(document.sentences) == len(some_document(0).sentences)


def test_missing_papers_and_files_are_named(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "papers.jsonl", [record("a", FIVE[0]), {"id": "b", "title": "t"}])
    with pytest.raises(InputError, match=r"papers\.jsonl lacks 2 papers that are needed, such as 'b'"):
        read_documents(file, ["a", "b", "z"])
    with pytest.raises(InputError, match=r"There is no file .* with `--data`"):
        read_documents(tmp_path / "other.jsonl")
    file.write_text('{"id": "a"}\n{"id":\n')
    with pytest.raises(InputError, match=r"Line 2 of .* is not JSON"):
        read_documents(file)


def test_contexts_come_from_the_least_crowded(tmp_path: Path) -> None:
    contexts = [("many", 7), ("unknown", None), ("two", 2), ("three", 3), ("two", 5)]
    listed = [{"text": text, "n": n} for text, n in contexts]
    unknown = {"a": "p", "b": "r", "contexts": [{"text": "alone", "n": None}]}
    file = write_lines(tmp_path / "pairs.jsonl.gz", [{"a": "p", "b": "q", "contexts": listed}, unknown])
    first, second = read_cocited(file)
    assert first == Cocited("p", "q", ("two", "three", "many", "unknown"), 2)
    assert second == Cocited("p", "r", ("alone",), 99)


def test_judgements_are_read_line_by_line(tmp_path: Path) -> None:
    line = {"query": "q", "facet": "method", "sentences": [1, 2], "grades": {"a": 3}, "again": {"a": 1}}
    assert read_graded(write_lines(tmp_path / "j.jsonl", [line])) == [Graded("q", "method", (1, 2), {"a": 3})]


def test_the_shipped_judgements_are_sound() -> None:
    graded = [one for file in JUDGEMENTS for one in read_graded(file)]
    assert len({one.id for one in graded}) == len(graded)
    assert {one.facet for one in graded} == {"background", "method", "result"}
    assert {grade for one in graded for grade in one.grades.values()} == {0, 1, 2, 3}
    assert all(one.sentences and one.query not in one.grades for one in graded)
    cited = {paper for one in graded for paper in (one.query, *one.grades) if SOURCE_MARK in paper}
    assert cited
    assert not [paper for paper in cited if is_held_out(paper)]


# -- data


def test_a_paper_of_several_windows_is_not_trained_on(corpus: Corpus) -> None:
    assert not corpus.has("p16")
    assert not corpus.has("nowhere")
    assert all(corpus.has(id) for id in list(DOCUMENTS)[:16])
    assert sorted(corpus.window[:16]) == list(range(16))


def test_taught_vectors_stand_end_to_end(corpus: Corpus) -> None:
    assert corpus.teacher is not None
    sentences, wholes = corpus.taught([4, 2], CPU)
    expected = np.concatenate([corpus.teacher.of(4), corpus.teacher.of(2)])
    np.testing.assert_array_equal(sentences.numpy(), expected)
    np.testing.assert_array_equal(wholes.numpy(), corpus.teacher.papers[[4, 2]].astype(np.float32))
    assert len(sentences) == sum(len(corpus.documents[paper].sentences) for paper in (4, 2))


def test_pools_leave_out_papers_the_corpus_lacks(corpus: Corpus, words: Words) -> None:
    graded = [
        Graded("p00", "method", (0, 1), {"p03": 2, "nowhere": 3, "p16": 1, "p01": 0}),
        Graded("nowhere", "method", (0,), {"p03": 2, "p01": 0}),
        Graded("p02", "result", (0,), {"p03": 2, "p01": 2, "nowhere": 0}),
    ]
    labelled = random_vectors(corpus.documents)
    (pool,) = make_pools(graded, corpus, words, labelled)
    assert (pool.id, pool.facet, pool.query, pool.sentences) == ("p00_method", "method", 0, (0, 1))
    assert (pool.candidates, pool.grades) == ((3, 1), (2, 0))
    np.testing.assert_array_equal(pool.words, words.likeness(DOCUMENTS["p00"], (0, 1), ["p03", "p01"]))
    for paper, role in zip(pool.candidates, pool.roles, strict=True):
        np.testing.assert_array_equal(role, labelled.roles(paper, "method"))


def test_roles_are_panels_an_objective_is_background() -> None:
    facets = np.eye(5, dtype=np.float16)[[0, 1, 2, 3, 4, 2]]
    vectors = Vectors(np.zeros((6, 2), np.float16), np.zeros((2, 2), np.float16), facets, np.array([0, 4, 6]))
    assert vectors.roles(0, "background").tolist() == [1, 1, 0, 0]
    assert vectors.roles(0, "method").tolist() == [0, 0, 1, 0]
    assert vectors.roles(1, "method").tolist() == [0, 1]


def test_few_unrelated_candidates_are_kept_always_the_same() -> None:
    grades = {f"p{number}": number % 4 for number in range(20)}
    one = Graded("q", "method", (0,), grades)
    few = one.with_zeros(2)
    assert {paper: grade for paper, grade in few.grades.items() if grade} == {
        paper: grade for paper, grade in grades.items() if grade
    }
    assert sum(grade == 0 for grade in few.grades.values()) == 2
    assert few == one.with_zeros(2)
    assert one.with_zeros(5).grades == grades
    assert set(few.grades) < set(one.with_zeros(3).grades)


def test_what_is_held_out_depends_on_the_id_alone() -> None:
    def held_out_with(grades: dict[str, int]) -> list[str]:
        some = [Graded(f"paper{number}", "method", (0,), grades) for number in range(2000)]
        return [one.id for one in some if one.held_out]

    ids = [f"paper{number}_method" for number in range(2000)]
    held_out = held_out_with({"a": 1})
    assert held_out == held_out_with({"b": 0, "c": 3})
    assert 0.08 < len(held_out) / len(ids) < 0.12
    # Written down: pools that were trained on once may never be scored as unseen.
    assert held_out[:4] == [f"paper{number}_method" for number in (7, 18, 19, 28)]
    assert 0.06 < sum(map(is_held_out, ids)) / len(ids) < 0.11
    assert [id for id in ids if is_held_out(id)][:4] == [
        f"paper{number}_method" for number in (0, 37, 44, 75)
    ]


def test_words_of_ticked_sentences_count_most() -> None:
    papers = {
        "query": Document("", ("Bees hear microphones.", "Vans plan routes.")),
        "bees": Document("", ("Bees and microphones are here.",)),
        "vans": Document("", ("Vans and routes are here.",)),
        "none": Document("", ("Glaciers melt over there.",)),
    }
    words = Words(papers)
    for ticked, near, far in (((0,), 0, 1), ((1,), 1, 0)):
        found = words.likeness(papers["query"], ticked, ["bees", "vans", "none"])
        assert 1 > found[near] > found[far] > found[2] == 0
    own = words.likeness(papers["query"], (0, 1), ["query", "bees"])
    assert 1 > own[0] > own[1]


def test_pairs_are_aligned_by_their_citing_sentence(corpus: Corpus) -> None:
    assert corpus.teacher is not None
    pairs = [Cocited(*ids, ("context",), 2) for ids in (("p01", "p16"), ("p04", "p02"), ("nowhere", "p02"))]
    random = np.random.default_rng(3)
    nothing = np.zeros((3, 24), np.float16)
    contexts = Vectors(random.normal(size=(3, 24)).astype(np.float16), nothing, nothing[:, :5], np.arange(4))
    (found,) = align(pairs, corpus, contexts, corpus.teacher)
    nearest = [
        max(range(len(rows)), key=lambda place: float(rows[place] @ contexts.of(1)[0]))
        for rows in (corpus.teacher.of(4), corpus.teacher.of(2))
    ]
    assert found == Aligned(4, 2, *nearest)


def test_mined_papers_are_near_and_not_linked() -> None:
    angles = np.linspace(0, 2, 30)
    papers = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float16)
    pair = Aligned(0, 2, 0, 0)
    (near,) = mine_neighbours([pair], lambda paper: papers @ papers[paper], {(0, 2), (2, 0), (0, 5)})
    assert near == [1, 3, 4, 6, 7, 8, 9, 10, 11, 12]


def test_no_paper_of_the_test_collection_is_graded(lower: LowerLayers, tmp_path: Path) -> None:
    records = [record(f"p{number}", some_document(number), f"Paper number {number}") for number in range(4)]
    write_lines(tmp_path / ACL, records)
    write_lines(tmp_path / CSFCUBE, [{"title": "PAPER  number-2!"}])
    line = {"query": "p0", "facet": "method", "sentences": [0], "grades": {"p1": 2, "p2": 3, "p3": 0}}
    asked = line | {"query": "p2", "grades": {"p1": 2, "p3": 0}}
    judgements = write_lines(tmp_path / "judgements.jsonl", [line, asked])

    def corpus_of(documents: dict[str, Document], taught: bool = True) -> Corpus:
        return make_corpus(documents, lower, tmp_path / "cache", no_progress, None)

    corpus, pools, unseen = graded_set(tmp_path, corpus_of, random_vectors, judgements)
    assert not corpus.has("p2")
    assert [pool.id for pool in pools] == ["p0_method"]
    assert [corpus.place[id] for id in ("p1", "p3")] == list(pools[0].candidates)
    assert not unseen


def test_graded_papers_come_from_the_file_that_has_them(tmp_path: Path) -> None:
    write_lines(tmp_path / ACL, [record(id, some_document(1), f"In one, {id}") for id in ("p0", "p1")])
    others = [record(id, some_document(2), f"In other, {id}") for id in ("s:c0", "s:c1")]
    write_lines(tmp_path / CITED, others)
    write_lines(tmp_path / CSFCUBE, [{"title": "in other s c1"}])

    def read(query: str, *others: str) -> dict[str, str]:
        graded = Graded(query, "method", (0,), dict.fromkeys(others, 1))
        return {id: document.title for id, document in read_judged(tmp_path, [graded]).items()}

    assert read("p0", "s:c0", "s:c1") == {"p0": "In one, p0", "s:c0": "In other, s:c0"}
    (tmp_path / CITED).unlink()
    assert read("p0", "p1") == {"p0": "In one, p0", "p1": "In one, p1"}
    with pytest.raises(InputError, match="There is no file"):
        read("p0", "s:c0")


def test_held_out_papers_are_in_no_pair_to_learn_from(lower: LowerLayers, tmp_path: Path) -> None:
    ids = [f"c{number}" for number in range(60)]
    kept_out = [id for id in ids if is_held_out(id)]
    assert kept_out
    write_lines(tmp_path / CITED, [record(id, some_document(number)) for number, id in enumerate(ids)])
    pairs = [
        {"a": ids[one], "b": ids[one - 1], "contexts": [{"text": "we study graph search", "n": 2 + one % 3}]}
        for one in range(60)
    ]
    write_lines(tmp_path / COCITED, pairs)

    def corpus_of(documents: dict[str, Document], taught: bool = True) -> Corpus:
        return make_corpus(documents, lower, tmp_path / "cache", no_progress, None)

    write_lines(tmp_path / CITING, [{"citing": ids[one], "cited": ids[(one + 30) % 60]} for one in range(60)])
    alone = cited_set(tmp_path, corpus_of, random_vectors)
    assert all(pair.aligned for pair in alone.pairs)
    data, test = cited_set(tmp_path, corpus_of, random_vectors, 20), cocited_test(tmp_path, corpus_of)
    assert data.cited is not None
    assert 10 < sum(not pair.aligned for pair in data.pairs) <= 20
    assert sum(pair.aligned for pair in data.pairs) == len(alone.pairs) > 0
    assert not set(kept_out) & set(data.cited.place)
    # Also those that are too crowded, or not chosen, to be learned from are linked.
    place = data.cited.place
    links = [(pair["a"], pair["b"]) for pair in pairs] + read_citing(tmp_path / CITING)
    known = [(place[a], place[b]) for a, b in links if a in place and b in place]
    assert len(known) > len(data.pairs)
    linked = {edge for a, b in known for edge in ((a, b), (b, a))}
    for pair, near in zip(data.pairs, data.negatives, strict=True):
        assert near
        assert not any((pair.first, paper) in linked or paper == pair.first for paper in near)
    assert test.queries
    assert {query for query, _ in test.queries} <= {test.corpus.place[id] for id in kept_out}
    assert {right for _, right in test.queries} <= set(test.pool)
    assert len(set(test.pool)) == len(test.pool)


def test_partners_are_partners_of_each_other_in_however_crowded_a_sentence(tmp_path: Path) -> None:
    pairs = [("a", "b", 2), ("a", "c", 40)]
    write_lines(
        tmp_path / COCITED,
        [{"a": a, "b": b, "contexts": [{"text": "as shown", "n": crowd}]} for a, b, crowd in pairs],
    )
    assert dict(read_partners(tmp_path)) == {"a": {"b", "c"}, "b": {"a"}, "c": {"a"}}
    assert [(pair.first, pair.second) for pair in read_few_cocited(tmp_path)] == [("a", "b")]
