"""Encoding as the build does it, beside the bare model fed with windows that are ready, in the same run."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from search.encoder.devices import cores
from search.encoder.encoder import Encoder
from search.encoder.fine_tuned import read_fine_tuned
from search.encoder.loading import load_encoder, packer_of
from search.encoder.pretrained import find_weights
from search.encoder.read_ahead import Model
from search.encoder.windows import Window, batches
from search.errors import InputError
from search.text.sentences import split
from search.types import Document

BESIDE = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
FILE = "acl_anthology.jsonl.gz"
ROUNDS = 5
"""The two are timed in turn, so that a busy machine slows both."""
UNLABELLED = "unlabelled"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--encoder", default="default", help="preset, folder or hub name (default: default)")
    parser.add_argument("--device", default="", help="cpu, cuda, cuda:1, mps (default: what is there)")
    parser.add_argument(
        "--encode-papers", type=int, default=500, metavar="N", help="how many papers to encode"
    )
    parser.add_argument(
        "--torch", action="store_true", help="also time the default model in torch on the CPU"
    )
    parser.add_argument(
        "--beside",
        metavar="NAME",
        help=f"time another encoder in turn with this one; {UNLABELLED}: the default without its labeller",
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    documents = read_documents(getattr(args, "papers_file", None), args.encode_papers)
    encoder = load_encoder(args.encoder, args.device or None)
    figures = {"encoder": encoder.id, "workers": len(encoder.models), **measure(encoder, documents)}
    if args.beside:
        unlabelled = args.beside == UNLABELLED
        other = _unlabelled() if unlabelled else load_encoder(args.beside, args.device or None)
        figures[f"rate_over_{args.beside}"] = compare(encoder, other, documents)
    if args.torch:
        some, encoder = documents[::4], _in_torch()
        figures["torch_papers_per_second"] = len(some) / seconds(lambda: list(encoder.encode(some)))[0]
    return figures


def measure(encoder: Encoder, documents: Sequence[Document]) -> dict[str, Any]:
    """Papers and tokens per second, and the pipeline's share of the bare model's rate."""
    list(encoder.encode(documents[:32]))  # warm up
    bare, whole = [], []
    for number in range(ROUNDS):
        part = documents[number::ROUNDS]
        windows = sorted(encoder.packer.pack(part), key=lambda window: len(window.ids), reverse=True)
        if number % 2:
            bare.append(seconds(lambda: run_bare(encoder.models, windows)))  # noqa: B023
        whole.append(seconds(lambda: list(encoder.encode(part))))  # noqa: B023
        if not number % 2:
            bare.append(seconds(lambda: run_bare(encoder.models, windows)))  # noqa: B023
    bare_seconds, whole_seconds = (sum(clock for clock, _ in steps) for steps in (bare, whole))
    bare_work, whole_work = (sum(work for _, work in steps) for steps in (bare, whole))
    tokens = sum(len(window.ids) for window in encoder.packer.pack(documents))
    return {
        "papers": len(documents),
        "tokens_per_paper": tokens / len(documents),
        "papers_per_second": len(documents) / whole_seconds,
        "tokens_per_second": tokens / whole_seconds,
        "bare_papers_per_second": len(documents) / bare_seconds,
        "share_of_bare_rate": median(slow / fast for (slow, _), (fast, _) in zip(bare, whole, strict=True)),
        "papers_per_processor_second": len(documents) / whole_work,
        "share_by_processor_time": bare_work / whole_work,
    }


def compare(encoder: Encoder, other: Encoder, documents: Sequence[Document]) -> float:
    """How many times the other's rate the encoder has, by processor time: the median of several turns."""

    def work(one: Encoder, part: Sequence[Document]) -> float:
        return seconds(lambda: list(one.encode(part)))[1]

    ratios = []
    for number in range(ROUNDS):
        part = documents[number::ROUNDS]
        before = work(encoder, part)
        theirs = work(other, part) + work(other, part)
        ratios.append(theirs / (before + work(encoder, part)))
    return median(ratios)


def run_bare(models: Sequence[Model], windows: Sequence[Window]) -> None:
    """The models alone: windows tokenised and sorted before, results dropped."""
    free: SimpleQueue[Model] = SimpleQueue()
    for model in models:
        free.put(model)

    def work(batch: list[Window]) -> None:
        model = free.get()
        model.run(batch)
        free.put(model)

    with ThreadPoolExecutor(len(models)) as pool:
        list(pool.map(work, batches(windows, models[0].budget)))


def seconds(step: Callable[[], object]) -> tuple[float, float]:
    """By the clock, and of processor time, which a busy machine does not change."""
    clock, processor = time.perf_counter(), time.process_time()
    step()
    return time.perf_counter() - clock, time.process_time() - processor


def _unlabelled() -> Encoder:
    """The default encoder alone, as it runs on processors."""
    from search.encoder.onnx_graph import graph_of_folder
    from search.encoder.onnx_model import OnnxModel

    folder = find_weights("default").folder
    with TemporaryDirectory() as kept:
        file = Path(kept) / "graph.onnx"
        file.write_bytes(graph_of_folder(folder, trained=read_fine_tuned().tensors))
        model = OnnxModel(file)
    return Encoder(UNLABELLED, packer_of(folder, "[CLS]", "[SEP]", "[UNK]"), [model] * cores())


def _in_torch() -> Encoder:
    """The default encoder and its labeller as they run on a graphics card, but here, in full precision."""
    from search.encoder.labeller import load_labeller
    from search.encoder.torch_model import TorchModel

    folder = find_weights("default").folder
    model = TorchModel(folder, "cpu", first_token=False, labeller=load_labeller())
    model.half = None
    return Encoder("torch", packer_of(folder, "[CLS]", "[SEP]", "[UNK]"), [model])


def read_documents(file: Path | None, count: int) -> list[Document]:
    """Every so manieth paper of the file, so that years and lengths are mixed."""
    file = file or Path(os.environ.get("TRIPTYCH_DATA") or BESIDE) / FILE
    if not file.is_file():
        raise InputError(f"There is no file {file}: name one with --papers-file.")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        papers = (json.loads(line) for line in islice(lines, 0, count * 50, 50))
        return [
            Document(paper["title"], tuple(one.text for one in split(paper["abstract"]))) for paper in papers
        ]
