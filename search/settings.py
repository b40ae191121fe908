"""One frozen Settings, read from `triptych.toml` and `TRIPTYCH_*` variables; the environment wins."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_origin, get_type_hints

from search.errors import SettingsError

FILE = "triptych.toml"
PREFIX = "TRIPTYCH_"
HOST = re.compile(r"\*|(\*\.)?[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63}){0,20}|\[[0-9a-f:.]{2,45}\]")
"""A name the app may be asked for: a host name, all names below one, an IPv6 address, or any name."""
CONTACT = re.compile(r"[\w.+-]{1,64}@[A-Za-z0-9.-]{1,253}", re.ASCII)
LIBRARY = re.compile(r"(?:users|groups)/[0-9]{1,12}")
PRINTABLE = re.compile(r"[!-~]{0,200}")
"""What a header of a request may hold."""
ORIGIN = re.compile(r"https?://[a-z0-9_.-]{1,253}(:[0-9]{1,5})?")
"""A web site as browsers name it."""
ADDRESS = re.compile(r"milvus(\+tls)?://", re.IGNORECASE)
"""How the address of a corpus on Milvus begins."""
API = ("open", "keys", "off")
NOT_SETTINGS = frozenset({"TRIPTYCH_SETTINGS", "TRIPTYCH_DATA", "TRIPTYCH_CACHE"})
"""Variables that say where things are found: the settings file, collections, what was downloaded."""
AS_WRITTEN = frozenset({"sources"})
"""Lists in which capitals matter."""
FORMER_NAMES = {"aspects": "fine_tuned", "facets": "labeller"}
"""Settings by the names they had as variables before 0.8.0."""


@dataclass(frozen=True, slots=True)
class Settings:
    corpus: Path = Path("corpus")
    """The folder with the store and its builds."""
    address: str = ""
    """Where a corpus on Milvus lies that is searched instead of the folder; set by writing it as `corpus`."""
    milvus_token: str = field(default="", repr=False)
    """What the Milvus server asks for, "user:password" or a key; better a variable than a file."""
    milvus_certificate: Path | None = None
    """Of whoever signed the certificate of the Milvus server, where the system does not know them."""
    library: Path = Path("library")
    """The folder with the kept papers and notes."""
    encoder: str = "default"
    """A preset ("default", "quality", "untrained"), a hub name or a folder."""
    device: str = ""
    """"cpu", "cuda", "cuda:1", "mps"; empty takes the best there is."""
    pretrained: Path | None = None
    """A folder with the published model of a preset, for machines that cannot download it."""
    fine_tuned: Path | None = None
    """A folder with weights from `python -m training encoder`, instead of the shipped ones."""
    labeller: Path | None = None
    """A folder with a labeller from `python -m training labeller`, instead of the shipped one."""
    bm25_k1: float = 1.2
    """How soon more repetitions of a word stop adding to the score."""
    bm25_b: float = 0.75
    """How much long abstracts are held back, from 0 to 1."""
    build_memory_mb: int = 0
    """Memory that a build takes beside the model; 0 takes a quarter of the machine's, at most 2,048."""
    keep_builds: int = 2
    """How many builds of a corpus stay on disk, the current one included."""
    session_library: bool = False
    """Kept papers live in each visitor's session only: for a host without a durable disk."""
    allow_import: bool = True
    """Whether visitors of the app may add papers to the corpus."""
    demo_at_start: bool = False
    """Where there is no corpus yet, the first visit builds the demo: for a host that loses its disk."""
    history: bool = True
    """Whether the start page lists earlier searches and short links outlive the app's process."""
    judging: Path | None = None
    """A folder of pools to grade; where it is given, the app has a page for that."""
    upload_mb: int = 25
    """The largest file the app takes."""
    upload_papers: int = 5000
    """The most papers the app adds from one file; larger ones go through the command line."""
    allowed_hosts: tuple[str, ...] = ()
    """Names the app answers to, besides this machine's own and Streamlit's `browser.serverAddress`."""
    private_files: bool = True
    """Whether new files (library, history, corpus) are for the owner of the process alone."""
    api: str = "open"
    """Who may use the HTTP API: "open" (whoever reaches the server), "keys" or "off"."""
    api_rate: int = 600
    """Requests of one client in a minute."""
    api_origins: tuple[str, ...] = ()
    """Web sites whose pages may use the API, as "https://lab.example.org"; none by default."""
    allow_fetch: bool = True
    """Whether papers may be fetched from live sources, in the app and by the command line."""
    contact: str = ""
    """The mail address that sources can write to about what is fetched; sent with every request."""
    openalex_key: str = ""
    """Keys as the sources give them out; none is needed but OpenAlex's for more than a few calls a day."""
    ncbi_key: str = ""
    semantic_scholar_key: str = ""
    zotero_key: str = ""
    """For a library on zotero.org; the Zotero on this machine needs none."""
    zotero_library: str = ""
    """Whose library on zotero.org: "users/12345" or "groups/678"."""
    fetch_timeout: int = 60
    """Seconds that a source may be silent before a request is given up and repeated."""
    sources: tuple[str, ...] = ()
    """Other addresses of sources: "crossref=https://crossref.example.org;pause=1;page=100"."""

    @property
    def place(self) -> Path | str:
        """Where the corpus is that is searched: a folder, or an address on Milvus."""
        return self.address or self.corpus

    def at(self, place: Path | str) -> Settings:
        """The same for a corpus elsewhere."""
        if isinstance(place, Path):
            return replace(self, corpus=place, address="")
        return replace(self, address=place)

    def resolved(self) -> Settings:
        """The same from whichever folder a process is started in."""
        return replace(self, corpus=self.corpus.resolve())


