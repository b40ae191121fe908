"""What a corpus holds and what it takes on disk."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from search.corpus import layout
from search.corpus.faiss_index import VectorIndex
from search.corpus.manifest import Manifest, check_build
from search.corpus.store import Snapshot
from search.types import Facet


@dataclass(frozen=True, slots=True)
class Status:
    corpus: Path
    manifest: Manifest
    facet_shares: dict[Facet, float]
    """The share of the sentences of each facet."""
    sentence_index: str
    builds: int
    build_bytes: int
    """Bytes of the served build alone."""
    cache_bytes: int
    total_bytes: int


def status(corpus: Path) -> Status:
    """What is served from `corpus`, and what it takes on disk."""
    folder = layout.current_build(corpus)
    manifest = check_build(folder)
    shares: Counter[Facet] = Counter()
    for segment in manifest.parts:
        with Snapshot.open(folder / segment.folder / layout.STORE) as snapshot:
            shares.update(snapshot.facet_counts())
    labelled = max(shares.total(), 1)
    return Status(
        corpus=corpus,
        manifest=manifest,
        facet_shares={facet: count / labelled for facet, count in shares.items()},
        sentence_index=VectorIndex.open(folder / layout.SENTENCE_INDEX).kind,
        builds=sum(1 for _ in (corpus / layout.BUILDS).glob(f"*/{layout.MANIFEST}")),
        build_bytes=_bytes(folder),
        cache_bytes=_bytes(corpus / layout.CACHE),
        total_bytes=_bytes(corpus),
    )


def _bytes(folder: Path) -> int:
    """Once where several names stand for one file, as builds share segments."""
    found = (path.stat() for path in folder.rglob("*") if path.is_file())
    return sum({(each.st_dev, each.st_ino): each.st_size for each in found}.values())


def describe(status: Status) -> str:
    """The status in lines for the terminal."""
    manifest = status.manifest
    shares = ", ".join(f"{facet} {share:.0%}" for facet, share in status.facet_shares.items())
    build, cache, whole = (
        f"{size / 1e6:,.1f} MB" for size in (status.build_bytes, status.cache_bytes, status.total_bytes)
    )
    rows = {
        "Corpus": str(status.corpus),
        "Papers": f"{manifest.papers:,}",
        "Sentences": f"{manifest.sentences:,} ({shares})",
        "Encoder": f"{manifest.encoder} ({manifest.dimension} numbers a vector)",
        "Facets": manifest.facets,
        "Word index": f"BM25, k1 {manifest.bm25_k1:g}, b {manifest.bm25_b:g}, tokenizer {manifest.tokenizer}",
        "Sentence index": status.sentence_index,
        "Segments": _segments(manifest),
        "On disk": f"{build} this build, {cache} cache, {whole} with all builds ({status.builds})",
        "Built": f"{manifest.created} ({age_in_words(manifest.age)} ago), build {manifest.build_id}",
    }
    return "\n".join(f"{name:<15} {text}" for name, text in rows.items())


def _segments(manifest: Manifest) -> str:
    """ "1", or "2 (65,138 papers, 1,000 papers), 12 removed"."""
    if len(manifest.parts) == 1:
        return "1"
    sizes = ", ".join(f"{each.papers - each.removed:,} papers" for each in manifest.parts)
    removed = sum(each.removed for each in manifest.parts)
    return f"{len(manifest.parts)} ({sizes})" + (f", {removed:,} removed" if removed else "")


def age_in_words(seconds: float) -> str:
    """ "3 days", "5 hours", "12 minutes", "40 seconds": the largest unit that fits."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            count = int(seconds // length)
            return f"{count} {unit}" + "s" * (count > 1)
    return f"{int(seconds)} seconds"
