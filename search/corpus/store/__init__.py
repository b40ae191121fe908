"""The papers on disk, and the only SQL: a working store that grows, and a snapshot of it in each build.

Rows are the one numbering of a build, said here once: papers are rows 0..P-1, sentences are rows 0..S-1,
the sentences of a paper lie together and in order, papers in the order of their rows. A vector's Faiss id,
its row in a memory-mapped array and a document's number in the lexical index are these rows.
"""

from search.corpus.store.adding import AddReport
from search.corpus.store.snapshot import Counts, Snapshot, StoredDocument
from search.corpus.store.working import Store

__all__ = ["AddReport", "Counts", "Snapshot", "Store", "StoredDocument"]
