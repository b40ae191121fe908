"""Every regular expression of the product takes time in proportion to the text, whatever the text is.

All expressions are collected by themselves: those that modules keep, and those written where they are used.
Each gets hostile texts made of its own characters, in two lengths. One that takes far more than its share for
the longer text would let a single paste stop the server for everybody.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parser  # type: ignore[import-not-found]
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from index_build.markup import latex_text, to_text
from index_build.mathml import mathml_to_text
from index_build.sources.records import arxiv_of, doi_of
from index_build.sources.sections import find_sections, with_colons
from pages.ui.escape import plain
from search.corpus.store.identity import normalise_title
from search.text.cleaning import clean_text
from search.text.pasted import parse_pasted
from search.text.sentences import split
from search.text.tokenizer import tokenize

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("search", "index_build", "pages")
FUNCTIONS = frozenset("compile match fullmatch search sub subn split findall finditer".split())
ANCHORED = frozenset({"match", "fullmatch"})
NOT_FOREIGN = {
    "index_build/filters.py": "its texts are options of the command line",
    "search/encoder/pretrained.py": "its texts are names of models, from the settings",
    "index_build/cache.py": "its text is the name of a model",
    "pages/ui/guard.py": "its text is Streamlit's own page",
}
HANDED_ON = {
    "index_build/sources/json_records.py _COLON": "matched at one place by Window.peek",
}
"""Expressions that go to a function which matches them at one place only."""
MADE_LATER = {
    "index_build/markup.py": "made when the module is loaded, and collected",
    "index_build/filters.py": "made of words that the command line gives",
    "index_build/sources/xml_records.py": "the name of a tag, then one character",
    "index_build/sources/json_window.py": "the name of a field, with bounded white space around it",
}
"""Modules that put expressions together in functions, where none can be collected, and why that is fine."""

SHORT, LONG = 500, 4_000
"""Characters. Even a quadratic expression ends within a second at the longer one, and shows."""
WORTH_MEASURING = 0.002
"""Seconds below which the longer text is let through: the square of its length takes ten times as long."""
MOST_GROWTH = 3 * LONG / SHORT
"""How many times as long the longer text may take: three times its share. Squared it would be eight times."""


@dataclass(frozen=True)
class Expression:
    place: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]
    """How it is used: anchored at one place, or looked for everywhere."""

    def __str__(self) -> str:
        return f"{self.place}: {self.pattern.pattern!r}"


def sources() -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def module_of(place: str) -> str:
    return place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def kept_by_modules() -> Iterator[Expression]:
    """Expressions in the variables of a module, also within its tables."""
    for place, tree in sources():
        if place.startswith("pages/") and place.count("/") == 1:
            continue  # a page draws itself when it is loaded; below, its text is read
        if place.endswith("__main__.py"):
            continue
        try:
            module = importlib.import_module(module_of(place))
        except ModuleNotFoundError as missing:
            if (missing.name or "").split(".")[0] in PACKAGES:
                raise
            continue  # torch is not installed everywhere
        for name, value in vars(module).items():
            methods = frozenset({"match"}) if f"{place} {name}" in HANDED_ON else methods_of(name, tree)
            for pattern in patterns_in(value):
                yield Expression(f"{place} {name}", pattern, methods)


def patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from patterns_in(tuple(value.values()))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from patterns_in([getattr(value, each.name) for each in dataclasses.fields(value)])
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from patterns_in(each)


def methods_of(name: str, tree: ast.Module) -> frozenset[str]:
    """The methods a module calls on a variable; all of them if it hands the variable on."""
    found: set[str] = set()
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Load):
                found.add(node.attr if isinstance(node, ast.Attribute) else "search")
    return frozenset(found or {"search"})


def written_in_place() -> Iterator[Expression]:
    """Expressions in calls such as `re.sub("...", ...)`."""
    for place, tree in sources():
        for node in calls_of_re(tree):
            if isinstance(node.args[0], ast.Constant):
                flags = next((flag for flag in [*node.args[1:], *values(node)] if is_flag(flag)), None)
                number = eval(compile(ast.Expression(flags), place, "eval"), {"re": re}) if flags else 0
                assert isinstance(node.func, ast.Attribute)
                method = node.func.attr if node.func.attr != "compile" else "search"
                yield Expression(
                    f"{place}:{node.lineno}", re.compile(node.args[0].value, number), frozenset({method})
                )


def calls_of_re(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in FUNCTIONS
        ):
            yield node


def values(node: ast.Call) -> list[ast.expr]:
    return [keyword.value for keyword in node.keywords]


def is_flag(node: ast.expr) -> bool:
    names = [each for each in ast.walk(node) if isinstance(each, ast.Attribute)]
    return bool(names) and all(isinstance(each.value, ast.Name) and each.value.id == "re" for each in names)


def collected() -> list[Expression]:
    """Each expression once; one that is also compiled into a variable is used as the variable is."""
    found: dict[tuple[str, str, int], Expression] = {}
    for each in (*kept_by_modules(), *written_in_place()):
        key = (re.split("[ :]", each.place)[0], str(each.pattern.pattern), each.pattern.flags)
        found.setdefault(key, each)
    return list(found.values())


def characters(tree: Iterable[Any]) -> Iterator[str]:
    """One character for each thing that the parsed expression asks for."""
    for kind, value in tree:
        if kind in (sre.LITERAL, sre.NOT_LITERAL):
            yield chr(value)
        elif kind is sre.RANGE:
            yield chr(value[0])
        elif kind is sre.CATEGORY:
            yield {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " "}.get(str(value), "a")
        elif kind is sre.ANY:
            yield "a"
        elif kind is sre.IN:
            yield from characters(value)
        elif kind is sre.BRANCH:
            for branch in value[1]:
                yield from characters(branch)
        elif isinstance(value, tuple):
            for part in value:
                if isinstance(part, sre_parser.SubPattern):
                    yield from characters(part)
        elif isinstance(value, sre_parser.SubPattern):
            yield from characters(value)


REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)


def beginnings(tree: Iterable[Any]) -> list[str]:
    """Texts that lead up to each part of the parsed expression that may be repeated, and to its end."""
    found, _ = _beginnings(tree, [""])
    return list(dict.fromkeys(text for text in found if text))


def _beginnings(tree: Iterable[Any], texts: list[str]) -> tuple[list[str], list[str]]:
    """What leads up to repeated parts, and what leads to the end, after one of the texts."""
    found: list[str] = []
    for kind, value in tree:
        if kind in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
            continue
        if kind in REPEATS:
            least, most, inner = value
            found += texts if most > 100 else []
            once, ends = _beginnings(inner, texts)
            found += once
            texts = [text + next(characters(inner), "") * (least - 1) for text in ends] if least else texts
        elif kind in (sre.SUBPATTERN, sre.ATOMIC_GROUP):
            more, texts = _beginnings(value[-1] if kind is sre.SUBPATTERN else value, texts)
            found += more
        elif kind is sre.BRANCH:
            parts = [_beginnings(branch, texts) for branch in value[1]]
            found += [text for more, _ in parts for text in more]
            texts = [text for _, ends in parts for text in ends]
        else:
            texts = [text + next(characters([(kind, value)]), "") for text in texts]
        texts = list(dict.fromkeys(texts))[:20]
    return found + texts, texts


COMMON = ("a", "A", "1", " ", "\n", "-", ".", "(", ")", "<", ">", "{", "\\", '"', "$")
MIXED = ("a-\n", "<a ", "{\\", "a. ", "A b", ") (", "\n ", '" ', "a/", "<a>", "</a ", "10.", "1.1")


def hostile_units(pattern: re.Pattern[Any]) -> list[str]:
    """What is repeated: the characters of the expression, pairs of them, its beginnings, usual suspects."""
    text = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    tree = sre_parser.parse(text, pattern.flags & ~re.UNICODE)
    own = list(dict.fromkeys(characters(tree)))
    marks = [each for each in own if not each.isalnum()][:12] + [each for each in own if each.isalnum()][:3]
    starts = beginnings(tree)[:12]
    pairs = ["".join(pair) for pair in product(marks, repeat=2)]
    begun = ["".join(pair) for pair in product(starts, ["", " ", "a"])]
    return list(dict.fromkeys([*COMMON, *MIXED, *marks, *pairs, *begun]))


def hostile_texts(pattern: re.Pattern[Any]) -> Iterator[Callable[[int], Any]]:
    """Texts of any length: a unit repeated, also after a beginning and before an end that does not fit."""
    text = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    tree = sre_parser.parse(text, pattern.flags & ~re.UNICODE)
    starts = ["", *beginnings(tree)][:5]
    for unit, start, end in product(hostile_units(pattern), starts, ("", "\0", "a)")):
        yield (
            lambda size, unit=unit, start=start, end=end: of_kind(  # type: ignore[misc]
                pattern, start + (unit * (size // len(unit) + 1))[:size] + end
            )
        )


def of_kind(pattern: re.Pattern[Any], text: str) -> Any:
    return text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text


def runs(expression: Expression) -> list[Callable[[Any], object]]:
    """How to use it up: at one place, and, unless it is only ever used so, everywhere in the text."""
    pattern = expression.pattern
    anchored: list[Callable[[Any], object]] = [
        pattern.fullmatch if "fullmatch" in expression.methods else pattern.match
    ]
    if expression.methods <= ANCHORED:
        return anchored
    return [*anchored, lambda text: sum(1 for _ in pattern.finditer(text))]


def seconds(run: Callable[[Any], object], text: Any) -> float:
    started = time.process_time()
    run(text)
    return time.process_time() - started


def grows_too_fast(run: Callable[[Any], object], make: Callable[[int], Any]) -> bool:
    """Whether the longer text takes far more than its share; measured again before that is said."""
    if seconds(run, make(LONG)) < WORTH_MEASURING:
        return False
    for _ in range(3):
        short = min(seconds(run, make(SHORT)) for _ in range(5))
        long = min(seconds(run, make(LONG)) for _ in range(2))
        if long < WORTH_MEASURING or long < MOST_GROWTH * max(short, 1e-6):
            return False
    return True


def slow_texts(expression: Expression) -> Iterator[str]:
    for make in hostile_texts(expression.pattern):
        for run in runs(expression):
            if grows_too_fast(run, make):
                yield repr(make(12))


EXPRESSIONS = collected()


def is_foreign(expression: Expression) -> bool:
    return re.split("[ :]", expression.place)[0] not in NOT_FOREIGN


@pytest.mark.slow
@pytest.mark.parametrize("expression", list(filter(is_foreign, EXPRESSIONS)), ids=lambda each: each.place)
def test_cost_grows_with_the_length(expression: Expression) -> None:
    slow = next(slow_texts(expression), None)
    assert slow is None, f"{expression} takes far too long for long texts like {slow}"


@pytest.mark.parametrize(
    ("pattern", "unit"),
    [(r"(\w+)-\n", "a"), (r"\s+x", " "), (r"a.*?b", "a"), (r"\s*\(1", " "), (r"<x>.{0,5000}?</x>", "<x>")],
)
def test_slow_expressions_are_found(pattern: str, unit: str) -> None:
    """The measure itself: expressions that take the square of the length do not get through."""
    expression = Expression("here", re.compile(pattern, re.DOTALL), frozenset({"search"}))
    assert unit in hostile_units(expression.pattern)
    assert any(grows_too_fast(run, lambda size: unit * (size // len(unit))) for run in runs(expression))


WAYS: dict[str, Callable[[str], object]] = {
    "pasted, cleaned": lambda text: clean_text(text, len(text)),
    "pasted, parted": parse_pasted,
    "sentences": split,
    "search terms": tokenize,
    "markup": to_text,
    "LaTeX": latex_text,
    "MathML": lambda text: mathml_to_text(f"<math>{text}</math>"),
    "headings": lambda text: find_sections(with_colons(text)),
    "identifiers": lambda text: (doi_of(text), doi_of(f"10.1000/{text}"), arxiv_of(text)),
    "title": normalise_title,
    "shown": plain,
}
"""What text goes through as a whole: code around expressions can be slow, too."""
UNITS = r"""
    a A - . ) ( < > & { } $ \ ^ _ ' " 1 , : é 漢 ~ 。 ␣ ⏎ ␣⏎ a-⏎ a-⏎a␣ a.␣A ?␣a e.g.␣ a/ 10.1000/ 10.1010.
    <a <a␣x= <!-- <script> <script </script <style><!-- &lt; &amp; <math> </math> <mi> <sub> </sub> <title>
    <tex-math> <inline-formula><tex-math> {\ \a \alpha \' \frac ^{ _a $a$ $$ $1␣ \$ \cite{ \documentclass
    \begin{document} (see␣) A:␣ METHODS:␣ Aims.␣ abstract⏎ title: keywords introduction␣
"""
"""With signs for the space and the new line."""


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_text_takes_its_share_of_time_on_the_whole_way(way: str) -> None:
    split("Punkt is loaded. That takes time once.")
    for unit in UNITS.split():
        text = unit.replace("␣", " ").replace("⏎", "\n")
        assert not grows_too_fast(WAYS[way], lambda size, text=text: text * (8 * size // len(text))), unit  # type: ignore[misc]


def test_all_expressions_are_collected() -> None:
    """Hundreds of them, and none is put together where this test cannot see it."""
    places = {re.split("[ :]", each.place)[0] for each in EXPRESSIONS}
    assert len(EXPRESSIONS) > 100
    assert {"search/text/pasted.py", "index_build/latex.py", "pages/ui/escape.py"} <= places
    unseen = {
        place
        for place, tree in sources()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for call in calls_of_re(function)
        if not isinstance(call.args[0], ast.Constant)
    }
    assert unseen == set(MADE_LATER)
