"""The store of one build, written batch by batch: papers and sentences in the order of their rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from search.corpus.store import snapshot, tables
from search.corpus.store.identity import title_key
from search.types import FACETS, Facet, Paper, Sentence

_CODES: dict[Facet | None, int] = {facet: code for code, facet in enumerate(FACETS)}


class SnapshotWriter:
    """One transaction: until `finish` there is nothing."""

    def __init__(self, path: Path, apart: Iterable[tuple[str, str]] = (), **config: str) -> None:
        """`apart` are pairs of ids of records that somebody split; `config` is for DuckDB."""
        self.papers = self.sentences = 0
        # A compression that lets single rows be read alone: a search reads about thirty texts of all papers.
        config |= {"force_compression": "fsst"}
        self._connection = tables.create(path, snapshot.KIND, snapshot.TABLES, **config)
        self._connection.begin()
        if pairs := sorted(apart):
            self._connection.executemany("INSERT INTO apart VALUES (?, ?)", pairs)

    def add(self, papers: Sequence[Paper], ids: Sequence[Sequence[str]]) -> None:
        """`ids` are those of all records of each paper."""
        counts = np.array([len(paper.sentences) for paper in papers], np.int32)
        rows = np.arange(self.papers, self.papers + len(papers), dtype=np.int32)
        columns = tables.paper_columns(papers)
        del columns["sentences"]
        columns |= {
            "paper_row": pa.array(rows),
            "id": pa.array([paper.id for paper in papers], pa.string()),
            "title_key": pa.array([title_key(paper.title, paper.year) for paper in papers], pa.uint64()),
            "first_sentence": pa.array((self.sentences + counts.cumsum() - counts).astype(np.int32)),
            "sentence_count": pa.array(counts),
        }
        self._insert("papers", pa.table(columns))
        self._insert("sentences", self._sentences(papers, rows, counts))
        of_ids = np.repeat(rows, [len(each) for each in ids])
        every = pa.array([id for each in ids for id in each], pa.string())
        self._insert("ids", pa.table({"id": every, "paper_row": pa.array(of_ids)}))
        self.papers += len(papers)
        self.sentences += int(counts.sum())

    def _sentences(self, papers: Sequence[Paper], rows: np.ndarray, counts: np.ndarray) -> pa.Table:
        flat = [sentence for paper in papers for sentence in paper.sentences]
        first = self.sentences
        positions = (place for paper in papers for place in range(len(paper.sentences)))
        return pa.table(
            {
                "sentence_row": pa.array(np.arange(first, first + len(flat), dtype=np.int32)),
                "paper_row": pa.array(np.repeat(rows, counts)),
                "position": pa.array(positions, pa.int32()),
                "first": pa.array([each.start for each in flat], pa.int32()),
                "last": pa.array([each.end for each in flat], pa.int32()),
                "facet": pa.array([_CODES.get(each.facet) for each in flat], pa.uint8()),
                "hinted": pa.array([each.hinted for each in flat], pa.bool_()),
                "probabilities": pa.array(map(_probabilities, flat), pa.list_(pa.float32(), len(FACETS))),
            }
        )

    def _insert(self, name: str, rows: pa.Table) -> None:
        # Not registered: DuckDB would hold every batch until the end of the transaction.
        found = self._connection.from_arrow(rows)
        found.query("batch", f"INSERT INTO {name} BY NAME SELECT * FROM batch")

    def finish(self) -> None:
        self._connection.commit()
        self._connection.execute("CHECKPOINT")  # closing would do it too, but silently fail on a full disk
        self._connection.close()

    def close(self) -> None:
        """Give up, where it was not finished."""
        self._connection.close()


def _probabilities(sentence: Sentence) -> tuple[float, ...] | None:
    return sentence.probabilities or None
