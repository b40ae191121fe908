"""One small, whole file of each format, made here, with three papers each."""

from __future__ import annotations

from tests.formats import files, first_files

TITLES = ("On rain in the hills", "Über Schnee & Eis", "Hail: a naïve view")


def make_files() -> dict[str, bytes]:
    """A file of each format, by the name of the format."""
    first = {kind: make(TITLES).encode() for kind, make in first_files.MAKERS.items()}
    return first | files.make_files(TITLES) | {"ovid fields": files.ovid_fields(TITLES).encode()}
