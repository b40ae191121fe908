"""Every way to rank a pool, by name: the product, the papers' baselines, and files of rankings.

A name is a baseline of the papers ("fabs_bm25", "scincl"), or a family with an encoder of choice:
"otAspire:default", "sentences:quality", "abstract:allenai/specter".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation import encoder_baselines, word_baselines
from evaluation import engine_under_test as product
from evaluation.collections import Collection, PoolQuery, ranked_files, read_ranked
from evaluation.metrics import Found
from search.errors import InputError
from search.types import Progress

PUBLISHED_ENCODERS = {
    "specter": "abstract:allenai/specter",
    "specter_cocite": "abstract:allenai/aspire-biencoder-compsci-spec",
    "scincl": "abstract:malteos/scincl",
    "tsAspire": "tsAspire:allenai/aspire-contextualsentence-singlem-compsci",
    "otAspire": "otAspire:allenai/aspire-contextualsentence-multim-compsci",
    "cosentbert": "sentences:allenai/aspire-sentence-embedder",
    "mpnet1b": "sentences:sentence-transformers/all-mpnet-base-v2",
}
"""Baselines whose weights come from a hub."""

PRODUCT = ("triptych", "dense", "bm25")
"""The product, and its whole-paper vectors and its words alone."""
WORDS = ("fabs_tfidf", "fabs_bm25", "fabs_cbow200", "fabs_tfidfcbow200")
FAMILIES = (*encoder_baselines.MATCHING, "abstract", "dense")
OWN_ENCODER = ("sentences", "maxAspire", "attAspire", "otAspire")
"""Families shown by default with the encoder under test; tsAspire with it would be maxAspire again."""


@dataclass(frozen=True, slots=True)
class Options:
    encoder: str = "default"
    """What `triptych` and the families run with."""
    vectors: Path | None = None
    """Word vectors for the CBOW baselines; None trains them on the collection."""
    progress: Progress | None = None


def default_methods(collection: Collection, options: Options) -> tuple[str, ...]:
    """All that can be tried: the product, files beside the collection, then the baselines."""
    files = ranked_files(collection)
    families = tuple(f"{family}:{options.encoder}" for family in OWN_ENCODER)
    hub = tuple(name for name in PUBLISHED_ENCODERS if name not in files)
    return (*PRODUCT, *WORDS, *files, *families, *hub)


def rank(name: str, collection: Collection, queries: Sequence[PoolQuery], options: Options) -> Found:
    """Query id -> candidate -> score. Raises a TriptychError where the method cannot run here."""
    if name in ranked_files(collection):
        return read_ranked(collection, name)
    if name in PRODUCT:
        return _rank_by_product(name, collection, queries, options)
    if name in WORDS:
        return _rank_by_words(name, collection, queries, options)
    family, _, encoder = PUBLISHED_ENCODERS.get(name, name).partition(":")
    if family not in FAMILIES or not encoder:
        known = ", ".join((*PRODUCT, *WORDS, *PUBLISHED_ENCODERS))
        raise InputError(
            f"There is no method {name!r}; the methods are {known}, and FAMILY:ENCODER with a family of "
            f"{', '.join(FAMILIES)}."
        )
    if family == "dense":
        return _rank_by_product("dense", collection, queries, Options(encoder, progress=options.progress))
    if family == "abstract":
        return encoder_baselines.rank_by_abstract(collection, queries, encoder)
    return encoder_baselines.rank_by_sentences(collection, queries, family, encoder)


def _rank_by_product(
    name: str, collection: Collection, queries: Sequence[PoolQuery], options: Options
) -> Found:
    if collection.built:
        engine = product.open_built(collection.built, options.encoder)
    else:
        corpus = collection.corpus or collection.name
        engine = product.open_engine(corpus, collection.papers, options.encoder, options.progress)
    if name == "triptych":
        return product.rank(engine, collection, queries)
    return (
        product.rank_dense(engine, queries)
        if name == "dense"
        else product.rank_words(engine, collection, queries)
    )


def _rank_by_words(
    name: str, collection: Collection, queries: Sequence[PoolQuery], options: Options
) -> Found:
    if name == "fabs_bm25":
        return word_baselines.bm25(collection, queries)
    if name == "fabs_tfidf":
        return word_baselines.tfidf(collection, queries)
    return word_baselines.cbow(collection, queries, name == "fabs_tfidfcbow200", options.vectors)
