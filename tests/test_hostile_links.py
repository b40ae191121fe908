"""Links, query files and pointers that somebody made by hand: each gives a query or one sentence."""

from __future__ import annotations

import base64
import copy
import json
import logging
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from search.corpus import layout
from search.engine import Engine
from search.errors import CorpusError, InputError, TriptychError
from search.query import choosing, saving
from search.query.saving import from_json, from_link
from search.types import Filters, Query, QueryPaper, QuerySentence
from tests.miniature import build_miniature

SENTENCE = {"text": "We count rain.", "facet": "method", "choice": "match", "weight": 1}
PAPER = {"id": "", "title": "Rain", "sentences": [SENTENCE, SENTENCE]}
SOUND: dict[str, Any] = {
    "triptych_query": 1,
    "build": "b",
    "papers": [PAPER],
    "matcher": "best",
    "filters": {"year_from": 2000, "year_to": 2020, "venues": ["V"], "ids": ["a"], "has_doi": True},
    "top": 20,
}


def packed(text: str | bytes) -> str:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return base64.urlsafe_b64encode(zlib.compress(data)).decode().rstrip("=")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value within a JSON value."""
    yield path
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in children:
        yield from places(child, (*path, key))


def put(content: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of the content with another value at this place."""
    if not path:
        return value
    changed = copy.deepcopy(content)
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return changed


HOSTILE = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**30, -(10**400), 2**63, 0, -1, 1e308, float("inf"), float("-inf"), float("nan")])
    | st.floats()
    | st.text(st.characters(), max_size=20)  # lone surrogates as well
    | st.sampled_from(["\ud800", "\0", "a" * 3000, "match", "best", "proteins-graphs", "../..", "'; drop"])
)
ANY = st.recursive(
    HOSTILE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return Engine.open(build_miniature(tmp_path_factory.mktemp("corpus")))


@effort(max_examples=200)
@given(st.sampled_from(list(places(SOUND))), ANY)
def test_any_value_in_any_place_gives_a_query_or_one_sentence(path: tuple[Any, ...], value: Any) -> None:
    text = json.dumps(put(SOUND, path, value))
    for read in (from_json, lambda text: from_link(packed(text))):
        told = ""
        try:
            query = read(text).query
        except TriptychError as error:
            told = str(error)
        else:
            assert from_link(saving.to_link(query)).query.filters == query.filters
        assert len(told) < 300


STRANGE = st.text(max_size=20) | st.sampled_from(
    ["\0", "%", "proteins-graphs", "'; drop table papers", "a" * 3000]
)
LISTS = st.lists(STRANGE, max_size=3)
STRANGE_QUERIES = st.fixed_dictionaries(
    {
        "triptych_query": st.just(1),
        "papers": st.lists(
            st.fixed_dictionaries(
                {
                    "id": STRANGE,
                    "title": STRANGE,
                    "sentences": st.lists(
                        st.fixed_dictionaries(
                            {
                                "text": STRANGE,
                                "facet": st.sampled_from([None, "method", "objective", "other"]),
                                "choice": st.sampled_from(["match", "ignore", "avoid"]),
                                "weight": st.floats(0, 1000) | st.integers(0, 1000),
                            }
                        ),
                        max_size=3,
                    ),
                }
            ),
            min_size=1,
            max_size=3,
        ),
        "matcher": st.sampled_from([None, "single", "best", "transport", "attention"]),
        "filters": st.fixed_dictionaries(
            {},
            optional={
                "year_from": st.integers(0, 9999),
                "year_to": st.integers(0, 9999),
                "venues": LISTS,
                "fields": LISTS,
                "sources": LISTS,
                "ids": st.none() | LISTS,
                "has_doi": st.booleans(),
            },
        ),
        "top": st.integers(1, 1000),
    }
)


@pytest.mark.slow
@effort(max_examples=150)
@given(STRANGE_QUERIES)
def test_what_can_be_read_can_be_searched_or_is_told(engine: Engine, content: dict[str, Any]) -> None:
    try:
        results = engine.search(engine.restore(from_json(json.dumps(content)).query))
    except TriptychError:
        return
    assert len(results.results) <= content["top"]


@given(st.binary(max_size=200))
def test_any_bytes_in_a_link_give_one_sentence(data: bytes) -> None:
    for link in (packed(data), base64.urlsafe_b64encode(data).decode(), data.decode("latin-1")):
        with pytest.raises(TriptychError):
            from_link(link)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("papers",), [{"sentences": []}] * 60_000, "60,000 papers"),
        (("papers", 0, "sentences"), [SENTENCE] * 1001, "1,001 sentences"),
        (("papers",), [put(PAPER, ("sentences",), [SENTENCE] * 900)] * 6, "5,400 sentences"),
        (("papers", 0, "title"), "a" * 1_000_001, "1,000,029 characters"),
        (("papers", 0, "sentences", 0, "weight"), float("nan"), "weight nan"),
        (("papers", 0, "sentences", 0, "weight"), 10**400, "weight 1000"),
        (("papers", 0, "sentences", 0, "text"), "\ud800", r"text is '\\ud800', not a text"),
        (("papers", 0, "sentences", 0, "choice"), "x" * 100_000, "is no choice"),
        (("papers", 0, "sentences", 0), ["text"], "not an object"),
        (("top",), float("inf"), "top is inf, not a whole number"),
        (("top",), True, "top is True"),
        (("top",), 10**30, "1 to 1000 results"),
        (("top",), 0, "1 to 1000 results, not 0"),
        (("filters", "year_from"), 10**30, "not a year"),
        (("filters", "year_to"), "2020", "not a whole number"),
        (("filters", "venues"), "V", "not a list"),
        (("filters", "venues"), [1], "venues is 1, not a text"),
        (("filters", "ids"), ["a"] * 10_001, "10,001 ids"),
        (("filters", "has_doi"), "yes", "not true or false"),
        (("filters",), {"x" * 9_000: 1}, "there is no filter"),
        (("filters",), [1], "not an object"),
        (("build",), ["b"], "not a text"),
        (("triptych_query",), "x" * 9_000, "version 'xxx"),
    ],
)
def test_what_is_wrong_is_said_in_one_short_sentence(path: tuple[Any, ...], value: Any, says: str) -> None:
    with pytest.raises(InputError, match=says) as told:
        from_json(json.dumps(put(SOUND, path, value)))
    assert len(str(told.value)) < 300


