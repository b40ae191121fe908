"""Where a corpus on Milvus lies: `milvus://host:port/name`, or `milvus+tls://` where the way is encrypted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from search.errors import SettingsError

PORT = 19530
SCHEMES = ("milvus", "milvus+tls")
_ADDRESS = re.compile(
    r"(milvus|milvus\+tls)://([a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?/([a-z][a-z0-9_]{0,39})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int
    name: str
    """Of the corpus: a server may hold several."""
    secure: bool = False
    token: str = field(default="", repr=False)
    """What the server asks for, "user:password" or a key."""
    certificate: Path | None = None
    """Of whoever signed the server's certificate, where the system does not know them."""

    def __str__(self) -> str:
        """As in the settings, without what is secret."""
        return f"{SCHEMES[self.secure]}://{self.host}:{self.port}/{self.name}"

    @property
    def url(self) -> str:
        return f"{'https' if self.secure else 'http'}://{self.host}:{self.port}"


def is_address(corpus: object) -> bool:
    """Whether a corpus is on a server, and not a folder."""
    return isinstance(corpus, str) and corpus.partition("://")[0].lower() in SCHEMES and "://" in corpus


def read_address(text: str, token: str = "", certificate: Path | None = None) -> Address:
    found = _ADDRESS.fullmatch(text.strip())
    if not found or not 0 < int(found[3] or PORT) < 2**16:
        raise SettingsError(
            f"The corpus {text[:200]!r} is no address on Milvus: write milvus://HOST:PORT/NAME with a name "
            "of small letters, digits and _, or milvus+tls://HOST:PORT/NAME."
        )
    scheme, host, port, name = found.groups()
    secure = scheme.lower() == SCHEMES[True]
    if certificate and not certificate.is_file():
        raise SettingsError(f"The certificate {certificate} is not there: correct the setting.")
    return Address(host.lower(), int(port or PORT), name.lower(), secure, token, certificate)
