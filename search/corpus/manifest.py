"""What a build is made of: versions, counts, checksums; checked whenever it is opened."""

from __future__ import annotations

import hashlib
import json
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar, get_origin, get_type_hints

from search.corpus.checksums import damaged
from search.corpus.layout import (
    LEXICAL,
    MANIFEST,
    OFFSETS,
    PANELS,
    PAPER_INDEX,
    PAPER_VECTORS,
    SENTENCE_INDEX,
    SENTENCE_VECTORS,
    STORE,
    current_build,
    replace_text,
    require_plain,
)
from search.errors import CorpusError

SCHEMA = 1
"""Raise it when older builds can no longer be read."""
T = TypeVar("T")
CHECKSUM = "checksum"
"""Of the manifest itself; those made up to 0.8.0 have none."""
LARGEST = 2**20
"""Bytes of a manifest at most; ours have about two thousand."""
MOST = {"dimension": 2**16, "papers": 2**31, "sentences": 2**31}
"""Counts below which rows are numbered in 32 bits."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a build, by its path below the build's folder."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a build: some papers with everything that is stored of them."""

    folder: str
    """Below the build's; empty for the first, whose files lie in the build's own."""
    papers: int
    """Rows, those of removed papers included; so with the sentences."""
    sentences: int
    removed: int = 0
    """Papers that are no more, or in another form in a later segment."""


@dataclass(frozen=True, slots=True)
class Manifest:
    schema: int
    package: str
    """Version of this software."""
    build_id: str
    created: str
    """ISO 8601, UTC."""
    fingerprint: str
    """What went in: papers, models and settings. The same again makes no new build."""
    encoder_name: str
    """As in the settings: a preset, a hub name or a folder."""
    encoder: str
    """Id with the hash of the weights and the recipe."""
    facets: str
    tokenizer: str
    dimension: int
    bm25_k1: float
    bm25_b: float
    papers: int
    sentences: int
    files: tuple[FileEntry, ...]
    average_terms: float = 0.0
    """Terms of a paper on average, by which BM25 holds long ones back; 0 where it was not noted."""
    segments: tuple[Segment, ...] = ()
    """Empty where there is one and it is whole."""

    @property
    def age(self) -> float:
        """Seconds since the build was made."""
        return (datetime.now(UTC) - datetime.fromisoformat(self.created)).total_seconds()

    @property
    def parts(self) -> tuple[Segment, ...]:
        """All segments, the oldest first."""
        return self.segments or (Segment("", self.papers, self.sentences),)

    @property
    def counts(self) -> dict[str, tuple[int, ...]]:
        """Of the first segment."""
        return self.counts_of(self.parts[0])

    def counts_of(self, segment: Segment) -> dict[str, tuple[int, ...]]:
        """How much each part of a segment holds: papers, sentences, numbers of a vector."""
        of_sentences, of_papers = (segment.sentences, self.dimension), (segment.papers, self.dimension)
        return {
            STORE: (segment.papers, segment.sentences),
            SENTENCE_VECTORS: of_sentences,
            PAPER_VECTORS: of_papers,
            SENTENCE_INDEX: of_sentences,
            PAPER_INDEX: of_papers,
            LEXICAL: (segment.papers,),
            OFFSETS: (segment.papers + 1,),
            PANELS: (segment.sentences,),
        }

    def require_counts(self, segment: Segment, path: Path, *found: int) -> None:
        """Refuse a part that holds more or less than the others."""
        expected = self.counts_of(segment)[path.name]
        if found != expected:
            raise damaged(path, f"holds {_by(found)} instead of the {_by(expected)} of the manifest")

    def require_encoder(self, encoder_id: str, name: str) -> None:
        """Vectors of two encoders cannot be compared: refuse a corpus that another one made."""
        if encoder_id != self.encoder:
            other = "" if name == self.encoder_name else f', or set `encoder = "{self.encoder_name}"`'
            raise CorpusError(
                f"This corpus was built with encoder {self.encoder} but the app loads {encoder_id}. "
                f"Build it again{other}."
            )

    def require_tokenizer(self, tokenizer: str) -> None:
        """Words must be cut the same way in the corpus and in the query."""
        if tokenizer != self.tokenizer:
            raise CorpusError(
                f"This corpus was built with tokenizer {self.tokenizer} but this version has {tokenizer}: "
                "build it again, which takes the vectors from the cache."
            )

    def write(self, folder: Path) -> None:
        replace_text(folder / MANIFEST, self.text)

    @property
    def text(self) -> str:
        """As it is written: the last line is a checksum of all before it."""
        values = self.values
        return json.dumps(values | {CHECKSUM: _checksum(values)}, indent=1) + "\n"

    @property
    def values(self) -> dict[str, Any]:
        """What is written: fields that came later only where they say something, as in builds before them."""
        later = {field.name: field.default for field in fields(self) if field.default is not MISSING}
        return {name: value for name, value in asdict(self).items() if value != later.get(name, MISSING)}


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a build, refused when this software cannot read what it describes."""
    path = folder / MANIFEST
    try:
        require_plain(path)
        with path.open(encoding="utf-8") as file:
            values = json.loads(file.read(LARGEST))
        schema = values["schema"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged(path, f"cannot be read ({type(error).__name__})") from error
    if schema != SCHEMA:
        raise CorpusError(
            f"The build {folder.name} has layout {schema} but this version reads layout {SCHEMA}; "
            "build the corpus again."
        )
    try:
        return _manifest_of(values)
    except (KeyError, TypeError) as error:
        raise damaged(path, f"lacks {error}") from error
    except (ValueError, AttributeError) as error:
        raise damaged(path, f"says {error}") from error


def manifest_from(text: str) -> Manifest:
    """A manifest that is kept elsewhere; a ValueError, KeyError or TypeError where the text is none."""
    values = json.loads(text)
    if values["schema"] != SCHEMA:
        raise ValueError(f"layout {values['schema']}")
    return _manifest_of(values)


def _manifest_of(values: dict[str, Any]) -> Manifest:
    checksum = values.pop(CHECKSUM, None)
    if checksum is not None and checksum != _checksum(values):
        raise ValueError("one thing and its checksum another")
    files = tuple(_typed(FileEntry, entry) for entry in values["files"])
    segments = tuple(_typed(Segment, entry) for entry in values.get("segments", ()))
    manifest = _typed(Manifest, values | {"files": files, "segments": segments})
    _check_values(manifest)
    return manifest


def _checksum(values: dict[str, Any]) -> str:
    """Of everything a manifest says, however it is written."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _by(counts: tuple[int, ...]) -> str:
    return " × ".join(map(str, counts))


