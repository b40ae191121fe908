"""Connections and the shape of the tables: what both stores share."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa

from search.corpus.checksums import damaged
from search.databases import LOCKED
from search.errors import CorpusError
from search.references import pack, unpack
from search.text.labels import facet_of
from search.types import FACETS, Facet, Paper, Sentence

LAYOUT = 2
"""Raised with every change to the tables; layout 1 has no references and is read as it is."""
BEFORE_REFERENCES = 1

FIELDS = (
    "title", "abstract", "authors", "year", "venue", "fields", "doi", "arxiv_id", "pmid", "url", "source",
)  # fmt: skip
FIELD_LIST = ", ".join((*FIELDS, "reference"))
SENTENCE = "STRUCT(first INTEGER, last INTEGER, facet UTINYINT, hinted BOOLEAN)"
"""Where a sentence lies in its abstract (in its title, if there is no abstract); its text is not repeated."""
PAPER_COLUMNS = """
    title VARCHAR, abstract VARCHAR, authors VARCHAR[], year SMALLINT, venue VARCHAR, fields VARCHAR[],
    doi VARCHAR, arxiv_id VARCHAR, pmid VARCHAR, url VARCHAR, source VARCHAR"""
REFERENCE = "reference VARCHAR"
"""As `search.references` packs it. The last column, as it is where it was added to layout 1."""

Connection: TypeAlias = duckdb.DuckDBPyConnection

ABOUT = "CREATE TABLE about (kind VARCHAR, layout INTEGER);"
CONFIG = {
    # Unless told otherwise, DuckDB takes most of the machine's memory, and this process also holds a model.
    "memory_limit": "500MB",
    "threads": "2",
    **LOCKED,
}
_CATALOGUE = (
    "SELECT sql FROM system.main.duckdb_tables() WHERE NOT internal",
    "SELECT sql FROM system.main.duckdb_views() WHERE NOT internal",
    "SELECT sql FROM system.main.duckdb_indexes()",
    "SELECT sql FROM system.main.duckdb_sequences()",
    "SELECT 'TYPE ' || type_name FROM system.main.duckdb_types() WHERE NOT internal",
    "SELECT 'MACRO ' || function_name FROM system.main.duckdb_functions() WHERE NOT internal",
    "SELECT 'SCHEMA ' || schema_name FROM system.main.duckdb_schemas() WHERE NOT internal",
)
"""Everything a database can define, each thing as a text. The full names cannot be given another meaning."""


def field_list(layout: int) -> str:
    """FIELD_LIST, where a layout without references has empty ones."""
    return FIELD_LIST if layout != BEFORE_REFERENCES else ", ".join((*FIELDS, "'' AS reference"))


def create(path: Path, kind: str, tables: str, **config: str) -> Connection:
    """A new database file of this kind with these tables; it appears under its name once it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.part")
    draft.unlink(missing_ok=True)
    with _connect(draft, read_only=False) as connection:
        connection.execute(ABOUT)
        connection.execute("INSERT INTO about VALUES (?, ?)", [kind, LAYOUT])
        connection.execute(tables)
        connection.execute("CHECKPOINT")  # closing would do it too, but silently fail on a full disk
    draft.replace(path)
    return _connect(path, read_only=False, **config)


def open_existing(
    path: Path, kind: str, tables: Mapping[int, str], read_only: bool, **config: str
) -> tuple[Connection, int]:
    """The database in `path` and its layout, once it is known to hold the tables of one of these layouts."""
    if not path.is_file():
        raise CorpusError(f"There is no corpus at {path}: make one with `python -m index_build build`.")
    connection = _connect(path, read_only, **config)
    try:
        return connection, _require(connection, path, kind, tables)
    except BaseException:
        connection.close()
        raise


def _require(connection: Connection, path: Path, kind: str, tables: Mapping[int, str]) -> int:
    """Refuse what is not ours: a view or a macro of a stranger would run whenever we read."""
    try:
        defined = _defined(connection)
        is_ours = _expected("") <= defined
        rows = connection.execute("SELECT kind, layout FROM about").fetchall() if is_ours else []
    except duckdb.Error as error:
        raise CorpusError(_damaged(path, error)) from None
    found = rows[0] if len(rows) == 1 else ("", 0)
    if found[0] != kind:
        raise CorpusError(f"The file {path} is not a Triptych {kind}: point to another, or build the corpus.")
    if found[1] not in tables:
        raise CorpusError(
            f"The {kind} {path} has layout {found[1]} and this version of Triptych reads layout {LAYOUT}: "
            "build the corpus again from its sources, or use the version that made it."
        )
    expected = _expected(tables[found[1]])
    if defined != expected:
        strange = min(defined - expected, default="") or f"no {min(expected - defined)}"
        raise CorpusError(
            f"The {kind} {path} holds what Triptych does not write ({strange[:80]}): it may be meant to do "
            "harm, so build the corpus again from its sources."
        )
    return int(found[1])


