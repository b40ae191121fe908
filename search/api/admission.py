"""Whether a request is let in: its key, where one is asked for, and how many came before it."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from search.api.keys import Key
from search.api.limits import Allowance, Rates
from search.api.problems import Problem
from search.api.surroundings import Surroundings

NEEDS_KEY = "A key is needed here, and this is none that is valid: send `Authorization: Bearer KEY`."


@dataclass(frozen=True, slots=True)
class Admitted:
    client: str
    """A key by its name, else the address that the request comes from."""
    key: Key | None
    allowance: Allowance

    @property
    def owner(self) -> str:
        return self.key.owner if self.key else ""


class Admission:
    def __init__(self, here: Surroundings) -> None:
        self._keys, self._rates = here.keys, Rates(here.rate)

    def admit(self, request: Request, needs_key: bool = True) -> Admitted:
        """Who asks; a Problem where no valid key is sent, or where too much was asked already."""
        asks = self._keys is not None and needs_key
        key = self._find(request) if asks else None
        client = f"key {key.name}" if key else request.client.host if request.client else ""
        allowance = self._rates.take(client)  # counted without a key, too: nobody tries keys without end
        if allowance.refused:
            said = f"More than {allowance.most} requests in a minute: wait {allowance.seconds} seconds."
            raise Problem(429, said, allowance.headers)
        if asks and key is None:
            headers = {"WWW-Authenticate": 'Bearer realm="triptych"', **allowance.headers}
            raise Problem(401, NEEDS_KEY, headers)
        return Admitted(client, key, allowance)

    def _find(self, request: Request) -> Key | None:
        assert self._keys is not None
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        return self._keys.find(secret.strip()) if scheme.lower() == "bearer" else None
