"""Every command and every option is described in the README or in docs/, and nothing else is."""

import argparse
import contextlib
import importlib
import re
from datetime import date
from pathlib import Path

import pytest

from search import __version__
from search.settings import KEYS

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("index_build", "search", "evaluation", "training")


def commands(package: str) -> dict[str, argparse.ArgumentParser]:
    """The full name of every command that can be run, with its parser."""
    module, name = importlib.import_module(f"{package}.__main__"), f"python -m {package}"
    beside = {
        f"{name} {word}": module.make_command(word)
        for word in (module.COMMANDS if hasattr(module, "make_command") else ())
    }
    return _within(module.make_parser(), name) | beside


def _within(parser: argparse.ArgumentParser, name: str) -> dict[str, argparse.ArgumentParser]:
    if type(parser) is not argparse.ArgumentParser:  # one that takes on its options when first used
        with contextlib.suppress(SystemExit):
            parser.parse_known_args(["--help"])
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        return {name: parser}
    return {
        full: command
        for action in below
        for word, inner in action.choices.items()
        for full, command in _within(inner, f"{name} {word}").items()
    }


def options(parser: argparse.ArgumentParser) -> set[str]:
    return {name for action in parser._actions for name in action.option_strings if name.startswith("--")}


def pages(package: str) -> str:
    """The text of all pages that are about this package."""
    files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
    return "\n".join(text for text in texts if f"python -m {package}" in text)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_command_and_option_is_described(package):
    text = pages(package)
    missing = []
    for name, parser in commands(package).items():
        if not re.search(rf"{name}(?![\w-])", text):
            missing.append(name)
        for option in sorted(options(parser) - {"--help"}):
            if not re.search(rf"(?<![\w-]){option}(?![\w-])", text):
                missing.append(f"{name} {option}")
    assert missing == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_line_to_copy_uses_what_is_there(package):
    """Lines of the documentation that call a command name an existing one, with existing options."""
    known = commands(package)
    wrong = []
    for call in re.findall(rf"python -m {package}\b[^`\n#|]*", pages(package)):
        name = max((name for name in known if f"{call.strip()} ".startswith(f"{name} ")), key=len, default="")
        used = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", call))
        if used and (not name or used - options(known[name])):
            wrong.append(call)
    assert wrong == []


def test_every_setting_is_described():
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert [key for key in KEYS if f"`{key}`" not in text] == []


def test_the_changelog_begins_with_this_version():
    newest = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    version, _, day = newest[1].partition(" - ")
    assert version == __version__
    assert date.fromisoformat(day).isoformat() == day
