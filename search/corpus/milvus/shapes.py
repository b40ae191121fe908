"""The collections of one build on Milvus, how their rows are numbered, and what a filter asks of them.

NAME                        an alias of the `about` of the build that is served
NAME_<build>_about          the manifest, counts by year and venue, written last
NAME_<build>_sentences      row·SENTENCES + position: vector, paper, what is filtered by
NAME_<build>_papers         row: vector, weighed terms, letters of the title, what is filtered by
NAME_<build>_details        row·PARTS + part: the paper as text, its vectors in 16 bits
NAME_<build>_names          terms, ids and filter values by their hash, with their numbers
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.corpus.milvus.packing import LONGEST, MOST_PARTS
from search.corpus.milvus.server import Abilities
from search.types import Filters

ABOUT, SENTENCES, PAPERS, DETAILS, NAMES = "about", "sentences", "papers", "details", "names"
PARTS = (SENTENCES, PAPERS, DETAILS, NAMES)
"""What must be whole; `about` is small and says how much of these there is."""
PER_PAPER = 2**16
"""Numbers of sentences that each paper has room for, so that a number says which paper it is of."""
PER_DETAIL = MOST_PARTS
NAMES_OF_PAPER = 2**10
"""The same for its ids, DOI, arXiv id, PubMed id and address."""
VALUES_FROM, IDS_FROM = 2**40, 2**42
"""Where the numbers of filter values and of ids begin, behind those of terms."""
NO_YEAR = -32_768
TERM, ID, LOWER, DOI, ARXIV, PMID, URL = "term", "id", "lower", "doi", "arxiv", "pmid", "url"
VENUE, FIELD, SOURCE, ORIGIN = "venue", "field", "source", "origin"
NOTHING = [1.0, 0.0]
"""Every collection needs a vector; those that are not searched by one have this."""
PASSES_NONE = "row < 0"


def collection_of(name: str, build: str, part: str) -> str:
    return f"{name}_{build.replace('-', '_')}_{part}"


def build_of(name: str, collection: str) -> str:
    """The build that an `about` collection describes; empty where it is of another corpus."""
    middle = collection.removeprefix(f"{name}_").removesuffix(f"_{ABOUT}")
    return middle.replace("_", "-") if collection == collection_of(name, middle, ABOUT) else ""


def hash_of(kind: str, text: str) -> tuple[int, int]:
    """126 bits of what is looked up, as two numbers: the first is looked up, the second is compared."""
    digest = hashlib.blake2b(f"{kind}\x1f{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
    first, second = (int.from_bytes(half, "little") >> 1 for half in (digest[:8], digest[8:]))
    return first, second


@dataclass(frozen=True, slots=True)
class Kind:
    """An index for vectors: what Milvus calls it, how it is built, how it is searched, what it takes."""

    name: str
    index: str
    build: Mapping[str, Any]
    search: Mapping[str, Any]
    bytes_per_number: float
    """Of memory for each number of a vector."""
    version: tuple[int, int] = (2, 3)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("flat", "FLAT", {}, {}, 2.0),
        Kind("sq8", "IVF_SQ8", {"nlist": 1024}, {"nprobe": 64}, 1.0),
        Kind(
            "rabitq",
            "IVF_RABITQ",
            {"nlist": 1024, "refine": True, "refine_type": "SQ8"},
            {"nprobe": 64, "refine_k": 3},
            1.125,
            (2, 6),
        ),
        Kind("diskann", "DISKANN", {}, {"search_list": 800}, 0.25),
    )
}
"""By the name in `--index`. Flat compares everything; the others visit what is near."""
FLAT_LIMIT = 200_000
"""Vectors up to which all are compared, as in a folder."""


def kind_for(count: int, named: str = "") -> Kind:
    return KINDS[named or ("flat" if count <= FLAT_LIMIT else "sq8")]


def schema_of(client: Any, part: str, dimension: int, can: Abilities) -> Any:
    """The fields of one collection; `client` is pymilvus' own."""
    from pymilvus import DataType

    vector = DataType.FLOAT16_VECTOR if can.half else DataType.FLOAT_VECTOR
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("row", DataType.INT64, is_primary=True)
    if part in (SENTENCES, PAPERS):
        schema.add_field("vector", vector, dim=dimension)
        for field in ("year", "venue", "source", "has_doi"):
            schema.add_field(field, DataType.INT32)
        for field in ("fields", "origins"):
            schema.add_field(field, DataType.ARRAY, element_type=DataType.INT32, max_capacity=4096)
    else:
        schema.add_field("nothing", DataType.FLOAT_VECTOR, dim=len(NOTHING))
    if part == SENTENCES:
        schema.add_field("paper", DataType.INT64)
    if part == PAPERS and can.sparse:
        schema.add_field("terms", DataType.SPARSE_FLOAT_VECTOR)
        schema.add_field("title", DataType.SPARSE_FLOAT_VECTOR)
    if part == DETAILS:
        texts = ["paper", "vectors", *([] if can.sparse else ["terms"])]
        for field in texts:
            schema.add_field(field, DataType.VARCHAR, max_length=LONGEST + 3)
        schema.add_field("parts", DataType.INT32)
    if part == NAMES:
        for field in ("key", "check", "number", "count"):
            schema.add_field(field, DataType.INT64)
    if part == ABOUT:
        schema.add_field("text", DataType.VARCHAR, max_length=LONGEST + 3)
    return schema


def indices_of(client: Any, part: str, kind: Kind, can: Abilities) -> Any:
    indices = client.prepare_index_params()
    if part in (SENTENCES, PAPERS):
        indices.add_index("vector", index_type=kind.index, metric_type="IP", params=dict(kind.build))
    else:
        indices.add_index("nothing", index_type="FLAT", metric_type="IP")
    if part == PAPERS and can.sparse:
        for field in ("terms", "title"):
            indices.add_index(
                field, index_type="SPARSE_INVERTED_INDEX", metric_type="IP", params={"drop_ratio_build": 0.0}
            )
    if part == NAMES:
        indices.add_index("key", index_type="STL_SORT" if can.several else "INVERTED")
    return indices


def condition(
    filters: Filters, codes: Mapping[tuple[str, str], int], rows: Sequence[int] | None, paper: str = "row"
) -> str:
    """A filter as Milvus takes it, of numbers alone: no text of a stranger gets into it.

    `codes` are the numbers of its venues, fields and sources, `rows` the papers of its list; `paper` is the
    field that has the paper.
    """
    clauses = []
    if filters.year_from is not None:
        clauses.append(f"year >= {_year(filters.year_from)}")
    if filters.year_to is not None:
        clauses += [f"year <= {_year(filters.year_to)}", f"year > {NO_YEAR}"]
    for field, kind, values in (
        ("venue", VENUE, filters.venues),
        ("source", SOURCE, filters.sources),
        ("fields", FIELD, filters.fields),
        ("origins", ORIGIN, filters.origins),
    ):
        if values:
            known = sorted(codes[kind, value] for value in values if (kind, value) in codes)
            if not known:
                return PASSES_NONE
            several = f"array_contains_any({field}, {known})"
            clauses.append(several if kind in (FIELD, ORIGIN) else f"{field} in {known}")
    if rows is not None:
        if not len(rows):
            return PASSES_NONE
        clauses.append(f"{paper} in {[int(row) for row in rows]}")
    if filters.has_doi:
        clauses.append("has_doi == 1")
    return " and ".join(clauses)


def _year(year: int) -> int:
    """As far as the field goes: a link may ask for any number."""
    return min(max(int(year), NO_YEAR + 1), -NO_YEAR - 1)