def _defined(connection: Connection) -> frozenset[str]:
    found = [row[0] for query in _CATALOGUE for row in connection.execute(query).fetchall()]
    return frozenset(str(text) for text in found)


@lru_cache
def _expected(tables: str) -> frozenset[str]:
    """What a database with these tables defines, in DuckDB's own words."""
    with duckdb.connect(":memory:", config=CONFIG) as connection:
        connection.execute(ABOUT)
        connection.execute(tables)
        return _defined(connection)


def _connect(path: Path, read_only: bool, **config: str) -> Connection:
    try:
        return duckdb.connect(str(path), read_only=read_only, config=CONFIG | config)
    except duckdb.IOException as error:
        if os.strerror(errno.ENOSPC) in str(error):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from None
        if "lock" in str(error):
            raise CorpusError(
                f"Another process is writing to {path}: wait until it has finished, then try again."
            ) from None
        raise CorpusError(f"The store {path} cannot be opened ({_first_line(error)}).") from None
    except duckdb.Error as error:
        raise CorpusError(_damaged(path, error)) from None


@contextmanager
def damage_in_words(path: Path) -> Iterator[None]:
    """What DuckDB says of a damaged file becomes a sentence; other errors stay as they are."""
    try:
        yield
    except duckdb.Error as error:
        inside = isinstance(
            error, duckdb.InternalException | duckdb.FatalException | duckdb.SerializationException
        )
        if not inside and "Corrupt" not in str(error):
            raise
        raise damaged(path, f"is damaged ({_first_line(error)})") from error


def _damaged(path: Path, error: Exception) -> str:
    return f"The store {path} is damaged ({_first_line(error)}): build the corpus again from its sources."


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def paper_columns(papers: Sequence[Paper]) -> dict[str, pa.Array]:
    """The columns of these papers, with their sentences as `SENTENCE[]` and their references packed."""
    text = pa.string()
    columns = {name: pa.array([getattr(paper, name) for paper in papers], text) for name in _TEXTS}
    columns["year"] = pa.array([paper.year for paper in papers], pa.int16())
    for name in ("authors", "fields"):
        columns[name] = pa.array([getattr(paper, name) for paper in papers], pa.list_(text))
    columns["sentences"] = _sentence_lists(papers)
    columns["reference"] = pa.array([pack(paper.reference) for paper in papers], text)
    return columns


_TEXTS = ("title", "abstract", "venue", "doi", "arxiv_id", "pmid", "url", "source")
_CODES: dict[Facet | None, int] = {facet: code for code, facet in enumerate(FACETS)}


def _sentence_lists(papers: Sequence[Paper]) -> pa.Array:
    flat = [sentence for paper in papers for sentence in paper.sentences]
    offsets = [0]
    for paper in papers:
        offsets.append(offsets[-1] + len(paper.sentences))
    parts = {
        "first": pa.array([sentence.start for sentence in flat], pa.int32()),
        "last": pa.array([sentence.end for sentence in flat], pa.int32()),
        "facet": pa.array([_CODES.get(sentence.facet) for sentence in flat], pa.uint8()),
        "hinted": pa.array([sentence.hinted for sentence in flat], pa.bool_()),
    }
    structs = pa.StructArray.from_arrays(list(parts.values()), names=list(parts))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), structs)


def paper_of(row: dict[str, Any]) -> Paper:
    """The paper in a row with `id`, FIELD_LIST and `sentences`; what a stranger left out is empty."""
    texts: dict[str, Any] = {name: row[name] or "" for name in _TEXTS}
    text = texts["abstract"] or texts["title"]
    if not row["id"]:
        raise TypeError("a paper has no id")
    return Paper(
        id=row["id"],
        authors=tuple(filter(None, row["authors"])),
        year=row["year"],
        fields=tuple(filter(None, row["fields"])),
        sentences=tuple(_sentence_of(sentence, text) for sentence in row["sentences"]),
        reference=unpack(row["reference"]),
        **texts,
    )


def _sentence_of(row: dict[str, Any], text: str) -> Sentence:
    start, end, code = row["first"], row["last"], row["facet"]
    probabilities = tuple(row.get("probabilities") or ())
    facet = None if code is None else FACETS[code]
    if probabilities and not row["hinted"]:
        facet = facet_of(text[start:end], probabilities)
    return Sentence(text[start:end], start, end, facet, probabilities, row["hinted"])
