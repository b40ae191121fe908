"""Which kind of corpus a place has: a folder, or an address on Milvus."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from search.corpus.folder import FolderCorpus
from search.corpus.served import Corpus


def corpus_at(place: Path | str, token: str = "", certificate: Path | None = None) -> Corpus:
    """The corpus there; nothing is opened yet. `token` and `certificate` are for an address."""
    if isinstance(place, Path):
        return FolderCorpus(place)
    return _on_milvus(place, token, certificate)


@lru_cache(maxsize=8)
def _on_milvus(address: str, token: str, certificate: Path | None) -> Corpus:
    """One connection for all who ask."""
    from search.corpus.milvus.corpus import MilvusCorpus

    return MilvusCorpus(address, token, certificate)


def require_corpus(place: Path | str, token: str = "", certificate: Path | None = None) -> None:
    """Say what to do where nothing is served."""
    corpus_at(place, token, certificate).builds()
