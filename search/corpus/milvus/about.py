"""What a build on Milvus says of itself: its manifest, and counts that are fixed with it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import Any

from search.corpus.checksums import DamagedError
from search.corpus.manifest import Manifest, manifest_from
from search.corpus.milvus.packing import LARGEST, from_text, parts_of, to_text
from search.corpus.milvus.server import Server
from search.corpus.milvus.shapes import NOTHING
from search.types import FACETS, Facet

LISTED = 1000
"""Most frequent venues, fields and sources that are listed, as elsewhere."""


@dataclass(frozen=True, slots=True)
class About:
    manifest: Manifest
    rows: Mapping[str, int]
    """How many rows each collection has, by its part."""
    search: Mapping[str, int]
    """Parameters of the index for vectors."""
    kind: str
    sparse: bool
    apart: tuple[tuple[str, str], ...]
    years: Mapping[int, int]
    venues: Mapping[str, int]
    """The most frequent first; so with fields and sources."""
    fields: Mapping[str, int]
    sources: Mapping[str, int]
    origins: Mapping[str, int]
    facets: Mapping[Facet, int]
    """How many sentences have each."""

    @property
    def text(self) -> str:
        values = {
            field.name: getattr(self, field.name) for field in fields_of(self) if field.name != "manifest"
        }
        return json.dumps(values | {"manifest": self.manifest.text}, ensure_ascii=False)


def write_about(server: Server, collection: str, about: About) -> int:
    """Rows of the collection that are written; it is there already."""
    parts = parts_of(to_text(zlib.compress(about.text.encode("utf-8", "surrogatepass"))))
    rows = [{"row": place, "text": text, "nothing": NOTHING} for place, text in enumerate(parts)]
    server.put(collection, rows)
    return len(rows)


def read_about(server: Server, collection: str) -> About:
    rows = sorted(server.rows(collection, "row >= 0", ("row", "text")), key=lambda row: row["row"])
    try:
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(from_text("".join(row["text"] for row in rows)), LARGEST)
        values = json.loads(content.decode("utf-8", "surrogatepass"))
        return _about_of(values)
    except (ValueError, KeyError, TypeError, AttributeError, zlib.error, RecursionError) as error:
        raise DamagedError(
            f"The collection {collection} of {server.address} cannot be read ({type(error).__name__}): "
            "publish the corpus again."
        ) from error


def _about_of(values: dict[str, Any]) -> About:
    counted = {
        name: {str(key): int(count) for key, count in values[name].items()}
        for name in ("rows", "search", "venues", "fields", "sources", "origins")
    }
    return About(
        manifest=manifest_from(values["manifest"]),
        kind=str(values["kind"]),
        sparse=bool(values["sparse"]),
        apart=tuple((str(one), str(other)) for one, other in values["apart"]),
        years={int(year): int(count) for year, count in values["years"].items()},
        facets={facet: int(values["facets"].get(facet, 0)) for facet in FACETS},
        **counted,
    )
