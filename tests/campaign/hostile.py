"""Links, queries and lists made to do harm, and damaged uploads: each is read or told in a sentence."""

from __future__ import annotations

import base64
import json
import logging
import random
from typing import Any

from index_build.isolated import papers_in
from search.engine import Engine
from search.errors import TriptychError
from search.library.files import dump_lists, load_lists
from search.query.saving import from_json, from_link
from tests.campaign.tally import Effort, Tally, repeat
from tests.fuzz.checks import Findings, check, file_of, read_whole
from tests.fuzz.damage import damage
from tests.fuzz.files import make_files
from tests.miniature import all_papers, build_miniature
from tests.test_hostile_links import PAPER, SENTENCE, SOUND, packed, places, put
from tests.test_library_damage import papers

LONGEST = 300
"""Characters of a sentence that tells what is wrong."""
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2**63, 10**30, -(10**400), 1e308, float("inf"), float("nan"), "", "\ud800", "\0",
    "a" * 3000, "a " * 30_000, "(" * 5000, "proteins-graphs", "../..", "'; drop table papers", "<script>",
    [], {}, [[[[[]]]]], {"": {"": ""}}, [SENTENCE] * 1001, [PAPER] * 50, ["\ud800"], "💥" * 200,
    "\u202e" * 50, "match",
)  # fmt: skip
PROCESS_EVERY = 25
"""Of so many uploads one is read in a process of its own, as the app does; the rest at once, for speed."""


def run_links(effort: Effort) -> Tally:
    engine = Engine.open(build_miniature(effort.folder / "corpus"))
    logging.getLogger("triptych").setLevel(logging.ERROR)
    lists = dump_lists([])
    library = json.loads(lists) | {"lists": [{"name": "Sea", "papers": [_entry()] * 2}]}

    def attempt(number: int) -> tuple[str, str]:
        dice = random.Random(f"link {number}")
        match number % 4:
            case 0:
                return "query file", told(lambda: _search(engine, from_json(_bent(SOUND, dice)).query))
            case 1:
                return "link", told(lambda: _search(engine, from_link(packed(_bent(SOUND, dice))).query))
            case 2:
                data = damage(packed(json.dumps(SOUND)).encode(), dice)
                return "damaged link", told(lambda: from_link(_as_link(data, dice)))
            case _:
                text = _bent(library, dice).encode("utf-8", "surrogatepass")
                data = damage(text, dice) if dice.random() < 0.3 else text
                return "list file", told(lambda: load_lists(data))

    return repeat("fuzz-link", effort, attempt)


def run_uploads(effort: Effort) -> Tally:
    logging.getLogger("triptych").setLevel(logging.CRITICAL)
    for file in make_files().values():
        read_whole(file, "file")  # what is loaded once is not counted

    def attempt(number: int) -> tuple[str, str]:
        kind, data, damaged = file_of(0, number)
        if number % PROCESS_EVERY == 0:
            return "apart", told(lambda: papers_in(f"file.{kind}", data, 5000))
        findings = Findings()
        check(kind, data, f"upload {number}", findings, damaged)
        return "at once", "; ".join(findings.faults)

    return repeat("hostile", effort, attempt)


def told(read: Any) -> str:
    """Nothing where it is read, or refused in a short sentence; else what is wrong."""
    try:
        read()
    except TriptychError as error:
        return "" if 0 < len(str(error)) < LONGEST else f"a sentence of {len(str(error))} characters"
    except (Exception, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _search(engine: Engine, query: Any) -> None:
    results = engine.search(engine.restore(query))
    assert len(results.results) <= query.top


def _bent(content: Any, dice: random.Random) -> str:
    """The content as JSON with other values in one to three places."""
    for _ in range(dice.randrange(1, 4)):
        where = dice.choice(list(places(content)))
        content = put(content, where, dice.choice(VALUES))
    return json.dumps(content)


def _as_link(data: bytes, dice: random.Random) -> str:
    return dice.choice([data.decode("latin-1"), base64.urlsafe_b64encode(data).decode()])


def _entry() -> dict[str, Any]:
    kept = papers(1)[0]
    return {
        "paper": {"id": kept.paper.id, "title": all_papers()[0].title},
        "note": "n",
        "tags": ["t"],
        "read": True,
    }
