"""Training the facet labeller, end to end on abstracts made here and a tiny random encoder."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import AutoModel, BertConfig, BertModel

from search.facets import FacetLabeller, Shape, load_labeller, nearness, save_labeller
from search.types import FACETS, Facet
from tests.tiny_models import make_mpnet
from training import facets
from training.__main__ import main
from training.examples import Example, read_csabstruct, read_medline, targets
from training.facets import fit_shape, new_labeller, prepare
from training.loop import Trainer, loss_of, slope, train
from training.plan import RECIPES, Recipe, Stage, make_plan, variant
from training.states import Batch, LowerLayers, States, by_length

CPU = torch.device("cpu")
ROOT = Path(__file__).resolve().parent.parent
Prepared = tuple[dict[str, list[States]], dict[str, States]]
THINGS = ("looms", "kilns", "sails", "bells", "locks", "boats", "ovens", "harps")
DEEDS = ("measure", "model", "repair", "compare", "draw", "weigh")


def abstract(thing: str, deed: str) -> dict[str, list[str]]:
    return {
        "sentences": [
            f"{thing} are old and little is known",
            f"this study aims to {deed} {thing}",
            f"we {deed} {thing} with a ruler",
            f"results show that {thing} improve",
        ],
        "labels": ["background", "objective", "method", "result"],
    }


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in the layout of the public files."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "csabstruct").mkdir()
    abstracts = [abstract(thing, deed) for thing, deed in product(THINGS, DEEDS)]
    for name, part in (("train", abstracts[:40]), ("dev", abstracts[40:])):
        lines = [json.dumps(record | {"confs": [0.8] * 4}) for record in part]
        (folder / "csabstruct" / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    with gzip.open(folder / "roles_medline_structured.jsonl.gz", "wt") as file:
        for number, record in enumerate(abstracts):
            sentences = [f"{sentence} in mice" for sentence in record["sentences"]]
            labels = ["BACKGROUND", None, "METHOD", "CONCLUSION"]
            file.write(
                json.dumps({"title": f"mice {number}", "sentences": sentences, "labels": labels}) + "\n"
            )
    return folder


@pytest.fixture(scope="module")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoder")
    text = [w for t, d in product(THINGS, DEEDS) for s in abstract(t, d)["sentences"] for w in s.split()]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "in", "mice", *dict.fromkeys(text)]
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=32,
        initializer_range=0.3,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def recipe() -> Recipe:
    stages = (
        Stage("medline", 1, 3e-3, 1e-2, {"medline": 1.0}),
        Stage("csabstruct", 3, 3e-3, 1e-2, {"csabstruct": 1.0, "medline": 0.2}),
    )
    return Recipe(stages=stages, tokens=256, average=0.8)


def load(folder: Path) -> torch.nn.Module:
    return AutoModel.from_pretrained(folder, local_files_only=True, add_pooling_layer=False)


def fresh(recipe: Recipe, folder: Path) -> Trainer:
    encoder = load(folder)
    fitted = replace(recipe, shape=fit_shape(encoder.config, recipe))
    return Trainer(fitted, new_labeller(fitted, encoder), CPU)


@pytest.fixture(scope="module")
def prepared(
    data: Path, encoder_folder: Path, recipe: Recipe, tmp_path_factory: pytest.TempPathFactory
) -> Prepared:
    lower = LowerLayers.cut(load(encoder_folder), encoder_folder, 1)
    return prepare(data, lower, recipe, tmp_path_factory.mktemp("states"), lambda line: None)


def test_it_learns(prepared: Prepared, recipe: Recipe, encoder_folder: Path, tmp_path: Path) -> None:
    trainer = fresh(recipe, encoder_folder)
    train(trainer, *prepared, tmp_path, lambda line: None)
    run = json.loads((tmp_path / "run.json").read_text())
    losses = [entry["loss"] for entry in run["history"]]
    assert losses[-1] < losses[0]
    last = run["history"][-1]
    assert last["dev"]["micro_f1"] > 90
    assert set(last) >= {"held_out", "held_out_titled", "medline_held_out"}
    assert run["recipe"]["seed"] == recipe.seed
    assert load_labeller(tmp_path).layer == 1


def test_a_stopped_run_ends_like_one_that_was_not(
    prepared: Prepared, recipe: Recipe, encoder_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "whole").mkdir()
    (tmp_path / "stopped").mkdir()
    whole = train(fresh(recipe, encoder_folder), *prepared, tmp_path / "whole", lambda line: None)

    def stop(line: str) -> None:
        if line.startswith("csabstruct epoch 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(fresh(recipe, encoder_folder), *prepared, tmp_path / "stopped", stop)
    said: list[str] = []
    resumed = train(fresh(recipe, encoder_folder), *prepared, tmp_path / "stopped", said.append)
    assert said[0].startswith("going on at step")
    for ours, theirs in zip(whole.parameters(), resumed.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_the_average_of_a_stage_begins_with_it(
    prepared: Prepared, recipe: Recipe, encoder_folder: Path, tmp_path: Path
) -> None:
    """At first the kept weights are the mean of all steps of the stage, none of those before."""
    trainer = fresh(recipe, encoder_folder)
    plan = make_plan(recipe, prepared[0])
    first = next(number for number, step in enumerate(plan) if step.stage == 1)
    seen = []
    for step in plan[: first + 3]:
        states = variant(prepared[0][step.corpus], step.stage + step.epoch)
        trainer.advance(step, states.batch(list(step.numbers), CPU))
        seen.append({name: value.clone() for name, value in trainer.labeller.state_dict().items()})
    for name, value in trainer.averaged().state_dict().items():
        torch.testing.assert_close(value, torch.stack([one[name] for one in seen[first:]]).mean(0))


def test_the_same_seed_gives_the_same_plan(prepared: Prepared, recipe: Recipe) -> None:
    first, second = make_plan(recipe, prepared[0]), make_plan(recipe, prepared[0])
    other = make_plan(replace(recipe, seed=8), prepared[0])
    assert [list(step.numbers) for step in first] == [list(step.numbers) for step in second]
    assert [list(step.numbers) for step in first] != [list(step.numbers) for step in other]
    assert next(step.progress for step in first if step.stage == 1) == 0


def test_an_epoch_sees_every_abstract_once(prepared: Prepared, recipe: Recipe) -> None:
    plan = make_plan(recipe, prepared[0])
    seen = [
        n
        for step in plan
        if (step.stage, step.epoch, step.corpus) == (1, 0, "csabstruct")
        for n in step.numbers
    ]
    assert sorted(seen) == list(range(len(prepared[0]["csabstruct"][0])))


def test_copied_layers_compute_what_the_encoder_computes(encoder_folder: Path, recipe: Recipe) -> None:
    encoder = load(encoder_folder).eval()
    labeller = fresh(recipe, encoder_folder).labeller.eval()
    output = encoder(torch.tensor([[2, 5, 6, 7, 8, 3]]), output_hidden_states=True)
    layer = labeller.words[0](output.hidden_states[1], torch.zeros(1, 1, 1, 6))
    torch.testing.assert_close(layer, output.last_hidden_state, rtol=1e-4, atol=1e-5)


@pytest.fixture(scope="module")
def mpnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_mpnet(tmp_path_factory.mktemp("mpnet"), places=512)


LARGER = Recipe(stages=(Stage("all", 4, 1e-2, 1e-2, {"csabstruct": 1.0}),), tokens=256, branch=1, rank=3)


def larger(folder: Path) -> Trainer:
    encoder = load(folder)
    recipe = replace(LARGER, shape=fit_shape(encoder.config, LARGER))
    return Trainer(recipe, new_labeller(recipe, encoder), CPU)


def test_layers_copied_from_mpnet_compute_what_it_computes(mpnet: Path) -> None:
    """Its attention has a bias by distance; the additions change nothing as long as they are zero."""
    ids = torch.tensor([[0, 5, 6, 7, 8, 9, 10, 2]])
    output = load(mpnet).eval()(ids, output_hidden_states=True)
    labeller = larger(mpnet).labeller.eval()
    x, bias = output.hidden_states[1], nearness(labeller.near, ids.shape[1])
    assert bias.abs().max() > 0.1
    for layer in labeller.words:
        x = layer(x, bias)
    torch.testing.assert_close(x, output.last_hidden_state, rtol=1e-4, atol=1e-4)


def test_a_larger_labeller_learns_by_low_rank_additions(mpnet: Path, data: Path, tmp_path: Path) -> None:
    trainer = larger(mpnet)
    before = {name: value.clone() for name, value in trainer.labeller.state_dict().items()}
    lower = LowerLayers.cut(load(mpnet), mpnet, trainer.recipe.shape.layer)
    corpora, checks = prepare(data, lower, trainer.recipe, tmp_path / "states", lambda line: None)
    made = train(trainer, corpora, checks, tmp_path, lambda line: None)
    history = json.loads((tmp_path / "run.json").read_text())["history"]
    assert history[-1]["loss"] < history[0]["loss"]
    after = trainer.labeller.state_dict()
    moved = {name for name, value in before.items() if not torch.equal(value, after[name])}
    assert all(name.endswith((".down", ".up")) for name in moved if name.startswith("words."))
    assert any(name.endswith(".up") for name in moved)
    # What is kept has no additions any more, and says the same.
    batch = checks["dev"].batch([0, 1], CPU)
    loaded = load_labeller(tmp_path)
    parts = batch.hidden, batch.mask, batch.assignment
    torch.testing.assert_close(loaded(*parts), made(*parts), rtol=0, atol=0.02)
    trainer.labeller.load_state_dict(trainer.kept)
    torch.testing.assert_close(made(*parts), trainer.labeller.eval()(*parts), rtol=1e-3, atol=1e-4)


@pytest.fixture
def asked(
    mpnet: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[FacetLabeller, facets.Taught]:
    """A teacher that stands over the tiny encoder, asked about the papers of a file of judgements."""
    monkeypatch.setattr(facets, "_load", lambda preset: (mpnet, load(mpnet)))
    (tmp_path / "judgements.jsonl").write_text(
        json.dumps({"query": "a1", "facet": "method", "sentences": [0], "grades": {"a2": 1, "a3": 0}}) + "\n"
    )
    monkeypatch.setattr(facets, "JUDGEMENTS", [tmp_path / "judgements.jsonl"])
    texts = ["We study a new method. It is fast on large data.", "We show results.", "A graph. The data."]
    with gzip.open(tmp_path / "acl_anthology.jsonl.gz", "wt") as file:
        for number, text in enumerate([*texts, "Not asked for."], start=1):
            record = {"id": f"a{number}", "title": f"Paper {number}", "abstract": text}
            file.write(json.dumps(record) + "\n")
    (tmp_path / "csfcube").mkdir()
    (tmp_path / "csfcube" / "abstracts-csfcube-preds.jsonl").write_text('{"title": "PAPER: 3"}\n')
    teacher = larger(mpnet).averaged()
    torch.nn.init.normal_(teacher.head.weight)
    save_labeller(teacher, tmp_path / "teacher")
    return teacher, facets.ask_teacher(tmp_path / "teacher", tmp_path, tmp_path / "states", CPU)


def test_a_teacher_labels_papers_nobody_labelled(
    asked: tuple[FacetLabeller, facets.Taught], mpnet: Path, tmp_path: Path
) -> None:
    teacher, taught = asked
    assert [document.title for document in taught.documents] == ["Paper 1", "Paper 2"]
    assert [len(each) for each in taught.facets] == [2, 1]
    lower = LowerLayers.cut(load(mpnet), mpnet, teacher.layer)
    batch = lower.states(taught.documents, tmp_path / "again", lambda done, total: None).batch([0, 1], CPU)
    found = teacher(batch.hidden, batch.mask, batch.assignment).detach().numpy()
    np.testing.assert_allclose(taught.facets[0], found[0], atol=0.02)
    np.testing.assert_allclose(taught.facets[1], found[1, :1], atol=0.02)


def test_a_teacher_is_asked_once(
    asked: tuple[FacetLabeller, facets.Taught], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that goes on reads what it said; another teacher is asked itself."""
    monkeypatch.setattr(facets, "predict", None)
    again = facets.ask_teacher(tmp_path / "teacher", tmp_path, tmp_path / "states", CPU)
    for before, after in zip(asked[1].facets, again.facets, strict=True):
        np.testing.assert_array_equal(before, after)
    other = asked[0]
    torch.nn.init.normal_(other.head.weight)
    save_labeller(other, tmp_path / "teacher")
    with pytest.raises(TypeError, match="not callable"):
        facets.ask_teacher(tmp_path / "teacher", tmp_path, tmp_path / "states", CPU)


