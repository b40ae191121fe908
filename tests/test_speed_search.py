"""The measurements run and their baselines are right; how long they take is not tested."""

from __future__ import annotations

import argparse

import numpy as np
import pytest

from evaluation import speed_baselines, speed_memory, speed_search
from tests.miniature import build_miniature
from tests.test_matching import corpus, emd_distances


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("speed")
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus")
    speed_memory.add_arguments(parser)
    speed_search.add_arguments(parser)
    args = parser.parse_args(["--queries", "4", "--sizes", "30,60", "--synthetic", str(folder / "made")])
    args.corpus = build_miniature(folder / "base")
    args.synthetic = folder / "made"
    return speed_search.run(args)


def test_every_stage_is_measured_at_every_size_cold_and_eight_at_once(figures):
    for when in ("warm_30", "warm_60", "cold", "8_at_once"):
        for stage in ("encode", "candidates", "matching", "explanation", "total"):
            assert 0 <= figures[f"{when}_{stage}_p50_ms"] <= figures[f"{when}_{stage}_p95_ms"]
        assert figures[f"{when}_total_p50_ms"] > figures[f"{when}_matching_p50_ms"]


def test_the_baselines_are_measured_in_the_same_run(figures):
    for name in ("rank_bm25_p50_ms", "emd2_loop_p50_ms", "flat_faiss_p50_ms", "transport_p50_ms"):
        assert figures[name] > 0
    assert figures["total_times_encode"] == pytest.approx(
        figures["warm_60_total_p50_ms"] / figures["warm_60_encode_p50_ms"]
    )


def test_nothing_is_missed_where_everything_is_scored(figures):
    assert figures["overlap_with_exhaustive_30"] == 1


def test_the_loop_gives_the_distances_it_is_meant_to():
    query, vectors, offsets = corpus(3, papers=40)
    similarity = query @ vectors.T
    np.testing.assert_allclose(
        speed_baselines.emd2_loop(similarity, offsets), emd_distances(similarity, offsets), atol=1e-6
    )
