"""Bearer keys: who may use the API where keys are required. On disk there are only their hashes."""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from search.corpus.layout import replace_text
from search.errors import InputError, SettingsError

FILE = "api-keys.json"
MARK = "triptych_"
"""How every key begins, so that one that leaked is recognised."""


@dataclass(frozen=True, slots=True)
class Key:
    name: str
    owner: str
    """Whose kept searches it reads and writes: the e-mail address of a sign-in, or "" for the shared ones."""
    sha256: str
    created: str
    """ISO 8601, UTC."""


class Keys:
    """The keys of one host; a change on disk counts from the next request on. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lock = threading.Lock()
        self._read: tuple[tuple[int, int], dict[str, Key]] | None = None

    def all(self) -> list[Key]:
        return sorted(self._by_hash().values(), key=lambda key: key.name)

    def find(self, secret: str) -> Key | None:
        """The key of this secret; None where there is none, or none any more."""
        return self._by_hash().get(_hash(secret))

    def create(self, name: str, owner: str = "") -> str:
        """A new key by this name. Its secret is told once and kept nowhere."""
        name = name.strip()
        if not name or any(key.name == name for key in self.all()):
            raise InputError(f"There is a key by the name {name!r} already, or it is empty: choose another.")
        secret = MARK + secrets.token_urlsafe(32)
        # 256 random bits cannot be guessed, so a plain hash is enough: slow ones are for passwords.
        key = Key(name, owner.strip(), _hash(secret), datetime.now(UTC).isoformat(timespec="seconds"))
        self._write([*self.all(), key])
        return secret

    def revoke(self, name: str) -> None:
        left = [key for key in self.all() if key.name != name]
        if len(left) == len(self.all()):
            names = ", ".join(key.name for key in left) or "none at all"
            raise InputError(f"There is no key by the name {name!r}: there are {names}.")
        self._write(left)

    def _by_hash(self) -> dict[str, Key]:
        with self._lock:
            try:
                stat = self._path.stat()
            except FileNotFoundError:
                return {}
            state = stat.st_mtime_ns, stat.st_ino
            if self._read is None or self._read[0] != state:
                self._read = state, {key.sha256: key for key in _parse(self._path)}
            return self._read[1]

    def _write(self, keys: list[Key]) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_text(self._path, json.dumps([asdict(key) for key in keys], indent=1) + "\n")
            self._path.chmod(0o600)
        except OSError as error:
            reason = error.strerror or error
            raise SettingsError(
                f"The keys cannot be written to {self._path} ({reason}): set `library` to another folder."
            ) from None


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _parse(path: Path) -> list[Key]:
    try:
        return [Key(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError) as error:
        raise SettingsError(
            f"The keys in {path} cannot be read ({type(error).__name__}): mend the file, or delete it and "
            "create keys again."
        ) from None
