"""Training for aspects: the layers that are trained, files, plans, scores, and a tiny run from end to end."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel

from search import torch_model
from search.encoding import Encoded, Encoder
from search.errors import InputError, ModelError
from search.fusion import WORDS as WORDS_OF_SEARCH
from search.tokens import Document
from search.torch_model import TorchModel, load_packer
from tests.random_encoder import RandomEncoder
from tests.tiny_models import WORDS, make_bert, make_mpnet
from training import aspect_loop, states, teacher
from training import aspect_losses as losses
from training.aspect_data import (
    Aligned,
    Corpus,
    Graded,
    Pool,
    Words,
    align,
    ask_more,
    is_held_out,
    make_corpus,
    make_pools,
    mine_neighbours,
    read_graded,
)
from training.aspect_loop import AspectTrainer, Checks, CocitedTest, TrainingSet, train
from training.aspect_model import UpperLayers, interpolated
from training.aspect_plan import AspectRecipe, make_plan
from training.aspects import cited_set, cocited_test, graded_set
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

CPU = torch.device("cpu")
CUT = 1
"""The tiny encoder's layers from this one on are trained."""


def some_text(random: np.random.Generator, words: int) -> str:
    return " ".join(random.choice(WORDS, words))


def some_document(number: int) -> Document:
    random = np.random.default_rng(number)
    sentences = tuple(some_text(random, int(random.integers(3, 9))) for _ in range(random.integers(2, 5)))
    return Document(some_text(random, 3), sentences)


LONG = Document("search", ("method " * 600, "it is new"))
DOCUMENTS = {f"p{number:02}": some_document(number) for number in range(16)} | {"p16": LONG}


def no_progress(done: int, total: int) -> None:
    pass


def say_nothing(line: str) -> None:
    pass


