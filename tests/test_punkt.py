"""Punkt is loaded alone: in a process of its own, for here others may have loaded more."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
from search.text.sentences import split
assert len(split("It rains, cf. Smith et al. (2020). Nobody is wet.")) == 2
assert not [name for name in ("scipy", "pandas", "sklearn") if name in sys.modules]
import nltk
assert nltk.word_tokenize and nltk.tokenize.punkt.PunktSentenceTokenizer
"""


def test_sentences_are_split_without_scipy_and_nltk_is_whole_for_others() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
