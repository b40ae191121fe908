"""What several tests share: the public collections beside the project, and small corpora."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # machines differ; no test depends on the clock
settings.load_profile("untimed")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _same_main() -> Iterator[None]:
    """Streamlit puts the app in the place of the main module, and a process started later would run it."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public collections; their licences forbid shipping them, so it may be missing."""
    folder = Path(os.environ.get("TRIPTYCH_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "csfcube").is_dir():
        pytest.skip(f"needs the public collections: none in {folder}; set TRIPTYCH_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def app_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.app_corpus import make_corpus

    return make_corpus(tmp_path_factory.mktemp("app") / "corpus")


@pytest.fixture
def host(app_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A host of the app with a corpus and a library of its own."""
    from pages.ui import corpora, state

    monkeypatch.setenv("TRIPTYCH_CORPUS", str(app_corpus))
    monkeypatch.setenv("TRIPTYCH_LIBRARY", str(tmp_path / "library"))
    state.settings.clear()
    corpora.jobs.clear()
    yield monkeypatch
    state.settings.clear()
