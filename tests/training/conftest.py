"""What the tests of training share: tiny encoders, a corpus of made papers, and labelled abstracts."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import BertConfig, BertModel

from search.encoder import torch_model
from tests.tiny_models import make_bert
from tests.training.made import CUT, DEEDS, DOCUMENTS, THINGS, load, made_abstract, no_progress, say_nothing
from training import hidden_states, labeller_loop, upper_layers
from training.corpus import Corpus, Words, make_corpus
from training.hidden_states import LowerLayers
from training.labeller import Prepared, prepare
from training.labeller_plan import Recipe, Stage


@pytest.fixture(scope="module", autouse=True)
def _one_thread_in_full_precision() -> Iterator[None]:
    """Half precision, where a processor has it, would hide small mistakes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch_model, "half_precision", lambda device: None)
        for module in (hidden_states, labeller_loop, upper_layers):
            patch.setattr(module, "autocast", lambda device: torch.autocast(device.type, enabled=False))
        yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bert(tmp_path_factory.mktemp("bert"), places=512)


@pytest.fixture(scope="module")
def lower(bert: Path) -> LowerLayers:
    return LowerLayers.cut(load(bert), bert, CUT)


@pytest.fixture(scope="module")
def corpus(lower: LowerLayers, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(DOCUMENTS, lower, tmp_path_factory.mktemp("states"), no_progress)


@pytest.fixture(scope="module")
def words() -> Words:
    return Words(DOCUMENTS)


# -- the labeller


@pytest.fixture(scope="module")
def labelled_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in the layout of the public files."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "csabstruct").mkdir()
    abstracts = [made_abstract(thing, deed) for thing, deed in product(THINGS, DEEDS)]
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
def word_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny encoder that knows each word of the labelled abstracts."""
    folder = tmp_path_factory.mktemp("encoder")
    text = [w for t, d in product(THINGS, DEEDS) for s in made_abstract(t, d)["sentences"] for w in s.split()]
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


@pytest.fixture(scope="module")
def prepared(
    labelled_data: Path, word_bert: Path, recipe: Recipe, tmp_path_factory: pytest.TempPathFactory
) -> Prepared:
    lower = LowerLayers.cut(load(word_bert), word_bert, 1)
    return prepare(labelled_data, lower, recipe, tmp_path_factory.mktemp("states"), say_nothing)