@pytest.mark.parametrize(
    "read", [lambda engine, text: engine.read_text(text), lambda engine, text: engine.read("", text)]
)
def test_of_a_long_text_the_beginning_is_read_and_the_log_says_so(
    engine: Engine, read: Callable[[Engine, str], QueryPaper], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "triptych.query"):
        paper = read(engine, "Rain falls on windows. " + "a" * 60_000)
    assert 49_990 < sum(len(sentence.text) for sentence in paper.sentences) <= choosing.MOST_CHARACTERS
    assert "60023 characters: its first 50000 are read" in caplog.text
    caplog.clear()
    assert len(read(engine, "It rains. " * 1500).sentences) == choosing.MOST_SENTENCES
    assert "1500 sentences: its first 1000 are read" in caplog.text


def test_deep_and_long_links_are_refused() -> None:
    deep = json.dumps(put(SOUND, ("build",), 0)).replace('"build": 0', '"build": ' + "[" * 300_000)
    with pytest.raises(InputError, match="not a query saved"):
        from_link(packed(deep))
    with pytest.raises(InputError, match="damaged or was cut short"):
        from_link(packed(b"[" * 100_000_000))  # small as a link
    with pytest.raises(InputError, match="damaged or was cut short"):
        from_link("a" * 2_000_001)


def test_a_query_of_the_largest_size_still_comes_through() -> None:
    paper = QueryPaper("Rain", (QuerySentence("We count."),) * 25)
    query = Query((paper,) * choosing.MOST_PAPERS, filters=Filters(ids=("a",) * saving.MOST_IN_A_FILTER))
    assert from_json(saving.to_json(query)).query == query


POINTERS: dict[str, tuple[bytes, type[TriptychError]]] = {
    "not UTF-8": (b"\xff\xfe\x00b", CorpusError),
    "a path": (b"../../elsewhere", CorpusError),
    "a parent": (b"..", CorpusError),
    "nulls": (b"a\x00b", CorpusError),
    "endless": (b"a" * 100_000, CorpusError),
    "two lines": (b"a\nb", CorpusError),
    "nothing": (b" \n", CorpusError),
}


@pytest.mark.parametrize("kind", POINTERS)
@pytest.mark.parametrize("ask", [layout.current_build, lambda corpus: Engine.open(corpus)])
def test_a_damaged_pointer_gives_one_sentence(
    kind: str, ask: Callable[[Path], object], tmp_path: Path
) -> None:
    content, error = POINTERS[kind]
    (tmp_path / layout.CURRENT).write_bytes(content)
    with pytest.raises(error) as told:
        ask(tmp_path)
    assert len(str(told.value)) < 1500


def test_a_sound_pointer_is_read(tmp_path: Path) -> None:
    (tmp_path / layout.CURRENT).write_text("20260101-ab\n", encoding="utf-8")
    assert layout.current_build(tmp_path) == tmp_path / layout.BUILDS / "20260101-ab"
