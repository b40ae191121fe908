"""One frozen Settings, read from `triptych.toml` and `TRIPTYCH_*` variables; the environment wins."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from search.errors import SettingsError

FILE = "triptych.toml"
PREFIX = "TRIPTYCH_"
NOT_SETTINGS = frozenset(
    {
        "TRIPTYCH_SETTINGS",
        "TRIPTYCH_DATA",
        "TRIPTYCH_CACHE",
        "TRIPTYCH_FACETS",
        "TRIPTYCH_ASPECTS",
        "TRIPTYCH_JUDGING",
    }
)
"""Variables that say where things are found: the settings file, collections, fetched models."""


@dataclass(frozen=True, slots=True)
class Settings:
    corpus: Path = Path("corpus")
    """The folder with the store and its builds."""
    library: Path = Path("library")
    """The folder with the kept papers and notes."""
    encoder: str = "default"
    """A preset ("default", "quality", "untrained"), a hub name or a folder."""
    device: str = ""
    """"cpu", "cuda", "cuda:1", "mps"; empty takes the best there is."""
    bm25_k1: float = 1.2
    """How fast repeating a word stops to count."""
    bm25_b: float = 0.75
    """How much long abstracts are held back, from 0 to 1."""
    keep_builds: int = 2
    """How many builds of a corpus stay on disk, the current one included."""
    session_library: bool = False
    """Kept papers live in each visitor's session only: for a host without a durable disk."""
    allow_import: bool = True
    """Whether visitors of the app may add papers to the corpus."""
    upload_mb: int = 25
    """The largest file the app takes."""
    upload_papers: int = 5000
    """The most papers the app adds from one file; larger ones go through the command line."""


KEYS = tuple(field.name for field in fields(Settings))


def load_settings(file: Path | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """Settings from `file` (default: $TRIPTYCH_SETTINGS, else triptych.toml here if it is there)."""
    env = os.environ if environment is None else environment
    named = file or (Path(env["TRIPTYCH_SETTINGS"]) if env.get("TRIPTYCH_SETTINGS") else None)
    values: dict[str, Any] = {}
    if named is not None or Path(FILE).is_file():
        values |= _from_file(named or Path(FILE))
    values |= _from_environment(env)
    settings = Settings(**values)
    _check(settings)
    return settings


def _from_file(path: Path) -> dict[str, Any]:
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or error
        raise SettingsError(f"The settings file {path} cannot be read ({reason}): check its name.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"The settings file {path} is not valid TOML ({error}): correct it.") from None
    values = {key: _convert(key, value, f"in {path}") for key, value in given.items()}
    # A path in a file is meant from where the file lies, whichever folder the app is started in.
    return {key: path.parent / value if isinstance(value, Path) else value for key, value in values.items()}


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    given = {name: env[name] for name in env if name.startswith(PREFIX) and name not in NOT_SETTINGS}
    return {
        (key := name.removeprefix(PREFIX).lower()): _convert(key, text, f"in the variable {name}")
        for name, text in given.items()
    }


def _convert(key: str, value: Any, where: str) -> Any:
    """The value as the type of the setting; text is read as the environment gives it."""
    if key not in KEYS:
        known = ", ".join(KEYS)
        raise SettingsError(f'There is no setting "{key}" ({where}); the settings are {known}.')
    kind = type(getattr(Settings(), key))
    wrong = SettingsError(f'The setting "{key}" ({where}) is {value!r}; it must be {_WANTED[kind.__name__]}.')
    if kind is bool:
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        if str(value).lower() not in words:
            raise wrong
        return words[str(value).lower()]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise wrong
    if kind in (int, float):
        try:
            number = float(value)
        except ValueError:
            raise wrong from None
        if kind is int and number != int(number):
            raise wrong
        return kind(number)
    if not isinstance(value, str):
        raise wrong
    return value if kind is str else Path(value)


_WANTED = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "PosixPath": "the path of a folder",
    "WindowsPath": "the path of a folder",
}


def _check(settings: Settings) -> None:
    ranges = {
        "bm25_k1": (0.0, 10.0),
        "bm25_b": (0.0, 1.0),
        "keep_builds": (1, 1000),
        "upload_mb": (1, 1000),
        "upload_papers": (1, 1_000_000),
    }
    for key, (low, high) in ranges.items():
        value = getattr(settings, key)
        if not low <= value <= high:
            raise SettingsError(f'The setting "{key}" is {value}; it must be from {low} to {high}.')
    if not settings.encoder:
        raise SettingsError('The setting "encoder" is empty; leave it out or write "default".')
