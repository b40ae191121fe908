"""Labelled abstracts, and what the labeller should say about them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from search.errors import InputError
from search.types import Facet
from training.labelled_abstracts import Example, count_words, read_csabstruct, read_medline, targets


def test_targets_by_hand() -> None:
    example = Example("", ("a", "b", "c"), (Facet.METHOD, None, Facet.RESULT), (0.6, 0.9, 1.0))
    plain = [[0.05, 0.05, 0.8, 0.05, 0.05], [0] * 5, [0, 0, 0, 1, 0]]
    np.testing.assert_allclose(targets(example, doubt=0.5, weigh=False), plain, rtol=1e-6)
    weighed = [[0.06, 0.06, 0.36, 0.06, 0.06], [0] * 5, [0, 0, 0, 1, 0]]
    np.testing.assert_allclose(targets(example, doubt=1.0), weighed, rtol=1e-6)
    assert targets(example, doubt=0.0, least=0.7).sum(axis=1).tolist() == [0, 0, 1]


def test_medline_headings_become_facets(labelled_data: Path) -> None:
    first = read_medline(labelled_data / "roles_medline_structured.jsonl.gz")[0]
    assert first.facets == (Facet.BACKGROUND, None, Facet.METHOD, Facet.RESULT)
    assert first.title == "mice 0"
    assert count_words(first) == 32


def test_a_line_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    for line, words in (
        ('{"sentences": ["a"], "labels": ["aim"]}', r"Line 1 of .*train\.jsonl cannot be used: 'aim'"),
        ('{"sentences": ["a"]}', r"Line 1 of .*train\.jsonl lacks 'labels'"),
    ):
        file.write_text(line + "\n")
        with pytest.raises(InputError, match=words):
            read_csabstruct(file)