@pytest.fixture(scope="module", autouse=True)
def _one_thread_in_full_precision() -> Iterator[None]:
    """Half precision where a processor has it would hide small mistakes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch_model, "half_precision", lambda device: None)
        for module in (states, aspect_loop):
            patch.setattr(module, "autocast", lambda device: torch.autocast(device.type, enabled=False))
        yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bert(tmp_path_factory.mktemp("bert"), places=512)


def load(folder: Path) -> Any:
    return AutoModel.from_pretrained(folder, local_files_only=True, add_pooling_layer=False)


@pytest.fixture(scope="module")
def lower(bert: Path) -> LowerLayers:
    return LowerLayers.cut(load(bert), bert, CUT)


def random_vectors(documents: Sequence[Document], dimension: int = 24) -> Vectors:
    encoder = RandomEncoder(dimension=dimension)
    encoded = list(encoder.encode(documents))
    ends = np.cumsum([len(one.sentences) for one in encoded])
    parts = (
        np.concatenate([one.sentences for one in encoded]),
        np.stack([one.paper for one in encoded]),
        np.concatenate([one.facets for one in encoded]),
    )
    return Vectors(*(part.astype(np.float16) for part in parts), np.concatenate([[0], ends]))


@pytest.fixture(scope="module")
def corpus(lower: LowerLayers, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    cache = tmp_path_factory.mktemp("states")
    return make_corpus(DOCUMENTS, lower, cache, no_progress, random_vectors)


def upper(bert: Path, dropout: float = 0.0) -> UpperLayers:
    return UpperLayers(load(bert), CUT, dropout)


def moved(model: UpperLayers, by: float = 0.2) -> UpperLayers:
    torch.manual_seed(9)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(by * torch.randn_like(parameter))
    return model


# -- the model


@pytest.mark.parametrize("by", [0.0, 0.2])
def test_upper_layers_over_kept_states_are_the_whole_encoder(bert: Path, corpus: Corpus, by: float) -> None:
    model = moved(upper(bert), by).eval()
    tensors = {name: tensor.numpy() for name, tensor in model.tensors().items()}
    whole = TorchModel(bert, "cpu", first_token=False, trained=tensors if by else None)
    papers = list(range(16))
    found = aspect_loop.encode(model, corpus, papers, CPU)
    expected = Encoder("tiny", load_packer(bert), [whole]).encode(corpus.documents[:16])
    for paper, encoded in zip(papers, expected, strict=True):
        # States are kept in 16 bits.
        np.testing.assert_allclose(found[paper][0], encoded.sentences, atol=5e-3)
        np.testing.assert_allclose(found[paper][1], encoded.paper, atol=5e-3)


@pytest.mark.parametrize("make", [make_bert, make_mpnet])
def test_low_rank_additions_over_kept_states_are_the_whole_encoder(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    folder = make(tmp_path / "model", places=512)
    encoder = load(folder)
    model = UpperLayers(encoder, CUT, rank=2).eval()
    frozen = {name: value.clone() for name, value in model.state_dict().items()}
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    assert {each.shape[0] for each in learning if each.abs().sum() > 0} == {2}
    torch.manual_seed(9)
    with torch.no_grad():
        for parameter in learning:
            parameter.add_(0.2 * torch.randn_like(parameter))
    assert all(name.endswith((".down", ".up")) for name in changed_names(frozen, model.state_dict()))
    corpus = make_corpus(DOCUMENTS, LowerLayers.cut(encoder, folder, CUT), tmp_path / "states", no_progress)
    tensors = {name: tensor.numpy() for name, tensor in model.tensors().items()}
    assert all(name.endswith((".weight.down", ".weight.up")) for name in tensors)
    whole = TorchModel(folder, "cpu", first_token=False, trained=tensors)
    found = aspect_loop.encode(model, corpus, list(range(16)), CPU)
    encoder = Encoder("tiny", load_packer(folder), [whole])
    for paper, encoded in enumerate(encoder.encode(corpus.documents[:16])):
        np.testing.assert_allclose(found[paper][0], encoded.sentences, atol=5e-3)
        np.testing.assert_allclose(found[paper][1], encoded.paper, atol=5e-3)


def changed_names(before: dict[str, torch.Tensor], after: dict[str, torch.Tensor]) -> list[str]:
    return [name for name, value in before.items() if not torch.equal(value, after[name])]


def test_papers_seen_together_are_seen_as_alone(bert: Path, corpus: Corpus) -> None:
    """Batches by length are put back into the order asked for, and their pads are not seen."""
    model, papers = upper(bert).eval(), [5, 0, 11, 3, 9, 7, 1, 15, 2, 14, 13, 4, 8, 12, 6]
    with torch.inference_mode():
        seen = aspect_loop.see(model, corpus, papers, CPU)
        for row, paper in enumerate(papers):
            alone = aspect_loop.see(model, corpus, [paper], CPU)
            count = len(corpus.documents[paper].sentences)
            assert int(seen.present[row].sum()) == count
            torch.testing.assert_close(seen.sentences[row, :count], alone.sentences[0], atol=1e-5, rtol=0)
            torch.testing.assert_close(seen.wholes[row], alone.wholes[0], atol=1e-5, rtol=0)


def test_tensors_carry_berts_names(bert: Path) -> None:
    model, there = upper(bert), load(bert).state_dict()
    tensors = model.tensors()
    assert set(tensors) == {
        name for name in there if name.startswith("encoder.layer.") and int(name.split(".")[2]) >= CUT
    }
    for name, tensor in tensors.items():
        torch.testing.assert_close(tensor, there[name])


@pytest.mark.parametrize("rank", [0, 2])
def test_training_goes_on_from_what_was_trained_before(bert: Path, rank: int) -> None:
    before = moved(UpperLayers(load(bert), CUT, rank=rank))
    trained = {name: tensor.numpy() for name, tensor in before.tensors().items()}
    trainer = AspectTrainer(
        AspectRecipe(rank=rank, share=1.0), UpperLayers(load(bert), CUT, rank=rank), torch.zeros(1, 1), CPU
    )
    untrained = {name: tensor.clone() for name, tensor in trainer.averaged().tensors().items()}
    trainer.begin_with(trained)
    for made in (trainer.model, trainer.averaged()):
        for name, tensor in made.tensors().items():
            torch.testing.assert_close(tensor, torch.from_numpy(trained[name]))
    trainer.recipe = replace(trainer.recipe, share=0.0)
    back = trainer.averaged().tensors()
    for name, tensor in untrained.items():
        if not name.endswith(".down"):
            torch.testing.assert_close(back[name], tensor)


def test_weights_of_another_shape_are_refused(bert: Path) -> None:
    with pytest.raises(ModelError, match="another rank"):
        UpperLayers(load(bert), CUT, rank=3).take(
            {name: tensor.numpy() for name, tensor in UpperLayers(load(bert), CUT, rank=2).tensors().items()}
        )


def test_interpolated_weights_lie_between() -> None:
    start, end = {"w": torch.zeros(2)}, {"w": torch.tensor([1.0, 2.0])}
    assert interpolated(start, end, 0.25)["w"].tolist() == [0.25, 0.5]


def test_of_an_addition_a_part_remains(bert: Path) -> None:
    """A quarter of the way is a quarter of what is added, not a sixteenth."""
    start = {"q.down": torch.ones(1, 2), "q.up": torch.zeros(2, 1)}
    end = {"q.down": torch.tensor([[2.0, 4.0]]), "q.up": torch.tensor([[4.0], [8.0]])}
    made = interpolated(start, end, 0.25)
    torch.testing.assert_close(made["q.up"] @ made["q.down"], 0.25 * (end["q.up"] @ end["q.down"]))


# -- plan


def test_a_plan_is_fixed_by_seed_and_sizes_and_takes_every_pool_once_an_epoch() -> None:
    recipe = AspectRecipe(epochs=3, pairs=4, single=1.0)
    plan = make_plan(recipe, pools=5, pairs=9)
    assert plan == make_plan(recipe, 5, 9)
    assert plan != make_plan(replace(recipe, seed=8), 5, 9)
    orders = [[step.pool for step in plan if step.epoch == epoch] for epoch in range(3)]
    assert all(sorted(order) == list(range(5)) for order in orders)
    assert len(set(map(tuple, orders))) > 1
    assert all(len(set(step.pairs)) == 4 and set(step.pairs) <= set(range(9)) for step in plan)
    assert [step.number for step in plan] == list(range(15))
    assert [step.progress for step in plan] == pytest.approx(np.arange(15) / 15)


@pytest.mark.parametrize(
    ("recipe", "pairs", "count"),
    [
        (AspectRecipe(pairs=4, single=1.0), 2, 2),
        (AspectRecipe(pairs=4, single=1.0), 0, 0),
        (AspectRecipe(single=0, multi=0, whole=0), 9, 0),
    ],
)
def test_a_step_takes_the_pairs_there_are_and_none_where_no_loss_needs_them(
    recipe: AspectRecipe, pairs: int, count: int
) -> None:
    assert {len(step.pairs) for step in make_plan(recipe, 3, pairs)} == {count}


# -- the teacher's vectors


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


def write_lines(file: Path, records: Sequence[dict[str, Any]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(map(json.dumps, records)) + "\n"
    file.write_bytes(gzip.compress(text.encode()) if file.suffix == ".gz" else text.encode())
    return file


def record(id: str, document: Document, title: str | None = None) -> dict[str, Any]:
    abstract = " ".join(f"{sentence.capitalize()}." for sentence in document.sentences)
    return {"id": id, "title": document.title if title is None else title, "abstract": abstract}


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


@pytest.fixture(scope="module")
def words() -> Words:
    return Words(DOCUMENTS)


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


# -- scores


def some_pools(corpus: Corpus, words: Words) -> list[Pool]:
    random = np.random.default_rng(6)
    graded = []
    for query, facet in (("p00", "background"), ("p05", "method"), ("p09", "result")):
        chosen = random.choice([id for id in list(DOCUMENTS)[:16] if id != query], 7, replace=False)
        grades = dict(zip(map(str, chosen), (3, 2, 2, 1, 0, 0, 0), strict=True))
        graded.append(Graded(query, facet, (0, 1), grades))
    return make_pools(graded, corpus, words, random_vectors(corpus.documents))


def test_pools_are_scored_by_match_whole_and_words(bert: Path, corpus: Corpus, words: Words) -> None:
    model = upper(bert).eval()
    pool = some_pools(corpus, words)[0]
    vectors = aspect_loop.encode(model, corpus, [pool.query, *pool.candidates], CPU)
    asked, whole = vectors[pool.query][0][:2], vectors[pool.query][1]
    candidates = zip(pool.candidates, pool.roles, strict=True)
    match = np.array(
        [(asked @ vectors[paper][0].T + 0.05 * role).max(axis=1).mean() for paper, role in candidates]
    )
    assert any(role.any() for role in pool.roles)
    wholes = np.array([whole @ vectors[paper][1] for paper in pool.candidates])
    expected = match + aspect_loop.WHOLE * wholes + aspect_loop.WORDS_LEARNED * pool.words
    with torch.inference_mode():
        seen = aspect_loop.see(model, corpus, [pool.query, *pool.candidates], CPU)
    found = aspect_loop.pool_scores(seen, pool).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert pool.words.max() > 0
    # Graded in the very order of what search would give, a pool is ranked without a mistake.
    found = match + WORDS_OF_SEARCH * pool.words
    best = replace(pool, grades=tuple((found.argsort().argsort() // 2).tolist()))
    assert aspect_loop.score_pools(model, corpus, [best], CPU)["all"] == [100, 100]
    worst = replace(pool, grades=tuple(((-found).argsort().argsort() // 2).tolist()))
    assert max(aspect_loop.score_pools(model, corpus, [worst], CPU)["background"]) < 90


def test_pools_nobody_graded_ask_for_another_facet_and_hold_the_teachers_nearest(
    corpus: Corpus, words: Words
) -> None:
    labelled, teacher = random_vectors(corpus.documents), corpus.teacher
    assert teacher is not None
    pools = some_pools(corpus, words)
    made = ask_more(pools, corpus, words, labelled, 3)
    assert made
    assert [pool.id for pool in made] == [pool.id for pool in ask_more(pools, corpus, words, labelled, 3)]
    facets = {pool.query: pool.facet for pool in pools}
    for pool in made:
        assert pool.grades == ()
        assert pool.facet != facets[pool.query]
        assert all(labelled.roles(pool.query, pool.facet)[list(pool.sentences)] == 1)
        assert pool.query not in pool.candidates
        assert len(set(pool.candidates)) == len(pool.candidates)
        assert all(corpus.window[paper] >= 0 for paper in pool.candidates)
        asked = teacher.of(pool.query)[list(pool.sentences)]
        found = words.likeness(corpus.documents[pool.query], pool.sentences, list(corpus.place))
        total = [(asked @ teacher.of(paper).T).max(1).mean() + found[paper] for paper in range(16)]
        total[pool.query] = -1
        assert set(np.argsort(total)[-5:]) <= set(pool.candidates)
        assert len(pool.candidates) == len(pool.words) == len(pool.roles)
        np.testing.assert_allclose(pool.words, found[list(pool.candidates)])


def test_a_teacher_ranks_pools_nobody_graded(
    bert: Path, corpus: Corpus, words: Words, tmp_path: Path
) -> None:
    pools = ask_more(some_pools(corpus, words), corpus, words, random_vectors(corpus.documents), 3)
    trainer = fresh(bert, AspectRecipe(epochs=10, rate=3e-3, ranked=1.0, dropout=0.0))
    train(trainer, TrainingSet([(corpus, pool) for pool in pools]), Checks({}, None), tmp_path, say_nothing)
    lost = [entry["losses"] for entry in trainer.history[1:]]
    assert set(lost[0]) == {"ranked"}
    assert lost[-1]["ranked"] < 0.9 * lost[0]["ranked"]


def test_cocited_papers_are_ranked_among_those_that_are_not(bert: Path, corpus: Corpus) -> None:
    """Neither the query itself nor another paper it is co-cited with is a mistake before the right one."""
    model, pool = upper(bert).eval(), [3, 0, 8, 5, 2, 11]
    queries = [(0, 8), (5, 3), (7, 11)]
    vectors = aspect_loop.encode(model, corpus, range(16), CPU)
    orders = {}
    for query, _ in queries:
        total = {
            paper: (vectors[query][0] @ vectors[paper][0].T).max(axis=1).mean()
            + aspect_loop.WHOLE * (vectors[query][1] @ vectors[paper][1])
            for paper in pool
            if paper != query
        }
        orders[query] = sorted(total, key=lambda paper: -total[paper])
    alone = {query: {right} for query, right in queries}
    before = {query: {right, *orders[query][: orders[query].index(right)]} for query, right in queries}
    assert before != alone
    for partners in (alone, before):
        ranks = [
            [paper for paper in orders[query] if paper == right or paper not in partners[query]].index(right)
            + 1
            for query, right in queries
        ]
        expected = 100 * np.mean(1 / np.array(ranks))
        known = {query: frozenset(some) for query, some in partners.items()}
        found = aspect_loop.score_cocited(model, CocitedTest(corpus, queries, pool, known), CPU)
        assert found == pytest.approx(expected, abs=0.006)
        assert (found == 100) == (partners is before)


# -- from end to end


RECIPE = AspectRecipe(
    epochs=3,
    rate=3e-3,
    average=0.5,
    pairs=3,
    ranked=1.0,
    relations=1.0,
    directions=1.0,
    single=0.5,
    multi=0.5,
    whole=0.25,
    share=1.0,
)
"""Every loss, and all the way."""


@pytest.fixture(scope="module")
def everything(corpus: Corpus, words: Words) -> tuple[TrainingSet, Checks]:
    """Pools of a corpus with a teacher and co-cited pairs: every loss takes part."""
    pools = some_pools(corpus, words)
    pairs = [Aligned(1, 4, 0, 1), Aligned(2, 6, 1, 0), Aligned(12, 13, 0, 0), Aligned(10, 1, 1, 1)]
    negatives = [[3, 7], [8], [], [14, 15]]
    data = TrainingSet([(corpus, pool) for pool in pools], corpus, pairs, negatives)
    test = CocitedTest(corpus, [(1, 4), (2, 6)], [4, 6, 8, 9], {1: frozenset({4}), 2: frozenset({6})})
    return data, Checks({"dev": (corpus, pools)}, test)


def fresh(bert: Path, recipe: AspectRecipe = RECIPE) -> AspectTrainer:
    mapping = torch.randn(32, 24, generator=torch.Generator().manual_seed(5))
    return AspectTrainer(recipe, upper(bert, recipe.dropout), mapping, CPU)


def folder_in(path: Path, name: str) -> Path:
    (path / name).mkdir()
    return path / name


def assert_same_weights(one: UpperLayers, other: UpperLayers) -> None:
    for name, value in one.state_dict().items():
        torch.testing.assert_close(value, other.state_dict()[name])


def differ(one: UpperLayers, other: UpperLayers) -> bool:
    theirs = other.state_dict()
    return any(not torch.allclose(value, theirs[name]) for name, value in one.state_dict().items())


def stop_at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that ends before this step, with a checkpoint after every one before it."""
    advance = AspectTrainer.advance

    def one_less(trainer: AspectTrainer, *given: Any) -> dict[str, float]:
        if trainer.step == number:
            raise KeyboardInterrupt
        return advance(trainer, *given)

    monkeypatch.setattr(aspect_loop, "SECONDS_BETWEEN_CHECKPOINTS", -1.0)
    monkeypatch.setattr(AspectTrainer, "advance", one_less)


