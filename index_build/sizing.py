"""What a corpus of so many papers takes on Milvus, and how long encoding it takes: arithmetic, no promise.

Figures marked "measured" come from the demo corpus (4,830 papers of arXiv); `docs/scale-out.md` says by which
command. All else is arithmetic on them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

SENTENCES_OF_PAPER = 6.68
"""Measured: 32,282 sentences of 4,830 papers."""
TOKENS_OF_PAPER = 223
"""Measured with the tokenizer of the default encoder."""
TERMS_OF_PAPER, TITLE_NUMBERS = 83, 121
"""Measured: different terms of a paper, and numbers of its title, authors and year."""
PAPER_TEXT, NAMES_OF_PAPER, FIELDS_OF_PAPER = 1370, 4.3, 3.1
"""Measured: bytes of a packed paper, names it is looked up by, its fields."""
BYTES_OF_NUMBER = {"flat": 2.0, "sq8": 1.0, "rabitq": 1.125, "diskann": 0.25}
"""Memory for each number of a vector: 16 bits; 8 bits; one bit, and 8 to refine with; the codes that lead
through a graph on disk, a quarter of a byte by Milvus' default."""
DISK_OF_NUMBER = {"flat": 2.0, "sq8": 3.0, "rabitq": 3.125, "diskann": 2.0 + 4.0}
"""On the object store: the 16-bit vectors themselves, and their index."""
GRAPH = 4 * 57
"""Bytes of a node of DiskANN's graph on disk: 56 neighbours and their number."""
FIXED = 8 + 8 + 8
"""Bytes that Milvus keeps of every row: its number, when it was written, its place in the index of rows."""
FILTERS = 4 * 4 + 8
"""Year, venue, source, whether there is a DOI, and where the fields begin."""
SPARSE = 8
"""Number and weight of one term."""
OVERHEAD = 1.25
"""What is kept free for queries, growing data and compaction. Chosen by hand."""
USED = 0.75
"""The part of a machine's memory that a query node fills. Chosen by hand."""
PARAMETERS = {"default": 10.6e6, "quality": 85.1e6}
"""Weights that every token passes: MiniLM-L6 and MPNet-base without their word embeddings."""
LAYERS_WIDTH = {"default": (6, 384), "quality": (12, 768)}
GPUS = {"T4": 65.0, "L4": 121.0, "A10G": 125.0, "A100": 312.0, "H100": 990.0}
"""Tera-operations a second in 16 bits, by the data sheets."""
REACHED = {"default": 0.08, "quality": 0.25}
"""The part of it that short texts reach: the smaller the model, the less. An assumption, without a GPU."""


@dataclass(frozen=True, slots=True)
class Wanted:
    papers: int
    sentences: float | None = None
    """Of a paper."""
    dimension: int = 384
    memory: float = 64.0
    """GB of one machine."""
    replicas: int = 2


@dataclass(frozen=True, slots=True)
class Need:
    """With one kind of index."""

    index: str
    sentence_bytes: float
    """Memory of one sentence: its vector, its numbers."""
    paper_bytes: float
    """Memory of one paper: its vector, its terms, its names, without its sentences."""
    memory: float
    """GB of all replicas."""
    nodes: int
    disk: float
    """GB of the object store and of local disks."""


@dataclass(frozen=True, slots=True)
class Plan:
    wanted: Wanted
    sentences: int
    needs: tuple[Need, ...]
    insert_gb: float
    """What goes over the network once."""
    search_mb: float
    """What goes over the network for one search of 1,000 candidates."""
    hours: dict[str, dict[str, float]]
    """Of one GPU, by encoder and kind."""


def plan(wanted: Wanted) -> Plan:
    per_paper = wanted.sentences or SENTENCES_OF_PAPER
    needs = tuple(_need(wanted, per_paper, index) for index in BYTES_OF_NUMBER)
    row = 2 * wanted.dimension + FIXED + FILTERS
    packed = (2 * wanted.dimension * (1 + per_paper) + per_paper) * 4 / 3
    paper = row + packed + PAPER_TEXT + SPARSE * (TERMS_OF_PAPER + TITLE_NUMBERS) + 48 * NAMES_OF_PAPER
    return Plan(
        wanted=wanted,
        sentences=round(wanted.papers * per_paper),
        needs=needs,
        insert_gb=wanted.papers * (paper + per_paper * row) / 1e9,
        search_mb=1000 * packed / 1e6,
        hours={
            encoder: {gpu: _hours(wanted.papers, encoder, speed) for gpu, speed in GPUS.items()}
            for encoder in PARAMETERS
        },
    )


def _need(wanted: Wanted, per_paper: float, index: str) -> Need:
    vector = BYTES_OF_NUMBER[index] * wanted.dimension
    numbers = FIXED + FILTERS + 4 * FIELDS_OF_PAPER
    sentence = vector + numbers + 8
    names = NAMES_OF_PAPER * (FIXED + 4 * 8 + 8)
    paper = vector + numbers + SPARSE * (TERMS_OF_PAPER + TITLE_NUMBERS) + names + FIXED
    memory = wanted.papers * (paper + per_paper * sentence) * OVERHEAD * wanted.replicas / 1e9
    on_disk = DISK_OF_NUMBER[index] * wanted.dimension + (GRAPH if index == "diskann" else 0)
    details = (2 * wanted.dimension * (1 + per_paper) + per_paper) * 4 / 3 + PAPER_TEXT
    disk = wanted.papers * (details * (1 + wanted.replicas) + (1 + per_paper) * (on_disk + numbers)) / 1e9
    nodes = max(wanted.replicas, math.ceil(memory / (wanted.memory * USED)))
    return Need(index, sentence, paper, memory, nodes, disk)


def _hours(papers: int, encoder: str, tera: float) -> float:
    """2 operations for each weight and token, and 4·n·w for each token's attention in each layer."""
    layers, width = LAYERS_WIDTH[encoder]
    of_token = 2 * PARAMETERS[encoder] + 4 * layers * width * TOKENS_OF_PAPER
    return papers * TOKENS_OF_PAPER * of_token / (tera * 1e12 * REACHED[encoder]) / 3600


def describe(made: Plan) -> str:
    """The plan in lines for the terminal."""
    wanted = made.wanted
    lines = [
        f"{wanted.papers:,} papers, {made.sentences:,} sentences, {wanted.dimension} numbers a vector, "
        f"{wanted.replicas} replicas, machines of {wanted.memory:g} GB",
        "",
        f"{'index':<9}{'B/sentence':>11}{'B/paper':>9}{'memory GB':>11}{'machines':>10}{'disk GB':>10}",
    ]
    lines += [
        f"{need.index:<9}{need.sentence_bytes:>11,.0f}{need.paper_bytes:>9,.0f}{need.memory:>11,.1f}"
        f"{need.nodes:>10,}{need.disk:>10,.1f}"
        for need in made.needs
    ]
    lines += [
        "",
        f"Over the network: {made.insert_gb:,.1f} GB to publish once, {made.search_mb:.1f} MB a search.",
        "",
        f"{'hours of one':<14}" + "".join(f"{gpu:>9}" for gpu in GPUS),
    ]
    lines += [
        f"{encoder:<14}" + "".join(f"{hours:>9,.1f}" for hours in by_gpu.values())
        for encoder, by_gpu in made.hours.items()
    ]
    lines += [
        "",
        "Bytes of texts, terms and tokens were measured on the demo corpus; memory, machines and hours are "
        "arithmetic on them (docs/scale-out.md).",
    ]
    return "\n".join(lines)
