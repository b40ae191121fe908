"""Small random models in Hugging Face folders, for tests: real code runs, nothing is downloaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel, PreTrainedTokenizerFast

from search.encoder.labeller import FacetLabeller
from search.encoder.onnx_graph import Tensors, graph_of_folder
from search.encoder.onnx_model import OnnxModel

WORDS = "we study a new method for graph search and show that it is fast the of results on large data".split()
PIECES = [
    *"abcdefghijklmnopqrstuvwxyz0123456789.,-",
    *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyzé"),
]
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "initializer_range": 0.5,  # large, so that context and places matter
}


def save_tokenizer(folder: Path, names: dict[str, str], length: int) -> int:
    """A WordPiece tokenizer with the given special tokens; returns the size of its vocabulary."""
    vocabulary = {
        token: number for number, token in enumerate(dict.fromkeys([*names.values(), *WORDS, *PIECES]))
    }
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=names["unk_token"]))
    tokenizer.normalizer = normalizers.BertNormalizer(strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    ends = [(names[which], vocabulary[names[which]]) for which in ("cls_token", "sep_token")]
    tokenizer.post_processor = processors.TemplateProcessing(f"{ends[0][0]} $A {ends[1][0]}", None, ends)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=length, **names).save_pretrained(
        folder
    )
    return len(vocabulary)


def make_bert(folder: Path, places: int = 64) -> Path:
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    size = save_tokenizer(folder, names, places)
    torch.manual_seed(1)
    config = BertConfig(vocab_size=size, max_position_embeddings=places, **SIZES)
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


def make_mpnet(folder: Path, places: int = 64) -> Path:
    """Other special tokens, pads that are not number 0, places that begin at 2."""
    names = {"cls_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>", "unk_token": "[UNK]"}
    size = save_tokenizer(folder, names, places)
    torch.manual_seed(2)
    config = MPNetConfig(vocab_size=size, max_position_embeddings=places + 2, pad_token_id=1, **SIZES)
    MPNetModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


def onnx_model(
    folder: Path, labeller: FacetLabeller | None = None, exact: bool = False, trained: Tensors | None = None
) -> OnnxModel:
    """The model in a folder as it runs without torch, labelling where a labeller is given."""
    tensors, layer = None, 0
    if labeller is not None:
        tensors = {name: one.detach().numpy() for name, one in labeller.state_dict().items()}
        layer = labeller.layer
    graph = folder / "graph.onnx"
    graph.write_bytes(graph_of_folder(folder, tensors, layer, exact, trained))
    return OnnxModel(graph, tensors)


def add_pooling(folder: Path, **mode: Any) -> Path:
    """Make it a sentence-transformers folder that pools in the given way."""
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    listed = [
        {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for place, (path, kind) in enumerate(kinds.items())
    ]
    (folder / "modules.json").write_text(json.dumps(listed))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 32, **mode}))
    return folder
