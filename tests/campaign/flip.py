"""Flipped bits: in a build no answer changes without a word, in a library nothing is lost."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from index_build.steps import build
from index_build.verify import verify
from search.corpus import layout
from search.corpus.store import Store
from search.engine import Engine
from search.errors import CorpusError
from search.library.database import FILE
from search.library.store import Library
from tests.campaign.tally import Effort, Tally, repeat
from tests.miniature import build_miniature
from tests.test_damage import EXTRA, ask, files, flipped, opened
from tests.test_library_damage import fill

LIBRARY_EVERY = 5
"""Of so many flips one is in the library."""


def run(effort: Effort) -> Tally:
    folder = effort.folder
    corpus, library = build_miniature(folder / "corpus"), folder / "library"
    with Store.open(corpus / layout.STORE, read_only=False) as store:
        store.add([EXTRA])
    build(corpus)
    expected, current = ask(Engine.open(corpus)), layout.current_name(corpus)
    fill(library)
    kept = content(library)

    def in_build(dice: random.Random) -> str:
        path = dice.choice(files(corpus))
        with flipped(path, dice.randrange(path.stat().st_size), 1 << dice.randrange(8)):
            if not verify(corpus):
                return f"verify does not find it in {path.name}"
            engine = opened(corpus)
            answers, served = ask(engine), engine.in_service()
            if served.manifest.build_id == current:
                return "" if answers == expected else f"other answers, because of {path.name}"
            return (
                ""
                if "is damaged" in served.notice
                else f"another build without a word, because of {path.name}"
            )

    def in_library(dice: random.Random) -> str:
        place = Path(shutil.copytree(library, folder / "try"))
        file = place / FILE
        data = bytearray(file.read_bytes())
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        file.write_bytes(data)
        try:
            found = content(place)
        except CorpusError as error:
            found = content(place) if "was damaged" in str(error) else []
        shutil.rmtree(place)
        return "" if found == kept else "the library has other papers"

    def attempt(number: int) -> tuple[str, str]:
        dice = random.Random(f"flip {number}")
        if number % LIBRARY_EVERY:
            return "build", in_build(dice)
        return "library", in_library(dice)

    return repeat("flip", effort, attempt)


def content(folder: Path) -> list[object]:
    """All that the library of `fill` holds."""
    library = Library.open(folder)
    found: list[object] = [library.reading_list("Sea"), library.of("ana").reading_list("Hers")]
    library.close()
    return found
