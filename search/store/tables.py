"""Connections and the shape of the tables: what both stores share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa

from search.errors import CorpusError
from search.types import FACETS, Facet, Paper, Sentence

LAYOUT = 1
"""Raised with every change to the tables; a store of another layout is refused at open."""

FIELDS = (
    "title", "abstract", "authors", "year", "venue", "fields", "doi", "arxiv_id", "pmid", "url", "source",
)  # fmt: skip
FIELD_LIST = ", ".join(FIELDS)
SENTENCE = "STRUCT(first INTEGER, last INTEGER, facet UTINYINT, hinted BOOLEAN)"
"""Where a sentence lies in its abstract (in its title, if there is no abstract); its text is not repeated."""
PAPER_COLUMNS = """
    title VARCHAR, abstract VARCHAR, authors VARCHAR[], year SMALLINT, venue VARCHAR, fields VARCHAR[],
    doi VARCHAR, arxiv_id VARCHAR, pmid VARCHAR, url VARCHAR, source VARCHAR"""

Connection: TypeAlias = duckdb.DuckDBPyConnection


def create(path: Path, kind: str, tables: str) -> Connection:
    """A new database file of this kind with these tables; it appears under its name once it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.part")
    draft.unlink(missing_ok=True)
    connection = _connect(draft, read_only=False)
    connection.execute("CREATE TABLE about (kind VARCHAR, layout INTEGER)")
    connection.execute("INSERT INTO about VALUES (?, ?)", [kind, LAYOUT])
    connection.execute(tables)
    connection.close()
    draft.replace(path)
    return _connect(path, read_only=False)


def open_existing(path: Path, kind: str, read_only: bool) -> Connection:
    """The database in `path`, once it is known to be of this kind and layout."""
    if not path.is_file():
        raise CorpusError(f"There is no corpus at {path}: make one with `python -m index_build build`.")
    connection = _connect(path, read_only)
    try:
        found = connection.execute("SELECT kind, layout FROM about").fetchone()
    except duckdb.Error:
        found = None
    if found == (kind, LAYOUT):
        return connection
    connection.close()
    if found is None or found[0] != kind:
        raise CorpusError(f"The file {path} is not a Triptych {kind}: point to another, or build the corpus.")
    raise CorpusError(
        f"The {kind} {path} has layout {found[1]} and this version of Triptych reads layout {LAYOUT}: "
        "build the corpus again from its sources, or use the version that made it."
    )


def _connect(path: Path, read_only: bool) -> Connection:
    # DuckDB takes most of the machine's memory unless told otherwise, and this one also holds a model.
    config = {"memory_limit": "500MB", "threads": "2", "autoinstall_known_extensions": "false"}
    try:
        return duckdb.connect(str(path), read_only=read_only, config=config)
    except duckdb.IOException as error:
        if "lock" in str(error):
            raise CorpusError(
                f"Another process is writing to {path}: wait until it has finished, then try again."
            ) from None
        raise CorpusError(f"The store {path} cannot be opened ({_first_line(error)}).") from None
    except duckdb.Error as error:
        raise CorpusError(
            f"The store {path} is damaged ({_first_line(error)}): build the corpus again from its sources."
        ) from None


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def paper_columns(papers: Sequence[Paper]) -> dict[str, pa.Array]:
    """The columns of PAPER_COLUMNS for these papers, and their sentences as `SENTENCE[]`."""
    text = pa.string()
    columns = {name: pa.array([getattr(paper, name) for paper in papers], text) for name in _TEXTS}
    columns["year"] = pa.array([paper.year for paper in papers], pa.int16())
    for name in ("authors", "fields"):
        columns[name] = pa.array([getattr(paper, name) for paper in papers], pa.list_(text))
    columns["sentences"] = _sentence_lists(papers)
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
    """The paper in a row with `id`, FIELDS and `sentences`."""
    text = row["abstract"] or row["title"]
    return Paper(
        id=row["id"],
        authors=tuple(row["authors"]),
        year=row["year"],
        fields=tuple(row["fields"]),
        sentences=tuple(_sentence_of(sentence, text) for sentence in row["sentences"]),
        **{name: row[name] for name in _TEXTS},
    )


def _sentence_of(row: dict[str, Any], text: str) -> Sentence:
    start, end, code = row["first"], row["last"], row["facet"]
    return Sentence(
        text=text[start:end],
        start=start,
        end=end,
        facet=None if code is None else FACETS[code],
        probabilities=tuple(row.get("probabilities") or ()),
        hinted=row["hinted"],
    )
