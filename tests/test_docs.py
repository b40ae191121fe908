"""Every command and every option is described in docs/commands.md, in the section of its package."""

import argparse
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("index_build", "search", "evaluation", "training")


def subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    actions = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {name: command for action in actions for name, command in action.choices.items()}


def commands(parser: argparse.ArgumentParser, name: str) -> dict[str, argparse.ArgumentParser]:
    """The full name of every command and command within a command, with its parser."""
    found = {name: parser}
    for word, command in subparsers(parser).items():
        found |= commands(command, f"{name} {word}")
    return found


def section(package: str) -> str:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    match = re.search(rf"^## `python -m {package}`$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return match[1] if match else ""


@pytest.mark.parametrize("package", PACKAGES)
def test_every_command_and_option_is_described(package):
    text = section(package)
    missing = []
    for name, parser in commands(
        importlib.import_module(f"{package}.__main__").make_parser(), f"python -m {package}"
    ).items():
        if name not in text and subparsers(parser) == {}:
            missing.append(name)
        options = {
            option
            for action in parser._actions
            for option in action.option_strings
            if option.startswith("--")
        }
        missing += [
            f"{name} {option}"
            for option in sorted(options - {"--help"})
            if not re.search(rf"{option}(?![\w-])", text)
        ]
    assert missing == []


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_is_described_that_is_not_there(package):
    parsers = commands(
        importlib.import_module(f"{package}.__main__").make_parser(), f"python -m {package}"
    ).values()
    known = {option for parser in parsers for action in parser._actions for option in action.option_strings}
    described = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", section(package)))
    assert described - known == set()