@pytest.mark.parametrize("number", [4, 6])  # within an epoch, and where one begins
def test_a_stopped_run_ends_like_one_that_was_not(
    bert: Path,
    everything: tuple[TrainingSet, Checks],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    whole = fresh(bert)
    ended = train(whole, *everything, folder_in(tmp_path, "whole"), say_nothing)
    stopped = folder_in(tmp_path, "stopped")
    with monkeypatch.context() as patch:
        stop_at(number, patch)
        with pytest.raises(KeyboardInterrupt):
            train(fresh(bert), *everything, stopped, say_nothing)
    said: list[str] = []
    resumed = fresh(bert)
    assert_same_weights(train(resumed, *everything, stopped, said.append), ended)
    assert_same_weights(resumed.model, whole.model)
    torch.testing.assert_close(resumed.mapping, whole.mapping)
    assert said[0] == f"going on at step {number} of 9"
    assert [entry["scores"] for entry in resumed.history] == [entry["scores"] for entry in whole.history]
    assert differ(ended, upper(bert))


def test_a_run_writes_down_what_it_did(
    bert: Path, everything: tuple[TrainingSet, Checks], tmp_path: Path
) -> None:
    trainer = fresh(bert)
    train(trainer, *everything, tmp_path, say_nothing)
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["recipe"]["rate"] == RECIPE.rate
    assert [entry["step"] for entry in run["history"]] == [0, 3, 6, 9]
    expected = {"graded", "ranked", "relations", "directions", "single", "multi", "whole"}
    assert all(set(entry["losses"]) == expected for entry in run["history"][1:])
    assert set(run["history"][0]["scores"]["dev"]) >= {"all", "background", "method", "result"}
    assert 0 < run["history"][-1]["scores"]["cocited_mrr"] <= 100
    train(fresh(bert), *everything, folder_in(tmp_path, "later"), say_nothing, score_first=False)
    later = json.loads((tmp_path / "later" / "run.json").read_text())
    assert [entry["epoch"] for entry in later["history"]] == [1, 2, 3]


def test_it_learns_to_rank_the_pools(
    bert: Path, everything: tuple[TrainingSet, Checks], tmp_path: Path
) -> None:
    data, checks = everything
    untaught = TrainingSet([(replace(corpus, teacher=None), pool) for corpus, pool in data.pools])
    recipe = replace(RECIPE, epochs=8, dropout=0.0, single=0, multi=0, whole=0)
    trainer = fresh(bert, recipe)
    train(trainer, untaught, checks, tmp_path, say_nothing)
    lost = [entry["losses"]["graded"] for entry in trainer.history[1:]]
    assert lost[-1] < lost[0] / 2
    first, last = (trainer.history[place]["scores"]["dev"]["all"] for place in (0, -1))
    assert last[0] > first[0]


def test_pools_with_and_without_a_teacher_train_together(
    bert: Path, everything: tuple[TrainingSet, Checks], tmp_path: Path
) -> None:
    """A loss that only some steps have is the mean over those."""
    (corpus, pool), *others = everything[0].pools
    bare = [(replace(one, teacher=None), other) for one, other in others]
    trainer = fresh(bert, replace(RECIPE, epochs=1, rate=0.0, dropout=0.0))
    train(trainer, TrainingSet([(corpus, pool), *bare]), Checks({}, None), tmp_path, say_nothing)
    alone = fresh(bert, replace(RECIPE, epochs=1, rate=0.0, dropout=0.0))
    train(alone, TrainingSet([(corpus, pool)]), Checks({}, None), folder_in(tmp_path, "alone"), say_nothing)
    mixed, single = (one.history[-1]["losses"] for one in (trainer, alone))
    assert mixed["relations"] == pytest.approx(single["relations"], abs=1e-3)
    assert mixed["graded"] != pytest.approx(single["graded"], abs=1e-3)


@pytest.mark.parametrize("name", ["ranked", "relations", "directions", "single", "multi", "whole"])
def test_each_loss_falls_when_it_is_learned_alone(
    bert: Path, everything: tuple[TrainingSet, Checks], tmp_path: Path, name: str
) -> None:
    data, _ = everything
    names = ("graded", "ranked", "relations", "directions", "single", "multi", "whole")
    others = dict.fromkeys(names, 0.0)
    recipe = replace(RECIPE, epochs=10, dropout=0.0, pairs=4, **(others | {name: 1.0}))
    trainer = fresh(bert, recipe)
    train(trainer, data, Checks({}, None), tmp_path, say_nothing)
    lost = [entry["losses"][name] for entry in trainer.history[1:]]
    assert lost[-1] < 0.9 * lost[0]


def test_a_pair_of_citing_and_cited_carries_no_single_match(
    bert: Path, everything: tuple[TrainingSet, Checks], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, _ = everything
    bare = [Aligned(one.first, one.second) for one in data.pairs]
    rows: list[int] = []
    contrast = losses.contrast

    def counting(scores: torch.Tensor, *given: Any) -> torch.Tensor:
        rows.append(len(scores))
        return contrast(scores, *given)

    monkeypatch.setattr(losses, "contrast", counting)
    recipe = replace(RECIPE, epochs=1, stop=1, pairs=4)
    for pairs, learned, counted in (
        ([*data.pairs[:3], bare[3]], {"single", "multi", "whole"}, [3, 4, 4]),
        (bare, {"multi", "whole"}, [4, 4]),
    ):
        rows.clear()
        trainer = fresh(bert, recipe)
        out = folder_in(tmp_path, str(len(learned)))
        train(trainer, replace(data, pairs=pairs), Checks({}, None), out, say_nothing, score_first=False)
        assert learned == {"single", "multi", "whole"} & set(trainer.history[-1]["losses"])
        assert rows == counted


def test_the_share_says_how_far_the_result_moves(
    bert: Path, everything: tuple[TrainingSet, Checks], tmp_path: Path
) -> None:
    made = {}
    for share in (0.0, 0.5, 1.0):
        trainer = fresh(bert, replace(RECIPE, epochs=1, share=share))
        made[share] = train(trainer, *everything, folder_in(tmp_path, str(share)), say_nothing)
    assert_same_weights(made[0.0], upper(bert))
    start, half, end = (made[share].tensors() for share in made)
    for name, tensor in interpolated(start, end, 0.5).items():
        torch.testing.assert_close(half[name], tensor)
    assert differ(made[1.0], made[0.0])


def test_a_run_can_be_broken_off_at_a_step(
    bert: Path, everything: tuple[TrainingSet, Checks], tmp_path: Path
) -> None:
    trainer = fresh(bert, replace(RECIPE, stop=4))
    train(trainer, *everything, tmp_path, say_nothing, score_first=False)
    assert trainer.step == 4
    assert [entry["step"] for entry in trainer.history] == [3, 4]


def test_the_average_of_all_steps_at_first(bert: Path, everything: tuple[TrainingSet, Checks]) -> None:
    """Until the average is as long as the recipe says, start and steps count alike."""
    data, _ = everything
    trainer = fresh(bert, replace(RECIPE, average=0.99))
    seen = [{name: value.clone() for name, value in trainer.model.state_dict().items()}]
    for step in make_plan(trainer.recipe, len(data.pools), len(data.pairs))[:4]:
        trainer.advance(step, data)
        seen.append({name: value.clone() for name, value in trainer.model.state_dict().items()})
    for name, value in trainer.averaged().state_dict().items():
        torch.testing.assert_close(value, torch.stack([one[name] for one in seen]).mean(0))


# -- what may not be trained on


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
