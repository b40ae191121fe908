"""What several tests share: the public collections beside the project, and small corpora."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # machines differ; no test depends on the clock
settings.load_profile("untimed")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public collections; their licences forbid shipping them, so it may be missing."""
    folder = Path(os.environ.get("TRIPTYCH_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "csfcube").is_dir():
        pytest.skip(f"needs the public collections: none in {folder}; set TRIPTYCH_DATA to their folder")
    return folder