def test_a_teacher_reads_the_encoder_it_was_made_on(
    asked: tuple[FacetLabeller, facets.Taught],
    encoder_folder: Path,
    recipe: Recipe,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One without a bias by distance stands on the default encoder."""
    presets = []
    monkeypatch.setattr(
        facets, "_load", lambda preset: presets.append(preset) or (encoder_folder, load(encoder_folder))
    )
    save_labeller(fresh(recipe, encoder_folder).labeller, tmp_path / "thorough")
    taught = facets.ask_teacher(tmp_path / "thorough", tmp_path, tmp_path / "states", CPU)
    assert presets == ["default"]
    assert [len(each) for each in taught.facets] == [2, 1]


def test_what_a_teacher_says_is_learned(
    asked: tuple[FacetLabeller, facets.Taught],
    data: Path,
    encoder_folder: Path,
    recipe: Recipe,
    tmp_path: Path,
) -> None:
    lower = LowerLayers.cut(load(encoder_folder), encoder_folder, 1)
    corpora, checks = prepare(data, lower, recipe, tmp_path / "s", lambda line: None, asked[1])
    np.testing.assert_array_equal(corpora["taught"][0].targets[0], asked[1].facets[0])
    stage = Stage("taught", 30, 3e-3, 1e-2, {"taught": 1.0})
    trainer = fresh(replace(recipe, stages=(stage,)), encoder_folder)
    train(trainer, corpora, checks, tmp_path, lambda line: None)
    assert trainer.history[-1]["loss"] < 0.9 * trainer.history[0]["loss"]


def test_a_corpus_that_is_not_there_is_left_out(prepared: Prepared, recipe: Recipe) -> None:
    stage = Stage("both", 1, 1e-3, 1e-3, {"csabstruct": 1.0, "taught": 1.0})
    plan = make_plan(replace(recipe, stages=(stage,)), prepared[0])
    assert {step.corpus for step in plan} == {"csabstruct"}


def test_kept_states_are_those_of_the_whole_encoder(
    prepared: Prepared, encoder_folder: Path, data: Path
) -> None:
    states = prepared[1]["dev"]
    window = states.windows[0]
    with torch.inference_mode():
        hidden = (
            load(encoder_folder)
            .eval()(torch.from_numpy(window.ids.astype(np.int64))[None], output_hidden_states=True)
            .hidden_states[1][0]
        )
    kept = torch.from_numpy(np.array(states.hidden[: len(window.ids)])).float()
    torch.testing.assert_close(kept, hidden, rtol=0.05, atol=0.05)  # bfloat16 where the machine has it


def test_the_held_out_tenth_is_not_trained_on(prepared: Prepared, data: Path) -> None:
    everything = read_csabstruct(data / "csabstruct/train.jsonl")
    held_out = [example for example in everything if example.held_out]
    assert 0 < len(held_out) < len(everything) / 2
    assert len(prepared[0]["csabstruct"][0]) == len(everything) - len(held_out)
    assert len(prepared[1]["held_out"]) == len(held_out)


def test_targets_by_hand() -> None:
    example = Example("", ("a", "b", "c"), (Facet.METHOD, None, Facet.RESULT), (0.6, 0.9, 1.0))
    plain = [[0.05, 0.05, 0.8, 0.05, 0.05], [0] * 5, [0, 0, 0, 1, 0]]
    np.testing.assert_allclose(targets(example, doubt=0.5, weigh=False), plain, rtol=1e-6)
    weighed = [[0.06, 0.06, 0.36, 0.06, 0.06], [0] * 5, [0, 0, 0, 1, 0]]
    np.testing.assert_allclose(targets(example, doubt=1.0), weighed, rtol=1e-6)
    assert targets(example, doubt=0.0, least=0.7).sum(axis=1).tolist() == [0, 0, 1]


def test_loss_by_hand() -> None:
    """An even guess costs log 5 whatever the weights, and a sentence without a target costs nothing."""
    labeller = FacetLabeller(Shape(layer=1, layers=1, hidden=16, heads=4, inner=32))
    torch.nn.init.zeros_(labeller.head.weight)
    torch.nn.init.zeros_(labeller.head.bias)
    wanted = torch.zeros(1, 2, 5)
    wanted[0, 0, 2] = 0.3
    owners = torch.tensor([[[0, 1, 0, 0.0], [0, 0, 1, 0]]])
    batch = Batch(torch.randn(1, 4, 16), torch.ones(1, 4), owners, wanted)
    assert float(loss_of(labeller, batch).detach()) == pytest.approx(np.log(5))


def test_medline_headings_become_facets(data: Path) -> None:
    first = read_medline(data / "roles_medline_structured.jsonl.gz")[0]
    assert first.facets == (Facet.BACKGROUND, None, Facet.METHOD, Facet.RESULT)
    assert first.title == "mice 0"


def test_batches_keep_to_their_size() -> None:
    lengths = np.array([5, 1, 9, 3, 4, 20])
    batches = by_length(lengths, np.arange(6), tokens=12)
    assert sorted(number for batch in batches for number in batch) == list(range(6))
    assert all(lengths[batch].max() * len(batch) <= 12 or len(batch) == 1 for batch in batches)
    assert len(batches) < 6


def test_learning_rate_rises_and_falls() -> None:
    assert [slope(at, 0.1) for at in (0.0, 0.05, 0.1, 0.55, 1.0)] == pytest.approx([0, 0.5, 1, 0.5, 0])


@pytest.mark.parametrize(("option", "layers", "parts"), [((), 0, 4), (("--thorough",), 1, 0)])
def test_command_line(
    option: tuple[str, ...],
    layers: int,
    parts: int,
    data: Path,
    encoder_folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture,
) -> None:
    """What ships weighs words and has no layers of its own; its teacher has those above the branch."""
    arguments = ["facets", "--data", str(data), "--out", str(tmp_path), "--encoder", str(encoder_folder)]
    assert main([*arguments, "--device", "cpu", *option]) == 0
    assert "min left" in capsys.readouterr().out
    made = load_labeller(tmp_path)
    assert len(FACETS) == made.head.out_features
    assert (made.shape.layers, made.shape.pooling) == (layers, parts)


def test_words_are_weighed_after_training(prepared: Prepared, encoder_folder: Path, tmp_path: Path) -> None:
    stage = Stage("all", 2, 1e-2, 1e-2, {"csabstruct": 1.0})
    light = replace(RECIPES["default"], stages=(stage,), tokens=256, average=0.5)
    trainer = fresh(light, encoder_folder)
    train(trainer, *prepared, tmp_path, lambda line: None)
    assert trainer.averaged().pool.weight.abs().max() > 1e-3
    assert trainer.history[-1]["loss"] < trainer.history[0]["loss"]


def test_missing_data_is_named(encoder_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    arguments = ["facets", "--data", str(tmp_path), "--out", str(tmp_path), "--encoder", str(encoder_folder)]
    assert main(arguments) == 2
    assert "train.jsonl" in capsys.readouterr().err


def test_two_workers_train_together(data: Path, encoder_folder: Path, tmp_path: Path) -> None:
    """Started by torchrun, the workers share each batch and keep one set of books."""
    arguments = ["facets", "--data", str(data), "--out", str(tmp_path), "--encoder", str(encoder_folder)]
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += ["-m", "training", *arguments, "--device", "cpu", "--threads", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    history = json.loads((tmp_path / "run.json").read_text())["history"]
    assert len(history) == sum(stage.epochs for stage in Recipe().stages)
    assert history[-1]["loss"] < history[0]["loss"]


def test_help_does_not_load_torch() -> None:
    code = (
        "import sys; from training.__main__ import make_parser; make_parser(); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