def _typed(kind: type[T], values: dict[str, Any]) -> T:
    """The values as a dataclass, each of the type it must have."""
    hints = get_type_hints(kind)
    found = {}
    for field in fields(kind):  # type: ignore[arg-type]
        if field.name not in values and field.default is not MISSING:
            continue
        value, wanted = values[field.name], get_origin(hints[field.name]) or hints[field.name]
        if not isinstance(value, (int, float) if wanted is float else wanted) or isinstance(value, bool):
            raise ValueError(f"{field.name} = {str(value)[:40]!r}")
        found[field.name] = value
    return kind(**found)


def _check_values(manifest: Manifest) -> None:
    for name, most in MOST.items():
        if not 0 <= getattr(manifest, name) < most:
            raise ValueError(f"{name} = {getattr(manifest, name)}")
    if datetime.fromisoformat(manifest.created).tzinfo is None:
        raise ValueError(f"created = {manifest.created!r}")
    for number, segment in enumerate(manifest.parts):
        rows = segment.papers, segment.sentences, segment.papers - segment.removed, segment.removed
        if segment.folder != (str(number) if number else "") or min(rows) < 0:
            raise ValueError(f"{segment}")
    if sum(segment.papers - segment.removed for segment in manifest.parts) != manifest.papers:
        raise ValueError(f"papers = {manifest.papers}, which its segments do not hold")
    for entry in manifest.files:
        way = PurePosixPath(entry.path)
        if way.is_absolute() or ".." in way.parts or "\\" in entry.path:
            raise ValueError(f"that {entry.path!r} belongs to the build, which lies outside of it")


def check_build(folder: Path) -> Manifest:
    """The manifest, after a look that costs nothing: every file is there and has its size.

    `python -m index_build verify` reads the files themselves.
    """
    manifest = read_manifest(folder)
    for entry in manifest.files:
        path = folder / entry.path
        size = path.stat().st_size if path.is_file() else None
        if size != entry.size:
            found = "is missing" if size is None else f"has {size} bytes instead of {entry.size}"
            raise damaged(path, found)
    log = f"{STORE}.wal"  # DuckDB would read what it holds as if it were in the store
    if (folder / log).exists() and log not in {entry.path for entry in manifest.files}:
        raise damaged(folder / log, "does not belong to the build")
    return manifest


def served(corpus: Path) -> Manifest | None:
    """The manifest of the build that is served, None where there is none that can be read."""
    try:
        return read_manifest(current_build(corpus))
    except CorpusError:
        return None