def place_of(text: str) -> Path | str:
    """A folder or an address on Milvus, as somebody writes it."""
    return text if ADDRESS.match(text) else Path(text)


def _is_kind(kind: type, hint: Any) -> bool:
    return kind in (hint, get_origin(hint)) or hint == (kind | None)


_KINDS = {
    key: next(kind for kind in (bool, int, float, Path, str, tuple) if _is_kind(kind, hint))
    for key, hint in get_type_hints(Settings).items()
}
"""What each setting must be."""
KEYS = tuple(_KINDS)


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
    values = _converted({key: (value, f"in {path}") for key, value in given.items()})
    # A path in a file is meant from where the file lies, whichever folder the app is started in.
    return {key: path.parent / value if isinstance(value, Path) else value for key, value in values.items()}


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    given = {name: env[name] for name in env if name.startswith(PREFIX) and name not in NOT_SETTINGS}
    return _converted(
        {name.removeprefix(PREFIX).lower(): (text, f"in the variable {name}") for name, text in given.items()}
    )


def _converted(given: Mapping[str, tuple[Any, str]]) -> dict[str, Any]:
    """Values with where they were found -> values of the right types; an empty path is none at all."""
    current = {FORMER_NAMES.get(key, key): found for key, found in given.items()}
    corpus, where = current.get("corpus", ("", ""))
    if isinstance(corpus, str) and ADDRESS.match(corpus):
        current["address"] = current.pop("corpus")
    elif where:  # a folder that is named later wins over an address that was named before
        current["address"] = ("", where)
    return {
        key: _convert(key, value, where)
        for key, (value, where) in current.items()
        if not (value == "" and getattr(Settings(), key, "") is None)
    }


def _convert(key: str, value: Any, where: str) -> Any:
    """The value as the type of the setting; text is read as the environment gives it."""
    if key not in KEYS:
        known = ", ".join(KEYS)
        raise SettingsError(f'There is no setting "{key}" ({where}); the settings are {known}.')
    kind = _KINDS[key]
    wrong = SettingsError(f'The setting "{key}" ({where}) is {value!r}; it must be {_WANTED[kind]}.')
    if kind is bool:
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        if str(value).lower() not in words:
            raise wrong
        return words[str(value).lower()]
    if kind is tuple:
        names = value.split(",") if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise wrong
        if key in AS_WRITTEN:
            return tuple(name.strip() for name in names if name.strip())
        return tuple(name.strip().lower().rstrip(".") for name in names if name.strip())
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise wrong
    if kind in (int, float):
        try:
            number = float(value)
            whole = kind is not int or number == int(number)
        except (ValueError, OverflowError):  # also of infinity, which is no whole number
            raise wrong from None
        if not whole:
            raise wrong
        return kind(number)
    if not isinstance(value, str):
        raise wrong
    return value if kind is str else Path(value)


_WANTED = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Path: "the path of a folder",
    tuple: "a list of names, or one text with commas between them",
}


def _check(settings: Settings) -> None:
    ranges = {
        "bm25_k1": (0.0, 10.0),
        "bm25_b": (0.0, 1.0),
        "keep_builds": (1, 1000),
        "upload_mb": (1, 1000),
        "upload_papers": (1, 1_000_000),
        "api_rate": (1, 1_000_000),
        "fetch_timeout": (1, 3600),
    }
    for key, (low, high) in ranges.items():
        value = getattr(settings, key)
        if not low <= value <= high:
            raise SettingsError(f'The setting "{key}" is {value}; it must be from {low} to {high}.')
    for name in settings.allowed_hosts:
        if not HOST.fullmatch(name):
            raise SettingsError(
                f'The setting "allowed_hosts" has {name!r}; write a name alone, without http:// and port, '
                'such as "papers.example.org", "*.example.org" or "[::1]".'
            )
    for origin in settings.api_origins:
        if not ORIGIN.fullmatch(origin):
            raise SettingsError(
                f'The setting "api_origins" has {origin!r}; write scheme and name, and nothing after them, '
                'such as "https://lab.example.org".'
            )
    if settings.api not in API:
        raise SettingsError(f'The setting "api" is {settings.api!r}; it must be one of {", ".join(API)}.')
    _check_fetching(settings)
    if not settings.encoder:
        raise SettingsError('The setting "encoder" is empty; leave it out or write "default".')


def _check_fetching(settings: Settings) -> None:
    if settings.contact and not CONTACT.fullmatch(settings.contact):
        raise SettingsError(
            f'The setting "contact" is {settings.contact!r}; it must be a mail address such as '
            '"a@example.org".'
        )
    if settings.zotero_library and not LIBRARY.fullmatch(settings.zotero_library):
        raise SettingsError(
            f'The setting "zotero_library" is {settings.zotero_library!r}; write "users/NUMBER" or '
            '"groups/NUMBER".'
        )
    for name in ("openalex_key", "ncbi_key", "semantic_scholar_key", "zotero_key"):
        if not PRINTABLE.fullmatch(getattr(settings, name)):
            raise SettingsError(f'The setting "{name}" is no key: copy it again, without spaces.')


def make_new_files_private(settings: Settings) -> None:
    """From now on this process makes files for its owner alone (0600, folders 0700), unless set otherwise.

    Files that are there keep their rights. Called once, where a program starts.
    """
    if settings.private_files:
        os.umask(0o077)
